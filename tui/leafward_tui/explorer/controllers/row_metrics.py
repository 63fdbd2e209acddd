"""What rows say that takes reading: tokens, calls, edits, notes, lost facts; visible rows first, while no key waits."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward.session.density import Density
from leafward.session.entries import Kind
from leafward_tui.explorer.model.folds import LineKind
from leafward_tui.explorer.state import RowTexts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leafward_tui.explorer.jobs.count import CountOrder
    from leafward_tui.explorer.jobs.lost_facts import Counted
    from leafward_tui.explorer.model.exploration import Findings
    from leafward_tui.explorer.ports import ExplorerView, Timer
    from leafward_tui.explorer.state import ExplorerState
    from leafward_tui.ui.services import AppServices, Jobs

REST = 0.04
"""Seconds that rows stand before it is looked up what they say besides their headlines: their frame comes first."""
IDLE = 0.25
"""Seconds without a move of the cursor before lost facts are counted: that takes the interpreter from the keys."""


class RowMetrics:
    """Fills the columns of the tree."""

    def __init__(self, state: ExplorerState, view: ExplorerView, services: AppServices, jobs: Jobs) -> None:
        self._state = state
        self._view = view
        self._services = services
        self._jobs = jobs
        self._order: CountOrder | None = None
        self._noting: Timer | None = None
        self._idling: Timer | None = None
        self._noted_in: Density | None = None
        """The density that the notes are for."""

    def begin(self) -> None:
        """Another session: nothing is known of its rows."""
        exploration = self._state.exploration
        self._noted_in = exploration.layout.density if exploration is not None else None
        self._state.texts = RowTexts()
        self._order = None

    # --- numbers ------------------------------------------------------------------------------------------------------

    def count(self, done: Callable[[Findings], object]) -> None:
        """Counts tokens, calls and edits; `done` hears what the filters go by once all are known."""
        session, metrics = self._state.session, self._state.metrics
        if session is None or metrics is None:
            return
        from leafward_tui.explorer.jobs.count import CountOrder, count_entries

        self._order = CountOrder(self._entries_on_screen())
        self._jobs.latest(
            "count",
            partial(count_entries, session, metrics, self._order, self._view.tree.redraw_rows),
            done,
            lambda problem: self._view.fail(f"cannot read the session any more: {problem}"),
        )
        self.note_rows()

    def rest(self) -> None:
        """Leaves the interpreter to the keys for a moment."""
        if self._order is not None:
            self._order.pause()

    def rows_shown(self) -> None:
        """Other rows are on the screen: they are counted first."""
        if self._order is not None:
            self._order.wanted = self._entries_on_screen()
        if self._noting is not None:
            self._noting.stop()
        self._noting = self._view.after(REST, self.note_rows)

    def _entries_on_screen(self) -> list[range]:
        return [span for _, spans in self._rows_on_screen() for span in spans]

    def _rows_on_screen(self) -> Iterator[tuple[int, list[range]]]:
        """First entries of the rows that are on the screen, each with the entries of its row."""
        exploration = self._state.exploration
        if exploration is None:
            return
        layout = exploration.layout
        for line in map(exploration.lines.line, self._view.tree.rows_on_screen()):
            if line.kind is LineKind.ROW:
                yield layout.head[line.row], layout.entries_of(line.row)

    # --- notes --------------------------------------------------------------------------------------------------------

    def forget_note(self, head: int) -> None:
        """The row that an entry begins has grown."""
        self._state.texts.notes.pop(head, None)

    def laid_out(self) -> None:
        """Notes of another density are about other rows."""
        exploration = self._state.exploration
        if exploration is not None and exploration.layout.density is not self._noted_in:
            self._noted_in = exploration.layout.density
            self._jobs.cancel("note")
            self._state.texts.notes = {}

    def note_rows(self) -> None:
        """Looks up what rows on the screen say besides their headlines."""
        self.await_idle()
        exploration = self._state.exploration
        if exploration is None:
            return
        layout, notes = exploration.layout, self._state.texts.notes
        every = layout.density is not Density.TURNS
        wanted = [
            (head, spans)
            for head, spans in self._rows_on_screen()
            if head not in notes and (every or layout.tree.kind[head] == Kind.COMPACTION)
        ]
        if wanted:
            from leafward_tui.explorer.jobs.rows import note_rows

            self._jobs.latest(
                "note",
                partial(
                    note_rows,
                    exploration.session,
                    layout.density,
                    wanted,
                    self._services.glyphs,
                    notes.__setitem__,
                ),
                lambda _none: self._view.tree.redraw_rows(),
                self._view.fail,
            )

    # --- lost facts ---------------------------------------------------------------------------------------------------

    def await_idle(self) -> None:
        """Counts lost facts of the compactions on the screen once nothing was pressed for a moment."""
        self._jobs.cancel("lost")
        if self._idling is not None:
            self._idling.stop()
        self._idling = self._view.after(IDLE, self.count_lost)

    def count_lost(self) -> None:
        """Starts counting for the compactions on the screen that have no number yet."""
        exploration = self._state.exploration
        if exploration is None or not self._view.on_top:
            return
        self._view.prefetch()
        kind, counted = exploration.layout.tree.kind, self._state.texts.counted
        now = (-1, len(exploration.session))
        wanted = [
            head
            for head, _ in self._rows_on_screen()
            if kind[head] == Kind.COMPACTION and counted.get(head) not in now
        ]
        if wanted:
            from leafward_tui.explorer.jobs.lost_facts import count_lost

            self._jobs.latest(
                "lost",
                partial(count_lost, exploration.session, wanted, self._take_lost),
                lambda _none: None,
                self._view.fail,
            )

    def _take_lost(self, head: int, found: Counted) -> None:
        texts = self._state.texts
        texts.counted[head] = found.entries
        texts.lost[head] = found.lost
        texts.repeated[head] = (found.repeated, found.tokens)
        self._view.tree.redraw_rows()
