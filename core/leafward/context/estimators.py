"""Token estimates of texts and messages: as pi, Codex and opencode count them, and one by script.

The three agents divide a length by four, each in its own way. That is about right for English and source text, but two to
four times too low for Chinese, Japanese and Korean; the estimate by script weighs each character by its script.
"""

from __future__ import annotations

import json
import re
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING

import orjson

from leafward.session.tokens import (
    CHARS_PER_TOKEN,
    IMAGE_CHARS,
    message_tokens,
    stored_size,
    tokens_of_units,
    utf16_length,
)

if TYPE_CHECKING:
    from leafward.session.entries import Body


class Estimator(StrEnum):
    """Method of estimating tokens."""

    PI = "pi"
    """UTF-16 units by four, rounded up (pi 1.5.2)."""
    CODEX = "codex"
    """UTF-8 bytes by four, rounded up (Codex 0.169)."""
    OPENCODE = "opencode"
    """UTF-16 units by four, rounded to the nearest (opencode 1.18)."""
    SCRIPT = "script"
    """Each character weighted by its script."""


ESTIMATOR_TEXT: dict[Estimator, str] = {
    Estimator.PI: "UTF-16 units / 4, rounded up, as pi counts",
    Estimator.CODEX: "UTF-8 bytes / 4, rounded up, as Codex counts",
    Estimator.OPENCODE: "UTF-16 units / 4, rounded, as opencode counts",
    Estimator.SCRIPT: "script: letters of ASCII / 4, of CJK × 0.75",
}

CODEX_KEPT_USER_TOKENS = 20_000
"""Tokens of the user's messages that Codex keeps beside a summary, by its own estimate."""

_UNIT = 20
"""Parts of a token in which weights are given."""
_ASCII_WEIGHT = _UNIT // CHARS_PER_TOKEN

# Cost of a character in common byte-pair vocabularies, in twentieths of a token, averaged over running text.
_SCRIPTS: tuple[tuple[str, int], ...] = (
    (
        "\u0080-\u06ff\u10a0-\u10ff\u1c90-\u1cbf\u1d00-\u1fff",
        8,
    ),  # Latin with marks, Greek, Cyrillic, Arabic …
    ("\u0700-\u109f\u1100-\u1c8f\u1cc0-\u1cff", 12),  # scripts of India and South-East Asia, Ethiopic …
    ("\u2000-\u2bff", 10),  # dashes, arrows, boxes, signs
    ("\u2e80-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff", 15),  # Han, kana, Hangul
    (
        "\u2c00-\u2e7f\ud800-\uf8ff\ufb00-\ufe2f\ufe50-\ufeff\ufff0-\U0001ffff\U00040000-\U0010ffff",
        40,
    ),  # emoji, the rest
)
_WEIGHTS = (_ASCII_WEIGHT, *(weight for _, weight in _SCRIPTS))


@cache
def _runs() -> re.Pattern[str]:
    """A pattern for runs of characters of one script. Compiled on first use, as that takes milliseconds."""
    return re.compile("|".join(f"([{ranges}]+)" for ranges, _ in _SCRIPTS))


def _weighed(text: str) -> int:
    """Size of a text in twentieths of a token."""
    if text.isascii():
        return len(text) * _ASCII_WEIGHT
    weighed = others = 0
    for run in _runs().finditer(text):
        size = run.end() - run.start()
        others += size
        weighed += size * _WEIGHTS[run.lastindex or 0]
    return weighed + (len(text) - others) * _ASCII_WEIGHT


def utf8_length(text: str) -> int:
    """Length in bytes of UTF-8; a lone surrogate counts as three."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def text_tokens(text: str, estimator: Estimator) -> int:
    """Estimated tokens of a text."""
    return _tokens([text], 0, estimator)


def estimated_tokens(message: Body, estimator: Estimator) -> int:
    """Estimated tokens of one message of any role; counts the same parts as `tokens.message_tokens`."""
    if estimator is Estimator.PI:
        return message_tokens(message)
    stored = stored_size(message)
    if stored is not None:
        return stored
    texts, images = _counted_texts(message)
    return _tokens(texts, images, estimator)


def image_tokens(estimator: Estimator) -> int:
    """Estimated tokens of an image."""
    return _tokens([], 1, estimator)


def _tokens(texts: list[str], images: int, estimator: Estimator) -> int:
    if estimator is Estimator.SCRIPT:
        weighed = sum(map(_weighed, texts)) + images * IMAGE_CHARS * _ASCII_WEIGHT
        return -(-weighed // _UNIT)
    if estimator is Estimator.CODEX:
        return tokens_of_units(sum(map(utf8_length, texts)) + images * IMAGE_CHARS)
    units = sum(map(utf16_length, texts)) + images * IMAGE_CHARS
    return (
        (units + CHARS_PER_TOKEN // 2) // CHARS_PER_TOKEN
        if estimator is Estimator.OPENCODE
        else tokens_of_units(units)
    )


def _json_text(value: object) -> str:
    try:
        return orjson.dumps(value).decode()
    except (TypeError, ValueError, RecursionError):
        try:
            return json.dumps(value, separators=(",", ":"))
        except (TypeError, ValueError, RecursionError):
            return ""


_BLOCK_TEXT = {"text": "text", "thinking": "thinking"}
_NAMED_TEXTS = {
    "bashExecution": ("command", "output"),
    "branchSummary": ("summary",),
    "compactionSummary": ("summary",),
}
_WITH_CONTENT = frozenset({"user", "assistant", "toolResult", "custom", "system"})


def _counted_texts(message: Body) -> tuple[list[str], int]:
    """The texts of a message that count, and the number of its images."""
    role = message.get("role")
    if not isinstance(role, str):
        return [], 0
    if role in _NAMED_TEXTS:
        return [message[key] for key in _NAMED_TEXTS[role] if isinstance(message.get(key), str)], 0
    if role not in _WITH_CONTENT:
        return [], 0
    content = message.get("content")
    texts: list[str] = [content] if isinstance(content, str) and role != "assistant" else []
    images = 0
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        kind = block.get("type")
        if kind == "image" and role != "assistant":
            images += 1
        elif kind == "text" or (role == "assistant" and kind == "thinking"):
            text = block.get(_BLOCK_TEXT[kind])
            texts += [text] if isinstance(text, str) else []
        elif role == "assistant" and kind == "toolCall":
            name = block.get("name")
            texts += [name] if isinstance(name, str) else []
            texts += [_json_text(block["arguments"])] if "arguments" in block else []
    if role == "system":
        sections = message.get("sections")
        texts += (
            [text for text in sections.values() if isinstance(text, str)]
            if isinstance(sections, dict)
            else []
        )
        texts += [_json_text(message["toolsAdded"])] if message.get("toolsAdded") else []
    return texts, images
