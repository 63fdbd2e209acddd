"""Values of an injection: the input from builders, and the resulting lines with their sources.

Those without mappings are tuples: an agent waits for this module, and a class of that kind is made in a seventh of the time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.config import INJECTION_BUDGET
from leafward.session.entries import NO_ENTRY, EntryIndex

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path


class SourceKind(StrEnum):
    """Kind of a line's source."""

    ENTRY = "entry"
    FILE = "file"
    CONFIG = "config"
    """The user's own settings: a given pin, or Leafward's own governance file."""
    STATIC = "static"
    """Text of ours."""
    DERIVED = "derived"
    """Counted or concluded from the other sources of the same line."""


class SourceRef(NamedTuple):
    """One source of a line."""

    kind: SourceKind
    entry: EntryIndex = NO_ENTRY
    """The entry; -1 for other sources."""
    call: str = ""
    """The tool call's id, if the source is a call."""
    file: str = ""
    """Path, relative to the workspace if the file is inside it."""
    line: int = 0
    """The line, from 1; 0 for the whole file."""
    digest: str = ""
    """The first 16 digits of the SHA-256 of the file as it was read."""
    note: str = ""
    """Role of the source: `read`, `edit`, a rule's name, a workflow's stage."""


STATIC = SourceRef(SourceKind.STATIC)


def from_entry(entry: int, call: str = "", note: str = "") -> SourceRef:
    """An entry as a source."""
    return SourceRef(SourceKind.ENTRY, EntryIndex(entry), call, note=note)


class Tier(IntEnum):
    """Importance of an item: nothing of a lower tier displaces something of a higher one."""

    PINNED = 0
    """Reserved before anything else."""
    FIRST = 1
    SECOND = 2
    LAST = 3


class OfferedBullet(NamedTuple):
    """One bullet that a builder offers. The text is raw: the pipeline makes it safe, redacts and cuts it."""

    text: str
    sources: tuple[SourceRef, ...]
    tier: Tier | None = None
    """The tier; None for that of its section."""
    rank: float = 0
    """Order within its section, the smallest first; equal ranks keep the given order."""
    path: str = ""
    """The normalised path if the item is one; a path is printed once in the whole text."""
    whole: bool = False
    """Whether it is shown whole or not at all, as a stage's name is."""
    core: str = ""
    """The part of the text that is not ours, which an audit searches for; empty for all of it."""
    filler: bool = False
    """Whether this is text of ours for an empty section; leaving it out loses nothing."""


class OmissionReason(StrEnum):
    """Reason why an item is not in the text."""

    CAP = "cap"
    BUDGET = "budget"
    STALE = "stale"
    PRIORITY = "priority"
    """The item's own priority is too low to be carried over a compaction."""
    EMPTY = "empty"
    DUPLICATE = "duplicate"
    """The item is printed elsewhere."""
    OFF = "off"
    """The item's section is switched off."""
    GONE = "gone"
    """A command has moved or removed the file since."""


class Omitted(NamedTuple):
    """An item that a builder offered but that is not in the text."""

    section: str
    text: str
    """The text, safe and cut as it would have been shown."""
    reason: OmissionReason
    sources: tuple[SourceRef, ...] = ()


class InjectionRemark(NamedTuple):
    """A remark on the result, for the user."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Contribution:
    """Contribution of one builder: items by section key, in the order of the text."""

    items: Mapping[str, tuple[OfferedBullet, ...]] = field(default_factory=dict)
    left_out: tuple[tuple[str, OfferedBullet, OmissionReason], ...] = ()
    """Items that the builder itself leaves out: section key, item, reason."""
    beyond: Mapping[str, int] = field(default_factory=dict)
    """By section key, the number of further items that are not offered, only counted."""
    diagnostics: tuple[InjectionRemark, ...] = ()


@dataclass(frozen=True, slots=True)
class InjectionSettings:
    """Settings of an injection. The text depends only on these, the path and the workspace."""

    budget: int = INJECTION_BUDGET
    """Code points of the whole text, marker lines included."""
    order: str = "recent"
    """Order in which files are chosen if there are too many: `recent` or `alpha`. They are always shown sorted."""
    workspace: Path | None = None
    """The folder that builders read; None for the session's own, if it exists."""
    now: datetime | None = None
    """The time against which freshness is measured; None for the time of the entry."""
    off: frozenset[str] = frozenset()
    """Keys of sections that are switched off."""
    pins: tuple[str, ...] = ()
    """Texts to carry on word for word."""
    governance: Path | None = None
    """The user's own governance file for all projects; None to read none."""
    again: bool = False
    """Whether the agent adds the text again behind each compaction, so that a copy in a summary would be a second one."""


class InjectedLine(NamedTuple):
    """One line of the text."""

    text: str
    section: str
    """The key of its section; empty for the marker lines."""
    sources: tuple[SourceRef, ...] = ()
    """Sources of the line; at least one for every line with text."""
    core: str = ""
    """The part of a bullet that an audit searches for in a summary; empty for other lines and for text of ours."""


class SectionReport(NamedTuple):
    """Outcome for one section."""

    key: str
    title: str
    tokens: int
    """Tokens of its lines. All sections and the envelope add up to the whole text."""
    chars: int
    """Code points, newlines included."""
    shown: int
    omitted: int
    """Number of items that a cap or the budget left out, as counted in its last line."""


class Injection(NamedTuple):
    """The injected context: `text` is sent byte for byte, and equals `lines` joined by newlines."""

    text: str
    lines: tuple[InjectedLine, ...]
    sections: tuple[SectionReport, ...]
    omitted: tuple[Omitted, ...]
    diagnostics: tuple[InjectionRemark, ...]
    tokens: int
    """Tokens, estimated as pi 1.5.2 does for a summary."""
    envelope: int
    """Tokens of the marker lines and the lines between them and the sections."""
    digest: str
    """SHA-256 of the text."""
    budget: int
