"""The language of predicates refuses what is unsafe, unknown or of the wrong kind, and says where."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specs.documents import open_document
from specs.language import ExpressionError, Scope, load_measures, located, read_expression, read_predicate
from specs.language.kinds import parse_kind

SCHEMA = {
    "properties": {
        "n": {"type": "integer"},
        "share": {"type": "number"},
        "names": {"type": "array", "items": {"type": "string"}},
        "relation": {"type": "string", "enum": ["less than", "at least"]},
    }
}
SCOPE = Scope.of_templates([SCHEMA], load_measures())


def faults(source: str) -> str:
    with pytest.raises(ExpressionError) as caught:
        read_predicate(source, SCOPE)
    return str(caught.value)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("text.lower() == ''", "1:1: values have no attributes here: no .lower"),
        ("().__class__ == n", "1:1: values have no attributes"),
        ("__import__('os')", "1:1: names begin with a letter"),
        ("_x == n", "1:1: names begin with a letter"),
        ("(lambda: n)() == n", "1:2: not allowed here: a lambda"),
        ("(m := n) > 1", "1:2: not allowed here: an assignment"),
        ("max(*names) == ''", "1:5: not allowed here: a star"),
        ("f'{n}' == ''", "1:1: not allowed here: an f-string"),
        ("9 ** 9 ** 9 > n", "1:1: not allowed here: a power"),
        ("'a' * 10 ** 10 == text", "not allowed here: a power"),
        ("text * 1000 == text", "1:1: * does not go with a text and an int"),
        ("n * 1000000000000000 > 1", "1:5: a number beyond 1,000,000,000,000"),
        ("n is 3", "1:1: not allowed here: 'is'; write =="),
        ("names == {'a': 1}", "1:10: not allowed here: a dictionary"),
        ("sorted(names, reverse=True) == names", "1:15: not allowed here: an argument by name"),
        ("n == 1j", "1:6: not allowed here: 1j"),
        ("n == None", "1:6: not allowed here: None"),
        ("any(a == c for a in text for b in text for c in text)", "1:4: 3 loops inside each other"),
        ("any(any(any(a == b for b in text) for b in text) for a in text)", "3 loops inside each other"),
        ("n == 1 # one", "1:8: a comment"),
        ("'\\d' in text", "invalid escape sequence"),
        ("n == (1", "not an expression"),
        ("n = 1", "not an expression"),
        ("1) == (n", "not an expression"),
        ("", "1:1: the expression is empty"),
        ("\0", "1:1: not an expression"),
        ("-" * 90 + "n > 1", "nested deeper than 16 levels"),
        ("n > 1 or " * 11 + "n > 1", "1:101: 104 characters in a line of at most 100"),
        ("\n".join(["n > 1 or"] * 10 + ["n > 1"]), "11 lines where at most 10"),
        ("n < " * 24 + "\n" + "n < " * 24 + "\n" + "n < " * 24 + "\n" + "n < " * 24 + "n", "1:1: more than 250 parts"),
    ],
)
def test_what_is_no_expression_of_ours_is_refused(source, told):
    assert told in faults(source)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("text", "1:1: a predicate is true or false; this is a text"),
        ("nn > 1", "1:1: there is no 'nn' here; did you mean 'n'?"),
        ("len(word(text)) > 1", "1:5: there is no measure 'word'; did you mean 'words'?"),
        ("words == names", "1:1: words is a function; call it, as in words(text: text)"),
        ("words(n) == names", "1:1: words does not take an int; it is used as words(text: text)"),
        ("starts_with(text) and n > 1", "starts_with does not take a text; it is used as"),
        ("n > 'a'", "1:1: > does not compare an int with a text"),
        ("1 < n < 'a'", "1:5: < does not compare an int with a text"),
        ("n in text", "1:1: in does not compare an int with a text"),
        ("n and n > 1", "1:1: and takes a bool; this is an int; compare it"),
        ("not names", "1:5: not takes a bool; this is a list of text"),
        ("-text == ''", "1:1: - takes a number"),
        ("text + n == ''", "1:1: + does not go with a text and an int"),
        ("(n > 1) + (n > 2) == 1", "`and` and `or` join conditions"),
        ("n[0] == 1", "1:1: an int has no places in brackets"),
        ("text['a'] == ''", "1:6: a place in brackets takes an int"),
        ("text[::n] == ''", "1:8: the step of a slice is written out"),
        ("text[::0] == ''", "1:8: the step of a slice is written out, and not 0"),
        ("[1, 'a'] == names", "1:5: the items of a list are of one kind"),
        ("('a' if n > 1 else 2) == 'a'", "the two sides of `if` are of one kind"),
        ("any(w for w in names)", "1:1: any does not take a list of text"),
        ("count(n > 1 for w in names) > 1", "1:1: count does not take a list of bool"),
        ("any(w == '' for w in n)", "`for` goes through a text or a list; this is an int"),
        ("any(w == '' for w in set(names))", "sorted(...) puts it in order"),
        ("any(text == '' for text in names)", "1:20: 'text' means something else already"),
        ("any(a == b for a, b in names)", "are given one name each"),
        ("relation == 'less then'", "1:13: relation is never 'less then'; did you mean 'less than'?"),
        ("relation in ['at most']", "1:14: relation is never 'at most'; did you mean 'at least'?"),
        ("nn > 1\n  or text > 2", "2:6: > does not compare a text with an int"),
    ],
)
def test_what_does_not_fit_together_is_refused(source, told):
    assert told in faults(source)


def test_everything_wrong_is_told_at_once():
    assert faults("nn > 1 and words(3) == mm").count("\n") == 2


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("n + 1", "int"),
        ("n / 2", "float"),
        ("n * share", "float"),
        ("text[1:-1] + 'a'", "text"),
        ("words(text)[::-1]", "list of text"),
        ("[len(w) for w in words(text) if w != '']", "list of int"),
        ("{w for w in names} & set(words(text))", "set of text"),
        ("max(len(w) for w in words(text))", "int"),
        ("sum(share for w in names)", "float"),
        ("zip(names, text)", "list of pair of text and text"),
        ("[a + b for a, b in enumerate([1, 2])]", "list of int"),
        ("[]", "list of any"),
    ],
)
def test_kinds_are_found(source, kind):
    assert str(read_expression(source, SCOPE).kind) == kind


@pytest.mark.parametrize("written", ["list of", "texts", "list of list", "pair of text and text", "", "set of text"])
def test_a_kind_that_does_not_exist_is_refused(written):
    with pytest.raises(ValueError, match="is no kind of value"):
        parse_kind(written)


@given(st.text(alphabet="ntextwords()[]{}.,:=<>'+-*/% \n01_#&|!@", max_size=200) | st.text(max_size=60))
def test_any_text_is_an_expression_or_refused(source):
    with suppress(ExpressionError):
        read_predicate(source, SCOPE)


@pytest.mark.parametrize(
    ("written", "place"),
    [
        ("when: n > 1 and wrds(text) == names", (1, 17)),
        ("when: 'n > 1 and wrds(text) == names'", (1, 18)),
        ("when: 'text == ''a'' and wrds(text) == names'", (1, 26)),
        ('when: "text == \\"\\u00e9\\" and wrds(text) == names"', (1, 31)),
        ("when: |\n  n > 1\n    and wrds(text) == names", (3, 9)),
        ("when: >-\n  n > 1\n  and wrds(text) == names", (3, 7)),
        ("when: n > 1\n  and wrds(text) == names", (2, 7)),
        ("when:\n  n > 1 and\n\n  wrds(text) == names", (4, 3)),
    ],
)
def test_a_fault_is_placed_in_the_file(tmp_path, written, place):
    path = tmp_path / "x.yaml"
    path.write_text(written, encoding="utf-8")
    document = open_document(path, {})
    with pytest.raises(ExpressionError) as caught:
        read_predicate(document.data["when"], SCOPE)
    (problem,) = located(path, document, ("when",), document.data["when"], caught.value)
    assert (problem.line, problem.column, problem.path) == (*place, "when")
