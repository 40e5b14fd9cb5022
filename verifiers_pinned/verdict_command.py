"""`verdict`: ask pinned verifiers about one text, or about every line of a JSON Lines file."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from specs import Template

from .checkouts import given_checkouts
from .pin_folders import add_pins_dir, add_specs, load_added
from .pins import Catalogue
from .requests import Desk, Request, RequestError
from .session import Limits, Session
from .tables import print_table
from .verdict_lines import answer_lines
from .verdicts import VerifierUnavailable


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("verdict", help="ask verifiers about a text", description=__doc__)
    parser.add_argument("template", nargs="?", metavar="TEMPLATE", help="such as ifeval/punctuation:no_comma")
    parser.add_argument("--params", default="{}", metavar="JSON", help="the template's arguments, an object")
    text = parser.add_mutually_exclusive_group()
    text.add_argument("--text", metavar="TEXT", help="the response to judge")
    text.add_argument("--text-file", metavar="FILE", help="a file that holds the response; - is standard input")
    text.add_argument(
        "--jsonl", metavar="FILE", help="one object a line: template, params, text and, if you like, implementation"
    )
    parser.add_argument(
        "--implementation", action="append", default=[], metavar="KEY", help="ask this one only (repeatable)"
    )
    parser.add_argument("--checkout", action="append", default=[], metavar="KEY=DIR", help="where a checkout lies")
    parser.add_argument("--guard", action="store_true", help="reject a blank text without asking, as most callers do")
    parser.add_argument("--seconds", type=float, default=Limits.seconds, help="time limit of one call (default: 5)")
    parser.add_argument("--json", action="store_true", help="one object for each implementation")
    add_pins_dir(parser)
    add_specs(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    try:
        return _run(arguments, *load_added(arguments))
    except RequestError as error:
        print("\n".join(f"error: {line}" for line in str(error).splitlines()), file=sys.stderr)
        return 2


def _run(arguments: argparse.Namespace, catalogue: Catalogue, templates: Mapping[str, Template]) -> int:
    desk = Desk(catalogue, templates)
    desk.check_implementations(arguments.implementation)
    try:
        limits = Limits(seconds=arguments.seconds)
    except ValueError as error:
        raise RequestError(f"--seconds: {error}") from None
    checkouts = given_checkouts(catalogue, arguments.checkout)
    if arguments.jsonl is not None and arguments.template is not None:
        raise RequestError("give a TEMPLATE or --jsonl, whose lines name their own templates, not both")
    if arguments.jsonl is None:
        requests = [_request(arguments, desk)]
    with Session(catalogue, checkouts=checkouts, limits=limits, guard=arguments.guard) as session:
        if arguments.jsonl is not None:
            return answer_lines(session, desk, arguments.jsonl, arguments.implementation)
        keys = arguments.implementation or desk.covering(requests[0].template)
        return _answer_one(session, requests[0], keys, as_json=arguments.json)


def _request(arguments: argparse.Namespace, desk: Desk) -> Request:
    if arguments.template is None:
        raise RequestError("give a TEMPLATE with --text or --text-file, or --jsonl FILE")
    if arguments.text is None and arguments.text_file is None:
        raise RequestError("give the response with --text or --text-file")
    desk.check_template(arguments.template)
    try:
        params = json.loads(arguments.params)
    except ValueError as error:
        raise RequestError(f"--params is not JSON: {error}") from None
    if not isinstance(params, dict):
        raise RequestError("--params is no JSON object")
    request = Request(arguments.template, params, _text(arguments))
    desk.check(request)
    if not desk.has_spec(request.template):
        print(f"note: no spec describes {request.template}, so its params are not checked", file=sys.stderr)
    return request


def _text(arguments: argparse.Namespace) -> str:
    if arguments.text is not None:
        return str(arguments.text)
    try:
        raw = sys.stdin.buffer.read() if arguments.text_file == "-" else Path(arguments.text_file).read_bytes()
        return raw.decode("utf-8")
    except OSError as error:
        raise RequestError(f"{arguments.text_file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise RequestError(f"{arguments.text_file} is not UTF-8 at byte {error.start}") from None


def _answer_one(session: Session, request: Request, keys: Sequence[str], *, as_json: bool) -> int:
    rows: list[dict[str, Any]] = []
    broken: list[VerifierUnavailable] = []
    for key in keys:
        try:
            result = session.call_batch(key, request.template, [(request.params, request.text)])
        except VerifierUnavailable as error:
            broken.append(error)
            continue
        rows.append(
            {
                "implementation": f"{key}@{session.catalogue.implementations[key].source.version}",
                "verdict": result.verdicts[0].value,
                "detail": result.details.get(0),
                "microseconds": round(result.microseconds[0], 1),
                "drew_random": result.drew_random[0],
            }
        )
    if as_json:
        print(json.dumps(rows, indent=2))
    elif not keys:
        print(f"no pinned implementation has a check of {request.template}")
    else:
        table = [(row["implementation"], row["verdict"], row["detail"] or "") for row in rows]
        print_table(("implementation", "verdict", "detail"), table)
    for each in broken:
        print(f"error: {each}", file=sys.stderr)
    return 2 if broken else 0
