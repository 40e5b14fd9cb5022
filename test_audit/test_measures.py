"""Measures are the declared ones, total, and keep the properties that their definitions give them."""

import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import measures
from specs import DocumentError
from specs.language import load_measures

DECLARED = load_measures()
FUNCTIONS = measures.MEASURES
TYPES = {"text": str, "int": int, "bool": bool}
TEXTS = st.text(max_size=60) | st.text(alphabet="aB \t\r\n.é\u0301👨\u200d👩", max_size=60)


def test_the_declared_measures_are_the_written_ones():
    assert set(DECLARED) == set(FUNCTIONS)


@pytest.mark.parametrize("name", DECLARED)
def test_the_arguments_are_the_declared_ones(name):
    assert list(inspect.signature(FUNCTIONS[name]).parameters) == list(DECLARED[name].takes)


@pytest.mark.parametrize("name", DECLARED)
@given(text=TEXTS, part=st.text(max_size=3))
def test_every_text_gets_a_value_of_the_declared_kind(name, text, part):
    value = FUNCTIONS[name](*[text, part][: len(DECLARED[name].takes)])
    kind = DECLARED[name].gives
    if kind.name == "list":
        assert all(type(item) is str for item in value)
    else:
        assert type(value) is TYPES[kind.name]


@given(TEXTS)
def test_words_hold_every_character_but_white_space(text):
    assert "".join(FUNCTIONS["words"](text)) == "".join(text.split())
    assert all(word and not any(c.isspace() for c in word) for word in FUNCTIONS["words"](text))


@given(TEXTS)
def test_clusters_join_to_the_text(text):
    assert "".join(FUNCTIONS["characters"](text)) == text


@given(TEXTS)
def test_lines_join_to_the_text_without_its_line_ends(text):
    assert "".join(FUNCTIONS["lines"](text)) == text.replace("\r", "").replace("\n", "")


@given(TEXTS)
def test_a_paragraph_is_not_blank_and_holds_no_blank_line(text):
    for paragraph in FUNCTIONS["paragraphs"](text):
        assert paragraph == paragraph.strip() != ""
        assert all(line.strip() for line in paragraph.split("\n"))


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("words", "well-known, it's 1.5", ["well-known,", "it's", "1.5"]),
        ("word_runs", "well-known, it's 1.5 a_b", ["well", "known", "it", "s", "1", "5", "a_b"]),
        ("word_runs", "... \U0001f642", []),
        ("letters", "a1é中_", ["a", "é", "中"]),
        ("digits", "a1٢", ["1", "٢"]),
        ("ascii_punctuation", "a_b-\u2014 \u2026.5", ["_", "-", "."]),
        ("characters", "é👨\u200d👩\u200d👧🇩🇪\r\n", ["é", "👨\u200d👩\u200d👧", "🇩🇪", "\r\n"]),
        ("lines", "a\r\nb\rc\n\nd\n", ["a", "b", "c", "", "d"]),
        ("lines", "", []),
        ("lines", "\n", [""]),
        ("lines", "a\u2028b\x0cc", ["a\u2028b\x0cc"]),
        ("paragraphs", "\n a\nb \n \t\n\nc", ["a\nb", "c"]),
        ("is_blank", " \t\n\u00a0", True),
        ("is_blank", "\u200b", False),
        ("lower", "ÀİX", "ài̇x"),
    ],
)
def test_known_texts(name, text, value):
    assert FUNCTIONS[name](text) == value


def test_an_empty_part_stands_nowhere_to_be_counted():
    assert FUNCTIONS["count_of"]("abc", "") == 0


def test_a_wrong_declaration_is_told_with_its_place(tmp_path):
    entry = "  - {id: ID, takes: {text: text}, gives: KIND, definition: something about a text, source: ours}\n"
    path = tmp_path / "measures.yaml"
    lines = [entry.replace("ID", name).replace("KIND", kind) for name, kind in (("len", "int"), ("a", "words"))]
    path.write_text("measures:\n" + "".join(lines), encoding="utf-8")
    with pytest.raises(DocumentError) as caught:
        load_measures(path)
    assert "measures[0].id: 'len' is the name of something built in" in str(caught.value)
    assert "measures[1].gives: 'words' is no kind of value" in str(caught.value)
