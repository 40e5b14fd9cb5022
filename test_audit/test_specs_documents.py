"""A document either loads or names every problem in it, whatever bytes it holds."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import specs.composing
from specs import DocumentError, open_document, read_document
from specs.schemas import ROOM, schema

ANY = {"type": "object"}
SMALL = {
    "type": "object",
    "additionalProperties": False,
    "required": ["id", "kind"],
    "properties": {
        "id": {"type": "string", "minLength": 2},
        "kind": {"enum": ["wheel", "checkout"]},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "names": {
            "type": "array",
            "uniqueItems": True,
            "maxItems": 3,
            "items": {"type": "string", "pattern": "^[a-z]+$"},
        },
        "members": {
            "propertyNames": {"pattern": "^[a-z]+$"},
            "additionalProperties": {
                "oneOf": [
                    {"type": "string"},
                    {
                        "type": "object",
                        "additionalProperties": False,
                        "required": ["sha"],
                        "properties": {"sha": {"type": "string"}},
                    },
                ]
            },
        },
    },
}


@pytest.fixture
def problems(tmp_path, monkeypatch):
    """Writes a document and gives each problem as `line:column: path: message`."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "x.yaml"

    def read(content, rules=SMALL):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(DocumentError) as caught:
            read_document(path, rules)
        lines = str(caught.value).splitlines()
        assert all(line.startswith("x.yaml:") for line in lines)
        return [line.removeprefix("x.yaml:") for line in lines]

    return read


@pytest.fixture
def data(tmp_path):
    def read(content):
        (tmp_path / "x.yaml").write_text(content, encoding="utf-8")
        return read_document(tmp_path / "x.yaml", ANY)

    return read


def test_all_problems_are_named_at_once_and_in_order(problems):
    assert problems("id: 5\nkint: wheel\nkind: weel\nmembers:\n  A: x\n  b: {shaa: x}\n  c: 5\n") == [
        "1:5: id: 5 is not text; put it in quotes",
        "2:1: document: unknown key 'kint'; known here: id, kind, count, names, members",
        "3:7: kind: 'weel' is not one of 'wheel', 'checkout'; did you mean 'wheel'?",
        "5:3: members: a key: 'A' does not have the form ^[a-z]+$",
        "6:6: members.b: the key 'sha' is missing",
        "6:7: members.b: unknown key 'shaa'; did you mean 'sha'?",
        "7:6: members.c: fits none of the forms allowed here: 5 is not text; put it in quotes / 5 is not a mapping",
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("count: 0", "3:8: count: 0 is less than 1"),
        ("count: 12", "3:8: count: 12 is more than 9"),
        ("count: two", "3:8: count: 'two' is not a whole number"),
        ("names: [a, b, a]", "3:8: names: ['a', 'b', 'a'] holds an item twice"),
        ("names: [a, b, c, d]", "3:8: names: 4 items where at most 3 are allowed"),
        ("names: [a, B]", "3:12: names[1]: 'B' does not have the form ^[a-z]+$"),
        ("name: [a]", "3:1: document: unknown key 'name'; did you mean 'names'?"),
    ],
)
def test_each_rule_has_a_sentence_of_its_own(problems, line, problem):
    assert problems(f"id: xy\nkind: wheel\n{line}\n") == [problem]


def test_missing_keys_are_named_one_by_one(problems):
    assert problems("count: 1\n") == [
        "1:1: document: the key 'id' is missing",
        "1:1: document: the key 'kind' is missing",
    ]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "1:1: document: the file is empty"),
        (b"# nothing\n", "1:1: document: the file is empty"),
        (b"- a\n", "1:1: document: the top level is not a mapping of keys to values"),
        (b"a: 1\nb: \xff\n", "2:4: document: not UTF-8: byte 0xff; save the file as UTF-8"),
        (b"a: x\0y\n", '1:5: document: the character U+0000 stands here bare; write it as "\\x00" in double quotes'),
        (
            b"a:\n\tb: 1\n",
            '2:1: document: a tab; indent with spaces, and write a tab in a text as "\\t" in double quotes',
        ),
        (
            "a: x\u2028y\n".encode(),
            '1:5: document: the character U+2028 stands here bare; write it as "\\u2028" in double quotes',
        ),
        (b"a: &x [1]\nb: *x\n", "1:4: a: anchors and aliases (&, *) are not allowed; write the value out"),
        (
            b"a: !!int 5\n",
            "1:4: a: tags are not allowed, and 'tag:yaml.org,2002:int' is one; put text that begins with ! in quotes",
        ),
        (b"a: 1\n---\nb: 2\n", "2:1: document: a second document begins; a file holds one"),
        (b"a: 1\nb: 1\na: 2\n", "3:1: document: duplicate key 'a'; it stands in line 1 already"),
        (b"1: x\n", "1:1: document: the key 1 is not text; put it in quotes"),
        (b"a: .nan\n", "1:4: a: '.nan' is not a finite number; put it in quotes if it is text"),
        (b"a: 1e999\n", "1:4: a: '1e999' is not a finite number; put it in quotes if it is text"),
        (b"a: " + b"9" * 30, f"1:4: a: the integer {'9' * 30!r} has too many digits; put it in quotes if it is text"),
        (b"a" * 300_000, "1:1: document: larger than 256 KiB"),
    ],
)
def test_what_is_no_document_of_ours_is_refused(problems, content, problem):
    assert problems(content, ANY) == [problem]


