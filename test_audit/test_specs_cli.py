"""The command line of the specs says what is wrong, lists what there is and begins what is new."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from specs.__main__ import main
from specs.schemas import ROOM, schema


def test_our_files_are_valid(capsys):
    assert main(["validate"]) == 0
    counts = r"\d+ templates, 10 probes, 3 lists of words, 6 lists of texts, \d+ flags and \d+ transforms are valid\n"
    assert re.fullmatch(counts, capsys.readouterr().out)


def test_every_problem_is_printed_with_a_summary(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "count:good", "--directory", "."]) == 0
    broken = tmp_path / "local/count/broken.yaml"
    broken.write_text("id: count:broken\nwordin: x\n", encoding="utf-8")
    capsys.readouterr()
    assert main(["validate", "."]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "local/count/broken.yaml:1:1: document: the key 'wording' is missing",
        "local/count/broken.yaml:1:1: document: the key 'parameters' is missing",
        "local/count/broken.yaml:2:1: document: unknown key 'wordin'; did you mean 'wording'?",
        "3 problems in 1 file; 1 template and 0 probes are valid",
    ]


@pytest.mark.parametrize("path", [".", "local", "local/count", "local/count/good.yaml"])
def test_a_file_or_any_folder_above_it_is_validated(tmp_path, monkeypatch, capsys, path):
    monkeypatch.chdir(tmp_path)
    main(["new", "count:good", "--directory", "."])
    assert main(["validate", path]) == 0
    assert capsys.readouterr().out.endswith("1 template and 0 probes are valid\n")


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("probes.yaml", "probes: []\n", "1:9: probes: 0 items where at least 1 is allowed"),
        ("words.yaml", "lists: {a: {description: Some words., words: [A]}}\n", "'A' does not have the form ^[a-z]+$"),
        ("texts.yaml", "list: {}\n", "unknown key 'list'; did you mean 'lists'?"),
        ("flags.yaml", "flags: [{id: a}]\n", "1:9: flags[0]: the key 'effect' is missing"),
        ("transforms.yaml", "transforms: []\nsynonyms: {a: b}\n", "1:13: transforms: 0 items where at least 1"),
    ],
)
def test_a_broken_document_beside_the_templates_is_named(tmp_path, capsys, name, text, problem):
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert main(["validate", str(tmp_path / name)]) == 1
    assert problem in capsys.readouterr().out


def test_nothing_found_is_not_valid(tmp_path, capsys):
    assert main(["validate", str(tmp_path)]) == 1
    assert "no templates found" in capsys.readouterr().out


def test_the_list_as_text_and_as_json_name_the_same_templates(tmp_path, capsys):
    main(["new", "count:good", "--directory", str(tmp_path)])
    capsys.readouterr()
    assert main(["list", "--directory", str(tmp_path)]) == 0
    named = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(" ")]
    assert main(["list", "--json", "--directory", str(tmp_path)]) == 0
    entries = json.loads(capsys.readouterr().out)
    assert named == [entry["name"] for entry in entries]
    assert "local/count:good" in named
    assert entries[-1]["parameters"]["required"] == ["limit"]


def test_the_list_can_be_held_to_a_collection(capsys):
    assert main(["list", "--collection", "ifrlvr"]) == 0
    named = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(" ")]
    assert len(named) == 29
    assert all(name.startswith("ifrlvr/") for name in named)
    assert main(["list", "--collection", "ifrlv"]) == 2
    assert "did you mean 'ifrlvr'?" in capsys.readouterr().err


def test_instances_are_drawn_as_lines_of_json(capsys):
    arguments = ["draw", "ifbench/count:word_count_range", "--kind", "upstream", "--count", "3", "--seed", "5"]
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    instances = [json.loads(line) for line in lines]
    assert len({instance["wording"] for instance in instances}) == 3
    assert all(100 <= instance["params"]["min_words"] <= 500 for instance in instances)
    main(arguments)
    assert capsys.readouterr().out.splitlines() == lines


def test_a_template_of_ones_own_is_drawn_at_once(tmp_path, capsys):
    main(["new", "count:good", "--directory", str(tmp_path)])
    capsys.readouterr()
    assert main(["draw", "local/count:good", "--directory", str(tmp_path)]) == 0
    assert 0 <= json.loads(capsys.readouterr().out)["params"]["limit"] <= 3


def test_a_broken_template_stops_the_list(tmp_path, capsys):
    (tmp_path / "local/count").mkdir(parents=True)
    (tmp_path / "local/count/x.yaml").write_text("", encoding="utf-8")
    assert main(["list", "--directory", str(tmp_path)]) == 1
    assert "the file is empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["frob"],
        ["new"],
        ["new", "Bad Name"],
        ["new", "../x:y"],
        ["validate", "nowhere"],
        ["list", "--jsn"],
        ["draw"],
        ["draw", "a:b"],
        ["draw", "count:numbers", "--kind", "big"],
        ["draw", "count:numbers", "--count", "0"],
    ],
    ids=" ".join,
)
def test_a_wrong_command_exits_with_two_and_writes_nothing(tmp_path, monkeypatch, capsys, arguments):
    monkeypatch.chdir(tmp_path)
    try:
        code = main(arguments)
    except SystemExit as stopped:
        code = stopped.code
    assert code == 2
    assert capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_new_refuses_to_overwrite(tmp_path, capsys):
    arguments = ["new", "local/count:good", "--directory", str(tmp_path)]
    assert main(arguments) == 0
    assert main(arguments) == 2
    assert "exists already" in capsys.readouterr().err


def test_a_reader_that_goes_away_leaves_no_traceback():
    command = f"{sys.executable} -m specs list --json | head -c 20"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""


def _blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", (ROOM / "README.md").read_text(encoding="utf-8"), re.DOTALL)


def test_the_problems_in_the_readme_are_what_is_printed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "local/count").mkdir(parents=True)
    (tmp_path / "local/count/marks.yaml").write_text(_blocks("yaml")[1], encoding="utf-8")
    main(["validate", "local"])
    assert _blocks("console")[1] == "$ python -m specs validate local\n" + capsys.readouterr().out


def test_the_template_in_the_readme_is_ours():
    assert _blocks("yaml")[0] == (ROOM / "ifbench/count/word_count_range.yaml").read_text(encoding="utf-8")


def test_the_readme_names_every_property():
    text = (ROOM / "README.md").read_text(encoding="utf-8")
    rules = schema("template")
    parameters = rules["properties"]["parameters"]["properties"]
    names = [
        *rules["properties"],
        *parameters,
        *parameters["schema"]["properties"],
        *rules["$defs"]["parameter"]["properties"],
    ]
    assert [name for name in names if f"`{name}`" not in text and f".{name}`" not in text] == ["parameters"]
    assert [name for name in rules["$defs"]["draw"]["properties"] if not re.search(rf"\b{name}\b", text)] == []
