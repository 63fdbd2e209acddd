"""What screens hand back when they close, to whoever opened them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.session.journal import Write, Writing
    from leafward.session.session import Session


@dataclass(frozen=True, slots=True)
class XRayResult:
    """What is wanted after the X-ray: to go to an entry, to make the compaction again with facts pinned into it, or an undo."""

    entry: int = -1
    pins: tuple[str, ...] = ()
    compaction: int = -1
    """The compaction that is to be corrected."""
    undo: str = ""
    """The operation that is to be taken back."""


@dataclass(frozen=True, slots=True)
class CompareResult:
    """What is wanted of the explorer after a comparison."""

    entry: int = -1
    """An entry to go to; -1 for none."""
    touching: str = ""
    """A file whose rows are to be shown; empty for none."""
    change: Callable[[Session, Writing], Write] | None = None
    """What is to be appended to the session."""
    done: str = ""
    """What that does, in words."""


@dataclass(frozen=True, slots=True)
class LabResult:
    """What the compaction lab wrote."""

    write: Write
    outcome: str
    """What that did, in words."""
