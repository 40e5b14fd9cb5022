"""Sketches of several processes become their mean, so that data parallelism is one process with all of the data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")

import logra  # noqa: E402
from chains import backward, bits, build, chain, close  # noqa: E402

WORKER = """
import sys
import torch
import logra
from chains import backward, bits, build, chain

rank, folder = int(sys.argv[1]), sys.argv[2]
torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
model = chain(6, 9, 5)
optimizer = build(logra, model, max_grad_norm=0.1)
for step in range(3):
    backward(model, seed=2 * step + rank)
    optimizer.step()
torch.save(bits(model), f"{folder}/{rank}.pt")
torch.distributed.destroy_process_group()
"""


@pytest.mark.slow
@pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch is built without torch.distributed")
def test_two_processes_are_one_with_both_batches(tmp_path):
    here = Path(__file__).parent
    path = {"PYTHONPATH": f"{here}:{here.parent}", "OMP_NUM_THREADS": "1"}
    started = [
        subprocess.Popen([sys.executable, "-c", WORKER, str(rank), str(tmp_path)], env={**path, "PATH": ""})
        for rank in (0, 1)
    ]
    assert [process.wait(timeout=120) for process in started] == [0, 0]
    model = chain(6, 9, 5)
    optimizer = build(logra, model, max_grad_norm=0.1)
    for step in range(3):
        for rank in (0, 1):
            backward(model, seed=2 * step + rank, scale=0.5)
        optimizer.step()
    first, second = (torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in (0, 1))
    for name, weight in bits(model).items():
        assert torch.equal(first[name], second[name])
        close(first[name], weight)


def test_a_group_of_two_is_averaged_in_place(monkeypatch):
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda group: 2)
    monkeypatch.setattr(torch.distributed, "all_reduce", lambda sketch, group: sketch.add_(3.0))
    sketch = torch.ones(2, 2)
    logra.reduction.reduce_sketches([sketch])
    assert bool((sketch == 2.0).all())


def test_a_group_of_one_is_left_alone(monkeypatch):
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda group: 1)
    sketch = torch.ones(2, 2)
    logra.reduction.reduce_sketches([sketch])
    assert bool((sketch == 1.0).all())
