"""Measures are the declared ones, total, and keep the properties that their definitions give them."""

import inspect

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import measures
from specs import DocumentError, load_templates
from specs.language import load_measures
from specs.language.built_ins import NAMES

DECLARED = load_measures()
FUNCTIONS = measures.MEASURES
TYPES = {"text": str, "int": int, "bool": bool}
TEXTS = st.text(max_size=60) | st.text(alphabet='aB1 \t\r\n.,é\u0301👨\u200d👩*_#-`[]<>"“', max_size=60)


def test_the_declared_measures_are_the_written_ones():
    assert set(DECLARED) == set(FUNCTIONS)


@pytest.mark.parametrize("name", DECLARED)
def test_the_arguments_are_the_declared_ones(name):
    assert list(inspect.signature(FUNCTIONS[name]).parameters) == list(DECLARED[name].takes)


ARGUMENTS = {
    "text": st.text(max_size=3) | st.sampled_from(["en", "de", "ja", ",", "*", "Section"]),
    "int": st.integers(-9, 99),
    "list of text": st.lists(st.text(max_size=3), max_size=4),
}


def is_of(kind, value):
    if kind.name == "list":
        return isinstance(value, list) and all(is_of(kind.item, item) for item in value)
    return type(value) is TYPES[kind.name]


@pytest.mark.parametrize("name", DECLARED)
@settings(deadline=None, max_examples=40)  # the language identifier is loaded once
@given(text=TEXTS, data=st.data())
def test_every_text_gets_a_value_of_the_declared_kind(name, text, data):
    takes = [data.draw(ARGUMENTS[str(kind)]) for kind in DECLARED[name].takes.values()]
    arguments = [text, *takes[1:]] if "text" in DECLARED[name].takes else takes
    value = FUNCTIONS[name](*arguments)
    assert is_of(DECLARED[name].gives, value)
    assert value == FUNCTIONS[name](*arguments)


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
        ("unicode_words", "well-known, it's 1.5 -- 你好", ["well", "known", "it's", "1.5", "你", "好"]),
        ("bare_words", "well-known, - (it) ***", ["well-known", "it"]),
        ("sentences", "Mr. Smith paid 3.5 euros. “Really?” Yes", ["Mr.", "Smith paid 3.5 euros.", "“Really?”", "Yes"]),
        (
            "careful_sentences",
            "Mr. J. Smith left. He, e.g., ran... away!",
            ["Mr. J. Smith left.", "He, e.g., ran... away!"],
        ),
        ("careful_sentences", "1. First\n2. Second", ["1. First\n2. Second"]),
        (
            "unicode_sentences",
            "At 3.5 p.m. on Monday! Line\nU.S.A. is",
            ["At 3.5 p.m. on Monday!", "Line", "U.S.A. is"],
        ),
        ("between_dividers", "a\n***\nb\n - - -\nc\n**", ["a", "b", "c\n**"]),
        ("bullets", "* a\n  - b\n+ c\n* * *\n*not\n-", ["a", "b", "c", ""]),
        ("numbered_items", "1. a\n 2) b\n3.c\n1234567890. d", ["a", "b"]),
        ("headings", "# A\n## B ##\n#C\n    # D\n###", ["A", "B", ""]),
        ("highlights", "*a* **b c** * d* *e * *f\ng* \\*h* ****", ["a", "b c"]),
        ("italics", "*a* **b**", ["a"]),
        ("bold", "*a* **b** ***c***", ["b"]),
        ("underscored", "_a_ __b__ a_b_c", ["a", "b"]),
        ("commonmark_emphasis", "*a **b** c* `*x*` _d\ne_", ["b", "a b c", "d\ne"]),
        ("code_fences", "```py\na\n```\nx\n~~~\nb", ["a", "b"]),
        ("without_fences", "```py\na\n```\nx\n~~~\nb", "x"),
        ("unfenced", "```json\n{}\n```\n", "{}"),
        ("unfenced", "```\na\n```\nb\n```\nc\n```", "```\na\n```\nb\n```\nc\n```"),
        ("unticked", "```json {}```", " {}"),
        ("square_brackets", "[a] [] [b](c) [x [y] z]", ["a", "", "b", "y"]),
        ("unlinked_brackets", "[a] [b](c) [d][e]", ["a", "e"]),
        ("angle_titles", "<<a>> << >> <<<b>>> <<c\nd>>", ["a", "b"]),
        ("double_quoted", "\"a\" “b” «c» 'd'", ["a", "b", "c"]),
        ("is_in_straight_quotes", '"', False),
        ("is_in_double_quotes", " „a“ ", True),
        ("is_in_double_quotes", '“a"', False),
        ("commas", "a,b，c、d،;", [",", "，", "、", "،"]),
        ("are_brackets_balanced", "([)]", False),
        ("json_kind", ' {"a": [1]}\n', "object"),
        ("json_kind", '{"a": NaN}', ""),
        ("json_kind", "\u00a0{}", ""),
        ("json_kind", "[" * 100_000, ""),
        ("numbers", "1,234.5 -3 a1 1.2.3 5% 10.", ["1,234.5", "-3", "5", "10"]),
        ("iso_dates", "2024-02-30 2024-05-01", ["2024-05-01"]),
        ("written_dates", "May 3, 2024, 3rd of May 2024, 5/3/24", ["May 3, 2024", "3rd of May 2024", "5/3/24"]),
        (
            "emoji",
            "a😀👨\u200d👩\u200d👧🇩🇪☀\ufe0f☀1\ufe0f\u20e3#",
            ["😀", "👨\u200d👩\u200d👧", "🇩🇪", "☀\ufe0f", "1\ufe0f\u20e3"],
        ),
        ("is_all_capitals", "É 1!", True),
        ("is_all_capitals", "1", False),
        ("is_all_small", "é你", True),
        ("folded", "Straße", "strasse"),
        ("unaccented", "café", "cafe"),
    ],
)
def test_known_texts(name, text, value):
    assert FUNCTIONS[name](text) == value


