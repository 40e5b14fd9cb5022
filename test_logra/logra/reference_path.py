"""Put a model on its reference path for a while: evaluation mode, and code that has a forward derivative."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import nn
from torch.nn.attention import SDPBackend, sdpa_kernel

# Layer attributes that hold a fused kernel (transformers before 5.10), and the function of the layer's own module that
# stands behind it. None: the layer itself takes its plain path (a Conv1d) when the attribute is None.
_LAYER_KERNELS = {
    "causal_conv1d_fn": None,
    "chunk_gated_delta_rule": "torch_chunk_gated_delta_rule",
    "recurrent_gated_delta_rule": "torch_recurrent_gated_delta_rule",
}
# Functions of a modelling module that dispatch to a fused kernel (later transformers) and carry the torch code as
# __wrapped__, by the marks that transformers' decorator leaves in its closure.
_DISPATCH_MARKS = frozenset({"torch_function", "implementation"})


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Evaluation mode without autograd; each module's own mode is put back, whatever happens."""
    modes = [(module, module.training) for module in model.modules()]
    try:
        model.eval()
        with torch.inference_mode(False), torch.no_grad():
            yield
    finally:
        for module, mode in modes:
            module.training = mode  # not train(mode): it would recurse over modules that were set apart


@contextmanager
def reference_path(model: nn.Module) -> Iterator[None]:
    """Eager or math attention, torch code for gated-delta kernels, no compiled graph: all have a forward derivative.

    Fused attention, flash-linear-attention and causal-conv1d have none. The values differ from theirs by rounding.
    """
    with ExitStack() as restore:
        _use_eager_attention(model, restore)
        _use_torch_kernels(model, restore)
        # for models that call scaled_dot_product_attention themselves
        restore.enter_context(sdpa_kernel(SDPBackend.MATH))
        if hasattr(torch.compiler, "set_stance"):
            restore.enter_context(torch.compiler.set_stance("force_eager"))
        yield


def _use_eager_attention(model: nn.Module, restore: ExitStack) -> None:
    # Masks are built for the implementation that the configuration names, so the name changes, not the function.
    configs: dict[int, Any] = {}
    for module in model.modules():
        config = getattr(module, "config", None)
        if getattr(config, "_attn_implementation", None) is not None:
            configs.setdefault(id(config), config)
    # ExitStack runs backwards, and setting a configuration also sets those nested in it: the outer one has to be put
    # back first, so it is entered last.
    for config in reversed(list(configs.values())):
        restore.callback(setattr, config, "_attn_implementation", config._attn_implementation)
    for config in configs.values():
        config._attn_implementation = "eager"


def _use_torch_kernels(model: nn.Module, restore: ExitStack) -> None:
    # fla and causal-conv1d are called by name from the modelling module: for a while the name means the torch code.
    sources = {}
    for module in model.modules():
        source = sys.modules.get(type(module).__module__)
        if source is not None:
            sources[source.__name__] = source
            _replace_layer_kernels(module, source, restore)
    for source in sources.values():
        for name, function in list(vars(source).items()):
            marks = getattr(getattr(function, "__code__", None), "co_freevars", ())
            if set(marks) >= _DISPATCH_MARKS and hasattr(function, "__wrapped__"):
                restore.callback(setattr, source, name, function)
                setattr(source, name, function.__wrapped__)


def _replace_layer_kernels(module: nn.Module, source: Any, restore: ExitStack) -> None:
    for attribute, fallback in _LAYER_KERNELS.items():
        kernel = vars(module).get(attribute)
        if kernel is None or (fallback is not None and not hasattr(source, fallback)):
            continue
        restore.callback(setattr, module, attribute, kernel)
        setattr(module, attribute, None if fallback is None else getattr(source, fallback))
