"""A session as Markdown. What the session says is never markup of ours: fences grow with their content, HTML is defused."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.export.content import Content, Form, Part
from leafward.session.entries import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.session.entry_decoding import Entry
    from leafward.session.lanes import Lane

_TICKS = re.compile(r"`+")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_SPAN = re.compile(r"(`+)(?:(?!\1).)*?\1(?!`)", re.DOTALL)
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_SPECIAL = re.compile(r"([\\`*_\[\]<>#|])")

_SPEAKERS = {
    Kind.USER: "You",
    Kind.ASSISTANT: "Agent",
    Kind.BASH: "You ran",
    Kind.CUSTOM_ROLE: "Note",
    Kind.CUSTOM_MESSAGE: "Note",
    Kind.INJECTED: "Injected",
    Kind.SYSTEM: "System",
    Kind.COMPACTION: "Compaction",
    Kind.BRANCH_SUMMARY: "Branch summary",
}


def markdown(content: Content) -> Iterator[str]:
    """The export in pieces."""
    yield f"# {escaped(content.title)}\n\n"
    for name, value in content.facts():
        yield f"- {name}: {escaped(value)}\n"
    for lane in content.lanes:
        yield from _lane(content, lane)
    found = content.redactor.found
    if found:
        listed = ", ".join(f"{count} × {name}" for name, count in sorted(found.items()))
        yield f"\n---\n\nRedacted: {listed}.\n"


def _lane(content: Content, lane: Lane) -> Iterator[str]:
    if content.whole and lane.entries:
        first = content.headline(lane.entries[0])
        shown = next((entry.index for entry in content.entries(lane)), None)
        if shown is not None:
            first = content.headline(shown)
        title = (
            f"Branch from {content.name(lane.after)}: {first}"
            if lane.after >= 0
            else f"From the start: {first}"
        )
        yield f"\n{'#' * min(6, 2 + lane.depth)} {escaped(title)}\n"
    level = "#" * min(6, 3 + lane.depth if content.whole else 2)
    for entry in content.entries(lane):
        yield from _entry(content, entry, level)


def _entry(content: Content, entry: Entry, level: str) -> Iterator[str]:
    heading = "Task" if entry.index == content.session.task else _SPEAKERS.get(entry.kind)
    parts = list(content.parts(entry))
    label = escaped(content.label(entry.index))
    if heading is not None and (
        content.begins_turn(entry) or entry.kind in (Kind.COMPACTION, Kind.BRANCH_SUMMARY)
    ):
        when = (
            f" · {escaped(content.line(entry.timestamp[:16].replace('T', ' ')))}" if entry.timestamp else ""
        )
        yield f"\n{level} {heading}{when}{' ' + label if label else ''}\n"
    elif label:
        yield f"\n{label}\n"
    for part in parts:
        yield from _part(part)


def _part(part: Part) -> Iterator[str]:
    failed = " (failed)" if part.failed else ""
    if part.form is Form.SAID:
        yield f"\n{harmless(part.text)}\n"
    elif part.form is Form.THOUGHT:
        yield f"\n*thinking*\n\n{fenced(part.text, 'text')}\n"
    elif part.form is Form.CALLED:
        yield f"\n**{escaped(part.title)}**\n"
        if part.text:
            yield f"\n{fenced(part.text, 'text')}\n"
    elif part.form is Form.RETURNED:
        yield f"\n*{escaped(part.title)}{failed}*\n"
        if part.text:
            yield f"\n{fenced(part.text, 'text')}\n"
    else:
        yield f"\n*{escaped(part.text)}{failed}*\n"


def fenced(text: str, language: str = "") -> str:
    """A text in a fence that is longer than any run of backticks in it."""
    longest = max((len(found) for found in _TICKS.findall(text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return f"{ticks}{language}\n{text}\n{ticks}"


def harmless(text: str) -> str:
    """Markdown of a session without HTML and without images fetched from anywhere; an open fence is closed."""
    lines: list[str] = []
    plain: list[str] = []
    fence = ""

    def flush() -> None:
        if plain:
            lines.append(_defused("\n".join(plain)))
            plain.clear()

    for line in text.split("\n"):
        found = _FENCE.match(line)
        if fence:
            lines.append(line)
            if found and found[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif found:
            flush()
            lines.append(line)
            fence = found[1]
        else:
            plain.append(line)
    flush()
    if fence:
        lines.append(fence)
    return "\n".join(lines)


def _defused(text: str) -> str:
    """Text outside fences, with spans of code left alone."""
    pieces: list[str] = []
    at = 0
    for span in _SPAN.finditer(text):
        pieces.extend((_without_html(text[at : span.start()]), span[0]))
        at = span.end()
    pieces.append(_without_html(text[at:]))
    return "".join(pieces)


def _without_html(text: str) -> str:
    return _TAG.sub("&lt;", text).replace("![", "!\\[")


def escaped(text: str) -> str:
    """One line with everything that Markdown could act on escaped."""
    return _SPECIAL.sub(r"\\\1", text)
