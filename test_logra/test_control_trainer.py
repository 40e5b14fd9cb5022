"""Tests of the controller in transformers' Trainer, in a process group, and on a CUDA device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")
transformers = pytest.importorskip("transformers", reason="the Trainer is transformers': pip install .[rl]")

from torch import nn  # noqa: E402

import tiny_models  # noqa: E402
from kl_checks import logits_of, model_update, tokens  # noqa: E402
from logra import LoGRA  # noqa: E402
from logra.control import PredictedKLController  # noqa: E402
from logra.predicted_kl import predicted_kl  # noqa: E402
from logra.probe import probe  # noqa: E402
from logra.responses import Responses  # noqa: E402
from logra.trainer_callback import PredictedKLCallback  # noqa: E402


def examples(count: int = 8) -> list[dict[str, Any]]:
    rows = [tokens(16, seed=seed)[0] for seed in range(count)]
    return [{"input_ids": row, "labels": torch.where(torch.arange(16) < 6, -100, row)} for row in rows]


class Recording(PredictedKLController):
    """Keeps what each step decided."""

    def scale(self, *arguments: Any, **options: Any) -> Any:
        self.decided = [*getattr(self, "decided", []), super().scale(*arguments, **options)]
        return self.decided[-1]


def test_a_trainer_probes_the_tokens_that_it_trains_on(tmp_path: Path) -> None:
    pytest.importorskip("accelerate", reason="the Trainer needs accelerate")
    model, controller = tiny_models.llama(), Recording(budget_start=1e-6, alpha_max=100.0)
    optimizer = LoGRA(model, rank=4, factor_dtype=torch.float32, controller=controller)
    settings = transformers.TrainingArguments(
        output_dir=str(tmp_path), max_steps=2, per_device_train_batch_size=2, gradient_accumulation_steps=2,
        learning_rate=1.0, lr_scheduler_type="constant", report_to=[], use_cpu=True, save_strategy="no",
    )  # fmt: skip
    trainer = transformers.Trainer(
        model, settings, train_dataset=examples(), optimizers=(optimizer, None),
        callbacks=[PredictedKLCallback(controller)],
    )  # fmt: skip
    trainer.train()
    assert [step.positions for step in controller.decided] == [20, 20]
    assert [step.alpha**2 * step.kl for step in controller.decided] == pytest.approx([1e-6, 1e-6], rel=1e-3)
    assert not any(module._forward_pre_hooks for module in model.modules())


def rows_seen(training: bool = True, **inputs: Any) -> list[Any]:
    """What the callback makes of one call of a model."""
    controller, model = PredictedKLController(), nn.Module()
    model.forward = lambda **inputs: None  # type: ignore[method-assign]
    callback = PredictedKLCallback(controller)
    callback.on_train_begin(None, None, None, model=model)
    model.train(training)(**inputs)
    callback.on_train_end(None, None, None)
    return controller._rows


def test_grpo_inputs_are_read_from_logits_to_keep() -> None:
    mask = torch.tensor([[0, 1, 1, 1, 1, 1, 1, 0]])
    (row,) = rows_seen(input_ids=tokens(8), attention_mask=mask, logits_to_keep=5)  # four tokens, one is padding
    assert (row.first, row.generated.tolist()) == (3, [False] * 3 + [True] * 3)


def test_inputs_that_are_not_trained_on_are_passed_by() -> None:
    assert rows_seen(training=False, input_ids=tokens(8), labels=tokens(8)) == []
    assert rows_seen(input_ids=tokens(8)) == []
    assert rows_seen(inputs_embeds=torch.zeros(1, 8, 4), labels=tokens(8)) == []
    with torch.no_grad():
        assert rows_seen(input_ids=tokens(8), labels=tokens(8)) == []


def test_a_step_that_was_given_up_leaves_no_response() -> None:
    controller = PredictedKLController()
    controller.observe(Responses(tokens(8), torch.ones(1, 8)))
    PredictedKLCallback(controller).on_step_begin(None, None, None)
    assert controller._rows == []


def test_a_process_group_of_one_changes_nothing(tmp_path: Path) -> None:
    model, controller = tiny_models.llama(), PredictedKLController()
    controller.observe(Responses(tokens(24), torch.ones(1, 24)))
    factors = model_update(model)
    alone = controller.scale(model, factors, update=0)
    torch.distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/rendezvous", rank=0, world_size=1)
    try:
        assert controller.scale(model, factors, update=0) == alone
    finally:
        torch.distributed.destroy_process_group()


needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


@pytest.mark.gpu
@needs_cuda
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("build", [tiny_models.qwen3_5, tiny_models.llama])
def test_a_cuda_probe_agrees_with_the_cpu(build: Any, dtype: Any) -> None:
    model, ids = build(), tokens(64)
    found = probe(model, model_update(model), logits_of(model, ids), method="forward")
    expected = float(predicted_kl(found.logits, found.tangents[0])[:, 16:].mean())
    factors = {layer: (A.cuda(), D.cuda()) for layer, (A, D) in model_update(model).items()}
    model.to("cuda", dtype)  # in place: the layers stay the keys
    found = probe(model, factors, logits_of(model, ids.cuda()), method="forward", verify=True)
    kl = float(predicted_kl(found.logits, found.tangents[0])[:, 16:].mean())
    assert kl == pytest.approx(expected, rel=1e-2 if dtype == torch.float32 else 0.2)
