"""What the sandbox adds to a verifier's own time: a session against a bare loop over the same checkers.

The bare loop runs in a process of its own (this file as a script) without clock, limits, hook or seeding; both loops
build the checker for every call. They alternate, and each batch counts with its best round. CPU time is compared, of
owner and child together (they never work at once), so that a busy machine does not decide.
"""

import contextlib
import json
import os
import pickle
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = str(Path(__file__).parent.parent)
# A round over the sample responses takes half a second, one over short texts six.
ROUNDS, SHORT_ROUNDS = 15, 5
# Calls of one short batch: enough that the message itself costs little a call.
SHORT = 1000
# Batches whose verifier draws are seen by their flag; langdetect draws from a generator of its own.
DETECTORS = {"ifeval/language:response_language", "ifeval/change_case:english_capital"}


def serve(path):
    """The bare loop: for each line on stdin, run all batches once and print the seconds of each."""
    from verifiers_pinned.calling import bind
    from verifiers_pinned.importing import load
    from verifiers_pinned.sandbox_nltk import preload, prepare_resources

    recipe, roots, requires, batches, scratch = pickle.loads(Path(path).read_bytes())
    preload(requires)
    prepare_resources(roots, 0)
    modules = load(recipe, scratch)
    bound = [(bind(address, modules), calls) for address, calls in batches]
    for _ in sys.stdin:
        took = []
        for check, calls in bound:
            started = time.process_time()
            for params, text in calls:
                with contextlib.suppress(Exception):
                    check(params, text)
            took.append(time.process_time() - started)
        print(json.dumps(took), flush=True)


def measure(key, batches, folder, rounds):
    """Seconds of each batch, best of the rounds, bare and in a session; and which batches drew."""
    from verifiers_pinned import cache
    from verifiers_pinned.pins import load_catalogue
    from verifiers_pinned.recipes import address_of, recipe_of
    from verifiers_pinned.session import Session

    catalogue = load_catalogue()
    pin = catalogue.implementations[key]
    found = cache.installed(catalogue, pin, {})
    if isinstance(found, cache.Missing):
        pytest.skip(found.reason)
    roots = tuple(str(root) for root in cache.resource_roots(catalogue, pin))
    own = [(address_of(pin, name), [(pin.own_parameters(name, p), t) for p, t in calls]) for name, calls in batches]
    Path(folder, "work").write_bytes(pickle.dumps((recipe_of(pin, found), roots, pin.requires, own, str(folder))))
    command = [sys.executable, __file__, str(Path(folder, "work"))]
    env = {**os.environ, "PYTHONPATH": ROOT, "PYTHONHASHSEED": "0"}
    bare, session, drew = [], [], set()
    with (
        Session(catalogue) as opened,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as loop,
    ):
        for _ in range(rounds):
            loop.stdin.write("\n")
            loop.stdin.flush()
            bare.append(json.loads(loop.stdout.readline()))
            row = []
            for name, calls in batches:
                started = spent(opened, key)
                result = opened.call_batch(key, name, calls)
                row.append(spent(opened, key) - started)
                drew |= {name} if any(result.drew_random) else set()
            session.append(row)
        loop.stdin.close()
    return [min(each) for each in zip(*bare, strict=True)], [min(each) for each in zip(*session, strict=True)], drew


def spent(session, key):
    """Seconds of CPU time of this process and of the child of `key`."""
    child = session._children.get(key)
    # The kernel's clock of another process: its number, inverted, and 2 for time on a processor.
    return time.process_time() + (time.clock_gettime((~child._pid << 3) | 2) if child else 0.0)


def sample_batches(collection):
    """The sample responses to IFBench, each with the instances of its prompt; for IFEval, in turn with any prompt."""
    from verifiers_pinned.data import load_prompts, load_sample_responses
    from verifiers_pinned.errors import PinError

    try:
        responses, prompts = load_sample_responses(), load_prompts(collection)
    except PinError as missing:
        pytest.skip(str(missing))
    texts, batches = list(responses.values()), defaultdict(list)
    for number, prompt in enumerate(prompts):
        text = responses.get(prompt.text) if collection == "ifbench" else texts[number % len(texts)]
        for instance in prompt.instances if text is not None else ():
            batches[instance.template].append((instance.params, text))
    return list(batches.items())


@pytest.mark.slow
@pytest.mark.parametrize(("key", "collection"), [("twinkle_ifbench", "ifbench"), ("lm_eval", "ifeval")])
def test_natural_text_costs_at_most_15_percent_more(key, collection, tmp_path, capsys):
    batches = sample_batches(collection)
    bare, session, drew = measure(key, batches, tmp_path, ROUNDS)
    seeded = [name in drew | DETECTORS for name, _ in batches]
    plain = [sum(t for t, s in zip(times, seeded, strict=True) if not s) for times in (bare, session)]
    drawn = [sum(t for t, s in zip(times, seeded, strict=True) if s) for times in (bare, session)]
    calls = sum(len(calls) for (_, calls), s in zip(batches, seeded, strict=True) if s)
    with capsys.disabled():
        print(f"\n{key}, sample responses: {100 * (plain[1] / plain[0] - 1):.1f} % more", end="")
        print(f"; seeded: {(drawn[1] - drawn[0]) / max(calls, 1) * 1e6:.0f} us a call more ({calls} calls)")
    assert plain[1] <= 1.15 * plain[0]


@pytest.mark.slow
@pytest.mark.parametrize(("key", "collection"), [("twinkle_ifbench", "ifbench"), ("lm_eval", "ifeval")])
def test_a_short_text_costs_at_most_2_microseconds_more(key, collection, tmp_path, capsys):
    batches = [(name, [(calls[0][0], "Yes.")] * SHORT) for name, calls in sample_batches(collection)]
    bare, session, drew = measure(key, batches, tmp_path, SHORT_ROUNDS)
    # Only verifiers so fast that the difference can be seen.
    rows = [
        (b, s)
        for (name, _), b, s in zip(batches, bare, session, strict=True)
        if name not in drew | DETECTORS and b < 0.1
    ]
    extra = sum(s - b for b, s in rows) / (SHORT * len(rows)) * 1e6
    with capsys.disabled():
        print(f"\n{key}, 'Yes.': {extra:.2f} us a call more, over {len(rows)} templates")
    assert extra <= 2.0


if __name__ == "__main__":
    sys.path.append(ROOT)
    serve(sys.argv[1])
