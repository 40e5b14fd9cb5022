"""Each wrong version of the optimizer that somebody has written or could write is caught by a check of the suite.

A wrong version is the package with one edit. The edit's text must occur exactly once, so a change to the code that
would make a wrong version right again fails here.
"""

from __future__ import annotations

import importlib
import shutil
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")

import logra  # noqa: E402
import optimizer_checks as checks  # noqa: E402

BF16 = torch.bfloat16


def resume_elsewhere(package):
    checks.check_resume(package)


def resume_stochastic(package):
    checks.check_resume(package, dtype=BF16, low_precision="stochastic")


def resume_masters(package):
    checks.check_resume(package, dtype=BF16, low_precision="master")


def replica_stochastic(package):
    checks.check_replica(package, dtype=BF16, low_precision="stochastic")


# name: (module, right, wrong, check that must fail, regular test that runs the check)
WRONG = {
    "no bias correction": (
        "update", "(new_moment / (1.0 - beta2**step)).sqrt()", "new_moment.sqrt()",
        checks.check_golden_directions, "test_directions_are_golden",
    ),
    "absolute for relative epsilon": (
        "update", "(epsilon * root.mean()).clamp_min(tiny)", "max(epsilon, tiny)",
        checks.check_directions_scale_with_the_sketch, "test_directions_scale_with_the_sketch",
    ),
    "missing norm restoration": (
        "update", "return direction * (torch.linalg.vector_norm(s)", "return direction * (s.new_ones(())",
        checks.check_norm_is_preserved, "test_norm_is_preserved",
    ),
    "moment kept before the check": (
        "update", "    if not bool(torch.isfinite(new_moment)",
        "    moment.copy_(new_moment)\n    if not bool(torch.isfinite(new_moment)",
        checks.check_refused_direction_keeps_the_moment, "test_a_refused_direction_keeps_the_moment",
    ),
    "A refreshed before the merge": (
        "optimizer", "seed, a = layer.noise_seed, layer.projection",
        "layer.advance(self.update + 1); seed, a = layer.noise_seed, layer.projection",
        checks.check_merge_uses_the_sketchs_projection, "test_merge_uses_the_sketchs_projection",
    ),
    "wrong A in the merge": (
        "optimizer", "seed, a = layer.noise_seed, layer.projection",
        "seed, a = layer.noise_seed, layer.law.matrix('', self.update, weight.shape[1], weight.device)",
        checks.check_merge_uses_the_sketchs_projection, "test_merge_uses_the_sketchs_projection",
    ),
    "moment updated on a refused step": (
        "optimizer", "kept.to(device=layer.weight.device, copy=True)", "kept",
        checks.check_refused_step_changes_nothing, "test_a_refused_step_changes_nothing",
    ),
    "state rebinding after load": (
        "optimizer", "return kept.to(device=layer.weight.device, copy=True)",
        "layer.kept = getattr(layer, 'kept', kept).clone(); return layer.kept",
        resume_elsewhere, "test_resume_gives_the_same_bits",
    ),
    "per-layer for global ratio": (
        "step_size", "target_ratio_scale(sum(norms), sum(sizes), ratio)", "target_ratio_scale(norm, size, ratio)",
        checks.check_ratio_is_global, "test_ratio_is_global",
    ),
    "global for per-layer trust region": (
        "step_size", "trust_region_scale(norm, lr * lr * size, ratio)",
        "trust_region_scale(sum(norms), lr * lr * sum(sizes), ratio)",
        checks.check_trust_region, "test_trust_region_caps_each_layer",
    ),
    "sketch in the activation dtype": (
        "sketch", "self.law.rank, dtype=torch.float32, device", "self.law.rank, dtype=weight.dtype, device",
        checks.check_accumulation_is_float32, "test_accumulation_is_float32",
    ),
    "sketch lost under reentrant checkpointing": (
        "sketch", "if not torch.is_grad_enabled():",
        "if not torch.is_grad_enabled() or torch._C._current_graph_task_id() != -1:",
        checks.check_checkpointing, "test_checkpointing_changes_nothing",
    ),
    "double count under retain_graph": (
        "sketch", "layer.accumulate(gradient, projected, ctx.scale)",
        "ctx.times = getattr(ctx, 'times', 0) + 1; layer.accumulate(gradient, projected, ctx.scale * ctx.times)",
        checks.check_retained_graph, "test_a_retained_graph_counts_once_a_backward",
    ),
    "last microbatch only": (
        "sketch", "self.sketch.add_(", "self.sketch.zero_().add_(",
        checks.check_sketch_is_that_of_the_dense_gradient, "test_sketch_is_that_of_the_dense_gradient",
    ),
    "seed with wrapper names": (
        "projection", 'layer_name(name).encode("utf-8")', 'name.encode("utf-8")',
        checks.check_golden_seeds, "test_seeds_are_golden",
    ),
    "signs the other way round": (
        "projection", "mul_(2.0).sub_(1.0)", "mul_(-2.0).add_(1.0)",
        checks.check_golden_projections, "test_projections_are_golden",
    ),
    "rounding towards zero": (
        "rounding", "rounded = ((bits + noise)", "rounded = ((bits + 0 * noise)",
        checks.check_stochastic_rounding_is_unbiased, "test_stochastic_rounding_is_unbiased",
    ),
    "rounding noise that no replica can draw": (
        "rounding", "manual_seed(seed ^ NOISE_SALT)", "manual_seed(torch.seed() >> 2)",
        replica_stochastic, "test_a_replica_follows_bit_for_bit",
    ),
    "noise that a resume does not repeat": (
        "rounding", "manual_seed(seed ^ NOISE_SALT)", "manual_seed(torch.seed() >> 2)",
        resume_stochastic, "test_resume_gives_the_same_bits",
    ),
    "master cast to the weight's dtype by a load": (
        "checkpoint", "value.to(device=parameter.device, copy=True)",
        "value.to(device=parameter.device, dtype=parameter.dtype, copy=True)",
        resume_masters, "test_resume_gives_the_same_bits",
    ),
    "update not counted by a load": (
        "checkpoint", 'return int(header["update"])', "return optimizer.update",
        resume_elsewhere, "test_resume_gives_the_same_bits",
    ),
}  # fmt: skip


