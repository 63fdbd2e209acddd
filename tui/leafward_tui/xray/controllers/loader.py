"""Makes the X-ray beside the screen: both sides first, then the sources of the summary's lines and the fate of the facts."""

from __future__ import annotations

from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import Cancelled
from leafward.compaction.xray.alignment import What
from leafward.compaction.xray.xray import xray_edited, xray_of, xray_planned
from leafward.session.journal.operation_log import marks, operations, undoable
from leafward_tui.ui.survival_cache import survivals_of
from leafward_tui.xray.controllers.controller import XRayController, XRayMeans
from leafward_tui.xray.model.arrangement import Side
from leafward_tui.xray.model.captions import Teller, side_words
from leafward_tui.xray.model.earlier_lines import earlier_lines
from leafward_tui.xray.model.fates import Fates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leafward.compaction.draft.draft import Draft
    from leafward.compaction.injection.values import Injection
    from leafward.compaction.plan.plan import Plan
    from leafward.compaction.xray.alignment import XRay
    from leafward.session.session import Session
    from leafward_tui.ui.jobs import Job
    from leafward_tui.xray.controllers.lines import Lines


class XRayLoader(XRayController):
    """Owns `state.loaded`."""

    def __init__(self, means: XRayMeans, lines: Lines) -> None:
        super().__init__(means)
        self._lines = lines

    def load(self) -> None:
        """Starts making the X-ray."""
        state = self._state
        if state.plan is not None:
            work = partial(planned_xray, state.session, state.plan, state.draft, state.injection)
        elif state.of_edits:
            work = partial(edits_xray, state.session, state.compaction)
        else:
            work = partial(stored_xray, state.session, state.compaction)
        self._jobs.latest("xray", work, self._made, self._failed)

    def _failed(self, text: str) -> None:
        self._view.about.say(text, "bad")
        self._view.show_hints()

    def _made(self, made: MadeXRay) -> None:
        """Shows both sides, with the cursor on the first line of the summary; then starts the slower parts."""
        loaded, xray = self._state.loaded, made.xray
        loaded.xray, loaded.undo_op = xray, made.undo_op
        loaded.words = {side: side_words(self._state.session, xray, side) for side in Side}
        loaded.teller = Teller(xray, self._services.glyphs, made.earlier)
        for row, both in enumerate(xray.rows):
            if both.before is not None and both.before.what is What.MESSAGE:
                loaded.rows_of.setdefault(both.before.entry, []).append(row)
            if both.after is not None and both.after.line >= 0:
                loaded.line_rows.append(row)
        self._view.show_ledger()
        self._view.show_title()
        self._lines.show_first()
        self._view.show_hints()
        if not xray.of_edits:
            self._jobs.latest("sources", partial(traced, xray), lambda _none: self._traced(), self._failed)

    def _traced(self) -> None:
        self._lines.show_about()
        state = self._state
        if state.plan is None or state.draft is not None:
            work = partial(fates_of, state.session, state.compaction, state.draft)
            self._jobs.latest("fates", work, self._reported, self._failed)

    def _reported(self, fates: Fates) -> None:
        self._state.loaded.fates = fates
        self._view.show_title()
        self._lines.show_about()
        self._view.show_hints()


class MadeXRay(NamedTuple):
    """An X-ray, and the operation that made its context edits, where an undo would undo that operation."""

    xray: XRay
    undo_op: str = ""
    earlier: Mapping[tuple[str, str], str] = MappingProxyType({})
    """Notes for the lines that an earlier summary had, as `earlier_lines` gives them."""


def stored_xray(session: Session, compaction: int, _job: Job) -> MadeXRay:
    """The X-ray of a stored compaction. Raises LeafwardError, OSError."""
    xray = xray_of(session, compaction)
    return MadeXRay(xray, earlier=earlier_lines(xray))


def planned_xray(
    session: Session, plan: Plan, draft: Draft | None, injection: Injection | None, _job: Job
) -> MadeXRay:
    """The X-ray of a compaction that is not written. Raises LeafwardError, OSError."""
    xray = xray_planned(session, plan, draft, injection)
    return MadeXRay(xray, earlier=earlier_lines(xray))


def edits_xray(session: Session, entry: int, _job: Job) -> MadeXRay:
    """The X-ray of context edits. Raises LeafwardError, OSError."""
    xray = xray_edited(session, entry)
    made = marks(session.body(xray.compaction) or {}).get("op")
    last = undoable(operations(session))
    return MadeXRay(xray, last.op if last is not None and last.op == made else "")


def traced(xray: XRay, job: Job) -> None:
    """Finds the sources of the summary's lines. Raises Cancelled."""
    xray.origins.fill(job.unwanted)
    if job.unwanted():
        raise Cancelled


def fates_of(session: Session, compaction: int, draft: Draft | None, job: Job) -> Fates:
    """The fates of the facts that a compaction, or a draft of one, replaced. Raises Cancelled, LeafwardError, OSError."""
    if draft is not None:
        return Fates.of(draft.survival)
    return Fates.of(survivals_of(session).report(session, compaction, job.unwanted))
