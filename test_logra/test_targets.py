"""Targets are chosen by name, and what cannot be trained through a sketch is named."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="the optimizer needs torch: pip install .[rl]")
pytest.importorskip("transformers", reason="real layer names need transformers: pip install .[rl]")

from torch import nn  # noqa: E402

from chains import chain  # noqa: E402
from logra.targets import matches, select_targets  # noqa: E402
from tiny_models import llama, qwen3_5, targets  # noqa: E402


@pytest.mark.parametrize("model", [llama, qwen3_5])
def test_defaults_take_attention_mlp_and_gated_delta_projections(model):
    built = model()
    assert {name: layers[0] for name, layers in select_targets(built).items()} == targets(built)


@pytest.mark.parametrize(
    ("pattern", "hit"),
    [("q_proj", True), ("attn.q_proj", True), ("model.0.attn.q_proj", True), ("model.*.q_proj", True), ("proj", False)],
)
def test_patterns(pattern, hit):
    assert matches("model.0.attn.q_proj", pattern) is hit


def test_wrappers_do_not_change_names():
    model = nn.Module()
    model._orig_mod = chain(4, 4)
    assert list(select_targets(model, ["0"])) == ["0"]


def test_globs_pass_over_containers():
    assert len(select_targets(llama(), ["*mlp*"])) == 6


def test_no_target_matched_lists_what_there_is():
    with pytest.raises(ValueError, match="linear layers end in: 0, 2"):
        select_targets(chain(4, 4, 4))
    with pytest.raises(ValueError, match="end in: nothing"):
        select_targets(nn.Tanh())


def test_a_misspelt_target_is_refused_with_a_hint():
    with pytest.raises(ValueError, match="'q_porj'; did you mean 'q_proj'"):
        select_targets(llama(), ["q_porj", "k_proj"])


def test_one_string_is_not_a_list():
    with pytest.raises(TypeError, match=r"did you mean \['q_proj'\]"):
        select_targets(llama(), "q_proj")


def test_parameters_are_not_a_model():
    with pytest.raises(TypeError, match="takes the model"):
        select_targets(llama().parameters())


def test_a_target_that_is_not_linear_is_refused():
    with pytest.raises(TypeError, match="self_attn is a LlamaAttention"):
        select_targets(llama(), ["self_attn"])


def test_attention_that_reads_a_weight_past_its_module_is_refused():
    with pytest.raises(TypeError, match="MultiheadAttention"):
        select_targets(nn.TransformerEncoderLayer(8, 2, 16))


def test_frozen_targets_are_refused():
    model = chain(4, 4, 4)
    model[0].weight.requires_grad_(False)
    with pytest.raises(ValueError, match="frozen target 0"):
        select_targets(model, ["0", "2"])
    model.requires_grad_(False)
    with pytest.raises(ValueError, match="frozen targets 0, 2"):
        select_targets(model, ["0", "2"])


def test_a_head_tied_to_the_embedding_is_refused():
    model = llama(tie_word_embeddings=True)
    with pytest.raises(ValueError, match=r"lm_head is tied to model\.embed_tokens\.weight"):
        select_targets(model, ["lm_head"])


def test_integer_weights_are_refused():
    model = chain(4, 4)
    model[0].weight = nn.Parameter(torch.zeros(4, 4, dtype=torch.int8), requires_grad=False)
    with pytest.raises(TypeError, match="int8"):
        select_targets(model, ["0"])


def test_a_weight_that_is_computed_is_refused():
    model = chain(4, 4)
    nn.utils.parametrizations.weight_norm(model[0])
    with pytest.raises(TypeError, match="parametrization"):
        select_targets(model, ["0"])
