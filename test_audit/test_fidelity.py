"""The fidelity check: does a checker use the arguments it was given, under every seed?"""

import pytest

from audit.calls import Call
from audit.fidelity import SEEDS, ask, difference
from audit.instances import given_params
from specs import load_templates
from verifiers_pinned.miniatures import TEMPLATE, catalogue_of, of_body
from verifiers_pinned.plugin import selected
from verifiers_pinned.session import Session
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
def test_fidelity(implementation, template, verifier_session, settle):
    given = given_params(TEMPLATES[template])
    calls = [Call(template, each.params, each.name, "", each.prompt, each.instance) for each in given]
    calls += settle.witnesses(template, "fidelity")
    result, alarms, details = ask(verifier_session, implementation, template, [call.params for call in calls])
    # a checker that was built gave no verdict
    verdicts = [None if verdict is Verdict.accept else verdict.value for verdict in result.verdicts]
    told = {"alarms": alarms, "detail": details, "verdict": verdicts}
    settle(calls, result, check="fidelity", implementation=implementation, **told)


SANDBOXED = {
    "n = n or random.randint(1, 10**9)": [None, "altered"],
    "n = random.SystemRandom().random() or n": ["altered", "altered"],
    "n.bit_length(), [][n]": ["crash", "crash"],
    "pass": [None, None],
}


@pytest.mark.parametrize("line", SANDBOXED)
def test_a_checker_that_lies_is_caught_in_its_sandbox(line, tmp_path):
    body = f"        {line}; self.kwargs = {{'n': n}}"
    source = of_body("return True", "import random\n").replace("        self.kwargs = kwargs", body)
    catalogue, checkouts = catalogue_of(tmp_path, {"mini": source.replace("self, **kwargs", "self, n")})
    with Session(catalogue, checkouts=checkouts) as session:
        assert ask(session, "mini", TEMPLATE, [{"n": 3}, {"n": 0}]).alarms == SANDBOXED[line]


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


@pytest.mark.audit
def test_extremes_reach_the_falsy_ones():
    given = given_params(TEMPLATES["ifbench/repeat:repeat_span"])
    assert any(each.params["n_start"] == 0 for each in given)
