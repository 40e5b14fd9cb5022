"""The pytest plugin of the pins: when it fetches, what its options mean, and how it refuses."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifiers_pinned import plugin
from verifiers_pinned.marks import may_select

ROOT = Path(__file__).resolve().parent.parent
DEFAULT = "not (audit or panel or claims or rl or gpu or slow)"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (DEFAULT, False),
        ("", True),
        ("audit", True),
        ("audit and not slow", True),
        ("audit and gpu", True),
        ("panel or audit", True),
        ("not slow", True),
        ("rl", False),
        ("gpu and not audit", False),
        ("audit and", False),
        ('owner(name="x") and audit', True),
    ],
)
def test_a_mark_expression_tells_whether_it_selects_audits(expression, expected):
    assert may_select(expression, "audit") is expected


@given(st.text(alphabet="audit nos()&|\n\0", max_size=30))
def test_any_expression_has_an_answer(expression):
    assert may_select(expression, "audit") in (True, False)


@pytest.fixture
def project(pytester, tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makeini("[pytest]\nmarkers = audit: audits")
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.audit
        def test_audit(catalogue, checkouts, pytestconfig):
            assert len(catalogue.select(pytestconfig.option.pins)) == 1
            assert list(checkouts) == ["josejg"]

        def test_plain(): pass
        """
    )
    return pytester


def run(project, *arguments):
    return project.runpytest_subprocess("-p", "verifiers_pinned.plugin", "-p", "no:cacheprovider", *arguments)


def test_a_run_without_audits_needs_no_pins(project):
    result = run(project, "-m", "not (audit or panel)", "--offline")
    result.assert_outcomes(passed=1, deselected=1)
    result.stdout.no_fnmatch_line("pins: *")


def test_an_audit_that_cannot_have_its_pins_does_not_begin(project):
    result = run(project, "-m", "audit", "--offline", "--pins", "deepeval")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: the pinned files cannot be had:", "offline, *deepeval 4.3.1 (1.5 MB)*"])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--pins", "deepevl"], "*did you mean 'deepeval'*"),
        (["--checkout", "josej=."], "*did you mean 'josejg'*"),
        (["--pins", "josejg", "--checkout", "josejg=."], "*instruction_following_eval/*No such file*"),
    ],
    ids=["pins", "checkout", "no checkout"],
)
def test_a_wrong_option_is_a_usage_error(project, arguments, told):
    result = run(project, "-m", "audit", "--offline", *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([told])


def test_workers_get_the_options_and_fixtures(project, monkeypatch):
    # Collected without fetching, so that a checkout of nothing serves here.
    monkeypatch.setattr("verifiers_pinned.plugin.fetch", lambda *_, **__: None)
    (project.path / "empty").mkdir()
    result = project.runpytest(
        *("-p", "verifiers_pinned.plugin", "-p", "no:cacheprovider", "-n1", "-m", "audit"),
        *("--pins", "twinkle", "--checkout", "josejg=empty"),
    )
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["pins: twinkle, 1 implementations; checkouts given: josejg"])


def test_an_audit_has_more_workers_than_cores_and_the_user_the_last_word(pytestconfig, monkeypatch):
    monkeypatch.setattr(plugin.os, "sched_getaffinity", lambda _: {0, 1}, raising=False)
    monkeypatch.delenv("PYTEST_XDIST_AUTO_NUM_WORKERS", raising=False)
    monkeypatch.setattr(plugin, "needs_pins", lambda _: True)
    assert plugin.pytest_xdist_auto_num_workers(pytestconfig) == 3
    monkeypatch.setenv("PYTEST_XDIST_AUTO_NUM_WORKERS", "2")
    assert plugin.pytest_xdist_auto_num_workers(pytestconfig) is None
    monkeypatch.delenv("PYTEST_XDIST_AUTO_NUM_WORKERS")
    monkeypatch.setattr(plugin, "needs_pins", lambda _: False)
    assert plugin.pytest_xdist_auto_num_workers(pytestconfig) is None
