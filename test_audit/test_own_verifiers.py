"""A user's own template and verifier: one YAML and one function, and it is called, listed and audited like the rest."""

import subprocess
import sys
from pathlib import Path

import pytest

from specs import DocumentError, load_templates
from verifiers_pinned.__main__ import main
from verifiers_pinned.cache import installed
from verifiers_pinned.errors import PinError
from verifiers_pinned.own_verifiers import key_of, with_own_verifiers
from verifiers_pinned.pins import Catalogue
from verifiers_pinned.session import Limits, Session
from verifiers_pinned.verdicts import Verdict

ROOT = Path(__file__).resolve().parent.parent
SPEC = """\
id: count:bangs
wording: Use at most {limit} exclamation marks.
parameters:
  schema:
    additionalProperties: false
    required: [limit]
    properties:
      limit: {type: integer, minimum: 0, description: The most exclamation marks.}
  draw:
    small: {limit: {integers: [0, 3]}}
    upstream: {limit: {integers: [0, 20]}}
verifiers: [{python: ../../checks.py:few_bangs}]
"""
CHECKS = """\
def few_bangs(text, limit):
    return text.count("!") <= limit

def forgets(text, **params):
    return None

def hangs(text, **params):
    while True:
        pass
"""


@pytest.fixture
def own(tmp_path) -> Path:
    folder = tmp_path / "mine"
    (folder / "local" / "count").mkdir(parents=True)
    (folder / "local" / "count" / "bangs.yaml").write_text(SPEC)
    (folder / "checks.py").write_text(CHECKS)
    return folder


def naming(own: Path, python: str) -> Path:
    path = own / "local" / "count" / "bangs.yaml"
    path.write_text(SPEC.replace("../../checks.py:few_bangs", python))
    return own


def catalogue_of(own: Path) -> Catalogue:
    return with_own_verifiers(Catalogue({}, {}, {}, {}, {}, {}), load_templates([own]).values())


@pytest.mark.parametrize(
    ("function", "verdicts"),
    [
        ("few_bangs", [Verdict.accept, Verdict.reject]),
        ("forgets", [Verdict.crash, Verdict.crash]),
        ("hangs", [Verdict.timeout, Verdict.timeout]),
    ],
)
def test_a_function_answers_from_the_sandbox(own, function, verdicts):
    catalogue = catalogue_of(naming(own, f"../../checks.py:{function}"))
    with Session(catalogue, limits=Limits(seconds=0.5)) as session:
        found = session.call_batch(
            f"checks_{function}", "local/count:bangs", [({"limit": 1}, "a!"), ({"limit": 1}, "!!")]
        )
    assert found.verdicts == verdicts


def test_it_is_installed_where_it_lies_and_selected_with_the_default_set(own):
    catalogue = catalogue_of(own)
    (implementation,) = catalogue.select("default")
    assert implementation.key == "checks_few_bangs"
    assert installed(catalogue, implementation, {}) == own
    assert len(implementation.source.version) == 12


def test_templates_that_name_one_function_share_an_implementation(own):
    (own / "local" / "count" / "again.yaml").write_text(SPEC.replace("count:bangs", "count:again"))
    (implementation,) = catalogue_of(own).implementations.values()
    assert set(implementation.covers) == {"local/count:bangs", "local/count:again"}


@pytest.mark.parametrize(
    ("python", "told"),
    [
        (
            "../../checks.py:few_bang",
            r"bangs.yaml:12:22: verifiers\[0\].python: checks.py has no function 'few_bang'.*mean 'few_",
        ),
        ("nowhere.py:x", r"nowhere.py cannot be read: No such file"),
        ("bangs.yaml:x", "verifiers"),
        ("../../broken.py:x", "broken.py is no Python"),
    ],
)
def test_a_verifier_that_is_not_there_is_told_by_line(own, python, told):
    (own / "broken.py").write_text("def (")
    with pytest.raises(DocumentError, match=told):
        load_templates([naming(own, python)])


def test_a_key_that_is_taken_is_refused(own):
    templates = load_templates([own]).values()
    with pytest.raises(PinError, match=r"few_bangs would be called 'checks_few_bangs', and that is .* already; rename"):
        with_own_verifiers(with_own_verifiers(Catalogue({}, {}, {}, {}, {}, {}), templates), templates)


@pytest.mark.parametrize(("file", "key"), [("My Checks.py", "my_checks_f"), ("2.py", "own_2_f"), ("_x.py", "x_f")])
def test_a_key_is_a_word(file, key):
    from specs.verifiers import OwnVerifier

    assert key_of(OwnVerifier(Path(file), "f")) == key


def test_the_command_asks_it(own, capsys):
    options = ["--specs", str(own), "--params", '{"limit": 0}', "--text", "no!"]
    assert main(["verdict", "local/count:bangs", *options]) == 0
    told = capsys.readouterr().out
    assert "checks_few_bangs" in told
    assert "reject" in told
    assert main(["list", "--specs", str(own)]) == 0
    assert "checks_few_bangs" in capsys.readouterr().out


CASES = """
import pytest
from verifiers_pinned.plugin import selected, templates_of

def pytest_generate_tests(metafunc):
    found = [(i.key, t) for i in selected(metafunc.config) for t in templates_of(metafunc.config) if t in i.covers]
    metafunc.parametrize(("key", "template"), [pair for pair in found if pair[1].startswith("local/")])

@pytest.mark.audit
def test_it(key, template, verifier_session):
    assert verifier_session.call_batch(key, template, [({"limit": 1}, "!!")]).verdicts == ["reject"]
"""


@pytest.fixture
def project(pytester, tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makeini("[pytest]\nmarkers = audit: audits")
    pytester.makepyfile(CASES)
    return pytester


def run(project, *arguments):
    options = ("-p", "verifiers_pinned.plugin", "-p", "reports.plugin", "-p", "no:cacheprovider", "-m", "audit")
    return project.runpytest_subprocess(*options, "--pins", "checks_few_bangs", *arguments)


@pytest.mark.parametrize("workers", [[], ["-n1"]], ids=["alone", "one-worker"])
def test_an_audit_has_cases_of_it(project, own, workers):
    run(project, f"--specs={own}", *workers).assert_outcomes(passed=1)


@pytest.mark.slow
def test_one_yaml_and_one_function_have_cases_in_every_family(own):
    options = ["-m", "audit", f"--specs={own}", "--collect-only", "-q", "-p", "no:cacheprovider", "-k", "bangs"]
    command = [sys.executable, "-m", "pytest", *options, "test_audit"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    cases = [line for line in told.splitlines() if "[local/count:bangs-checks_few_bangs" in line]
    assert {case.partition("::")[0].rpartition("/")[2] for case in cases} >= {"test_probes.py", "test_hostile.py"}


@pytest.mark.parametrize(
    ("option", "told"),
    [("--specs=nowhere", "*the specs are wrong:*"), ("--pins-dir=nowhere", "*--pins-dir *nowhere: there is no such*")],
)
def test_a_folder_that_is_not_there_is_a_usage_error(project, own, option, told):
    result = run(project, f"--specs={own}", option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([told])
