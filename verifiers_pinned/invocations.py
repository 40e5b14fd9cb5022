"""Questions that are answered with more than a verdict: what a checker says of itself, and what a caller returns.

Answers travel as plain JSON values. A value that is none is told as `{"type": ..., "repr": ...}`.
"""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

# No checker's or caller's result is deeper; one that holds itself is cut here.
_DEEPEST = 12
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")

Answer = Callable[[Mapping[str, Any], str], object]


@dataclass(frozen=True)
class Invocation:
    """A call of something in a pinned module, as plain data.

    `call` is a name in the module or an invocation whose value is called; arguments that are invocations are made
    first, also inside lists and dictionaries.
    """

    call: str | Invocation
    args: Sequence[Any] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict, hash=False)


def describing(make: Any, name: str) -> Answer:
    """Answers with what a checker is, once it is built.

    `text` is what `build_description` returned, `arguments` what `get_instruction_args` says (absent where the class
    has none), `state` a digest of all its attributes, and `changed` is there where a list that it was given was
    changed in place.
    """

    def describe(params: Mapping[str, Any], _seed: str) -> object:
        checker = make(name)
        before = plain(params)
        told = {"text": plain(checker.build_description(**params))}
        if hasattr(checker, "get_instruction_args"):
            told["arguments"] = plain(checker.get_instruction_args())
        told["state"] = _digest(plain(vars(checker)))
        if (after := plain(params)) != before:
            told["changed"] = after
        return told

    return describe


def invoking(module: ModuleType) -> Answer:
    """Answers with `value`, what the invocation returns, and `before` and `after`: its arguments around the call."""

    def invoke(params: Mapping[str, Any], _seed: str) -> object:
        asked: Invocation = params["invocation"]
        function, args, kwargs = _made(asked, module)
        before = plain([args, kwargs])
        value = function(*args, **kwargs)
        return {"value": plain(value), "before": before, "after": plain([args, kwargs])}

    return invoke


def _made(asked: Invocation, module: ModuleType) -> tuple[Any, list[Any], dict[str, Any]]:
    function = getattr(module, asked.call) if isinstance(asked.call, str) else _value(asked.call, module)
    args = [_value(each, module) for each in asked.args]
    return function, args, {name: _value(each, module) for name, each in asked.kwargs.items()}


def _value(given: Any, module: ModuleType) -> Any:
    if isinstance(given, Invocation):
        function, args, kwargs = _made(given, module)
        return function(*args, **kwargs)
    if isinstance(given, list):
        return [_value(each, module) for each in given]
    if isinstance(given, dict):
        return {name: _value(each, module) for name, each in given.items()}
    return copy.deepcopy(given)


def telling(answer: Answer, told: list[object]) -> Answer:
    """A check that accepts whatever is answered, and appends the answer to `told`; None where there came none."""

    def tell(params: Mapping[str, Any], text: str) -> object:
        told.append(None)
        told[-1] = answer(params, text)
        return True

    return tell


def _digest(value: object) -> str:
    # An object without a representation of its own shows its address, which is another in each process.
    told = _ADDRESS.sub("", json.dumps(value, sort_keys=True))
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def plain(value: object, deep: int = 0) -> Any:
    """`value` as JSON can hold it: tuples as lists, dataclasses as dictionaries of their fields."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if deep < _DEEPEST:
        if isinstance(value, list | tuple):
            return [plain(each, deep + 1) for each in value]
        if isinstance(value, Mapping):
            return {str(name): plain(each, deep + 1) for name, each in value.items()}
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {each.name: plain(getattr(value, each.name), deep + 1) for each in dataclasses.fields(value)}
        if isinstance(value, set | frozenset):
            # in order, for hash seeds differ; as a list it would hide that it is a set
            return {"type": type(value).__name__, "repr": repr(sorted(value, key=repr))}
    return {"type": type(value).__name__, "repr": repr(value)[:500]}
