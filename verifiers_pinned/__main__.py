"""`python -m verifiers_pinned`: fetch, list, inspect and call the pinned verifiers."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from specs.documents import DocumentError

from .errors import PinError

# Each module has `add_parser(commands)`, which sets `run(arguments) -> exit status`.
COMMANDS = ("fetch_command", "status_command", "list_command", "verdict_command", "bump_command")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; what is wrong with the input or the pins is told in a line, with exit status 2."""
    parser = argparse.ArgumentParser(prog="python -m verifiers_pinned", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name in COMMANDS:
        import_module(f".{name}", __package__).add_parser(commands)
    parsed = parser.parse_args(arguments)
    try:
        status: int = parsed.run(parsed)
        sys.stdout.flush()
    except (PinError, DocumentError) as error:
        print("\n".join(f"error: {line}" for line in str(error).splitlines()), file=sys.stderr)
        return 2
    except OSError as error:
        # Python would complain once more when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return 0  # the reader, such as `head`, has enough
        print(f"error: {error.filename or 'standard output'}: {error.strerror or error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; what was fetched is kept", file=sys.stderr)
        return 130
    return status


if __name__ == "__main__":
    sys.exit(main())