def test_depth_and_size_are_limited(problems):
    assert "nested deeper than 32 levels" in problems("a: " + "[" * 40 + "]" * 40, ANY)[0]
    assert "more than 20000 values" in problems("a: [" + "1, " * 30_000 + "]", ANY)[0]
    assert len(problems("a: " + "[" * 200_000, ANY)) == 1


def test_at_most_a_hundred_problems_are_shown(problems):
    found = problems("id: xy\nkind: wheel\n" + "".join(f"k{i}: 1\n" for i in range(500)))
    assert len(found) == 100
    assert found[-1].endswith("more problems follow; mend these first")


def test_an_alias_bomb_is_refused_at_once(problems):
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}]\n" for i in range(1, 60))
    started = time.perf_counter()
    problems(bomb, ANY)
    assert time.perf_counter() - started < 1


def test_scalars_are_those_of_the_core_schema(data):
    text = "a: [yes, no, on, 2024-05-01, 12:30, 1_000, 0x1F, true, null, ~, 012, -3, 1.5, 1e3, '5', .5]\nN: y"
    assert data(text) == {
        "a": [
            "yes",
            "no",
            "on",
            "2024-05-01",
            "12:30",
            "1_000",
            "0x1F",
            True,
            None,
            None,
            12,
            -3,
            1.5,
            1000.0,
            "5",
            0.5,
        ],
        "N": "y",
    }


def test_windows_line_ends_are_read_and_counted(problems, tmp_path):
    (tmp_path / "w.yaml").write_bytes(b"a: 1\r\nb: |\r\n  x\r\n  y\r\n")
    assert read_document(tmp_path / "w.yaml", ANY) == {"a": 1, "b": "x\ny\n"}
    assert problems(b"id: xy\r\nkind: x\r\n")[0].startswith("2:7: kind")
    assert problems(b"a: x\ry\n", ANY)[0].startswith("1:5: document: the character U+000D")


def test_a_key_with_a_line_break_keeps_its_problem_in_one_line(problems):
    assert problems('id: xy\nkind: wheel\nmembers: {"a\\nb": {sha: 1}}\n')[-1] == (
        "3:25: members.'a\\nb'.sha: 1 is not text; put it in quotes"
    )


def test_problems_of_a_caller_are_placed_too(tmp_path):
    (tmp_path / "x.yaml").write_text("a:\n  - b: 1\n", encoding="utf-8")
    document = open_document(tmp_path / "x.yaml", ANY)
    assert document.problem(("a", 0, "b"), "no")[1:] == (2, 8, "a[0].b", "no")
    assert document.problem(("a", 0), "no", key="b")[1:3] == (2, 5)
    assert document.problem(("a", 0, "c", "d"), "no")[1:3] == (2, 5)


def test_what_cannot_be_opened_is_a_problem(tmp_path):
    for path in (tmp_path, tmp_path / "missing.yaml", Path("a\0b")):
        with pytest.raises(DocumentError, match="cannot be read"):
            read_document(path, ANY)


REAL = sorted(path.read_bytes() for path in ROOM.glob("*/*/*.yaml"))
PIECES = st.sampled_from(
    [b"{", b"}", b"[", b"]", b": ", b"- ", b"&a ", b"*a", b"!!x ", b"'", b'"', b"\n", b"  ", b"|\n", b"? ", b"\\"]
)


@st.composite
def mutated_specs(draw):
    raw = draw(st.sampled_from(REAL))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(raw)))
        end = draw(st.integers(start, min(len(raw), start + 12)))
        raw = raw[:start] + draw(PIECES | st.binary(max_size=3)) + raw[end:]
    return raw


@pytest.mark.parametrize("loader", [specs.composing.Loader, yaml.SafeLoader], ids=["fast", "plain"])
@settings(max_examples=150, deadline=2000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=st.binary(max_size=200) | mutated_specs() | st.lists(PIECES, max_size=40).map(b"".join))
def test_any_bytes_load_or_are_refused_with_places(raw, tmp_path, monkeypatch, loader):
    monkeypatch.setattr(specs.composing, "Loader", loader)
    path = tmp_path / "x.yaml"
    path.write_bytes(raw)
    error = _refusal(path)
    if error is not None:
        assert error.problems
        assert all(problem.line >= 1 and problem.column >= 1 and problem.message for problem in error.problems)
        assert len(str(error).splitlines()) == len(error.problems)


def _refusal(path):
    try:
        read_document(path, schema("template"))
    except DocumentError as error:
        return error
    return None


TEXTS = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn", "Zl", "Zp"]) | st.sampled_from("\n\t"), max_size=20)
VALUES = st.recursive(st.none() | st.booleans() | st.integers(-999, 999) | TEXTS, st.lists, max_leaves=8)


@given(value=st.dictionaries(TEXTS, VALUES, max_size=5))
def test_json_is_read_as_it_is(tmp_path_factory, value):
    path = tmp_path_factory.mktemp("d") / "x.yaml"
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    assert read_document(path, ANY) == value
