"""Writes the commented beginning of a new template, valid as it stands."""

from __future__ import annotations

import re
from pathlib import Path

NAME = re.compile(r"(?:(?P<collection>[a-z][a-z0-9_]*)/)?(?P<family>[a-z][a-z0-9_]*):(?P<name>[a-z][a-z0-9_-]*)")

TEXT = """\
# family:name; the file lies at COLLECTION/family/name.yaml.
id: {id}
# What is asked of a response, in one line of at most 160 characters. {{limit}} is replaced by the parameter.
wording: Use at most {{limit}} exclamation marks.
parameters:
  # A JSON Schema for the arguments. An argument that is not named here is refused.
  schema:
    additionalProperties: false
    required: [limit]
    properties:
      limit:
        type: integer
        minimum: 0
        description: The most exclamation marks.
  # How instances are drawn: for examples to check by hand, and for an audit. More forms stand in the README.
  draw:
    small: {{limit: {{integers: [0, 3]}}}}
    upstream: {{limit: {{integers: [0, 20]}}}}
  # Parameters that a prompt shows in another place than the wording:
  # unworded: [prompt_to_repeat]
# Fixed texts and lists that are the same in every instance:
# constants: {{marks: ["!"]}}
"""


def write_skeleton(name: str, directory: Path) -> Path:
    """Writes `<directory>/<collection>/<family>/<name>.yaml` for `family:name` (collection `local`) and gives its path.

    Raises `ValueError` for another form of name, `FileExistsError` rather than overwrite.
    """
    found = NAME.fullmatch(name)
    if found is None:
        raise ValueError(
            f"{name!r} is not family:name or collection/family:name in lower case, as in count:exclamations"
        )
    collection = found["collection"] or "local"
    path = directory / collection / found["family"] / f"{found['name']}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    # "x" fails where the file exists, also where another process has just made it
    with path.open("x", encoding="utf-8") as stream:
        stream.write(TEXT.format(id=f"{found['family']}:{found['name']}"))
    return path
