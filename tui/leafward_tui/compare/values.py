"""What the Compare screen's workers hand over, its tabs, and what it ends with."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from textual.message import Message

from leafward_tui.ui.results import CompareResult as Leaving

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.branches.diff.summaries import SummaryDifference
    from leafward.session.journal import Write, Writing
    from leafward.session.session import Session
    from leafward_tui.compare.model.captions import Carried, Glance
    from leafward_tui.compare.model.content import Show, Shown
    from leafward_tui.compare.model.pages import Spoken

    Change = Callable[[Session, Writing], Write]

__all__ = ["Exported", "Laid", "Leaving", "LookedAt", "Matched", "Page", "Seen", "Summed", "Wanted"]


class Page(StrEnum):
    """A tab, named as it stands there."""

    FILES = "Files"
    CONTENTS = "Contents"
    CONTEXT = "Context"
    SUMMARY = "Summary"
    OUTCOME = "Outcome"


@dataclass(frozen=True, slots=True)
class Wanted:
    """One file laid out in one way: what a layout is kept by."""

    path: str
    show: Show
    fold: bool
    opened: frozenset[int]
    based: bool
    """Whether contents of the workspace may be what the file began with."""


@dataclass
class Seen(Message):
    """Both sides are read, or looked at closer; None where that failed, and the text says why."""

    run: int
    overall: Glance | None
    text: str = ""


@dataclass
class Matched(Message):
    """Of some files it is known whether both sides hold the same (`Contents.same`), by path."""

    run: int
    based: bool
    same: dict[str, bool | None]


@dataclass
class LookedAt(Message):
    """The messages of both contexts are in words."""

    run: int
    messages: list[Spoken]


@dataclass
class Summed(Message):
    """Both sides have a summary, and what was carried over is known."""

    run: int
    summaries: SummaryDifference | None
    carried: tuple[Carried, ...]
    text: str = ""


@dataclass
class Laid(Message):
    """A file is laid out."""

    run: int
    wanted: Wanted
    shown: Shown


@dataclass
class Exported(Message):
    """An export is written, or is not."""

    text: str
    problem: bool = False
