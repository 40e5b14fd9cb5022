"""What a verifier may do to its own process, it does to nobody else, and each such thing is called by its name."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from verifiers_pinned.miniatures import TEMPLATE, catalogue_of, of_body
from verifiers_pinned.session import Limits, Session
from verifiers_pinned.verdicts import Verdict

BODIES = {
    "accepts": "return True",
    "rejects": "return False",
    "crashes": "raise KeyError('nothing here')",
    "crashes_with_a_path": "open('/nonexistent/folder/file.txt')",
    "crashes_without_words": "raise Wordless",
    "nothing": "return None",
    "number": "return 1",
    "hangs": "while value == 'bad': pass\nreturn True",
    "hangs_and_swallows": """
        while value == 'bad':
            try:
                spin()
            except: pass
        return True
    """,
    "late": """
        try:
            if value == 'bad': spin()
        except: pass
        return True
    """,
    "rewords": """
        try:
            if value == 'bad': spin()
        except: raise ValueError('bad input')
        return True
    """,
    "hangs_in_its_message": "if value == 'bad': raise Endless\nreturn True",
    "tells_at_length": "raise ValueError('/-' * 5_000_000)",
    "backtracks": "import re\nreturn bool(re.match('(a+)+$', value * 40 + 'b')) if value == 'a' else True",
    "counts_in_c": "return sum(range(1 << 40 if value == 'bad' else 1)) == 0",
    "segfaults": "import ctypes\nreturn ctypes.string_at(0) == b'' if value == 'bad' else True",
    "exits": "import sys\nsys.exit(3)",
    "exits_at_once": "import os\nif value == 'bad': os._exit(3)\nreturn True",
    "kills_itself": "import os, signal\nsignal.raise_signal(signal.SIGKILL)",
    "recurses": "return self.check_following(value)",
    "allocates": "return bool(bytes(2 << 30)) if value == 'bad' else True",
    "patches": """
        import re, time, os, json, pickle
        re.search = re.match = re.sub = time.monotonic_ns = os.read = pickle.loads = json.dumps = None
        return True
    """,
    "uses_re": "import re\nreturn re.search('o', value) is not None",
    "threads": """
        import threading
        if value == 'bad':
            threading.Thread(target=threading.Event().wait, daemon=True).start()
        return True
    """,
    "writes_outside": "open('/tmp/assay-must-not-exist', 'w')\nreturn True",
    "writes_inside": "open('note', 'w').write(value)\nimport tempfile\nreturn bool(tempfile.mkdtemp())",
    "removes_a_tree": "import shutil\nshutil.rmtree(self.kwargs['folder'])\nreturn True",
    "removes_its_own": "import tempfile\nwith tempfile.TemporaryDirectory() as d: open(d + '/f', 'w')\nreturn True",
    "renames": "import os\nos.rename('/tmp/assay-none', '/tmp/assay-other')",
    "connects": "import socket\nsocket.create_connection(('127.0.0.1', 9), timeout=1)",
    "asks_names": "import socket\nsocket.getaddrinfo('localhost', 80)",
    "starts_processes": "import subprocess\nsubprocess.run(['true'])",
    "forks": "import os\nos.fork()",
    "spawns": "import multiprocessing as mp\nmp.get_context('spawn').Process(target=print).start()",
    "keeps_a_database": "import sqlite3\nsqlite3.connect('/tmp/assay-must-not-exist')",
    "prints": "import sys\nfor _ in range(2000): print(value * 100); print(value, file=sys.stderr)\nreturn True",
    "spoils_params": "self.kwargs['words'].append('x')\nreturn len(self.kwargs['words']) == 2",
    "draws": "import random\nreturn random.random() < 0.5",
}
PRELUDE = """
class Wordless(Exception):
    def __str__(self): raise ValueError

class Endless(Exception):
    def __str__(self): spin()

def spin():
    while True: pass
