"""Options that name a folder, kept from being taken for a folder of tests.

Pytest looks for its configuration around every argument that is an existing path, the value of an option among them
unless it is joined to the option by `=`. A report directory elsewhere would so take the configuration away from the
workers of xdist, because by the time they start it exists.
"""

from __future__ import annotations

from collections.abc import Sequence

OPTIONS = ("--report-dir", "--specs", "--pins-dir")


def joined(arguments: Sequence[str]) -> tuple[str, ...]:
    """The arguments with `--option=DIR` for `--option DIR`, which means the same and is no path to pytest."""
    found: list[str] = []
    for argument in arguments:
        if found and found[-1] in OPTIONS:
            found[-1] = f"{found[-1]}={argument}"
        else:
            found.append(argument)
    return tuple(found)
