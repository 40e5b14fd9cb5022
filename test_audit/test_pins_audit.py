"""The real pins: everything fetched is what was pinned, and the members are what their pins say about them."""

import ast
import sys

import pytest

from verifiers_pinned.cache import Missing, installed, resource_roots, sha256_of, state
from verifiers_pinned.data import load_prompts, load_sample_responses
from verifiers_pinned.pins import load_catalogue
from verifiers_pinned.plugin import selected

pytestmark = pytest.mark.audit

# Imported where no check goes: spaCy in a download that is switched off, PyThaiNLP for Thai responses only.
NEVER_REACHED = {"pythainlp", "spacy"}


def pytest_generate_tests(metafunc):
    if "implementation" in metafunc.fixturenames:
        chosen = selected(metafunc.config)
        metafunc.parametrize("implementation", chosen, ids=[each.key for each in chosen])


@pytest.fixture
def folder(catalogue, checkouts, implementation):
    found = installed(catalogue, implementation, checkouts)
    if isinstance(found, Missing):
        pytest.skip(found.reason)
    return found


def replaced(implementation, folder, module):
    """The text of a member as it is imported."""
    text = (folder / implementation.members[module].path).read_text(encoding="utf-8")
    for each in implementation.replacements.get(module, ()):
        assert text.count(each.old) == each.count
        text = text.replace(each.old, each.new)
    return text


def imported(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.partition(".")[0]


@pytest.mark.parametrize("archive", load_catalogue().archives.values(), ids=lambda archive: archive.key)
def test_every_fetched_file_has_its_hash(catalogue, archive):
    found = state(catalogue, archive, rehash=True)
    if found.word == "missing" and not archive.default:
        pytest.skip(found.detail)
    assert found.word == "present", found.detail


def test_members_have_their_hashes(implementation, folder):
    for member in implementation.members.values():
        assert sha256_of(folder / member.path) == member.sha256


def test_replacements_leave_only_the_declared_imports(implementation, folder):
    if implementation.style == "method":
        pytest.skip("only the class is executed")
    found = {name for module in implementation.members for name in imported(replaced(implementation, folder, module))}
    assert found - set(sys.stdlib_module_names) - NEVER_REACHED == set(implementation.requires)


def test_resources_are_an_nltk_data_tree(catalogue, implementation, folder):
    roots = resource_roots(catalogue, implementation)
    places = {"punkt_tab": "tokenizers/punkt_tab/english", "stopwords": "corpora/stopwords/english"}
    for need in set(implementation.needs) & set(places):
        assert any((root / places[need]).exists() for root in roots)


def test_official_prompts_are_complete():
    assert [(len(p), sum(len(each.instances) for each in p)) for p in map(load_prompts, ("ifeval", "ifbench"))] == [
        (541, 834),
        (300, 344),
    ]
    assert len(load_sample_responses()) == 294
