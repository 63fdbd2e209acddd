"""A session as Markdown. The session's texts never act as markup of ours: see `sanitizer`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.export.documents.content import Content, EntryPart, ExportForm
from leafward.export.documents.sanitizer import fenced, harmless
from leafward.redaction.redaction import listed
from leafward.session.entries import Kind
from leafward.session.headlines.entry_headline import is_task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.export.documents.lanes import Lane
    from leafward.session.lines.entry_decoding import Entry


_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~]|&(?=[#A-Za-z]))")

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
        yield f"\n---\n\nRedacted, each secret counted once: {listed(found)}.\n"


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
    answering = False
    for entry in content.entries(lane):
        parts = list(content.parts(entry))
        answers = entry.kind is Kind.ASSISTANT
        # What the agent says in a turn is under one heading, or it would read as said by whoever asked.
        headed = _begins_part(content, entry) or (answers and not answering and bool(parts))
        yield from _entry(content, entry, parts, level if headed else "")
        answering = answers if headed else answering


def _begins_part(content: Content, entry: Entry) -> bool:
    """Whether an entry begins a turn, or is a summary."""
    return content.begins_turn(entry) or entry.kind in (Kind.COMPACTION, Kind.BRANCH_SUMMARY)


def _entry(content: Content, entry: Entry, parts: list[EntryPart], level: str) -> Iterator[str]:
    """One entry; without a heading where `level` is empty."""
    heading = "Task" if is_task(content.session, entry.index, entry.body) else _SPEAKERS.get(entry.kind)
    label = escaped(content.label(entry.index))
    if level and heading is not None:
        when = f" · {escaped(content.time(entry))}" if entry.timestamp else ""
        yield f"\n{level} {heading}{when}{' ' + label if label else ''}\n"
    elif label:
        yield f"\n{label}\n"
    for part in parts:
        yield from _part(part)


def _part(part: EntryPart) -> Iterator[str]:
    failed = " (failed)" if part.failed else ""
    if part.form is ExportForm.SAID:
        yield f"\n{harmless(part.text)}\n"
    elif part.form is ExportForm.THOUGHT:
        yield f"\n*thinking*\n\n{fenced(part.text, 'text')}\n"
    elif part.form is ExportForm.CALLED:
        yield f"\n**{escaped(part.title)}**\n"
        if part.text:
            yield f"\n{fenced(part.text, 'text')}\n"
    elif part.form is ExportForm.RETURNED:
        yield f"\n*{escaped(part.title)}{failed}*\n"
        if part.text:
            yield f"\n{fenced(part.text, 'text')}\n"
    else:
        yield f"\n*{escaped(part.text)}{failed}*\n"


def escaped(text: str) -> str:
    """One line with every character escaped that Markdown could interpret."""
    return _SPECIAL.sub(r"\\\1", text)
