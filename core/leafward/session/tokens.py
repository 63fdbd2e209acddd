"""Token estimates, counted exactly as pi 1.5.2 counts them: a quarter of the UTF-16 units, rounded up, per message."""

from __future__ import annotations

import codecs
import math
from typing import TYPE_CHECKING, Any

import orjson

from leafward.base.late_pattern import late
from leafward.session.entries import blocks_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.session.entries import Body

CHARS_PER_TOKEN = 4
IMAGE_CHARS = 4800
"""The size of an image in UTF-16 units (1,200 tokens)."""

SUMMARY_TOKENS = "summaryTokens"
"""The field of an encrypted summary with its tokens: its placeholder text does not show them."""
SUMMARY_LIMIT = 1_000_000_000
"""Tokens beyond any summary: a column of sizes holds less than twice this."""

_SAFE_INTEGER = 2**53
_JS_EXPONENT_FROM = 1e21


def utf16_length(text: str) -> int:
    """Length in UTF-16 units, like JavaScript's `length`."""
    if text.isascii():
        return len(text)
    # The same as `str.encode`, which looks the codec up for each text.
    return len(codecs.utf_16_le_encode(text, "surrogatepass")[0]) // 2


def tokens_of_units(units: int) -> int:
    """The estimated tokens of a number of UTF-16 units."""
    return -(-units // CHARS_PER_TOKEN)


def json_length(value: object) -> int:
    """Length in UTF-16 units of a decoded value as JavaScript's `JSON.stringify` writes it."""
    try:
        dumped = orjson.dumps(value if _is_plain(value) else _as_javascript(value))
        if dumped.isascii():
            return len(dumped)
        text = dumped.decode()
    except (TypeError, ValueError, RecursionError):
        # Lone surrogates: JSON.stringify writes each as an escape of six units.
        return _slow_json_length(value)
    return utf16_length(text)


def _is_plain(value: object) -> bool:
    """Whether a value has the usual form of arguments: an object of strings and integers, or of lists of such."""
    if type(value) is not dict:
        return False
    for item in value.values():
        kind = type(item)
        if kind is str or (kind is int and -_SAFE_INTEGER <= item <= _SAFE_INTEGER):
            continue
        if kind is not list or _has_float(item):
            return False
    return True


def _has_float(value: object) -> bool:
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        kind = type(item)
        if kind is str:
            continue
        if kind is dict:
            stack.extend(item.values())
        elif kind is list:
            stack.extend(item)
        elif kind is float or (kind is int and abs(item) > _SAFE_INTEGER):
            return True
    return False


def _as_javascript(value: object) -> object:
    """The value with numbers as JavaScript would print them; the same object where nothing changes."""
    if not _has_float(value):
        return value
    if isinstance(value, dict):
        return {key: _as_javascript(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_javascript(item) for item in value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    number = float(value)
    if not math.isfinite(number):
        return None
    if number.is_integer() and abs(number) < _JS_EXPONENT_FROM:
        # The shortest digits that give the same double, padded with zeros.
        digits = repr(abs(number))
        mantissa, _, exponent = digits.partition("e")
        whole = mantissa.replace(".0", "").replace(".", "")
        size = int(exponent) + 1 if exponent else len(whole)
        return orjson.Fragment(("-" if number < 0 else "") + whole.ljust(size, "0"))
    return number


_LONE = late("[\ud800-\udfff]")


def _slow_json_length(value: object) -> int:
    total = 0
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            total += 2 + max(0, 2 * len(item) - 1)
            stack.extend(item.keys())
            stack.extend(item.values())
        elif isinstance(item, list):
            total += 2 + max(0, len(item) - 1)
            stack.extend(item)
        elif isinstance(item, str):
            text = _LONE.sub("", item)
            total += json_length(text) + 6 * (len(item) - len(text))
        else:
            total += json_length(item)
    return total


def content_units(content: object) -> int:
    """UTF-16 units of a string or of text and image blocks."""
    if type(content) is list and len(content) == 1 and type(content[0]) is dict:
        # Nearly all contents are one block of text.
        block = content[0]
        text = block.get("text")
        if type(text) is str and block.get("type") == "text":
            return len(text) if text.isascii() else utf16_length(text)
    if isinstance(content, str):
        return utf16_length(content)
    if not isinstance(content, list):
        return 0
    units = 0
    for block in content:
        if not isinstance(block, dict):
            continue
        kind = block.get("type")
        if kind == "text":
            text = block.get("text")
            if isinstance(text, str):
                units += len(text) if text.isascii() else utf16_length(text)
        elif kind == "image":
            units += IMAGE_CHARS
    return units


def _assistant_units(content: object) -> int:
    if not isinstance(content, list):
        return 0
    units = 0
    for block in content:
        if not isinstance(block, dict):
            continue
        kind = block.get("type")
        if kind == "toolCall":
            name = block.get("name")
            if isinstance(name, str):
                units += len(name) if name.isascii() else utf16_length(name)
            units += json_length(block["arguments"]) if "arguments" in block else 0
        elif kind in ("text", "thinking"):
            text = block.get(kind)
            if isinstance(text, str):
                units += len(text) if text.isascii() else utf16_length(text)
    return units


def _string_units(message: Body, keys: Iterable[str]) -> int:
    return sum(utf16_length(message[key]) for key in keys if isinstance(message.get(key), str))


def stored_size(summary: Body) -> int | None:
    """The recorded tokens of an encrypted summary; None where there are none, or more than any summary can have."""
    size = summary.get(SUMMARY_TOKENS)
    return size if type(size) is int and 0 <= size < SUMMARY_LIMIT else None


def message_tokens(message: Body) -> int:
    """Estimated tokens of one message of any role; 0 for an unknown role (pi 1.5.2)."""
    role = message.get("role")
    if role == "assistant":
        return -(-_assistant_units(message.get("content")) // CHARS_PER_TOKEN)
    if role in ("user", "toolResult", "custom"):
        return -(-content_units(message.get("content")) // CHARS_PER_TOKEN)
    if role == "bashExecution":
        units = _string_units(message, ("command", "output"))
    elif role in ("branchSummary", "compactionSummary"):
        stored = stored_size(message)
        if stored is not None:
            return stored
        units = _string_units(message, ("summary",))
    elif role == "system":
        units = content_units(message.get("content"))
        sections = message.get("sections")
        if isinstance(sections, dict):
            units += sum(utf16_length(text) for text in sections.values() if isinstance(text, str))
        # An empty list counts as well: it is truthy in JavaScript.
        if message.get("toolsAdded") not in (None, False, 0, ""):
            units += json_length(message["toolsAdded"])
    else:
        return 0
    return tokens_of_units(units)


def replayed_system(messages: Iterable[Body]) -> dict[str, Any] | None:
    """The combined system message of a list of messages: contents joined, sections and tools replayed.

    None where no message is a system message, or where none has a time and no tools remain (pi 1.5.2).
    """
    timed = False
    contents: list[str] = []
    sections: dict[str, str] = {}
    tools: dict[str, object] = {}
    for message in messages:
        if message.get("role") != "system":
            continue
        timed = timed or message.get("timestamp") is not None
        content = message.get("content")
        text = content if isinstance(content, str) else ""
        if isinstance(content, list):
            text = "\n".join(str(block.get("text", "")) for block in content if isinstance(block, dict))
        if text:
            contents.append(text)
        named = message.get("sections")
        for name, section in named.items() if isinstance(named, dict) else ():
            if section is None:
                sections.pop(name, None)
            else:
                sections[name] = section
        for tool in blocks_of(message.get("toolsRemoved")):
            tools.pop(str(tool.get("name")), None)
        for tool in blocks_of(message.get("toolsAdded")):
            tools[str(tool.get("name"))] = tool
    if not timed and not tools:
        return None
    replayed: dict[str, Any] = {"role": "system", "content": "\n\n".join(contents)}
    if sections:
        replayed["sections"] = sections
    if tools:
        replayed["toolsAdded"] = list(tools.values())
    return replayed