"""
LIMITS = Limits(seconds=0.3, memory_bytes=256 << 20)


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    sources = {key: of_body(body, PRELUDE) for key, body in BODIES.items()}
    catalogue, checkouts = catalogue_of(tmp_path_factory.mktemp("pins"), sources)
    with Session(catalogue, checkouts=checkouts, limits=LIMITS) as opened:
        yield opened


def ask(session, key, *texts, params=None):
    return session.call_batch(key, TEMPLATE, [(params or {}, text) for text in texts])


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("crashes", "KeyError: 'nothing here'"),
        ("crashes_with_a_path", "FileNotFoundError: [Errno 2] No such file or directory: 'file.txt'"),
        ("crashes_without_words", "Wordless: (its message cannot be read)"),
        ("nothing", "returned NoneType, not a boolean"),
        ("number", "returned int, not a boolean"),
        ("tells_at_length", "ValueError: -"),
        ("exits", "SystemExit: 3"),
        ("kills_itself", "process killed by signal 9 (SIGKILL)"),
        ("recurses", "RecursionError: maximum recursion depth exceeded"),
        ("writes_outside", "Refused: a pinned verifier may not write outside its scratch folder"),
        ("renames", "Refused: a pinned verifier may not change files outside its scratch folder (os.rename)"),
        ("connects", "Refused: a pinned verifier may not use the network (socket.getaddrinfo)"),
        ("asks_names", "Refused: a pinned verifier may not use the network (socket.getaddrinfo)"),
        ("starts_processes", "Refused: a pinned verifier may not start or signal processes (subprocess.Popen)"),
        ("forks", "Refused: a pinned verifier may not start or signal processes (os.fork)"),
        ("spawns", "Refused: a pinned verifier may not start or signal processes"),
        ("keeps_a_database", "Refused: a pinned verifier may not open a database outside its scratch folder"),
    ],
)
def test_a_misdeed_is_a_crash_that_says_what_happened(session, key, told):
    result = ask(session, key, "a response")
    assert result.verdicts == [Verdict.crash]
    assert result.details[0].startswith(told)
    assert not Path("/tmp/assay-must-not-exist").exists()


@pytest.mark.parametrize(
    ("key", "verdict", "told"),
    [
        ("hangs", "timeout", "over the time limit of 0.3 s"),
        ("hangs_and_swallows", "timeout", "killed after 0.3 s, for the call did not heed the time limit"),
        ("counts_in_c", "timeout", "killed after 0.3 s, for the call did not heed the time limit"),
        ("late", "timeout", "answered after 0.3"),
        ("rewords", "timeout", "over the time limit of 0.3 s"),
        ("hangs_in_its_message", "crash", "Endless: (its message cannot be read)"),
        ("segfaults", "crash", "process killed by signal 11 (SIGSEGV)"),
        ("exits_at_once", "crash", "process ended with exit code 3"),
        ("allocates", "crash", "MemoryError: over the memory limit of 256 MiB"),
    ],
)
def test_the_calls_around_a_fatal_one_are_answered(session, key, verdict, told):
    result = ask(session, key, "good", "bad", "good", "good")
    assert result.verdicts == ["accept", verdict, "accept", "accept"]
    assert list(result.details) == [1]
    assert result.details[1].startswith(told)


@pytest.mark.parametrize(("key", "verdict"), [("accepts", "accept"), ("rejects", "reject")])
def test_liars_are_taken_at_their_word(session, key, verdict):
    assert ask(session, key, "", "Yes.").verdicts == [verdict, verdict]


@pytest.mark.parametrize("key", ["hangs", "counts_in_c"])
def test_a_verifier_that_only_hangs_is_given_up(tmp_path, key):
    catalogue, checkouts = catalogue_of(tmp_path, {key: of_body(BODIES[key], PRELUDE)})
    with Session(catalogue, checkouts=checkouts, limits=Limits(seconds=0.01)) as session:
        result = ask(session, key, *["bad"] * 9, "good", *["bad"] * 10, "good")
    assert result.verdicts == ["timeout"] * 9 + ["accept"] + ["timeout"] * 10 + ["not_run"]
    assert result.details[20] == "not asked: the 10 calls before did not end in time"


def test_a_catastrophic_expression_is_a_timeout(session):
    result = ask(session, "backtracks", "b", "a", "b")
    assert result.verdicts == ["accept", "timeout", "accept"]
    assert 0.3e6 <= result.microseconds[1] < 1e6


def test_a_patched_module_harms_only_the_one_who_patched(session):
    assert ask(session, "patches", *"abc").verdicts == ["accept"] * 3
    assert ask(session, "uses_re", "one", "two", "six").verdicts == ["accept", "accept", "reject"]
    assert ask(session, "patches", "d").verdicts == ["accept"]


def test_a_left_thread_is_reported_and_its_process_replaced(session):
    result = ask(session, "threads", "good", "bad", "good")
    assert result.verdicts == ["accept"] * 3
    assert result.details == {1: "left 1 thread running"}
    assert "threads" not in session._children


@pytest.mark.parametrize("key", ["writes_inside", "removes_its_own"])
def test_the_scratch_folder_may_be_used(session, key):
    assert ask(session, key, "a").verdicts == ["accept"]


def test_a_tree_outside_is_not_removed(session, tmp_path):
    (tmp_path / "kept").write_text("here")
    result = ask(session, "removes_a_tree", "a", params={"folder": str(tmp_path)})
    assert result.details[0].startswith("Refused: a pinned verifier may not change files")
    assert (tmp_path / "kept").exists()


def test_an_interrupted_batch_leaves_no_answer_to_the_next(session, monkeypatch):
    ask(session, "accepts", "a")
    child = session._children["accepts"]
    monkeypatch.setattr(child, "_wait", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        ask(session, "accepts", *"abc")
    assert ask(session, "accepts", "a").verdicts == ["accept"]


def test_a_noisy_verifier_is_not_heard(session, capfd):
    assert ask(session, "prints", "noise").verdicts == ["accept"]
    assert capfd.readouterr() == ("", "")


def test_lists_in_params_are_fresh_for_each_call(session):
    params = {"words": ["a"]}
    assert ask(session, "spoils_params", *"abc", params=params).verdicts == ["accept"] * 3
    assert params == {"words": ["a"]}


def test_only_the_calls_that_drew_are_marked(session):
    assert ask(session, "draws", *"abc").drew_random == [True] * 3
    assert ask(session, "accepts", *"abc").drew_random == [False] * 3


def test_the_sandbox_comes_back_after_it_was_killed(session):
    ask(session, "accepts", "a")
    os.killpg(session._zygote._process.pid, signal.SIGKILL)
    assert ask(session, "accepts", "a", "b").verdicts == ["accept", "accept"]


OWNER = """
import sys
from pathlib import Path
from verifiers_pinned.miniatures import TEMPLATE, catalogue_of, of_body
from verifiers_pinned.session import Limits, Session
sources = {"stuck": of_body("while True: pass"), "idle": of_body("return True")}
catalogue, checkouts = catalogue_of(Path(sys.argv[1]), sources)
session = Session(catalogue, checkouts=checkouts, limits=Limits(seconds=600))
session.call_batch("idle", TEMPLATE, [({}, "")])
print(session._zygote._process.pid, session._zygote.scratch, flush=True)
session.call_batch("stuck", TEMPLATE, [({}, "")])
"""


def test_nothing_survives_an_owner_that_is_killed(tmp_path):
    root = str(Path(__file__).parent.parent)
    command = [sys.executable, "-c", OWNER, str(tmp_path)]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as owner:
        group, scratch = owner.stdout.readline().split()
        os.kill(owner.pid, signal.SIGKILL)
    assert _within_seconds(5, lambda: not _alive(int(group)) and not Path(scratch).exists())


def _alive(group):
    """Whether a process of the group still runs; one that waits to be buried does not."""
    stats = (_read(path) for path in Path("/proc").glob("[0-9]*/stat"))
    fields = [stat.rpartition(")")[2].split() for stat in stats if stat]
    return any(int(each[2]) == group and each[0] not in "ZX" for each in fields)


def _read(path):
    try:
        return path.read_text()
    except OSError:
        return ""


def _within_seconds(seconds, holds):
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        os.sched_yield()
    return holds()
