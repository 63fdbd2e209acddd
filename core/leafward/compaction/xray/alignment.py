"""Parts of a compaction's X-ray: rows of the context before beside the context after, and a ledger that adds up.

Rows with the same fate form a band. A row with both sides is one message on both; in a summarised band, one side has the
messages and the other the lines of the summary, and the shorter side stays empty.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from leafward.context.projection import puts_files_in
from leafward.session.entries import NO_ENTRY, EntryIndex

if TYPE_CHECKING:
    from leafward.compaction.stored_summary.summary_lines import StoredLine
    from leafward.compaction.xray.origins import Origins, SourceMessage
    from leafward.session.session import Session


class Link(StrEnum):
    """Fate of a row."""

    SYSTEM = "system"
    """The system prompt and the tools in the file, the same on both sides."""
    KEPT = "kept"
    REPLACED = "replaced"
    """Summarised."""
    PREFIX = "prefix"
    """Summarised separately, as the beginning of the split turn."""
    INJECTED = "injected"
    """New in the context: injected beside the summary, or back in the context."""
    CUT = "cut"
    """Removed without a replacement."""
    REST = "rest"
    """Tokens that the agent sends but its file does not hold: system prompt, tools."""
    ERROR = "error"
    """The estimation error."""


class What(StrEnum):
    """Kind of a cell's content."""

    MESSAGE = "message"
    SYSTEM = "system"
    TOOLS = "tools"
    HEADING = "heading"
    LINE = "line"
    FILES = "files"
    """The head of a list of files."""
    FILE = "file"
    SECTION = "section"
    """The head of an injected section."""
    ADDED = "added"
    """One injected line."""
    QUOTED = "quoted"
    """A message of the user, word for word within the summary."""
    EXPECTED = "expected"
    """A summary that has not been made yet."""
    REST = "rest"
    ERROR = "error"


class Cell(NamedTuple):
    """One side of a row."""

    what: What
    tokens: int
    entry: EntryIndex = NO_ENTRY
    """The entry of the content; for a line of the summary, the compaction."""
    role: str = ""
    """pi's role of a message."""
    text: str = ""
    """Text of a line or a head, without its marks; not safe to show. Messages have none: they are shown by their headline."""
    section: str = ""
    """The heading above a line."""
    line: int = -1
    """The number of a line in the stored text."""
    below: int = 0
    """Number of tools, or of lines below a head."""
    edited: EntryIndex = NO_ENTRY
    """The context edit that replaced a message's content."""
    sent: bool = True


class XRayRow(NamedTuple):
    """One row: the same content on both sides, or contents shown beside each other."""

    before: Cell | None
    after: Cell | None
    link: Link
    cut: int = 0
    """Tokens of `before` that were cut from a message that stays."""


@dataclass(frozen=True, slots=True)
class Band:
    """Neighbouring rows with the same fate."""

    link: Link
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Share:
    """One column of the ledger, in tokens."""

    link: Link
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class XRay:
    """The context before a compaction, aligned with the context after it."""

    session: Session = field(repr=False, compare=False)
    compaction: EntryIndex
    """The compaction; -1 if it is only planned."""
    before_at: EntryIndex
    """The entry of the context before; the context after is that of the compaction."""
    rows: tuple[XRayRow, ...] = field(repr=False)
    bands: tuple[Band, ...]
    ledger: tuple[Share, ...]
    """One share for each link, in the order of `Link`; both columns add up to the totals."""
    before: int
    """Size of the context before, on the basis of `context.basis`."""
    after: int
    messages_before: int
    messages_after: int
    summary: str = field(repr=False)
    """The summary as stored, or as it will be stored."""
    lines: tuple[StoredLine, ...] = field(repr=False)
    origins: Origins = field(repr=False, compare=False)
    recorded: bool = True
    """Whether a provider counted the context after; otherwise its size is derived and shown with `~`."""
    recorded_before: bool = True
    """The same of the context before."""
    of_edits: bool = False
    """Whether this shows context edits: `compaction` is the last one, `CUT` rows are left out by them, and there is no summary."""

    lacks_files: bool = False
    """Whether files were put in again after the compaction, are not stored, and their size is not known yet."""

    @property
    def puts_files_in(self) -> bool:
        """Whether the agent puts files in again after the compaction without storing them."""
        return puts_files_in(self.session, self.compaction)

    @property
    def is_short(self) -> bool:
        """Whether more is sent after the compaction than `after` includes, in an unknown amount."""
        return self.lacks_rest or self.lacks_files

    @property
    def lacks_rest(self) -> bool:
        """Whether the tokens not in the file are unknown after the compaction, so that `after` covers the contents alone."""
        rest = next((share for share in self.ledger if share.link is Link.REST), None)
        sent = rest is not None and rest.before > 0 >= rest.after
        return sent and not self.recorded and not self.session.is_native

    def source(self, row: int) -> SourceMessage | None:
        """The source of the summary's line on a row; None for other rows, or if no source was found."""
        found = self.sources(row)
        return found[0] if found else None

    def sources(self, row: int) -> tuple[SourceMessage, ...]:
        """All known sources of the summary's line on a row, the best first. The first call reads the span."""
        cell = self.rows[row].after
        return self.origins.of(cell.line) if cell is not None and cell.line >= 0 else ()
