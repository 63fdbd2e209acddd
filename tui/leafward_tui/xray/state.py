"""The state of the X-ray. Each part names the controller that writes it; the others read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from leafward.session.entries import Kind
from leafward_tui.ui.screens.session_watch import FileState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leafward.compaction.draft.draft import Draft
    from leafward.compaction.injection.values import Injection
    from leafward.compaction.plan.plan import Plan
    from leafward.compaction.stored_summary.summary_comparison import SummaryDiff
    from leafward.compaction.xray.alignment import Link, XRay
    from leafward.session.session import Session
    from leafward_tui.xray.model.arrangement import Side
    from leafward_tui.xray.model.captions import Teller
    from leafward_tui.xray.model.fates import Fates


@dataclass(slots=True)
class Loaded:
    """The results read for the compaction. Written by `controllers.loader`."""

    xray: XRay | None = None
    teller: Teller | None = None
    fates: Fates | None = None
    """The fates of the facts; None until they are known."""
    undo_op: str = ""
    """The operation of the context edits, where it is the last one."""
    words: Mapping[Side, str] = field(default_factory=dict)
    """The name of each side, by the leaf at the time when the X-ray was made."""
    rows_of: dict[int, list[int]] = field(default_factory=dict)
    """Rows by the entry of their message before."""
    line_rows: list[int] = field(default_factory=list)
    """Rows that show a line of the summary."""


@dataclass(slots=True)
class Folds:
    """The folds and the filter. Written by `controllers.lines`."""

    opened: frozenset[str] = frozenset()
    """Folds that are open."""
    only: Link | None = None
    """The one kind of rows on show; None for all."""
    kept: bool = False
    """Whether all kept rows are folded."""


@dataclass(slots=True)
class XRayState:
    """One compaction, context edit or plan, before and after."""

    session: Session
    compaction: int = -1
    """The entry of the compaction or context edit; -1 for a plan."""
    plan: Plan | None = None
    draft: Draft | None = None
    """The draft of the plan, where there is one."""
    injection: Injection | None = None
    """The text that the plan injects."""
    loaded: Loaded = field(default_factory=Loaded)
    folds: Folds = field(default_factory=Folds)
    file: FileState = field(default_factory=FileState)

    @property
    def of_edits(self) -> bool:
        """Whether it shows context edits, not a compaction."""
        at = self.compaction
        return at >= 0 and self.session.columns.kind[at] == Kind.CONTEXT_EDIT


@dataclass(slots=True)
class PairState:
    """The comparison. Written by `SummaryPair` alone."""

    session: Session
    entry: int
    """The entry of the summary; -1 for one that is not written."""
    summary: str
    others: Sequence[int] = ()
    """Entries with the other summaries, the nearest first."""
    other: int = -1
    """The entry of the other summary; -1 where there is none."""
    diff: SummaryDiff | None = None
    fold_same: bool = False
    file: FileState = field(default_factory=FileState)