@pytest.fixture
def wrong(tmp_path, monkeypatch):
    """Imports the package with one edit, beside the right one and gone afterwards."""

    def edited(module, right, replacement):
        source = Path(logra.__file__).parent
        shutil.copytree(source, tmp_path / "logra", ignore=shutil.ignore_patterns("__pycache__"))
        file = tmp_path / "logra" / f"{module}.py"
        text = file.read_text(encoding="utf-8")
        assert text.count(right) == 1, f"{right!r} occurs {text.count(right)} times in {module}.py"
        file.write_text(text.replace(right, replacement), encoding="utf-8")
        for name in [name for name in sys.modules if name.partition(".")[0] == "logra"]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.syspath_prepend(str(tmp_path))
        package = importlib.import_module("logra")
        assert Path(package.__file__).parent == tmp_path / "logra"
        return package

    yield edited
    for name in [name for name in sys.modules if name.partition(".")[0] == "logra"]:
        del sys.modules[name]


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_version_is_caught(name, wrong):
    module, right, replacement, check, _ = WRONG[name]
    with pytest.raises(AssertionError):
        check(wrong(module, right, replacement))


@pytest.mark.parametrize("name", WRONG)
def test_the_check_passes_on_the_right_version(name):
    WRONG[name][3](logra)


def test_every_check_is_run_by_the_test_that_is_named():
    texts = {file: file.read_text(encoding="utf-8") for file in Path(__file__).parent.glob("test_*.py")}
    for *_, test in WRONG.values():
        assert any(f"def {test}(" in text for text in texts.values()), f"no test is called {test}"


def test_an_unedited_copy_passes(wrong):
    # The control: what the copies fail on is the edit, not the copying.
    package = wrong("update", "def clip_scale", "def clip_scale")
    checks.check_golden_directions(package)
    checks.check_refused_step_changes_nothing(package)
