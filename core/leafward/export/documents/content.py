"""The content of an export: the entries of a path or of every branch, their texts safe to hand on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import TYPE_CHECKING

from leafward.agents.native_lines import described
from leafward.base.figures import counted
from leafward.base.safe_text import excerpt_line, safe, safe_line
from leafward.base.times import moment_of
from leafward.export.documents.lanes import Lane, Lanes
from leafward.redaction.redaction import Redactor, named_in, redact
from leafward.redaction.spans import MARKER
from leafward.session.entries import (
    DAMAGED,
    NO_ENTRY,
    TURN_STARTS,
    Body,
    EntryIndex,
    Kind,
    blocks_of,
    text_of,
)
from leafward.session.headlines.entry_headline import LIMIT, headline, injected_name
from leafward.session.messages import image_text
from leafward.session.session import verify

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from leafward.session.lines.entry_decoding import Entry
    from leafward.session.session import Session

_TITLE = 120
"""Characters of the prompt that names a document."""
SPOKEN = frozenset({
    Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT, Kind.BASH, Kind.CUSTOM_ROLE, Kind.SYSTEM, Kind.COMPACTION,
    Kind.BRANCH_SUMMARY, Kind.CUSTOM_MESSAGE, Kind.INJECTED, Kind.CONTEXT_EDIT, Kind.MODEL_CHANGE,
    Kind.THINKING_CHANGE, Kind.MALFORMED, Kind.UNKNOWN
})  # fmt: skip
"""Kinds that an export for readers shows; the others are bookkeeping."""

RAW_LIMIT = 2000
"""Characters that are shown of a line that is not an entry."""


_SHORTEST_PIECE = 4
"""The shortest beginning of a secret, in characters, that is removed too."""


class ExportForm(StrEnum):
    """The form of a part of an entry."""

    SAID = "said"
    THOUGHT = "thought"
    CALLED = "called"
    RETURNED = "returned"
    IMAGE = "image"
    REMARK = "remark"


@dataclass(frozen=True, slots=True)
class EntryPart:
    """One part of an entry, its text safe and redacted."""

    form: ExportForm
    text: str
    title: str = ""
    """One line: the tool that is called, or the tool that gave the result."""
    failed: bool = False
    media: tuple[str, str] | None = None
    """Type and base64 data of an image."""


@dataclass(slots=True)
class SafeTexts:
    """Makes the texts of a session safe to hand on."""

    session: Session
    secrets: bool
    """Whether secrets stay."""
    redactor: Redactor

    def text(self, text: str) -> str:
        """A text made safe, and redacted unless secrets stay."""
        return safe(text if self.secrets else self.redactor.text(text))

    def line(self, text: str) -> str:
        """A text made safe, redacted unless secrets stay, on one line."""
        return safe_line(text if self.secrets else self.redactor.text(text))


@dataclass(slots=True)
class Content(SafeTexts):
    """A session to be exported."""

    at: EntryIndex
    whole: bool
    lanes: list[Lane]
    only: frozenset[int] | None = None
    """The chosen entries, where a query chose some: the lanes hold no others."""

    @property
    def size(self) -> int:
        """Entries of the path, or of the whole file, without Leafward's notes."""
        return len(self.session.columns.without_notes(self.all_entries()))

    def all_entries(self) -> Sequence[int]:
        """The entries of the path, or all of the file in its order, bookkeeping included."""
        every = range(len(self.session)) if self.whole else self.lanes[0].entries
        return every if self.only is None else [index for index in every if index in self.only]

    @property
    def title(self) -> str:
        """The session's name, else its first prompt, else its id; one line."""
        if self.session.title:
            return self.line(self.session.title)
        kinds = self.session.columns.kind
        for lane in self.lanes:
            for index in lane.entries:
                if kinds[index] == Kind.USER:
                    return excerpt_line(self.headline(index), _TITLE)
        return self.line(self.session.id)

    def facts(self) -> list[tuple[str, str]]:
        """Names and values of the lines at the head of an export."""
        session = self.session
        # A note of ours at the end, such as a label, is no entry that anybody has seen.
        end = session.tree.content_at(self.at)
        found = [
            ("Session", session.id),
            ("Project", session.cwd),
            ("Started", session.header.get("timestamp")),
        ]
        scope = "every branch" if self.whole else f"the path to {self.name(end)}" if end >= 0 else "nothing"
        chosen = "" if self.only is None else "chosen from "
        found.append(("Holds", f"{counted(self.size, 'entry', 'entries')}, {chosen}{scope}"))
        return [(name, self.line(value)) for name, value in found if isinstance(value, str) and value]

    def name(self, index: int) -> str:
        """An entry's id, safe, and redacted unless secrets stay."""
        if index < 0:
            return "the start"
        name = self.session.columns.id(EntryIndex(index))
        return safe_line(name if self.secrets else redact(name), 64)

    def label(self, index: int) -> str:
        """An entry's label in brackets; empty where it has none."""
        found = self.session.labels.get(EntryIndex(index))
        return f"[{self.line(found)}]" if found is not None else ""

    def headline(self, index: int) -> str:
        """An entry on one line."""
        return self._shown(index, "")

    def _shown(self, index: int, before: str) -> str:
        """The headline of an entry after `before`; a headline that is cut ends with an ellipsis."""
        text = headline(self.session, index).text
        text = f"{before}{text}{'…' if len(text) >= LIMIT else ''}"
        return safe_line(text if self.secrets else brief(self.session, index, text, self.redactor.named))

    def time(self, entry: Entry) -> str:
        """The time of an entry to the minute, with the zone, because a reader elsewhere needs it."""
        moment = moment_of(entry.timestamp)
        return f"{moment:%Y-%m-%d %H:%M} UTC" if moment is not None else self.line(str(entry.timestamp))

    def entries(self, lane: Lane) -> Iterator[Entry]:
        """The entries of a lane that readers see."""
        kinds = self.session.columns.kind
        for index in lane.entries:
            if kinds[index] in SPOKEN:
                yield self.session.entry(index)

    def begins_turn(self, entry: Entry) -> bool:
        """Whether a turn begins with an entry."""
        return entry.kind in TURN_STARTS

    def parts(self, entry: Entry) -> Iterator[EntryPart]:
        """The parts of an entry, in order."""
        body, kind = entry.body, entry.kind
        if kind is Kind.MALFORMED or not body:
            # The line is redacted before it is cut: otherwise the first half of a secret could stay.
            raw = self.text(entry.raw.decode("utf-8", "replace"))
            cut = raw[:RAW_LIMIT] + ("…" if len(raw) > RAW_LIMIT else "")
            yield EntryPart(
                ExportForm.RETURNED, cut, f"line that is no entry, at byte {entry.offset:,}", failed=True
            )
        elif kind in (Kind.COMPACTION, Kind.BRANCH_SUMMARY):
            yield EntryPart(ExportForm.SAID, self.text(str(body.get("summary") or "")))
        elif kind is Kind.INJECTED and len(headline(self.session, entry.index).text) >= LIMIT:
            # The model read all of it.
            title = ": ".join(["added", *filter(None, [injected_name(body)])])
            yield EntryPart(ExportForm.RETURNED, self.text(text_of(body.get("content"))), self.line(title))
        elif kind is Kind.CUSTOM_MESSAGE:
            yield from self._blocks(body.get("content"))
        elif entry.message:
            yield from self._message(entry.message, kind)
        else:
            word = headline(self.session, entry.index).word
            yield EntryPart(ExportForm.REMARK, self._shown(entry.index, f"{word}: "))

    def _message(self, message: Body, kind: Kind) -> Iterator[EntryPart]:
        content = message.get("content")
        if kind is Kind.BASH:
            failed = bool(message.get("exitCode"))
            text = f"$ {message.get('command', '')}\n{message.get('output', '')}".rstrip("\n")
            yield EntryPart(ExportForm.RETURNED, self.text(text), "command of the user", failed)
        elif kind is Kind.TOOL_RESULT:
            tool, failed = self.line(str(message.get("toolName") or "a tool")), bool(message.get("isError"))
            yield EntryPart(ExportForm.RETURNED, self.text(text_of(content)), f"{tool} returned", failed)
            beside = ExportForm.IMAGE, ExportForm.REMARK
            yield from (part for part in self._blocks(content) if part.form in beside)
        elif kind is Kind.SYSTEM:
            sections = message.get("sections")
            texts = [text_of(content), *(sections.values() if isinstance(sections, dict) else ())]
            yield EntryPart(
                ExportForm.RETURNED,
                self.text("\n".join(str(text) for text in texts if text)),
                "system prompt",
            )
        else:
            yield from self._blocks(content)
        error = message.get("errorMessage")
        if error:
            yield EntryPart(ExportForm.REMARK, self.line(str(error)), failed=True)
        elif message.get("stopReason") in ("aborted", "length"):
            yield EntryPart(
                ExportForm.REMARK, f"stopped: {self.line(str(message['stopReason']))}", failed=True
            )

    def _blocks(self, content: object) -> Iterator[EntryPart]:
        for block in blocks_of(content):
            kind = block.get("type")
            if kind == "text":
                text = str(block.get("text", ""))
                if text.strip():
                    yield EntryPart(ExportForm.SAID, self.text(text))
            elif kind == "thinking":
                if block.get("thinking"):
                    yield EntryPart(ExportForm.THOUGHT, self.text(str(block["thinking"])))
            elif kind == "toolCall":
                # The arguments come first, each under its name as in JSON, so that every export redacts the same.
                called = block if self.secrets else self.redactor.value(block)
                yield EntryPart(
                    ExportForm.CALLED,
                    self.text(call_lines(called)),
                    self.line(str(called.get("name") or "a tool")),
                )
            elif kind == "image":
                media = str(block.get("mimeType")), str(block.get("data") or "")
                yield EntryPart(ExportForm.IMAGE, self.line(image_text(block)), media=media)
            else:
                shown = block if self.secrets else self.redactor.value(block)
                yield EntryPart(ExportForm.REMARK, self.line(described(shown)))


