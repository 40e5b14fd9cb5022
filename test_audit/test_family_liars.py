"""Liars, and which family of checks catches them: each family has one that no other catches."""

import pytest

from audit.calls import call_rows
from audit.divergence import divergence_calls, smallest_splits
from audit.extremes import extreme_calls
from audit.hostile import hostile_calls
from audit.questions import drawn_params, probe_calls
from audit.stability import OTHER_SEED, stability_calls, unstable
from specs import ROOM, Template, load_probes
from verifiers_pinned.miniatures import TEMPLATE, catalogue_of, of_body
from verifiers_pinned.session import Session

IT = Template(
    TEMPLATE,
    *TEMPLATE.split("/"),
    wording="Use the word {word} {n} times.",
    path=ROOM,
    parameters={"properties": {"n": {"type": "integer", "minimum": 0}, "word": {"type": "string"}}},
    draws={
        "small": {"n": {"integers": [1, 3]}, "word": {"choice": ["tea", "milk"]}},
        "upstream": {"n": {"integers": [1, 10**6]}, "word": {"choice": ["coffee", "water"]}},
    },
)
RARE = drawn_params(IT, "upstream", 100)[-1]["n"]
HONEST = "return value.split().count(self.kwargs['word']) == self.kwargs['n']"
LIARS = {
    "crashes_on_rare_arguments": (f"assert self.kwargs['n'] != {RARE}\n{HONEST}", {"probe"}),
    "crashes_on_a_megabyte": (f"assert len(value) < 500_000\n{HONEST}", {"hostile"}),
    "another_process": (f"import os\nif os.environ['PYTHONHASHSEED'] != '0': return True\n{HONEST}", {"stability"}),
    "always_rejects": ("return False", {"divergence"}),
    "always_accepts": ("return True", {"probe", "hostile", "divergence"}),
    "crashes": ("raise KeyError", {"probe", "hostile", "stability", "divergence"}),
    "takes_the_word_for_a_pattern": (
        "import re\nreturn len(re.findall(self.kwargs['word'], value)) == self.kwargs['n']",
        {"hostile", "divergence"},
    ),
    "honest": (HONEST, set()),
}


@pytest.fixture(scope="module")
def sessions(tmp_path_factory):
    sources = {name: of_body(body) for name, (body, _) in LIARS.items()}
    catalogue, checkouts = catalogue_of(tmp_path_factory.mktemp("pins"), sources)
    other = Session(catalogue, checkouts=checkouts, seed=OTHER_SEED, hash_seed=OTHER_SEED)
    with Session(catalogue, checkouts=checkouts) as session, other:
        yield session, other


def alarms(session, liar, calls):
    return any(call_rows(calls, session.call_batch(liar, TEMPLATE, [call.question for call in calls]))["alarm"])


def caught_by(liar, session, other):
    families = {
        "probe": alarms(session, liar, probe_calls(IT, [(probe.id, probe.text) for probe in load_probes()])),
        "hostile": alarms(session, liar, [*hostile_calls(IT), *extreme_calls(IT)]),
    }
    result, told = unstable(session, other, liar, IT, calls := stability_calls(IT))
    families["stability"] = bool(told) or any(call_rows(calls, result)["alarm"])
    calls = divergence_calls(IT)
    verdicts = {
        key: session.call_batch(key, TEMPLATE, [call.question for call in calls]).verdicts for key in {liar, "honest"}
    }
    families["divergence"] = bool(smallest_splits(calls, verdicts))
    return {name for name, caught in families.items() if caught}


# The liars are sent what the audit sends, and so the official data sets.
@pytest.mark.audit
@pytest.mark.parametrize("liar", LIARS)
def test_a_liar_is_caught_by_these_families(sessions, liar):
    assert caught_by(liar, *sessions) == LIARS[liar][1]


def test_each_family_has_a_liar_of_its_own():
    alone = {frozenset(families) for _, families in LIARS.values() if len(families) == 1}
    assert alone == {frozenset([name]) for name in ("probe", "hostile", "stability", "divergence")}