@pytest.mark.parametrize(
    ("word", "count"), [("cat", 3), ("cat-like", 1), ("Cat", 0), ("c", 0), ("C++", 1), ("", 0), ("cat.", 1)]
)
def test_a_word_is_counted_where_it_stands_alone(word, count):
    assert FUNCTIONS["count_word"]("cat catalog cat-like cat. bobcat _cat C++", word) == count


@given(TEXTS, st.text(alphabet="aB. ", min_size=1, max_size=2))
def test_a_word_stands_alone_no_more_often_than_it_stands(text, word):
    assert FUNCTIONS["count_word"](text, word) <= FUNCTIONS["count_of"](text, word)
    assert FUNCTIONS["count_word"](f"({word})", word) == 1


@given(TEXTS)
def test_sentences_lose_nothing_that_is_said(text):
    for name in ("sentences", "careful_sentences", "unicode_sentences"):
        said = "".join(FUNCTIONS["letters"](text))
        assert "".join(FUNCTIONS["letters"](" ".join(FUNCTIONS[name](text)))) == said
    assert len(FUNCTIONS["careful_sentences"](text)) <= len(FUNCTIONS["sentences"](text))


@given(TEXTS, st.text(alphabet="aB*\n", min_size=1, max_size=2))
def test_pieces_join_to_the_text(text, separator):
    assert separator.join(FUNCTIONS["pieces"](text, separator)) == text


def test_sections_are_found_by_their_numbers():
    text = "Section 1 is before Section 9\n**Section 2**\nsection 3 Section 4a"
    assert FUNCTIONS["section_numbers"](text, "Section") == [1, 9, 2]
    assert FUNCTIONS["section_lines"](text, "Section") == [1, 2]


def test_csv_fields_lose_their_quotes():
    assert FUNCTIONS["csv_rows"]('a,"b,c"\r\nd,"e""f"', ",") == [["a", "b,c"], ["d", 'e"f']]
    assert FUNCTIONS["csv_rows"]('"a"b,c', ",") == FUNCTIONS["csv_rows"]("a", "") == []


@pytest.mark.parametrize(
    ("text", "language", "answers"),
    [
        ("This is an English sentence about the weather.", "en", (True, True)),
        ("THIS IS AN ENGLISH SENTENCE ABOUT THE WEATHER.", "en", (True, True)),
        ("Das ist ein deutscher Satz über das Wetter.", "en", (False, False)),
        ("これは日本語の文章です。", "ja", (True, True)),
        ("Это предложение о погоде на русском языке.", "bg", (False, False)),
        ("یہ موسم کے بارے میں اردو جملہ ہے۔", "ur", (True, True)),
        ("No", "es", (False, True)),
        ("12.5 %", "fi", (False, True)),
    ],
)
def test_languages_are_told_apart_or_left_open(text, language, answers):
    assert (FUNCTIONS["is_in_language"](text, language), FUNCTIONS["may_be_in_language"](text, language)) == answers


@given(st.text(alphabet="abeinrst ä", max_size=60), st.sampled_from(["en", "de", "sw"]))
@settings(deadline=None)
def test_a_language_does_not_hang_on_case(text, language):
    for name in ("is_in_language", "may_be_in_language"):
        assert FUNCTIONS[name](text, language) == FUNCTIONS[name](text.upper(), language)


def test_no_parameter_or_constant_has_the_name_of_a_measure():
    for template in load_templates().values():
        assert not {*template.parameter_names, *template.constants} & {*DECLARED, *NAMES}, template.name


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