def redactor_for(session: Session) -> Redactor:
    """A redactor that knows the secrets of all entries: some are named in one entry, or in one that is left out, and used in another."""
    bodies = (body for _, body in session.bodies(range(len(session))) if body is not None)
    return Redactor(named=named_in(chain([session.header], bodies)))


def brief(session: Session, index: int, text: str, named: Mapping[str, str]) -> str:
    """One line about an entry without secrets, also without the beginning of a secret that the cut of `text` split.

    `named` are the secrets of other entries. Those removed here are not counted: each one is counted in the entry itself.
    """
    secrets: dict[str, str] = {}

    def note(kind: str, secret: str) -> None:
        # A headline shows names of context with spaces for underscores.
        for shown in (secret, secret.replace("_", " ")):
            secrets.setdefault(" ".join(shown.split()), kind)

    Redactor(report=note, named=dict(named)).value(session.entry(index).body)
    for secret in sorted(secrets, key=len, reverse=True):
        marker = f"{MARKER}{secrets[secret]}]"
        text = text.replace(secret, marker)
        kept = text.rstrip("… ")
        for size in range(min(len(secret), len(kept)), _SHORTEST_PIECE - 1, -1):
            if kept.endswith(secret[:size]):
                text = f"{kept[:-size]}{marker}"
                break
    return Redactor(named=dict(named)).text(text)


