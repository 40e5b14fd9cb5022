"""A folder named by an option is never taken for a folder of tests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.folders import OPTIONS, joined
from reports.store import read_run

CASES = """
def check_case(record_rows): record_rows(check="probe", rows={"verdict": ["accept"]})
"""
WORDS = st.lists(st.sampled_from([*OPTIONS, "-x", "-n", "2", "tests", "--pins=all"]))


@given(WORDS)
def test_joining_loses_no_word_and_joining_twice_changes_nothing(arguments):
    once = joined(arguments)
    assert " ".join(once).replace("=", " ") == " ".join(arguments).replace("=", " ")
    assert joined(once) == once


def test_a_value_is_joined_to_its_option():
    assert joined(["-x", "--specs", "/s", "--report-dir=/r", "t"]) == ("-x", "--specs=/s", "--report-dir=/r", "t")


@pytest.mark.parametrize("form", [["--report-dir", "OUT"], ["--report-dir=OUT"]], ids=["apart", "joined"])
def test_workers_keep_the_configuration_of_the_folder(pytester, tmp_path, monkeypatch, form):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeini("[pytest]\npython_functions = check_*")
    pytester.makepyfile(CASES)
    out = tmp_path / "elsewhere" / "out"
    plugins = ["-p", "xdist.plugin", "-p", "reports.plugin", "-n", "1"]
    assert pytester.runpytest_inprocess(*plugins, *(word.replace("OUT", str(out)) for word in form)).ret == 0
    assert read_run(out).table.num_rows == 1
