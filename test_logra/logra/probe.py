"""Logits and their derivative along a proposed update, for all layers in one forward pass over untouched weights."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from torch import Tensor, nn
from torch.autograd import forward_ad

from logra.difference import check_tangent, difference_tangents, sample
from logra.low_rank import Carrier, Directions, carriers, layer_input, output_change
from logra.reference_path import evaluating, reference_path

METHODS = ("auto", "forward", "difference")
_ADVICE = "set method='difference' to use finite differences, or method='auto' to fall back on them"


class MissingDerivative(RuntimeError):
    """The forward derivative does not exist somewhere in the model, or was lost there."""


class Probe(NamedTuple):
    """`logits` [..., v] and one or two estimates of d logits / d s at s = 0, [..., v], whose noise is independent."""

    logits: Tensor
    tangents: tuple[Tensor, ...]
    method: str


def probe(
    model: nn.Module,
    directions: Directions,
    forward: Callable[[], Tensor],
    *,
    method: str = "auto",
    verify: bool = False,
) -> Probe:
    """Run `forward`, which calls `model` and returns logits, and differentiate it along W - s D A, all layers at once.

    method "forward": exact, one pass in forward mode on the model's reference path (eager attention, torch kernels);
    raises MissingDerivative, naming the layer, where the model has no forward derivative or loses it.
    method "difference": central differences, two passes or more over the model's own kernels.
    method "auto": forward, and where that is impossible difference, with a warning.
    verify: compare forward mode with differences, which costs about ten passes more. Some kernels drop tangents without
    an error; where that leaves a target layer's input without any it is seen at once, where others mix in only so.
    The model is put into evaluation mode and everything is restored, hooks too, also on errors.
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, not {method!r}")
    layers = carriers(model, directions)
    if method != "difference":
        try:
            return forward_probe(model, layers, forward, verify=verify)
        except MissingDerivative as error:
            if method == "forward":
                raise
            warnings.warn(f"the KL probe falls back on finite differences: {error}", RuntimeWarning, stacklevel=2)
    with evaluating(model):
        logits, tangents = difference_tangents(layers, forward)
    return Probe(logits, tangents, "difference")


def forward_probe(
    model: nn.Module, layers: list[Carrier], forward: Callable[[], Tensor], *, verify: bool = False
) -> Probe:
    """The exact derivative by forward-mode automatic differentiation."""
    with evaluating(model), reference_path(model):
        # Dual numbers: each tensor carries d/ds at s = 0 beside its value, and each layer's hook adds its own share, so
        # one pass sums the contributions of all layers to d logits / d s.
        with forward_ad.dual_level(), _emitting(model, layers) as flow:
            try:
                output = forward()
            except (NotImplementedError, RuntimeError) as error:
                raise _explained(error, flow) from error
            if not flow.inputs:  # torch.nn.functional.linear on their weights, or another model's forward
                raise MissingDerivative(
                    f"none of the {len(layers)} target layers was called: they are used without their forward method"
                )
            logits, tangent = forward_ad.unpack_dual(output)
        # tangents that were read before the level ended stay; those on the model's tensors are gone with it
        if tangent is None:
            last = list(flow.inputs)[-1]
            raise MissingDerivative(f"the derivative was lost before the logits, after {last}; {_ADVICE}")
        if verify or flow.suspects:
            _confirm(logits, tangent, layers, forward, flow)
    return Probe(logits, (tangent,), "forward")


def _confirm(
    logits: Tensor, tangent: Tensor, layers: list[Carrier], forward: Callable[[], Tensor], flow: _Flow
) -> None:
    """Let differences decide whether a derivative was lost."""
    error, place = check_tangent(logits, tangent, flow.inputs, layers, forward)
    if error is None:
        return
    where = flow.suspects[0] if flow.suspects else place
    raise MissingDerivative(
        f"the derivative was lost before {where} (finite differences disagree by {error:.0%}): something between it "
        f"and the layers before it, a fused kernel perhaps, drops tangents silently; {_ADVICE}"
    )


