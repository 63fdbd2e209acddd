"""What was collected of a path, which all builders read: its files, what was done, what was asked last, compactions, pins."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

from leafward.compaction.injection.last_request import LastRequest
from leafward.session.entries import NO_ENTRY, EntryIndex

if TYPE_CHECKING:
    from datetime import datetime

    from leafward.compaction.injection.values import SourceRef


class Use(IntEnum):
    """What a path did with a file, from what matters most."""

    MODIFIED = 0
    CREATED = 1
    READ = 2
    MENTIONED = 3


@dataclass(slots=True)
class FileUse:
    """One file of a path, by its normalised name."""

    path: str
    """Relative to the session's folder when inside it."""
    use: Use
    seq: int
    """The last entry that used it so."""
    sources: list[SourceRef]
    """Every use, in the order of the path."""
    by_tool: bool = True
    """Whether a tool's arguments name it, and not only a text."""
    gone: bool = False
    """Whether a command moved or removed it since."""


@dataclass(frozen=True, slots=True)
class RecordedAction:
    """Something that was done: a command, an edit."""

    text: str
    outcome: str
    """`ok`, `failed`, how the user declined it, or empty where no result is on the path."""
    entry: EntryIndex
    call: str
    command: str = ""
    """Whole, of a call that ran one."""
    result: EntryIndex = NO_ENTRY


@dataclass(frozen=True, slots=True)
class PastCompaction:
    """A compaction on the path."""

    entry: EntryIndex
    timestamp: str
    replaced: int
    """Entries of the path that its summary stands for."""


@dataclass(slots=True)
class Collected:
    """What was found. Builders read it and change nothing."""

    at: EntryIndex
    cwd: str
    session: str
    path: list[EntryIndex] = field(default_factory=list)
    files: dict[str, FileUse] = field(default_factory=dict)
    prompt: str = ""
    """The last thing the user wrote."""
    prompt_entry: EntryIndex = NO_ENTRY
    request: LastRequest = field(default_factory=LastRequest)
    """What was asked for last, and how far the model is with it."""
    actions: list[RecordedAction] = field(default_factory=list)
    """In the order of the path."""
    tools: set[str] = field(default_factory=set)
    model: str = ""
    time: datetime | None = None
    """Of the entry, or the last one before it that has a time."""
    compactions: list[PastCompaction] = field(default_factory=list)
    pins: tuple[tuple[str, EntryIndex], ...] = ()
    """Those that the compaction that applies was made with, and where they stand."""
    lost_thread: tuple[EntryIndex, str] | None = None
    """Where after the last compaction a reply sounds as if the context were gone, and the words."""
