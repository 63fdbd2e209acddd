"""The values of an injection: what builders give, and what comes out, line by line with its sources."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING

from leafward.base.config import INJECTION_BUDGET
from leafward.session.entries import NO_ENTRY, EntryIndex

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path


class SourceKind(StrEnum):
    """Where a line comes from."""

    ENTRY = "entry"
    FILE = "file"
    CONFIG = "config"
    """The user's own settings: a pin that was given, Leafward's own governance file."""
    STATIC = "static"
    """Words of ours."""
    DERIVED = "derived"
    """Counted or concluded from the other sources of the same line."""


@dataclass(frozen=True, slots=True)
class SourceRef:
    """One source of a line."""

    kind: SourceKind
    entry: EntryIndex = NO_ENTRY
    """-1 where it is no entry."""
    call: str = ""
    """The tool call's id, where the entry is one."""
    file: str = ""
    """Relative to the workspace where it lies inside."""
    line: int = 0
    """From 1; 0 where the whole file is meant."""
    digest: str = ""
    """SHA-256 of the file as it was read, the first 16 digits."""
    note: str = ""
    """What the source is taken for: `read`, `edit`, a rule's name, a pack's field."""


STATIC = SourceRef(SourceKind.STATIC)


def from_entry(entry: int, call: str = "", note: str = "") -> SourceRef:
    """An entry as a source."""
    return SourceRef(SourceKind.ENTRY, EntryIndex(entry), call, note=note)


class Tier(IntEnum):
    """How much an item matters: nothing of a lower tier is shown in the place of something of a higher one."""

    PINNED = 0
    """Reserved before anything else."""
    FIRST = 1
    SECOND = 2
    LAST = 3


@dataclass(frozen=True, slots=True)
class Item:
    """One bullet that a builder offers. The text is raw: the pipeline makes it safe, redacts and cuts it."""

    text: str
    sources: tuple[SourceRef, ...]
    tier: Tier | None = None
    """None: the tier of its section."""
    rank: float = 0
    """Within its section, the smallest first; what is given first comes first among equals."""
    path: str = ""
    """The normalised path, where the item is one: printed once in the whole text."""
    whole: bool = False
    """Shown whole or not at all: a stage's name."""
    core: str = ""
    """The part of the text that is not ours; empty: all of it. What an audit looks for."""
    filler: bool = False
    """Words of ours that stand where there is nothing to say; no loss."""


class Reason(StrEnum):
    """Why an item is not in the text."""

    CAP = "cap"
    BUDGET = "budget"
    STALE = "stale"
    PRIORITY = "priority"
    """Its own priority is too low to be carried over a compaction."""
    EMPTY = "empty"
    DUPLICATE = "duplicate"
    """It is printed elsewhere."""
    OFF = "off"
    """Its section is switched off."""
    GONE = "gone"
    """A command moved or removed the file since."""


@dataclass(frozen=True, slots=True)
class Omitted:
    """Something that a builder offered and that is not in the text."""

    section: str
    text: str
    """Safe and cut as it would have been shown."""
    reason: Reason
    sources: tuple[SourceRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A remark on the result, for people."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one builder gives: items by section key, in the order in which they are shown."""

    builder: str
    items: Mapping[str, tuple[Item, ...]] = field(default_factory=dict)
    left_out: tuple[tuple[str, Item, Reason], ...] = ()
    """What the builder itself leaves out: section key, item, why."""
    beyond: Mapping[str, int] = field(default_factory=dict)
    """By section key, how many more there are that were not worth offering: they are counted only."""
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class InjectionSettings:
    """What is asked for. Nothing else than this, the path and the workspace decides the text."""

    budget: int = INJECTION_BUDGET
    """Code points of the whole text, marker lines included."""
    order: str = "recent"
    """How the files that are shown are chosen where there are too many: `recent`, or `alpha`. Shown they are sorted."""
    workspace: Path | None = None
    """The folder that builders read; None: the session's own, if it exists."""
    now: datetime | None = None
    """What freshness is measured against; None: the time of the entry."""
    off: frozenset[str] = frozenset()
    """Keys of sections that are switched off."""
    pins: tuple[str, ...] = ()
    """What the user wants carried on, word for word."""
    governance: Path | None = None
    """The user's own governance file for all projects; None: none is read."""


@dataclass(frozen=True, slots=True)
class InjectedLine:
    """One line of the text."""

    text: str
    section: str
    """The key of its section; empty for the marker lines."""
    sources: tuple[SourceRef, ...] = ()
    """At least one for every line that says something."""
    core: str = ""
    """The part of a bullet that an audit looks for in a summary; empty for every other line, and for words of ours."""


@dataclass(frozen=True, slots=True)
class SectionReport:
    """What became of one section."""

    key: str
    title: str
    tokens: int
    """Of its lines. All sections and the envelope together are the text's."""
    chars: int
    """Code points, newlines included."""
    shown: int
    omitted: int
    """Items that a cap or the budget left out: what its last line counts."""


@dataclass(frozen=True, slots=True)
class Injection:
    """The injected context: `text` is what is sent, byte for byte, and is `lines` joined by newlines."""

    text: str
    lines: tuple[InjectedLine, ...]
    sections: tuple[SectionReport, ...]
    omitted: tuple[Omitted, ...]
    diagnostics: tuple[Diagnostic, ...]
    tokens: int
    """As pi 1.5.2 estimates those of a summary."""
    envelope: int
    """Tokens of the marker lines and what stands between them and the sections."""
    digest: str
    """SHA-256 of the text."""
    budget: int
