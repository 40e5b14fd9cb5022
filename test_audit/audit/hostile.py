"""Responses that nobody writes and somebody sends: blank, broken, huge, deeply nested, in other scripts."""

from __future__ import annotations

from specs import Template

from .calls import Call, Response
from .questions import drawn_params, usual_params

MEGABYTE = 1_000_000
DEPTH = 1_000
# Python's JSON scanner gives up between 1,000 and 10,000, by version.
DEEPER = 12_000

BLANK = {
    "empty": "",
    "space": " ",
    "spaces": "     ",
    "tabs": "\t\t",
    "newline": "\n",
    "blank_lines": "\n\n\n \n",
    "windows_blank_lines": "\r\n\r\n",
    "form_feed": "\f\v",
    "no_break_space": "\u00a0",
    "ideographic_space": "\u3000",
    "line_separator": "\u2028\u2029",
    "zero_width_space": "\u200b",
    "byte_order_mark": "\ufeff",
    "joiners_alone": "\u200d\u200c",
    "variation_selector": "\ufe0f",
}

SINGLE = {
    "letter": "a",
    "capital": "A",
    "digit": "7",
    "full_stop": ".",
    "comma": ",",
    "quotation_mark": '"',
    "apostrophe": "'",
    "asterisk": "*",
    "hash_sign": "#",
    "hyphen": "-",
    "backslash": "\\",
    "bracket": "[",
    "brace": "{",
    "angle": "<",
    "backtick": "`",
    "ideograph": "\u65e5",
    "nul": "\x00",
    "lone_surrogate": "\ud800",
    "combining_mark": "\u0301",
}

# One trap a text: what `str.isdigit`, `str.lower`, `int`, `json`, `csv`, `datetime` and lists of words stumble over.
TEXTS = {
    "surrogate_in_text": "A broken \udfff character. And one more sentence.",
    "nul_in_text": "before\x00after and more.",
    "combining_marks": "Z" + "\u0300\u0301\u0302\u0303" * 50 + "algo text.",
    "decomposed": "cafe\u0301 re\u0301sume\u0301 nai\u0308ve.",
    "right_to_left": "\u0645\u0631\u062d\u0628\u0627 \u0628\u0643. \u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd!",
    "direction_override": "left \u202eright to left\u202c again.",
    "joined_emoji": "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea \U0001f44d\U0001f3fd.",
    "emoji_lines": "\U0001f600\n\U0001f601\n\U0001f602",
    "windows_lines": "First line.\r\nSecond line.\r\n\r\nThird line.\r\n",
    "old_mac_lines": "First line.\rSecond line.\r\rThird line.",
    "final_newline": "One line with an end.\n",
    "no_final_newline": "One line\nand one without an end",
    "fence": "```\ncode\n```",
    "fence_json": '```json\n{"key": "value"}\n```',
    "fence_open": "```python\nprint(1)",
    "fences_alone": "``````",
    "metacharacters": r".*+?^${}()|[]\ and \d\b(?:x)[^a-z]",
    "format_fields": "%s %d %(name)s {0} {name} {{}} $HOME",
    "markup": "<b>bold</b> &amp; <script>x</script> <<title>>",
    "title_empty": "<<>>",
    "title_broken": "<<a>",
    "punctuation": "!!! ??? ... ;;; ---",
    "sentence_ends": ". . . ! ? .",
    "quotes_odd": 'He said "one and "two" and',
    "quotes_nested": '"a \'b "c" b\' a"',
    "parentheses_open": "((([[[{{{",
    "parentheses_closed": ")))]]]}}}",
    "bullets_empty": "* \n*\n- \n-",
    "rules": "***\n---\n******\n___",
    "wide_digits": "\uff11\uff12\uff13 words.",
    "superscript_digits": "x\u00b2 + y\u00b3 = \u2460.",
    "arabic_digits": "\u0661\u0662\u0663 \u0967\u0968\u0969.",
    "long_number": "9" * 5_000,
    "float_words": "nan inf -inf 1e999 1_000 0x10 -0.",
    "dates_wrong": "2024-02-30, 0000-00-00, 99/99/9999",
    "dotted_i": "\u0130STANBUL \u0131\u015f\u0131k.",
    "sharp_s": "STRASSE Stra\u00dfe \u1e9e \ufb01ne \u0149.",
    "title_case_letter": "\u01c5ep \u01c8ubav.",
    "small_caps": "\u1d00\u0299\u1d04 \U0001d400\U0001d401\U0001d402 \u24b6\u24b7.",
    "japanese": "\u6771\u4eac\u306f\u65e5\u672c\u306e\u9996\u90fd\u3067\u3059\u3002\u732b\u304c\u597d\u304d\u3002",
    "thai": "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01",
    "json_open": '{"a": [1, 2',
    "json_null": "null",
    "json_nan": '{"a": NaN}',
    "json_surrogate": '"\\ud800"',
    "csv_open_quote": 'a,b\n"c,d\ne,f',
    "csv_ragged": "a,b,c\n1\n\n1,2,3,4,5",
    "csv_nul": "a,b\n1,\x002",
    "section_heads": "SECTION\nSection 1 SECTION 2\nSECTION X",
    "paragraph_marks": "***\n\n***\n\na\n\n***",
    "postscript_alone": "P.S.",
    "option_letters": "A) B) C) (D)",
    "tabs_between": "\tone\ttwo\t\tthree\t",
    "one_word_lines": "one\ntwo\nthree\n",
    "numbered_list": "1. one\n2. two\n10. ten\n1.1. nested",
    "sentences": "The first is here. The second comes next! Is this the third? Yes, and this is the fourth.",
    "capitals": "ALL OF THIS IS WRITTEN IN CAPITAL LETTERS.",
    "repeats": "a a a a b b b b a a",
}

DEEP = {
    "deep_brackets": "[" * DEEPER + "]" * DEEPER,
    "deep_parentheses": "(" * DEPTH + "x" + ")" * DEPTH,
    "deep_json": '{"a":' * DEPTH + "1" + "}" * DEPTH,
    "deep_quotation": "> " * DEPTH + "quoted",
    "deep_list": "\n".join(" " * depth + "* x" for depth in range(200)),
    "deep_stars": "*" * DEPTH + "x" + "*" * DEPTH,
    "long_field": "x" * 140_000,
    "many_lines": "line\n" * 5_000,
    "many_paragraphs": "x\n\n" * 2_000,
}

HUGE = {"megabyte_of_words": ("some words again " * (MEGABYTE // 17 + 1))[:MEGABYTE]}


def brief_responses() -> list[Response]:
    """Those that are not there for their size."""
    return [each for group in (BLANK, SINGLE, TEXTS) for each in group.items()]


def hostile_calls(template: Template) -> list[Call]:
    """Each to drawn arguments and to others; what is large, and costs seconds in some verifiers, to the others only."""
    drawn, others = drawn_params(template, "upstream")[0], usual_params(template)
    asked = [(each, params) for params in (drawn, others) for each in brief_responses()]
    asked += [(each, others) for each in (*DEEP.items(), *HUGE.items())]
    return [Call(template.name, params, *response) for response, params in asked]
