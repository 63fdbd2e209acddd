"""Results that screens hand back to their openers when they close."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.session.journal.write import Write, Writing
    from leafward.session.session import Session


@dataclass(frozen=True, slots=True)
class XRayResult:
    """The user's wish after the X-ray: to go to an entry, to make the compaction again with pinned facts, or an undo."""

    entry: int = -1
    pins: tuple[str, ...] = ()
    compaction: int = -1
    """The compaction to be made again."""
    undo: str = ""
    """The operation to be undone."""
    reload: bool = False
    """Whether the session is to be read anew, and its X-ray shown again."""


@dataclass(frozen=True, slots=True)
class CompareResult:
    """The task for the explorer after a comparison."""

    entry: int = -1
    """An entry to go to; -1 for none."""
    touching: str = ""
    """A file whose rows are to be shown; empty for none."""
    change: Callable[[Session, Writing], Write] | None = None
    """The change to be appended to the session."""
    done: str = ""
    """The effect of the change, in words."""
    reload: bool = False
    """Whether the session is to be read anew, and the same entries compared again."""


@dataclass(frozen=True, slots=True)
class LabResult:
    """The write of the compaction lab, or what it leaves unwritten."""

    write: Write | None
    outcome: str
    """The effect of the write, in words; without a write, the summary that is kept."""
