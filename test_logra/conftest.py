"""The optimizer's tests run on one thread, for equal bits, and are not even imported where none is wanted."""

import sys

import pytest

from verifiers_pinned.marks import may_select

OWN_MARKERS = ("unmarked", "slow", "gpu", "rl")


def pytest_ignore_collect(config):
    """An audit would wait for torch and transformers, once in each process, to deselect all that they bring."""
    wanted = any(may_select(config.option.markexpr, marker) for marker in OWN_MARKERS)
    return None if wanted else True


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    """Sums on several threads are not the same bits twice."""
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
