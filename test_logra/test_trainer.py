"""LoGRA inside transformers.Trainer: accumulation, checkpointing, clipping, schedules, saving and resuming."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")
transformers = pytest.importorskip("transformers", reason="the Trainer needs transformers: pip install .[rl]")
pytest.importorskip("accelerate", reason="the Trainer needs accelerate")

import logra  # noqa: E402
from chains import bits, same  # noqa: E402
from tiny_models import llama  # noqa: E402

TEXT = torch.arange(64) % 5
ROWS = [{"input_ids": TEXT[i : i + 16], "labels": TEXT[i : i + 16]} for i in range(48)]


def trainer(folder, *, steps=6, native=None, **settings):
    """A Trainer over a tiny Llama; two microbatches a step, a checkpoint after the third."""
    model = llama()
    optimizer = logra.LoGRA(model, rank=4, ratio=3e-2, native=native)
    arguments = transformers.TrainingArguments(
        output_dir=str(folder), max_steps=steps, per_device_train_batch_size=2, gradient_accumulation_steps=2,
        learning_rate=1.0, save_steps=3, logging_steps=1, report_to=[], use_cpu=True, disable_tqdm=True,
        dataloader_pin_memory=False, seed=0, **settings,
    )  # fmt: skip
    return transformers.Trainer(model=model, args=arguments, train_dataset=ROWS, optimizers=(optimizer, None))


def losses(run):
    return [entry["loss"] for entry in run.state.log_history if "loss" in entry]


@pytest.mark.parametrize("native", [None, {"lr": 1e-3}])
def test_the_loss_goes_down(tmp_path, native):
    run = trainer(tmp_path, steps=12, native=native)
    run.train()
    history = losses(run)
    assert history[-1] < history[0] - 0.1
    assert run.optimizer.optimizer.update == 12


@pytest.mark.parametrize("reentrant", [True, False])
def test_gradient_checkpointing_changes_no_bit(tmp_path, reentrant):
    plain = trainer(tmp_path / "plain", steps=3)
    plain.train()
    saving = {"gradient_checkpointing": True, "gradient_checkpointing_kwargs": {"use_reentrant": reentrant}}
    checkpointed = trainer(tmp_path / "checkpointed", steps=3, **saving)
    checkpointed.train()
    assert same(bits(plain.model), bits(checkpointed.model))


@pytest.mark.parametrize("native", [None, {"lr": 1e-3}])
def test_a_resumed_run_has_the_same_bits(tmp_path, native):
    straight = trainer(tmp_path / "straight", native=native)
    straight.train()
    resumed = trainer(tmp_path / "resumed", native=native)
    resumed.train(resume_from_checkpoint=str(tmp_path / "straight" / "checkpoint-3"))
    assert resumed.optimizer.optimizer.update == 6
    assert same(bits(straight.model), bits(resumed.model))


def test_autocast_and_the_trainers_own_clipping(tmp_path):
    run = trainer(tmp_path, steps=3, bf16=True, max_grad_norm=1.0)
    run.train()
    assert all(loss == loss for loss in losses(run))
    assert run.optimizer.optimizer.update == 3
