"""Wrong versions of the optimizer: an edit to the package, the check that fails on it, and the test that runs it."""

from __future__ import annotations

from types import ModuleType

import torch

import golden_checks
import optimizer_checks as checks

BF16 = torch.bfloat16


def resume_elsewhere(package: ModuleType) -> None:
    checks.check_resume(package)


def resume_stochastic(package: ModuleType) -> None:
    checks.check_resume(package, dtype=BF16, low_precision="stochastic")


def resume_masters(package: ModuleType) -> None:
    checks.check_resume(package, dtype=BF16, low_precision="master")


def replica_stochastic(package: ModuleType) -> None:
    checks.check_replica(package, dtype=BF16, low_precision="stochastic")


# name: (module, right, wrong, check that must fail, regular test that runs the check)
WRONG = {
    "no bias correction": (
        "update", "(new_moment / (1.0 - beta2**step)).sqrt()", "new_moment.sqrt()",
        golden_checks.check_golden_directions, "test_directions_are_golden",
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
    "alpha applied before the probe": (
        "optimizer", "self.propose(tokens=tokens)\n",
        "self.propose(tokens=tokens)\n        [d.mul_(0.5) for d in self._proposal.directions.values()]\n",
        checks.check_controller_sees_the_unscaled_proposal, "test_a_controller_sees_the_unscaled_proposal",
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
    "cap before the learning rate": (
        "step_size", "trust_region_scale(norm, lr * lr * size, ratio)", "trust_region_scale(norm, size, ratio)",
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
        golden_checks.check_golden_seeds, "test_seeds_are_golden",
    ),
    "projections that reseed torch's generator": (
        "projection", "torch.Generator(device=where).manual_seed(seed)", "torch.manual_seed(seed)",
        checks.check_global_generator_is_left_alone, "test_torchs_own_generator_is_left_alone",
    ),
    "noise that reseeds torch's generator": (
        "rounding", "torch.Generator(device=device).manual_seed(seed ^ NOISE_SALT)",
        "torch.manual_seed(seed ^ NOISE_SALT)",
        checks.check_global_generator_is_left_alone, "test_torchs_own_generator_is_left_alone",
    ),
    "signs the other way round": (
        "projection", "mul_(2.0).sub_(1.0)", "mul_(-2.0).add_(1.0)",
        golden_checks.check_golden_projections, "test_projections_are_golden",
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