class _Frame:
    """One call of a module: what it has done so far."""

    def __init__(self, name: str, module: nn.Module) -> None:
        self.name, self.kind = name, type(module).__name__
        self.emitted = False  # a layer inside has put a tangent on its output
        self.plain: list[Tensor] = []  # inputs of target layers directly inside that had no tangent, rightly


class _Flow:
    """Follows the calls of modules, to say where a derivative is missing."""

    def __init__(self) -> None:
        self.stack: list[_Frame] = []
        self.inputs: dict[str, Tensor | None] = {}  # carrier: a sample of its last input's tangent
        self.suspects: list[str] = []

    def enter(self, name: str, module: nn.Module) -> None:
        self.stack.append(_Frame(name, module))

    def leave(self) -> None:
        self.stack.pop()

    def saw(self, carrier: Carrier, x: Tensor, tangent: Tensor | None) -> None:
        """A carrier was called with `x`: does it lack a tangent that the layers before it must have caused?

        q, k and v of one attention block read the same tensor, so k without a tangent is right though q emitted one; o
        reads what became of them, so o without a tangent is not.
        """
        self.inputs[carrier.name] = None if tangent is None else sample(tangent)
        # stack[-1] is the carrier's own call: the pre-hook that pushes it comes before this hook
        caller = self.stack[-2] if len(self.stack) > 1 else None
        if caller is not None and tangent is None and not isinstance(carrier.module, nn.Embedding):
            address = x.untyped_storage().data_ptr()
            known = any(address == other.untyped_storage().data_ptr() for other in caller.plain)
            if caller.emitted and not known:
                self.suspects.append(carrier.name)
            caller.plain.append(x)  # kept alive, so that its address stays its own
        for frame in self.stack:
            frame.emitted = True


@contextmanager
def _emitting(model: nn.Module, layers: list[Carrier]) -> Iterator[_Flow]:
    """Hooks by which each carrier adds -(x A^T) D^T to the tangent of its output."""
    flow = _Flow()
    with ExitStack() as hooks:
        for name, module in model.named_modules():
            enter = module.register_forward_pre_hook(
                lambda module, _, name=name: flow.enter(name, module), prepend=True
            )
            leave = module.register_forward_hook(lambda *_: flow.leave())
            hooks.callback(enter.remove)
            hooks.callback(leave.remove)
        for carrier in layers:
            # prepended, first of all hooks: the tangent belongs to the layer's own output
            hook = carrier.module.register_forward_hook(_emit(carrier, flow), prepend=True, with_kwargs=True)
            hooks.callback(hook.remove)
        yield flow


def _emit(carrier: Carrier, flow: _Flow) -> Callable[[nn.Module, Any, Any, Tensor], Tensor]:
    def hook(module: nn.Module, arguments: tuple[Any, ...], options: dict[str, Any], output: Tensor) -> Tensor:
        # x [..., k] and y [..., d], with the tangents that the layers before have caused, None where there are none
        x, x_tangent = forward_ad.unpack_dual(layer_input(arguments, options))
        y, y_tangent = forward_ad.unpack_dual(output)  # y_tangent = W x_tangent, from the layers before
        flow.saw(carrier, x, x_tangent)
        change = output_change(carrier, x)
        if y_tangent is not None:  # d(W x)/ds = W dx/ds + dW/ds x
            change = change + y_tangent
        dual: Tensor = forward_ad.make_dual(y, change.to(y.dtype))
        return dual

    return hook


def _explained(error: Exception, flow: _Flow) -> Exception:
    """MissingDerivative for an error of forward mode, the error itself for any other."""
    # torch has no exception of its own for this: "Trying to use forward AD with ... that does not support it", and for
    # autograd.Function "You must implement the jvp function ... to use it with forward mode AD".
    text = str(error)
    if not any(mark in text for mark in ("forward AD", "forward mode AD", "jvp")):
        return error
    where = f"{flow.stack[-1].name or 'the model'} ({flow.stack[-1].kind})" if flow.stack else "the forward function"
    return MissingDerivative(f"{where} has no forward derivative: {text.splitlines()[0]} {_ADVICE}")
