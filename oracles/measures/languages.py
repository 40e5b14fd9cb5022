"""Which language a text is written in: by its script first, and by an identifier that does not look at case.

The identifier is py3langid, which draws nothing at random. Where script and identifier are not sure, two measures say
so: `is_in_language` is false and `may_be_in_language` is true.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import regex

__all__ = ["detected_language", "is_in_language", "may_be_in_language"]

FEWEST_LETTERS = 20
SURE, POSSIBLE = 0.8, 0.05
SURE_SHARE, POSSIBLE_SHARE = 0.8, 0.5

_LETTERS = regex.compile(r"\p{L}")
_SCRIPTS = {
    **dict.fromkeys(("ar", "fa", "ur", "ps"), "Arabic"),
    **dict.fromkeys(("bg", "ru", "uk", "be", "mk", "sr", "kk", "ky", "mn"), "Cyrillic"),
    **dict.fromkeys(("hi", "mr", "ne", "sa"), "Devanagari"),
    **dict.fromkeys(("bn", "as"), "Bengali"),
    "el": "Greek", "gu": "Gujarati", "he": "Hebrew", "hy": "Armenian", "ka": "Georgian", "kn": "Kannada",
    "ml": "Malayalam", "pa": "Gurmukhi", "si": "Sinhala", "ta": "Tamil", "te": "Telugu", "th": "Thai", "zh": "Han",
    "am": "Ethiopic", "km": "Khmer", "lo": "Lao", "my": "Myanmar",
}  # fmt: skip
_MIXED = {"ja": r"[\p{Han}\p{Hiragana}\p{Katakana}ー]", "ko": r"[\p{Hangul}\p{Han}]"}
# nobody else writes these scripts, kana and hangul among the mixed ones
_ALONE = {"el", "gu", "he", "hy", "ka", "kn", "ko", "ml", "pa", "si", "ta", "te", "th", "ja", "km", "lo"}
_PROPER = {"ja": regex.compile(r"[\p{Hiragana}\p{Katakana}]"), "ko": regex.compile(r"\p{Hangul}")}
# the identifier tells these from the language that a request would name
_KIN = {"en": ("pcm",), "ar": ("ary", "arz"), "zh": ("wuu", "yue"), "no": ("nn",), "uz": ("uzs",)}


def is_in_language(text: str, language: str) -> bool:
    letters = _LETTERS.findall(text)
    if not letters or _share(letters, language) < SURE_SHARE:
        return False
    if language in _ALONE:
        return _is_proper(text, language)
    return len(letters) >= FEWEST_LETTERS and _probability(text, language) >= SURE


def may_be_in_language(text: str, language: str) -> bool:
    letters = _LETTERS.findall(text)
    if not letters:
        return True
    if _share(letters, language) < POSSIBLE_SHARE:
        return False
    if language in _ALONE:
        # Chinese characters alone may be Japanese where they are few
        return _is_proper(text, language) or len(letters) < FEWEST_LETTERS
    return len(letters) < FEWEST_LETTERS or _probability(text, language) >= POSSIBLE


def detected_language(text: str) -> str:
    ranked = _ranked(text.lower()) if _LETTERS.search(text) else {}
    return max(ranked, key=lambda code: ranked[code]) if ranked else ""


def _share(letters: list[str], language: str) -> float:
    pattern = _script(language)
    return sum(1 for letter in letters if pattern.match(letter)) / len(letters)


@cache
def _script(language: str) -> Any:
    return regex.compile(_MIXED.get(language) or rf"\p{{{_SCRIPTS.get(language, 'Latin')}}}")


def _is_proper(text: str, language: str) -> bool:
    return language not in _PROPER or bool(_PROPER[language].search(text))


def _probability(text: str, language: str) -> float:
    ranked = _ranked(text.lower())
    return sum(ranked.get(code, 0.0) for code in (language, *_KIN.get(language, ())))


# an oracle asks about the same text once a reading
@lru_cache(maxsize=512)
def _ranked(text: str) -> dict[str, float]:
    return {str(code): float(share) for code, share in _identifier().rank(text)}


@cache
def _identifier() -> Any:
    # the model takes a second to load, and few templates ask for it
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
