"""Pinned data sets: read whole, as they are, and only while they are what was pinned."""

import json

import pytest

from verifiers_pinned import data
from verifiers_pinned.errors import PinError
from verifiers_pinned.fetch import fetch
from verifiers_pinned.miniature_wheels import Shelf, sha256

ROWS = [
    {
        "key": 7,
        "prompt": "Näive\u2028line",
        "instruction_id_list": ["count:numbers"],
        "kwargs": [{"N": 3.0, "word": None}],
    },
    {"key": "x", "prompt": "b", "instruction_id_list": ["a:b", "c:d"], "kwargs": [None, {}]},
]
RAW = "".join(json.dumps(row, ensure_ascii=False) + "\r\n" for row in ROWS).encode()


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    made = Shelf(tmp_path / "shelf")
    pin = {"member": {"path": "toy/rows.jsonl", "sha256": sha256(RAW)}, "rows": 2}
    made.add("toy", {"toy/checks.py": b"", "toy/rows.jsonl": RAW}, data={"ifbench_prompts": pin})
    monkeypatch.setattr(data, "_data_pins", lambda: made.catalogue().data)
    data.read_rows.cache_clear()
    data.read_prompts.cache_clear()
    yield made
    data.read_rows.cache_clear()
    data.read_prompts.cache_clear()


def test_prompts_keep_their_texts_and_values(shelf):
    fetch(shelf.catalogue(), ["toy"], download=shelf.download)
    first, second = data.load_prompts("ifbench")
    assert (first.key, first.text) == ("7", "Näive\u2028line")
    assert first.instances == (data.Instance("ifbench/count:numbers", {"N": 3.0}, 0),)
    assert [(each.template, each.index) for each in second.instances] == [("ifbench/a:b", 0), ("ifbench/c:d", 1)]


def test_data_that_was_not_fetched_says_how_to_get_it(shelf):
    with pytest.raises(PinError, match="ifbench_prompts was not fetched: python -m verifiers_pinned fetch toy"):
        data.load_prompts("ifbench")


def test_data_that_was_changed_is_refused(shelf):
    fetch(shelf.catalogue(), ["toy"], download=shelf.download)
    path = data.member_folder(shelf.catalogue().archives["toy"]) / "toy/rows.jsonl"
    path.write_bytes(RAW.replace(b"3.0", b"4.0"))
    with pytest.raises(PinError, match="was changed after it was fetched"):
        data.load_prompts("ifbench")


def test_a_collection_without_prompts_is_refused():
    with pytest.raises(ValueError, match="only of ifeval and ifbench"):
        data.load_prompts("ifrlvr")
