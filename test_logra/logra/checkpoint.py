"""Saving and taking up an optimizer's state: plain values out, every difference named, tensors never cast."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from torch import Tensor

if TYPE_CHECKING:
    from logra.optimizer import LoGRA

KEY = "logra"
FORMAT = 1


def describe(optimizer: LoGRA, packed: dict[str, Any]) -> dict[str, Any]:
    """torch's state dict with what a resume needs, in the first param group: some savers keep nothing else."""
    controller = optimizer.controller
    packed["param_groups"][0][KEY] = {
        "format": FORMAT,
        "update": optimizer.update,
        "config": optimizer.config.plain(),
        "layers": {name: list(layer.weight.shape) for name, layer in optimizer.layers.items()},
        "groups": _groups(optimizer),
        "controller": None if controller is None else dict(controller.state_dict()),
    }
    return packed


def check(optimizer: LoGRA, saved: dict[str, Any]) -> None:
    """Raise ValueError with all that keeps this optimizer from taking up the saved state."""
    header = _header(saved)
    problems = optimizer.config.differences(header["config"])
    problems += _layer_differences(header["layers"], {n: list(v.weight.shape) for n, v in optimizer.layers.items()})
    if (header["controller"] is None) != (optimizer.controller is None):
        has, lacks = ("here", "the checkpoint") if header["controller"] is None else ("the checkpoint", "here")
        problems.append(f"controller: one in {has}, none in {lacks}".replace("in here", "here"))
    elif optimizer.controller is not None:
        # asked here, because its own load_state_dict comes when the rest has been taken over
        differences = getattr(optimizer.controller, "differences", None)
        problems += [f"controller: {line}" for line in differences(header["controller"])] if differences else []
    for i, (old, mine) in enumerate(zip_longest(header["groups"], _groups(optimizer), fillvalue="none")):
        if old != mine:
            problems.append(f"param group {i}: {old} in the checkpoint, {mine} here")
    if problems:
        raise ValueError("the checkpoint does not fit this optimizer:\n  " + "\n  ".join(problems))


def restore(optimizer: LoGRA, saved: dict[str, Any]) -> int:
    """Take over state and group options; returns the number of completed updates.

    torch's own loading would cast float32 moments and masters to a bf16 weight's dtype, and put new group
    dictionaries where AdamW and schedulers hold the old ones.
    """
    header = _header(saved)
    by_index: dict[int, Tensor] = {}
    for group, old in zip(optimizer.param_groups, saved["param_groups"], strict=True):
        by_index.update(zip(old["params"], group["params"], strict=True))
        # lr and the like come from the checkpoint, as in torch; set them afterwards to change them
        group.update({key: value for key, value in old.items() if key not in ("params", KEY)})
    optimizer.state.clear()  # in place: AdamW holds the same dictionary
    for index, values in saved["state"].items():
        parameter = by_index[index]
        optimizer.state[parameter] = {key: _own(key, value, parameter) for key, value in values.items()}
    if optimizer.controller is not None:
        optimizer.controller.load_state_dict(header["controller"])
    return int(header["update"])


def _groups(optimizer: LoGRA) -> list[Any]:
    """What each param group holds: the names of its layers, or the shapes that AdamW trains."""
    return [g["names"] if "names" in g else [list(p.shape) for p in g["params"]] for g in optimizer.param_groups]


def _own(key: str, value: Any, parameter: Tensor) -> Any:
    if not isinstance(value, Tensor):
        return value
    # AdamW counts its steps on the CPU unless told otherwise; moving the count would wait for the device each step.
    return value.clone() if key == "step" else value.to(device=parameter.device, copy=True)


def _header(saved: dict[str, Any]) -> dict[str, Any]:
    groups = saved.get("param_groups") or [{}]
    header = groups[0].get(KEY)
    if not isinstance(header, dict):
        raise ValueError("this is not the state of a LoGRA optimizer: its first param group has no 'logra' entry")
    if header["format"] != FORMAT:
        raise ValueError(f"the checkpoint has format {header['format']}, this version reads {FORMAT}")
    return header


def _layer_differences(saved: dict[str, list[int]], mine: dict[str, list[int]]) -> list[str]:
    lines = [f"layer {name}: in the checkpoint, not a target here" for name in saved if name not in mine]
    lines += [f"layer {name}: a target here, not in the checkpoint" for name in mine if name not in saved]
    lines += [
        f"layer {name}: {saved[name]} in the checkpoint, {mine[name]} here"
        for name in mine
        if name in saved and saved[name] != mine[name]
    ]
    return lines
