"""The optimizer's checks again, with models, sketches and weights on a CUDA device."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")

import golden_checks  # noqa: E402
import logra  # noqa: E402
import optimizer_checks as checks  # noqa: E402
from chains import backward, bits, build, chain, same  # noqa: E402

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device"),
]

BF16 = torch.bfloat16
CHECKS = {
    name: check
    for module in (golden_checks, checks)
    for name, check in vars(module).items()
    if name.startswith("check_")
}


@pytest.fixture(autouse=True)
def on_cuda():
    """Everything that names no device is made on the GPU."""
    torch.set_default_device("cuda")
    yield
    torch.set_default_device(None)


@pytest.mark.parametrize("name", CHECKS)
def test_check_on_cuda(name):
    CHECKS[name](logra)


@pytest.mark.parametrize("form", checks.FORMS)
@pytest.mark.parametrize("rule", checks.RULES)
def test_steps_are_those_of_the_dense_oracle_on_cuda(form, rule):
    checks.check_against_dense(logra, widths=(33, 65, 17), rank=8, form=form, rule=rule, **checks.RULES[rule])


@pytest.mark.parametrize("low_precision", ["master", "stochastic"])
@pytest.mark.parametrize("draw", ["cpu", "device"])
def test_bf16_resumes_and_replicates_on_cuda(low_precision, draw):
    options = {"dtype": BF16, "low_precision": low_precision, "draw": draw, "ratio": 1e-3}
    checks.check_resume(logra, **options)
    checks.check_replica(logra, **options)


def test_a_projection_drawn_on_the_cpu_is_the_same_on_cuda():
    for distribution in ("rademacher", "gaussian"):
        there = logra.make_projection(16, 100, 7, distribution, device="cuda")
        assert torch.equal(there.cpu(), logra.make_projection(16, 100, 7, distribution))


def test_a_projection_drawn_on_cuda_is_the_same_each_time():
    draws = [logra.make_projection(16, 100, 7, device="cuda", draw="device") for _ in range(2)]
    assert torch.equal(*draws)
    assert set(draws[0].unique().tolist()) == {-0.25, 0.25}


def test_a_model_moved_after_construction_trains_the_same():
    moved, placed = chain(6, 9, 5).cpu(), chain(6, 9, 5)
    late, early = build(logra, moved), build(logra, placed)
    moved.cuda()
    for step in range(3):
        for model, optimizer in ((moved, late), (placed, early)):
            backward(model, seed=step)
            optimizer.step()
    assert same(bits(moved), bits(placed))


def test_memory_on_the_device_is_what_is_computed():
    from logra.memory import account

    warm = chain(64, 64).to(BF16)  # the libraries' own workspaces are allocated in the first products
    optimizer = build(logra, warm, low_precision="stochastic")
    backward(warm)
    optimizer.step()
    model = chain(2048, 4096, 2048).to(BF16)
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    optimizer = build(logra, model, rank=16, low_precision="stochastic")
    backward(model)
    optimizer.step()
    backward(model)
    optimizer.propose()
    computed = account({"0": (4096, 2048), "2": (2048, 4096)}, 16)
    assert torch.cuda.memory_allocated() - before == pytest.approx(computed.total, rel=0.05)
