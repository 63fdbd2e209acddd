"""What an X-ray of a compaction is made of: rows of what stands before beside what stands after, and a ledger that adds up.

Rows of one fate stand together in a band. A row that has both sides is one message on both; in a band that is summarised
the messages stand on one side and the lines that stand for them on the other, and the shorter side stays empty.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from leafward.session.entries import NO_ENTRY, EntryIndex
from leafward.session.messages import leaves_files_unstored

if TYPE_CHECKING:
    from leafward.compaction.origins import Origins, Source
    from leafward.compaction.summary_lines import StoredLine
    from leafward.session.session import Session


class Link(StrEnum):
    """What became of a row."""

    SYSTEM = "system"
    """The system prompt and the tools in the file, on both sides alike."""
    KEPT = "kept"
    REPLACED = "replaced"
    """Summarised."""
    PREFIX = "prefix"
    """Summarised apart, as the beginning of the turn that is split."""
    INJECTED = "injected"
    """New in the context: given beside the summary, or back in it."""
    CUT = "cut"
    """Gone, and nothing stands for it."""
    REST = "rest"
    """What the agent sends and its file does not hold: system prompt, tools."""
    ERROR = "error"
    """The estimation error."""


class What(StrEnum):
    """What a cell shows."""

    MESSAGE = "message"
    SYSTEM = "system"
    TOOLS = "tools"
    HEADING = "heading"
    LINE = "line"
    FILES = "files"
    """The head of a list of files."""
    FILE = "file"
    SECTION = "section"
    """The head of what was injected under one title."""
    ADDED = "added"
    """One injected line."""
    QUOTED = "quoted"
    """A message of the user, word for word within the summary."""
    EXPECTED = "expected"
    """A summary that is not made yet."""
    REST = "rest"
    ERROR = "error"


class Cell(NamedTuple):
    """One side of a row."""

    what: What
    tokens: int
    entry: EntryIndex = NO_ENTRY
    """Where it comes from; of a line of the summary, the compaction."""
    role: str = ""
    """pi's role of a message."""
    text: str = ""
    """Of a line or a head, without its marks; not safe to show. Messages are told by their headline."""
    section: str = ""
    """The heading that a line stands under."""
    line: int = -1
    """The number of a line in the stored text."""
    below: int = 0
    """Tools, or lines below a head."""
    edited: EntryIndex = NO_ENTRY
    """The context edit that replaced a message's content."""
    sent: bool = True


class XRayRow(NamedTuple):
    """One row: the same on both sides, or what stands beside each other."""

    before: Cell | None
    after: Cell | None
    link: Link
    cut: int = 0
    """Tokens of `before` that were cut off a message that stays."""


@dataclass(frozen=True, slots=True)
class Band:
    """Rows of one fate that stand together."""

    link: Link
    start: int
    stop: int
    before: int
    """Tokens."""
    after: int


@dataclass(frozen=True, slots=True)
class Share:
    """One column of the ledger, in tokens."""

    link: Link
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class XRay:
    """A compaction seen through: before beside after."""

    session: Session = field(repr=False, compare=False)
    compaction: EntryIndex
    """-1 for one that is only planned."""
    before_at: EntryIndex
    """Where the context before is taken; that after stands at the compaction."""
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
    """The summary as it is stored, or will be."""
    lines: tuple[StoredLine, ...] = field(repr=False)
    split_turn: bool
    origins: Origins = field(repr=False, compare=False)
    recorded: bool = True
    """Whether a provider counted the context after; else its size is worked out, and shown with `~`."""
    of_edits: bool = False
    """Whether it is of context edits: `compaction` is the last of them, what is cut is left out by them, no summary."""

    lacks_files: bool = False
    """Whether files were put in again behind it that are not stored: nothing tells yet how large they are."""

    @property
    def puts_files_in(self) -> bool:
        """Whether its agent puts files in again behind it and stores nothing of them."""
        body = self.session.body(self.compaction) if self.compaction >= 0 else None
        return leaves_files_unstored(body or {})

    @property
    def is_short(self) -> bool:
        """Whether more is sent behind it than the size after has, and nothing tells how much."""
        return self.lacks_rest or self.lacks_files

    @property
    def lacks_rest(self) -> bool:
        """Whether nothing tells what is not in the file behind it: the size after is that of the contents alone."""
        rest = next((share for share in self.ledger if share.link is Link.REST), None)
        sent = rest is not None and rest.before > 0 >= rest.after
        return sent and not self.recorded and not self.session.is_native

    def source(self, row: int) -> Source | None:
        """Where the line of the summary on a row comes from; None for every other row, and where nothing was found."""
        found = self.sources(row)
        return found[0] if found else None

    def sources(self, row: int) -> tuple[Source, ...]:
        """All that is known to have led to the line of a row, the best first. The first call reads the span."""
        cell = self.rows[row].after
        return self.origins.of(cell.line) if cell is not None and cell.line >= 0 else ()
