"""LoGRA as the optimizer of TRL's GRPOTrainer, with and without predicted-KL control."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")
transformers = pytest.importorskip("transformers", reason="GRPOTrainer needs transformers")
trl = pytest.importorskip("trl", reason="GRPOTrainer is TRL's: pip install trl")
datasets = pytest.importorskip("datasets", reason="GRPOTrainer needs datasets")

import logra  # noqa: E402
from chains import bits, same  # noqa: E402
from logra.trainer_callback import PredictedKLCallback  # noqa: E402
from tiny_models import VOCABULARY, llama, qwen3_5  # noqa: E402

pytestmark = pytest.mark.rl

BUDGET = 1e-5


def tokenizer() -> Any:
    """One token a word, w2 to the end of the tiny models' vocabulary."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = {"<pad>": 0, "<eos>": 1, **{f"w{i}": i for i in range(2, VOCABULARY)}}
    whole = Tokenizer(models.WordLevel(words, unk_token="<pad>"))
    whole.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return transformers.PreTrainedTokenizerFast(tokenizer_object=whole, pad_token="<pad>", eos_token="<eos>")


def share_of_even_tokens(completion_ids: list[list[int]], **_: Any) -> list[float]:
    """A reward that varies within a group."""
    return [sum(token % 2 == 0 for token in ids) / len(ids) for ids in completion_ids]


class Recording(logra.PredictedKLController):
    """Keeps what each step decided."""

    def scale(self, *arguments: Any, **options: Any) -> Any:
        self.decided = [*getattr(self, "decided", []), super().scale(*arguments, **options)]
        return self.decided[-1]


def trainer(folder: Path, *, build: Any = llama, controller: Any = None, native: Any = None, **settings: Any) -> Any:
    """A GRPOTrainer over a tiny model: two microbatches of four completions of one prompt a step."""
    model = build()
    optimizer = logra.LoGRA(model, rank=4, ratio=1e-2, controller=controller, native=native)
    arguments = trl.GRPOConfig(
        output_dir=str(folder), per_device_train_batch_size=4, num_generations=4, gradient_accumulation_steps=2,
        max_completion_length=8, learning_rate=1.0, lr_scheduler_type="constant", save_steps=2, report_to=[],
        use_cpu=True, bf16=False, disable_tqdm=True, dataloader_pin_memory=False, seed=0, **settings,
    )  # fmt: skip
    prompts = datasets.Dataset.from_list([{"prompt": f"w{i} w{i + 1}"} for i in range(2, 18)])
    return trl.GRPOTrainer(
        model, share_of_even_tokens, args=arguments, train_dataset=prompts, processing_class=tokenizer(),
        optimizers=(optimizer, None), callbacks=[PredictedKLCallback(controller)] if controller else [],
    )  # fmt: skip


@pytest.mark.parametrize("gradient_checkpointing", [False, True])
@pytest.mark.parametrize("build", [llama, qwen3_5])
def test_steps_meet_the_budget(tmp_path, build, gradient_checkpointing):
    controller = Recording(budget_start=BUDGET, budget_end=BUDGET, alpha_max=100.0)
    run = trainer(
        tmp_path, build=build, controller=controller, max_steps=3, gradient_checkpointing=gradient_checkpointing
    )
    before = bits(run.model)
    run.train()
    assert not same(before, bits(run.model))
    assert [step.alpha**2 * step.kl for step in controller.decided] == pytest.approx([BUDGET] * 3, rel=1e-3)


@pytest.mark.parametrize("native", [None, {"lr": 1e-3}])
def test_a_resumed_run_has_the_same_bits(tmp_path, native):
    straight = trainer(tmp_path / "straight", native=native, max_steps=4, num_iterations=2)
    straight.train()
    resumed = trainer(tmp_path / "resumed", native=native, max_steps=4, num_iterations=2)
    resumed.train(resume_from_checkpoint=str(tmp_path / "straight" / "checkpoint-2"))
    assert resumed.optimizer.optimizer.update == 4
    assert same(bits(straight.model), bits(resumed.model))
