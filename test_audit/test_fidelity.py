"""The fidelity check: does a checker use the arguments it was given, under every seed?"""

import pytest

from audit.calls import Call
from audit.fidelity import SEEDS, difference
from audit.instances import given_params
from specs import load_templates
from verifiers_pinned.plugin import selected
from verifiers_pinned.verdicts import Verdict

TEMPLATES = load_templates()
HONEST = {"text": "t", "arguments": {"n": 3, "words": ["a", "b"]}, "state": "s"}
LIARS = {
    "draws a zero anew": ({"n": 0}, [HONEST]),
    "drops a word": ({"words": ["a", "b", "b"]}, [HONEST]),
    "takes one for true": ({"n": True}, [{**HONEST, "arguments": {"n": 1}}]),
    "draws by seed": ({}, [HONEST, {**HONEST, "arguments": {"n": 4}}]),
    "renders by seed": ({}, [HONEST, {**HONEST, "text": "u"}]),
    "tells the right and keeps another": ({"n": 3}, [HONEST, HONEST, {**HONEST, "state": "r"}]),
    "sorts the caller's list": ({"n": 3}, [{**HONEST, "changed": {"n": 3}}]),
}


def pytest_generate_tests(metafunc):
    if "implementation" not in metafunc.fixturenames:
        return
    cases = [
        pytest.param(each.key, name, id=f"{name}-{each.key}")
        for each in selected(metafunc.config)
        if each.style == "class"
        for name in TEMPLATES
        if name in each.covers
    ]
    metafunc.parametrize(("implementation", "template"), cases)


@pytest.mark.audit
def test_fidelity(implementation, template, verifier_session, catalogue, settle):
    """Asked once, and under 20 seeds where it draws; one of its arguments is asked under 20 in any case."""
    witnesses = settle.witnesses(template, "fidelity")
    calls = [
        Call(template, each.params, each.name, "", each.prompt, each.instance)
        for each in given_params(TEMPLATES[template])
    ]
    calls += witnesses
    own = catalogue.implementations[implementation].own_parameters
    ask = verifier_session.describe_batch
    result = ask(implementation, template, [call.params for call in calls])
    alarms, details = [], []
    for at, call in enumerate(calls):
        answers = [result.answers[at]] if at in result.answers else []
        if answers and (at == 0 or result.drew_random[at]):
            answers += ask(implementation, template, [call.params], seeds=range(1, SEEDS)).answers.values()
        told = difference(own(template, call.params), answers) if answers else result.details.get(at)
        crashed = result.verdicts[at] in (Verdict.crash, Verdict.timeout)
        alarms.append(result.verdicts[at].value if crashed else "altered" if answers and told else None)
        details.append(told)
    silent = [None if verdict is Verdict.accept else verdict.value for verdict in result.verdicts]
    settle(
        calls, result, check="fidelity", implementation=implementation, alarms=alarms, detail=details, verdict=silent
    )


@pytest.mark.parametrize("liar", LIARS)
def test_every_liar_is_altered(liar):
    assert difference(*LIARS[liar])


@pytest.mark.parametrize("given", [{"n": 3}, {"n": 3.0}, {"words": ["b", "a"]}, {"untold": 1}, {}])
def test_the_same_in_other_words_is_not(given):
    assert difference(given, [HONEST] * SEEDS) is None


def test_arguments_are_different_valid_and_the_same_each_time():
    template = TEMPLATES["ifrlvr/count:lowercase_counting"]
    given = given_params(template)
    assert given == given_params(template) != given_params(template, seed=1)
    for each in given:
        template.check_params(each.params)


def test_extremes_reach_the_falsy_ones():
    given = given_params(TEMPLATES["ifbench/repeat:repeat_span"])
    assert any(each.params["n_start"] == 0 for each in given)
