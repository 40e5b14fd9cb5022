"""`python -m verifiers_pinned verdict`: one text, many lines, and what is said about wrong input."""

import errno
import io
import json
import os
import sys
from types import SimpleNamespace
from unittest import mock

import pytest

from specs import load_templates
from verifiers_pinned import verdict_command, verdict_lines
from verifiers_pinned.__main__ import main
from verifiers_pinned.miniatures import catalogue_of, of_body

NO_COMMA, WORDS = "ifeval/punctuation:no_comma", "ifeval/length_constraints:number_words"
SOURCES = {
    "honest": of_body("return ',' not in value"),
    "crashes": of_body("raise ValueError('no luck')"),
    "blank": of_body("return True"),
}


@pytest.fixture
def verdict(tmp_path, monkeypatch, capsys):
    covers = {NO_COMMA: "test:it", WORDS: "test:it", "local/unspecified:one": "test:it"}
    catalogue, checkouts = catalogue_of(tmp_path, SOURCES, covers=covers)
    monkeypatch.setattr(verdict_command, "load_added", lambda _: (catalogue, load_templates()))
    options = [f"--checkout={key}={folder}" for key, folder in checkouts.items()]

    def run(*arguments):
        status = main(["verdict", *arguments, *options])
        return SimpleNamespace(status=status, **capsys.readouterr()._asdict())

    return run


def lines(*rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


def row(text, template=NO_COMMA, params=None, **more):
    return {"template": template, "params": params or {}, "text": text, **more}


def test_a_text_is_judged_by_everyone_who_covers_the_template(verdict):
    told = verdict(NO_COMMA, "--text", "a, b")
    assert told.status == 0
    assert told.out.splitlines() == [
        "implementation   verdict  detail",
        "honest@0000000   reject",
        "crashes@0000000  crash    ValueError: no luck",
        "blank@0000000    accept",
    ]


def test_named_implementations_only_and_the_guard(verdict):
    told = verdict(NO_COMMA, "--text", " ", "--guard", "--json", "--implementation=blank", "--implementation=honest")
    found = [(each["implementation"], each["verdict"]) for each in json.loads(told.out)]
    assert found == [("blank@0000000", "reject"), ("honest@0000000", "reject")]


def test_a_text_comes_from_a_file(verdict, tmp_path):
    (tmp_path / "text").write_text("a, b", encoding="utf-8")
    assert "reject" in verdict(NO_COMMA, "--text-file", str(tmp_path / "text"), "--implementation=honest").out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["ifeval/punctuation:no_coma", "--text="], "there is no template 'ifeval/punctuation:no_coma'; did you mean"),
        (["no_comma", "--text="], f"there is no template 'no_comma'; did you mean '{NO_COMMA}'?"),
        ([WORDS, "--text=", '--params={"num_words": "a"}'], f"{WORDS}: num_words: 'a' is not a whole number"),
        ([NO_COMMA, "--text=", "--params={"], "--params is not JSON: "),
        ([NO_COMMA, "--text=", "--params=[]"], "--params is no JSON object"),
        (
            [NO_COMMA, "--text=", "--implementation=honst"],
            "no implementation is called 'honst'; did you mean 'honest'?",
        ),
        ([NO_COMMA, "--text-file=/none"], "/none cannot be read: No such file or directory"),
        ([NO_COMMA], "give the response with --text or --text-file"),
        ([], "give a TEMPLATE with --text or --text-file, or --jsonl FILE"),
        ([NO_COMMA, "--jsonl=x"], "give a TEMPLATE or --jsonl"),
        (["--jsonl=/none"], "/none cannot be read: No such file or directory"),
        ([NO_COMMA, "--text=", "--seconds=0"], "--seconds: seconds is 0.0; a call may take"),
    ],
)
def test_wrong_input_is_told_in_a_line(verdict, arguments, told):
    answer = verdict(*arguments)
    assert answer.status == 2
    assert f"error: {told}" in answer.err


def test_params_without_a_spec_are_not_checked_and_it_says_so(verdict):
    answer = verdict("local/unspecified:one", "--text=a", "--implementation=honest")
    assert answer.status == 0
    assert answer.err == "note: no spec describes local/unspecified:one, so its params are not checked\n"


def test_lines_keep_their_order_and_what_they_carry(verdict, tmp_path):
    rows = [row(str(n) + "," * (n % 2), implementation="honest", mine=n) for n in range(7)]
    (tmp_path / "in").write_text(lines(*rows), encoding="utf-8")
    answer = verdict("--jsonl", str(tmp_path / "in"))
    found = [json.loads(line) for line in answer.out.splitlines()]
    assert found == [{**each, "verdict": "reject" if each["mine"] % 2 else "accept", "detail": None} for each in rows]


def test_a_line_that_names_nobody_is_answered_by_all(verdict, tmp_path):
    (tmp_path / "in").write_text(lines(row("a")), encoding="utf-8")
    found = [json.loads(line) for line in verdict("--jsonl", str(tmp_path / "in")).out.splitlines()]
    assert [each["implementation"] for each in found] == list(SOURCES)
    assert found[1]["detail"] == "ValueError: no luck"


def test_bad_lines_are_named_and_the_good_ones_answered(verdict, tmp_path):
    good = json.dumps(row("\ud800 a", implementation="honest")).encode()
    bad = [
        b"{",
        b"\xff",
        b"[]",
        b'{"template": "x", "param": {}, "text": ""}',
        json.dumps(row("", params={"x": 1})).encode(),
        json.dumps(row(1)).encode(),
        json.dumps(row("", implementation="honst")).encode(),
        json.dumps(row("", implementation=["honest"])).encode(),
        b"[" * 100_000,
    ]
    path = tmp_path / "in"
    path.write_bytes(b"\n".join([good, *bad, b"", good]))
    answer = verdict("--jsonl", str(path))
    assert answer.status == 2
    assert [json.loads(line)["verdict"] for line in answer.out.splitlines()] == ["accept", "accept"]
    numbers = [int(line.removeprefix(f"{path}:").partition(":")[0]) for line in answer.err.splitlines()]
    assert numbers == list(range(2, 11))
    assert "has no params; did you mean 'params'?" in answer.err


def test_lines_come_from_standard_input(verdict, monkeypatch):
    stdin = SimpleNamespace(buffer=io.BytesIO(b"{\n" + lines(row("a", implementation="honest")).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    answer = verdict("--jsonl", "-")
    assert json.loads(answer.out)["verdict"] == "accept"
    assert answer.err.startswith("<stdin>:1: is not JSON: ")


@pytest.mark.parametrize(
    ("number", "status", "told"),
    [(errno.EPIPE, 0, ""), (errno.ENOSPC, 2, "error: standard output: No space left on device\n")],
)
def test_an_output_that_ends_is_not_blamed_on_the_input(verdict, tmp_path, monkeypatch, number, status, told):
    (tmp_path / "in").write_text(lines(row("a", implementation="honest")), encoding="utf-8")
    full = mock.Mock(side_effect=OSError(number, os.strerror(number)))
    monkeypatch.setattr(verdict_lines, "print", full, raising=False)
    monkeypatch.setattr(sys, "stdout", (tmp_path / "out").open("w"))
    answer = verdict("--jsonl", str(tmp_path / "in"))
    assert (answer.status, answer.err) == (status, told)
