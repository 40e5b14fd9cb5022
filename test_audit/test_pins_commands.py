"""`python -m verifiers_pinned`: what it prints and with which status it ends."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from verifiers_pinned.__main__ import main

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    for key in ("AI2_IFBENCH", "JOSEJG", "OPEN_INSTRUCT", "VERIFIABLE_INSTRUCTIONS"):
        monkeypatch.delenv(f"ASSAY_CHECKOUT_{key}", raising=False)
    return tmp_path


def test_list_says_what_each_covers(capsys):
    assert main(["list"]) == 0
    said = capsys.readouterr().out
    assert "lighteval_ifbench" in said
    assert "32 implementations from 20 wheels and 4 checkouts; the default set downloads 71.2 MB" in said


def test_list_as_json_names_templates(capsys):
    assert main(["list", "--json"]) == 0
    found = {each["key"]: each for each in json.loads(capsys.readouterr().out)}
    assert "ifeval/punctuation:no_comma" in found["lm_eval"]["templates"]
    assert found["nemo_gym_iheval"]["default"] is False
    assert found["josejg"]["digest"].startswith("0c495b2")


def test_status_of_an_empty_cache_says_missing(capsys):
    assert main(["status"]) == 0
    said = capsys.readouterr().out
    assert said.count(" missing ") == 24
    assert "not given: --checkout josejg=DIR" in said


def test_status_of_a_wrong_checkout_fails_and_names_the_file(capsys, tmp_path):
    assert main(["status", "--checkout", f"josejg={tmp_path}"]) == 1
    assert "instruction_following_eval/instructions.py: No such file" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["fetch", "twinkl"], "did you mean 'twinkle'"),
        (["fetch", "twinkle", "--offline"], "error: offline, and not in the cache"),
        (["fetch", "--checkout", "josej=/"], "did you mean 'josejg'"),
    ],
)
def test_a_mistake_is_told_in_a_line(capsys, arguments, told):
    assert main(arguments) == 2
    assert told in capsys.readouterr().err


def test_a_reader_that_stops_early_is_no_error():
    command = f"{sys.executable} -m verifiers_pinned list --json | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "[\n", "")
