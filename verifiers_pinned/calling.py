"""One calling convention, `check(params, text)`, for the four styles in which verifiers are written.

- `class`: a registry of classes; `registry[id](id)`, `build_description(**params)`, `get_instruction_args()`,
  `check_following(text)`, the order of upstream's own loops.
- `dictionary`: a registry of functions, `registry[id](text, ...)`.
- `function`: one function that takes the id.
- `method`: the same, a static method of a class.

Two questions more are answered with what they tell, see `invocations`: `description` of a class, and style `caller`.

The checker is built anew for every call, so that nothing leaks from one call to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from verifiers_pinned.invocations import describing, invoking
from verifiers_pinned.verdicts import VerifierUnavailable

Check = Callable[[Mapping[str, Any], str], object]


@dataclass(frozen=True)
class Address:
    """Where a pin's verifier of one template is and how it is called: plain data, so that it travels to a child.

    The words are those of `pins`: `id` is the pin's own name of the template; `method` is set for the style `method`.
    `question` is `check`, `description` (style `class`) or `invocation` (style `caller`).
    """

    key: str
    style: str
    module: str
    name: str
    id: str
    method: str | None = None
    arguments: tuple[str, ...] = ()
    returns: str = "bool"
    question: str = "check"

    @property
    def tells(self) -> bool:
        """Whether it is asked for more than a verdict."""
        return self.question != "check"


def bind(address: Address, modules: Mapping[str, ModuleType]) -> Check:
    """The check at `address`; VerifierUnavailable where the pin has no such thing."""
    if address.style == "caller":
        return invoking(modules[address.module])
    found = _attribute(address, modules.get(address.module), address.name)
    if address.style == "class":
        make = _registered(address, found)
        return describing(make, address.id) if address.question == "description" else _of_class(make, address.id)
    if address.style == "dictionary":
        found = _registered(address, found)
    elif address.method is not None:
        found = _attribute(address, found, address.method)
    check = _of_function(found, address)
    return _first_of_pair(check) if address.returns == "pair" else check


def _attribute(address: Address, owner: object, name: str) -> Any:
    found = getattr(owner, name, None)
    if found is None:
        raise VerifierUnavailable(address.key, f"module {address.module} has no {name!r}, which its pin names")
    return found


def _registered(address: Address, registry: Mapping[str, Any]) -> Any:
    try:
        return registry[address.id]
    except KeyError:
        told = f"{address.module}.{address.name} has no {address.id!r}, which its pin covers"
        raise VerifierUnavailable(address.key, told) from None


def _of_class(make: Any, name: str) -> Check:
    # openbench's own classes have no arguments to ask for.
    asks_arguments = hasattr(make, "get_instruction_args")

    def check(params: Mapping[str, Any], text: str) -> object:
        checker = make(name)
        checker.build_description(**params)
        if asks_arguments:
            # Upstream asks, to pass the prompt on to a checker that has such an argument. None has.
            checker.get_instruction_args()
        return checker.check_following(text)

    return check


def _of_function(function: Callable[..., object], address: Address) -> Check:
    given = address.arguments
    spread = given[-1:] == ("**params",)
    positional = given[:-1] if spread else given
    if not set(positional) <= {"id", "text", "params"}:
        raise VerifierUnavailable(address.key, f"asks for the arguments {', '.join(given)}, which nobody can give")

    def check(params: Mapping[str, Any], text: str) -> object:
        values = {"id": address.id, "text": text, "params": dict(params)}
        return function(*[values[name] for name in positional], **(params if spread else {}))

    def text_and_keywords(params: Mapping[str, Any], text: str) -> object:
        return function(text, **params)

    return text_and_keywords if given == ("text", "**params") else check


def _first_of_pair(check: Check) -> Check:
    def first(params: Mapping[str, Any], text: str) -> object:
        pair: Any = check(params, text)
        verdict, _detail = pair
        return verdict

    return first
