"""What rows say that takes reading: tokens, calls, edits and notes, worked out behind the screen, visible rows first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work
from textual.worker import get_current_worker

from leafward.session.entries import Kind
from leafward_tui.explorer.branches import Branches
from leafward_tui.explorer.model.folds import LineKind
from leafward_tui.explorer.model.graph import Density
from leafward_tui.explorer.results import Counted, Failed, Noted

if TYPE_CHECKING:
    from leafward.context.entry_metrics import EntryMetrics
    from leafward.session.session import Session
    from leafward_tui.explorer.widgets.graph_view import GraphView
    from leafward_tui.explorer.work import CountJob


class Counting(Branches):
    """Workers that fill the columns of the tree."""

    _job: CountJob | None = None

    # --- counting -----------------------------------------------------------------------------------------------------

    def count(self) -> None:
        """Counts tokens, calls and edits behind the screen, visible rows first."""
        session, tallies, exploration = self.session, self.tallies, self.exploration
        if session is None or tallies is None or exploration is None:
            return
        from leafward_tui.explorer.work import CountJob

        self._job = CountJob(session, tallies, self._on_screen())
        self._count(self.generation, self._job, session, tallies)
        self.note_rows()

    def rest_counting(self) -> None:
        """Leaves the interpreter to the keys for a moment."""
        if self._job is not None:
            self._job.pause()

    def _on_screen(self) -> list[range]:
        exploration = self.exploration
        if exploration is None:
            return []
        lines = exploration.lines
        rows = [lines.line(y) for y in self.graph.rows_on_screen()]
        return [
            span
            for line in rows
            if line.kind is LineKind.ROW
            for span in exploration.layout.entries_of(line.row)
        ]

    @work(thread=True, exclusive=True, group="count", exit_on_error=False)
    def _count(self, run: int, job: CountJob, session: Session, tallies: EntryMetrics) -> None:
        from leafward_tui.explorer.work import findings_of

        worker = get_current_worker()
        try:
            broken = job.run(
                self.shell.keys_first.stop(worker),
                lambda: self.post_message(Counted(run, complete=False)),
            )
        except OSError as error:
            self.post_message(Failed(run, f"cannot read the session any more: {error}"))
            return
        if worker.is_cancelled:
            return
        if broken:
            session.discredit(broken)
        self.post_message(Counted(run, complete=True, findings=findings_of(session, tallies)))

    def on_counted(self, message: Counted) -> None:
        """Fills numbers in; once all are known, filters and overview can go by them."""
        exploration = self.exploration
        if message.run != self.generation or exploration is None:
            return
        if message.findings is None:
            self.graph.redraw_rows()
            return
        exploration.findings = message.findings
        self.relay()
        self.show_title()
        self.survey()

    def on_graph_view_rows_shown(self, message: GraphView.RowsShown) -> None:
        """What came on the screen is counted first."""
        message.stop()
        if self._job is not None:
            self._job.wanted = self._on_screen()
        self.note_rows()

    def note_rows(self) -> None:
        """Looks up what rows on the screen say besides their headlines."""
        self.await_idle()
        exploration = self.exploration
        if exploration is None:
            return
        layout = exploration.layout
        every = layout.density is not Density.TURNS
        kind = layout.tree.kind
        wanted: list[tuple[int, list[range]]] = []
        for y in self.graph.rows_on_screen():
            line = exploration.lines.line(y)
            head = layout.head[line.row]
            if (
                head not in self.notes
                and line.kind is LineKind.ROW
                and (every or kind[head] == Kind.COMPACTION)
            ):
                wanted.append((head, layout.entries_of(line.row)))
        if wanted:
            self._note(self.generation, exploration.session, layout.density, wanted, self.notes)

    @work(thread=True, exclusive=True, group="note", exit_on_error=False)
    def _note(
        self,
        run: int,
        session: Session,
        density: Density,
        wanted: list[tuple[int, list[range]]],
        notes: dict[int, str],
    ) -> None:
        from leafward_tui.explorer.work import note_of, outcome_of

        glyphs = self.shell.glyphs
        stop = self.shell.keys_first.stop(get_current_worker())
        for head, spans in wanted:
            if stop():
                return
            by_entry = density is Density.ENTRIES and session.columns.kind[head] != Kind.COMPACTION
            notes[head] = (
                outcome_of(session, head, glyphs) if by_entry else note_of(session, spans, head, glyphs)
            )
        self.post_message(Noted(run))

    def on_noted(self, message: Noted) -> None:
        """Shows the notes that arrived."""
        if message.run == self.generation:
            self.graph.redraw_rows()

    def relay(self, *, density: Density | None = None) -> None:
        """Lays the rows out anew."""
        raise NotImplementedError

    def show_title(self) -> None:
        """Project, name and facts of the session."""
        raise NotImplementedError
