"""Pins: facts that the user wants in every summary, word for word. They are stored with a compaction and carried on to the next.

A pin is a sentence. A bare name, path, number or command means nothing later, so the sentence that mentions it is pinned
instead.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.base.errors import Refused
from leafward.base.late_pattern import late
from leafward.base.safe_text import safe_line
from leafward.compaction.stored_summary.provenance import stored_provenance
from leafward.redaction.redaction import Redactor, named_in
from leafward.session.entries import EntryIndex, Kind, blocks_of, text_of, tool_calls
from leafward.session.messages import as_typed, messages_of
from leafward.summaries.facts.sentences import prose
from leafward.summaries.summarizers.outline import LINE_LIMIT, PIN_LIMIT, cut, harmless
from leafward.summaries.survival.spans import compactions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from leafward.session.entries import Body
    from leafward.session.session import Session

_SPOKEN = late("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]{4}")
"""Characters of scripts that put no spaces between words."""
_FEW_WORDS = 2
_LEAST_WORDS = 4
"""Least words of a sentence that says more than the token in it."""
_FAR = 2_000
"""Number of entries that are searched for the sentence of a token."""
_QUOTE = LINE_LIMIT - 60


def carried_pins(session: Session, at: int) -> tuple[str, ...]:
    """The pins of the compactions on the path to an entry, oldest first."""
    found: dict[str, None] = {}
    for index in compactions(session, at):
        found.update(dict.fromkeys(pins_in(session.body(index) or {})))
    return tuple(found)


def pins_in(body: Body) -> list[str]:
    """The pins of a summary entry of ours."""
    pins = stored_provenance(body).get("pins")
    return [pin for pin in pins if isinstance(pin, str)] if isinstance(pins, list) else []


def clean_pins(pins: Iterable[str], bodies: Iterable[Body]) -> tuple[str, ...]:
    """Pins in the form for a summary: one line each, harmless, secrets removed, no duplicates.

    `bodies` are the messages or entries that the pins are about: what these name as a secret is one in a pin too.
    """
    pins = tuple(pins)
    redactor = Redactor(named=named_in(bodies) if pins else {})
    return tuple(dict.fromkeys(line for pin in pins if (line := harmless(redactor.text(pin), PIN_LIMIT))))


def is_bare(pin: str) -> bool:
    """Whether a pin is not a sentence: a single name, path, number or flag, or a number with its unit."""
    words = pin.split()
    if _SPOKEN.search(pin) is not None:
        return False
    return len(words) < _FEW_WORDS or (len(words) == _FEW_WORDS and any(char.isdigit() for char in words[0]))


def as_sentences(session: Session, at: int, pins: Iterable[str]) -> tuple[str, ...]:
    """Pins with each bare token replaced by the last sentence on the path to an entry that mentions it.

    Text written by a person or model comes before tool input and output. A token that is found nowhere stays unchanged, as do the
    user's own sentences.
    """
    return tuple(
        (_sentence_of(session, at, " ".join(pin.split())) or pin) if is_bare(pin) else pin
        for pin in pins
        if pin
    )


def said_pins(session: Session, at: int, pins: Iterable[str]) -> tuple[str, ...]:
    """Pins that a user typed, each as a sentence. Raises Refused for a bare token that nothing on the path mentions."""
    sentences = as_sentences(session, at, pins)
    for pin in filter(is_bare, sentences):
        raise Refused(f"nothing in the session says {safe_line(pin, 60)!r}: pin a whole sentence")
    return sentences


def _sentence_of(session: Session, at: int, token: str) -> str:
    """The last sentence that mentions a token; empty if there is none."""
    if not token:
        return ""
    named = re.compile(rf"(?<![\w-]){re.escape(token)}(?![\w-])")
    printed = ""
    entry = at
    for _ in range(_FAR):
        if entry < 0:
            break
        kind = Kind(session.columns.kind[entry])
        for message in messages_of(session.body(EntryIndex(entry)) or {}, kind):
            message = as_typed(message)
            for text in _written(message):
                if token in text and (found := _said(text, token, named)):
                    return found
            printed = printed or _used(message, token, named)
        entry = session.columns.parent[entry]
    return printed


def _written(message: Body) -> Iterator[str]:
    """Text that a person or a model wrote in a message."""
    role = message.get("role")
    if role in ("user", "custom"):
        yield text_of(message.get("content"))
    elif role == "assistant":
        for block in blocks_of(message.get("content")):
            if isinstance(text := block.get("text"), str):
                yield text


def _said(text: str, token: str, named: re.Pattern[str]) -> str:
    """The last sentence of a text that mentions a token and has enough other words."""
    found = ""
    for sentence in prose.sentences(text):
        if token in sentence and len(sentence.split()) >= _LEAST_WORDS and named.search(sentence):
            found = sentence
    line = _around(found, token)
    return line if token in line else ""


def _used(message: Body, token: str, named: re.Pattern[str]) -> str:
    """A sentence that names the tool that was given a token, or that printed it."""
    if message.get("role") == "toolResult":
        for line in text_of(message.get("content")).split("\n"):
            if token in line and named.search(line):
                return f"The tool `{harmless(str(message.get('toolName') or 'run'), 40)}` printed: {_around(line, token)}"
        return ""
    for call in tool_calls(message):
        for value in call.arguments.values():
            if isinstance(value, str) and token in value and named.search(value):
                line = next(line for line in value.split("\n") if token in line)
                return (
                    f"The tool `{harmless(call.name or 'run', 40)}` was called with: {_around(line, token)}"
                )
    return ""


def _around(line: str, token: str) -> str:
    """A line cut to the length of a pin, with the token in it."""
    line = " ".join(line.split())
    start = line.find(token)
    if len(line) > _QUOTE and start + len(token) > _QUOTE - 2:
        line = f"…{line[max(0, start + len(token) - _QUOTE // 2) :]}"
    return cut(line, _QUOTE)
