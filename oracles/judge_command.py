"""`python -m oracles judge`: one response from the command line, or many from a file of JSON lines."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from specs import ROOM, ParameterError, Template, UnknownTemplate, find_template, load_templates

from .judging import Judgement, NoOracle, OracleError, judge

FORM = '{"template": "ifeval/punctuation:no_comma", "params": {}, "text": "..."}'


class BadInput(ValueError):
    """What was asked to be judged and cannot be; as text, why."""


def add_judge(commands: Any) -> None:
    parser = commands.add_parser("judge", help="say whether a response keeps to a template")
    parser.add_argument("template", metavar="TEMPLATE", nargs="?", help="as ifbench/count:word_count_range")
    parser.add_argument(
        "--params", metavar="JSON", default="{}", help="the arguments, as a JSON object (default: none)"
    )
    given = parser.add_mutually_exclusive_group()
    given.add_argument("--text", metavar="T", help="the response")
    given.add_argument(
        "--text-file", metavar="FILE", help="a file that holds the response, in UTF-8; - for standard input"
    )
    given.add_argument("--jsonl", metavar="FILE", help=f"responses as JSON, one a line: {FORM}; - for standard input")
    parser.add_argument("--json", action="store_true", help="the judgement as JSON, for programs")
    parser.add_argument("--directory", action="append", type=Path, default=[], help="a directory of your own templates")
    parser.set_defaults(command=_judge)


def _judge(options: argparse.Namespace) -> int:
    """0, or 2 where something could not be judged."""
    templates = load_templates([ROOM, *options.directory])
    try:
        if options.jsonl is not None:
            return _judge_lines(options, templates)
        if options.template is None or (options.text is None and options.text_file is None):
            raise BadInput("say TEMPLATE with --text or --text-file, or --jsonl FILE")
        text = options.text if options.text_file is None else _decoded(_bytes(options.text_file), options.text_file)
        entry = {"template": options.template, "params": _parsed(options.params), "text": text}
        judgement = _judgement(entry, templates)
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps({**entry, **_answer(judgement)}))
    else:
        print(judgement.answer)
        print("".join(f"  {name}: {answer}\n" for name, answer in judgement.readings.items()), end="")
    return 0


def _judge_lines(options: argparse.Namespace, templates: Mapping[str, Template]) -> int:
    if options.template is not None:
        raise BadInput("with --jsonl each line names its template; leave TEMPLATE out")
    name = "standard input" if options.jsonl == "-" else options.jsonl
    bad = 0
    for number, line in enumerate(_lines(options.jsonl), 1):
        if not line.strip():
            continue
        try:
            entry = _parsed(_decoded(line, "the line"))
            print(json.dumps({**entry, **_answer(_judgement(entry, templates))}))
        except BadInput as error:
            bad += 1
            for message in str(error).splitlines():
                print(f"{name}:{number}: {message}", file=sys.stderr)
    if bad:
        print(f"{bad} lines could not be judged", file=sys.stderr)
    return 2 if bad else 0


def _lines(file: str) -> Iterable[bytes]:
    return sys.stdin.buffer if file == "-" else _bytes(file).split(b"\n")


def _bytes(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except (OSError, ValueError) as error:
        raise BadInput(f"{file} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _decoded(raw: bytes, what: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{what} is not UTF-8: byte 0x{raw[error.start]:02x} at {error.start}") from None


def _parsed(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadInput("not a JSON object of keys and values")
    return value


def _judgement(entry: Mapping[str, Any], templates: Mapping[str, Template]) -> Judgement:
    for key, kind, words in (("template", str, "a text"), ("params", dict, "an object"), ("text", str, "a text")):
        if not isinstance(entry.get(key), kind):
            told = "is missing" if key not in entry else f"is not {words}"
            raise BadInput(f"{key!r} {told}; the form is {FORM}")
    try:
        template = find_template(entry["template"], templates)
        template.check_params(entry["params"])
        return judge(template, entry["params"], entry["text"])
    except (UnknownTemplate, ParameterError, NoOracle, OracleError) as error:
        raise BadInput(str(error)) from None


def _answer(judgement: Judgement) -> dict[str, Any]:
    return {"oracle": judgement.answer, "readings": dict(judgement.readings)}
