"""JSON text in the agents' own files: written compactly, and edited in place with the rest byte for byte."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from leafward.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

_MARK = "\ufeff"
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


class JsonItem(NamedTuple):
    """A member of an object or an item of an array, with begin and end of its text (a member's includes the key)."""

    key: str
    start: int
    end: int
    value: Any
    at: int
    """Offset of the value."""


def parts(text: str, at: int) -> list[JsonItem]:
    """The parts of the object or array that begins at `at`, in order. The text must be valid JSON as a whole."""
    is_object = text[at] == "{"
    found: list[JsonItem] = []
    place = _after_space(text, at + 1)
    while text[place] not in "]}":
        start, key = place, ""
        if is_object:
            key, place = _DECODER.raw_decode(text, place)
            place = _after_space(text, _after_space(text, place) + 1)
        value, end = _DECODER.raw_decode(text, place)
        found.append(JsonItem(key, start, end, value, place))
        place = _after_space(text, end)
        if text[place] == ",":
            place = _after_space(text, place + 1)
    return found


def root(text: str, name: str, *, marked: bool = False) -> int:
    """Offset of a document's object. Raises Refused, naming the file, where the text is not a JSON object.

    With `marked` the text may begin with a byte order mark.
    """
    mark = _MARK if marked and text.startswith(_MARK) else ""
    try:
        value = json.loads(text.removeprefix(mark), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Refused(f"{name} is not valid JSON ({error}); fix it first") from None
    if not isinstance(value, dict):
        raise Refused(f"{name} is not a JSON object; fix it first")
    return _after_space(text, len(mark))


def _no_number(name: str) -> float:
    """Python alone reads `NaN` and `Infinity`: an agent ignores a file with them."""
    raise ValueError(f"{name} is no number")


def added(text: str, at: int, piece: str) -> str:
    """The text with one more member or item at the end of the container at `at`, in the layout of the ones before it."""
    before = parts(text, at)
    if not before:
        return text[: at + 1] + piece + text[at + 1 :]
    between = text[at + 1 : before[0].start]
    end = before[-1].end
    return f"{text[:end]},{between or ' '}{piece}{text[end:]}"


def without(text: str, at: int, gone: Sequence[int]) -> str:
    """The text without some parts of the container at `at`, given by number, and without the commas of these parts."""
    every = parts(text, at)
    for number in sorted(gone, reverse=True):
        part = every[number]
        if number > 0:
            text = text[: every[number - 1].end] + text[part.end :]
        elif len(every) > 1:
            text = text[: part.start] + text[every[1].start :]
        else:
            text = text[: part.start] + text[part.end :]
        del every[number]
        every = parts(text, at)
    return text


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found is not None else at


def written(value: Any) -> bytes:
    """A value in the agents' form: compact, in UTF-8."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        # Half of a surrogate pair can only be written as an escape.
        return json.dumps(value, separators=(",", ":")).encode()