def call_lines(block: Body) -> str:
    """The arguments of a call, each on a line; a long text follows below its name."""
    arguments = block.get("arguments")
    if not isinstance(arguments, dict):
        return ""
    lines = []
    for key, value in arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append(f"{key}: {text}" if "\n" not in text else f"{key}:\n{text}")
    return "\n".join(lines)


def content_of(
    session: Session,
    at: int | None = None,
    *,
    whole: bool = False,
    secrets: bool = False,
    only: frozenset[int] | None = None,
) -> Content:
    """Chooses the entries of an export: those of the path or of the whole session, limited to `only` where it is given.

    Lines that prove to be broken are marked in the session first.
    """
    content = _content_of(session, at, whole=whole, secrets=secrets)
    if only is not None:
        parent = session.columns.parent
        lanes = []
        for lane in content.lanes:
            after = lane.after
            # A branch leaves from the nearest entry above it that was chosen.
            while after >= 0 and after not in only:
                after = EntryIndex(parent[after])
            kept = tuple(index for index in lane.entries if index in only)
            if kept or not whole:
                lanes.append(Lane(lane.depth if after >= 0 else 0, after, kept))
        content.lanes, content.only = lanes, only
    return content


def _content_of(session: Session, at: int | None, *, whole: bool, secrets: bool) -> Content:
    here = session.leaf if at is None else EntryIndex(at)
    verify(session, None if whole else here)
    if at is None:
        here = session.leaf
    redactor = Redactor() if secrets else redactor_for(session)
    if not whole:
        path = Lane(0, NO_ENTRY, tuple(session.tree.path(here)))
        return Content(session, secrets, redactor, here, whole, [path])
    everything = Lanes(session, here)
    lanes = []
    for lane in everything.lanes():
        entries: list[int] = []
        for index in lane.entries:
            if session.columns.kind[index] not in DAMAGED:
                entries.append(index)
            entries.extend(everything.bad_below.get(index, ()))
        lanes.append(Lane(lane.depth, lane.after, tuple(entries)))
    before = everything.bad_below.get(NO_ENTRY)
    if before:
        lanes.insert(0, Lane(0, NO_ENTRY, tuple(before)))
    return Content(session, secrets, redactor, here, whole, lanes)
