"""Findings on a path, read by all builders: files, actions, the last request, compactions, pins."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

from leafward.compaction.injection.findings.last_request import LastRequest
from leafward.session.entries import NO_ENTRY, EntryIndex

if TYPE_CHECKING:
    from datetime import datetime

    from leafward.compaction.injection.values import SourceRef


class PathUse(IntEnum):
    """Use of a file on a path, the most important first."""

    MODIFIED = 0
    CREATED = 1
    READ = 2
    MENTIONED = 3


@dataclass(slots=True)
class PathFile:
    """One file of a path, by its normalised name."""

    path: str
    """Relative to the session's folder if the file is inside it."""
    use: PathUse
    seq: int
    """The last entry with this use."""
    sources: list[SourceRef]
    """Sources of every use, in the order of the path."""
    gone: bool = False
    """Whether a command moved or removed it since."""


@dataclass(frozen=True, slots=True)
class RecordedAction:
    """An action on the path: a command or an edit."""

    text: str
    outcome: str
    """`ok`, `failed`, the user's refusal, or empty if no result is on the path."""
    entry: EntryIndex
    call: str
    command: str = ""
    """The whole command of a call that ran one."""
    result: EntryIndex = NO_ENTRY


@dataclass(frozen=True, slots=True)
class PastCompaction:
    """A compaction on the path."""

    entry: EntryIndex
    timestamp: str
    replaced: int
    """Number of entries on the path that its summary replaces."""


@dataclass(slots=True)
class Collected:
    """Everything that was found. Builders read it and change nothing."""

    at: EntryIndex
    cwd: str
    session: str
    path: list[EntryIndex] = field(default_factory=list)
    files: dict[str, PathFile] = field(default_factory=dict)
    prompt: str = ""
    """The last text that the user wrote."""
    prompt_entry: EntryIndex = NO_ENTRY
    request: LastRequest = field(default_factory=LastRequest)
    """The user's last request, and the model's progress on it."""
    actions: list[RecordedAction] = field(default_factory=list)
    """Actions in the order of the path."""
    earlier_actions: int = 0
    """Number of actions before these, of which nothing else is known."""
    tools: set[str] = field(default_factory=set)
    model: str = ""
    time: datetime | None = None
    """Time of the last entry with a time."""
    compactions: list[PastCompaction] = field(default_factory=list)
    pins: tuple[tuple[str, EntryIndex], ...] = ()
    """The pins of the latest compaction, each with its entry."""
    lost_thread: tuple[EntryIndex, str] | None = None
    """The first reply after the last compaction that sounds as if the context were lost, and its words."""
