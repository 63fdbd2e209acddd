"""The head of a rule file: the small part of YAML that rule files use, read without running anything.

`key: value`, `key: [a, b]` and `key:` with a block of `- value`; quotes and comments. Anything else is a mistake, and said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_KEY = re.compile(r"^([A-Za-z_][\w-]{0,60})\s*:(?:\s+(.*)|\s*)$")
_DASH = re.compile(r"^\s*-(?:\s+(.*)|\s*)$")
_END = re.compile(r"^---\s*$")

Value = str | bool | None | list[str]


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a file, and what follows it."""

    values: dict[str, Value] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    """The line on which each key stands, from 1."""
    body: str = ""
    problem: str = ""
    """What is wrong with the head; empty where nothing is, and where there is no head."""


class _Broken(ValueError):
    """The head is not of the form that is read here."""


def read_head(text: str) -> Head:
    """The head of a file. It begins on the first line and ends on a line of its own, both `---`."""
    lines = text.split("\n")
    if not _END.match(lines[0]):
        return Head(body=text)
    end = next((number for number in range(1, len(lines)) if _END.match(lines[number])), None)
    if end is None:
        return Head(body=text, problem="its head is never closed")
    body = "\n".join(lines[end + 1 :])
    try:
        values, places = _values(lines[1:end])
    except _Broken as error:
        return Head(body=body, problem=str(error))
    return Head(values, places, body)


def _values(lines: list[str]) -> tuple[dict[str, Value], dict[str, int]]:
    values: dict[str, Value] = {}
    places: dict[str, int] = {}
    block: list[str] | None = None
    for number, raw in enumerate(lines, 2):
        line = _without_comment(raw).rstrip()
        if not line.strip():
            continue
        dash = _DASH.match(line)
        if dash is not None and block is not None:
            value = _scalar((dash[1] or "").strip(), number)
            if isinstance(value, str) and value:
                block.append(value)
            continue
        named = _KEY.match(line)
        if named is None:
            raise _Broken(f"line {number} of its head is not understood")
        key, rest = named[1], (named[2] or "").strip()
        places[key] = number
        block = None
        if not rest:
            block = []
            values[key] = block
        elif rest.startswith("["):
            values[key] = _inline(rest, number)
        else:
            values[key] = _scalar(rest, number)
    return values, places


def _without_comment(line: str) -> str:
    quote = ""
    for place, char in enumerate(line):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'" and (place == 0 or line[place - 1] in " [,:-"):
            quote = char
        elif char == "#" and (place == 0 or line[place - 1].isspace()):
            return line[:place]
    return line


def _inline(text: str, number: int) -> list[str]:
    """A list on one line."""
    if not text.endswith("]"):
        raise _Broken(f"the list on line {number} of its head is never closed")
    parts: list[str] = []
    quote, part, depth = "", "", 0
    for char in text[1:-1]:
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'" and not part.strip():
            quote = char
        elif char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(part)
            part = ""
            continue
        part += char
    if quote:
        raise _Broken(f"a quote on line {number} of its head is never closed")
    found = [_scalar(one.strip(), number) for one in (*parts, part) if one.strip()]
    return [value for value in found if isinstance(value, str) and value]


def _scalar(text: str, number: int) -> str | bool | None:
    if text[:1] in {'"', "'"}:
        if len(text) < 2 or text[-1] != text[0]:
            raise _Broken(f"a quote on line {number} of its head is never closed")
        inner = text[1:-1]
        return inner.replace("''", "'") if text[0] == "'" else inner.replace('\\"', '"').replace("\\\\", "\\")
    if text in {"true", "True", "false", "False"}:
        return text in {"true", "True"}
    if text in {"", "~", "null"}:
        return None
    if text[:1] in {"{", "&", "!", "|", ">", "%", "@"}:
        raise _Broken(f"line {number} of its head is not understood")
    return text
