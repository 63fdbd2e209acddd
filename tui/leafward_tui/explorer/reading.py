"""Reading a session behind the screen: opening, counting, notes, following as the file grows, what a write changed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from textual import work
from textual.worker import Worker, WorkerState, get_current_worker

from leafward.base.errors import LeafwardError
from leafward.base.safe_text import safe_line
from leafward.session.entries import Kind
from leafward.session.headline import typed_command
from leafward_tui.explorer.counting import Counting
from leafward_tui.explorer.model.exploration import Filter
from leafward_tui.explorer.model.graph import Density
from leafward_tui.explorer.model.rows import RowPainter
from leafward_tui.explorer.results import Failed, Grown, Opened, ReadSoFar, Wrote
from leafward_tui.ui.title_bar import Fact, Progress
from leafward_tui.ui.write_target import remark_words

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.agents import Agent
    from leafward.session.columns import Columns
    from leafward.session.session import Session
    from leafward_tui.explorer.model.file_markers import Touch
    from leafward_tui.explorer.view_state import ViewState

_TOLD = 300
"""Characters of a remark on the whole session."""


class Reading(Counting):
    """The parts of the screen that wait for the session's file."""

    painter: RowPainter
    _stance: ViewState | None = None
    """What is kept while the session is read anew."""

    # --- opening ------------------------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        """Shows the shell, and reads behind it."""
        super().on_mount()
        within = self.arrival is not None and self.arrival.in_turn
        self.density = Density.ENTRIES if within else Density(self.shell.config.density)
        self.title_bar.show(self.path.stem)
        self.arrange_panes()
        self.graph.focus()
        self.call_after_refresh(self.read)
        self.set_interval(self.shell.config.follow_interval, self.look)

    def on_unmount(self) -> None:
        """Closes the session's file; a summary under way is given up."""
        self.cancel_summary()
        if self.session is not None:
            self.session.close()
            self.shell.let_go()

    def read_anew(self, before: Columns | None) -> None:
        """Reads the session anew and keeps cursor, mark, folds and filter by the ids in the columns from `before`."""
        if self.exploration is not None and before is not None:
            from leafward_tui.explorer.view_state import ViewState

            self._stance = ViewState.of(self.exploration, before, self.graph.row)
        self.read()

    def read(self) -> None:
        """Reads the session."""
        self.generation += 1
        height = max(8, self.graph.size.height or 20)
        self._read(self.generation, self.density, height)

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def _read(self, run: int, density: Density, height: int) -> None:
        from leafward_tui.explorer.work import open_session

        worker = get_current_worker()
        try:
            exploration, tallies = open_session(
                self.path,
                density,
                height,
                lambda: worker.is_cancelled,
                lambda done, total, entries: self.post_message(ReadSoFar(run, done, total, entries)),
                self.ahead,
                self._stores,
            )
        except (LeafwardError, OSError) as error:
            self.post_message(Failed(run, str(error), fatal=True))
            return
        self.post_message(Opened(run, exploration, tallies))

    def _stores(self) -> list[tuple[Agent, Path]]:
        from leafward.catalog import stores

        return stores(self.shell.config, os.environ)

    def on_read_so_far(self, message: ReadSoFar) -> None:
        """Shows how far reading is."""
        if message.run == self.generation:
            self.title_bar.progress(Progress("reading", message.done >> 20, message.total >> 20))

    def on_failed(self, message: Failed) -> None:
        """Says what went wrong; with nothing to show, that is all there is."""
        if message.run != self.generation:
            return
        self.title_bar.progress(None)
        if message.fatal:
            self.trouble = message.text
        self.tell(message.text, "bad")
        self.show_hints()

    def on_opened(self, message: Opened) -> None:
        """Shows the tree with the cursor on the leaf, or where it was."""
        if message.run != self.generation:
            message.exploration.session.close()
            return
        if self.exploration is not None:
            self.exploration.session.close()
        self.exploration, self.tallies = message.exploration, message.tallies
        self.notes = {}
        self.lost = {}
        known = self._stance.take_up(message.exploration) if self._stance is not None else -1
        self._stance = None
        self.title_bar.progress(None)
        self.trouble = ""
        layout = message.exploration.layout
        self.shell.keep_for_long()
        self.show_lines(layout.row_of(known if known >= 0 else layout.leaf))
        self.show_title()
        self.count()
        self.settle()
        self.show_hints()
        if self.bare:
            self.tell("")
        unread = message.exploration.session.unread
        if unread:
            more = f" (and {len(unread) - 1} more)" if len(unread) > 1 else ""
            self.tell(f"{safe_line(unread[0], _TOLD)}{more}", "warn")
        self._arrive()
        if self.searched:
            self.start_search(self.searched)

    def _arrive(self) -> None:
        """Goes to the entry that the session was opened at, and has its words searched for."""
        arrival, self.arrival = self.arrival, None
        if arrival is None or self.session is None:
            return
        entry = self.session.columns.index(arrival.entry)
        if entry >= 0:
            self.go_to_entry(entry)
            self.searched = self.words_given = arrival.words
        else:
            self.tell("the entry that was found is no longer in this session", "warn")

    def show_title(self) -> None:
        """Project, name and facts of the session."""
        session, exploration = self.session, self.exploration
        if session is None or exploration is None:
            return
        # As in the catalogue: a fork is called by its own first prompt.
        kinds = session.columns.kind
        first = kinds.find(Kind.USER, session.inherited)
        first = first if first >= 0 else kinds.find(Kind.USER)
        told = self.painter.headline(first).text if first >= 0 else typed_command(session)
        title = session.title or told or session.path.stem
        compactions = session.columns.kind.count(Kind.COMPACTION)
        branches = session.branches
        if not self.agent:
            from leafward.agents import agent_behind

            self.agent = agent_behind(session).name
        entries = "entry" if len(session) == 1 else "entries"
        facts = [
            Fact(self.agent, short=self.agent, keep=2),
            Fact(f"{len(session):,}", entries, f"{len(session):,} {entries}", keep=4),
            Fact(f"{branches:,}", "branch" if branches == 1 else "branches", "", keep=3 if branches else 0),
            Fact(
                f"{compactions:,}",
                "compaction" if compactions == 1 else "compactions",
                "",
                keep=1 if compactions else 0,
            ),
        ]
        if session.columns.damage:
            facts.append(Fact(f"{len(session.columns.damage):,}", "damaged", keep=4, hue="bad"))
        if exploration.findings.archived:
            facts.append(Fact(f"{len(exploration.findings.archived):,}", "archived", "", keep=1))
        if session.read_only:
            facts.append(Fact("read only", keep=5, hue="warn"))
        elif session.what_if:
            facts.append(Fact("what-if", "leaf", "what-if leaf", keep=5, hue="ghost"))
        elif self.following:
            facts.append(
                Fact(f"{self.shell.glyphs.dot} following", short=self.shell.glyphs.dot, keep=5, hue="leaf")
            )
        self.title_bar.show(
            safe_line(title, 200),
            crumb=safe_line(session.cwd.rstrip("/").rpartition("/")[2], 60),
            facts=facts,
        )

    # --- rows ---------------------------------------------------------------------------------------------------------

    def show_lines(self, row: int) -> None:
        """Shows the exploration's lines with the cursor on a row."""
        exploration, tallies = self.exploration, self.tallies
        if exploration is None or tallies is None:
            return
        shell = self.shell
        self.painter = RowPainter(
            exploration.session,
            exploration.lines,
            tallies,
            shell.styles_now,
            shell.glyphs,
            notes=self.notes,
            lost=self.lost,
        )
        layout = exploration.layout
        self.graph.state.mark = layout.row_of(exploration.mark) if exploration.mark >= 0 else -1
        self.graph.set_touches(self.touches())
        self.graph.show(self.painter, row)
        self.show_head()
        self.settle()

    _touched: tuple[object, object, dict[int, Touch]] = (None, None, {})
    """The touches that were worked out last, and what they were made of."""

    def touches(self) -> dict[int, Touch]:
        """What the rows do to the file whose timeline is on show."""
        exploration = self.exploration
        if exploration is None or exploration.filter is not Filter.CHOSEN or not exploration.touching:
            return {}
        from leafward_tui.explorer.model.file_markers import touches_by_row

        steps, layout = exploration.touching, exploration.layout
        if self._touched[0] is not steps or self._touched[1] is not layout:
            self._touched = steps, layout, touches_by_row(steps, layout, self.shell.glyphs)
        return self._touched[2]

    def relay(self, *, density: Density | None = None) -> None:
        """Lays the rows out anew, with the cursor on the same entry."""
        exploration = self.exploration
        if exploration is None:
            return
        entry = exploration.layout.head[self.graph.row] if self.graph.row >= 0 else exploration.layout.leaf
        if density is not None:
            exploration.density = self.density = density
        before = exploration.layout.density
        exploration.lay_out()
        if exploration.layout.density is not before:
            self.notes = {}
        self.graph.set_ghost(None)
        if self.searched and self.hits:
            self.hits = []
            self.start_search(self.searched)
        self.show_lines(exploration.layout.row_of(entry))

    # --- following ----------------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Looks whether the file has grown; costs one stat."""
        session = self.session
        # What lies on top, a sheet or the log, goes by the session as it was when it was opened.
        busy = self.writing or self.summing is not None or self.app.screen is not self
        if session is None or not self.following or busy:
            return
        gone = session.gone
        if not session.changed_on_disk():
            if session.gone and not gone:
                self.tell("the file is gone; what was read of it can still be read here", "warn")
            return
        self.writing = True
        self._take_in(self.generation, session)

    @work(thread=True, exclusive=True, group="follow", exit_on_error=False)
    def _take_in(self, run: int, session: Session) -> None:
        before = session.columns
        try:
            growth = session.refresh()
        except (LeafwardError, OSError) as error:
            self.post_message(Grown(run, 0, replaced=True, before=before))
            self.post_message(Failed(run, str(error)))
            return
        replaced = growth is not None and growth.replaced
        self.post_message(Grown(run, growth.added if growth else 0, replaced, before))

    def on_grown(self, message: Grown) -> None:
        """Shows what came; the cursor goes along where it was on the leaf."""
        self.writing = False
        exploration = self.exploration
        if message.run != self.generation or exploration is None:
            return
        if message.replaced:
            self.tell("the file shrank or was replaced: read anew", "warn")
            self.read_anew(message.before)
        elif message.added:
            at_leaf = self.graph.row == exploration.layout.row_of(exploration.layout.leaf)
            self.session_changed(to_leaf=at_leaf)

    def session_changed(self, *, to_leaf: bool) -> None:
        """Lays out anew after the session grew, and counts what is new."""
        from leafward.session.journal.operations import archived_branches

        exploration, tallies = self.exploration, self.tallies
        if exploration is None or tallies is None:
            return
        tallies.grow(exploration.session)
        archived = archived_branches(exploration.session)
        exploration.findings = exploration.findings._replace(archived=archived)
        self.notes.pop(exploration.layout.head[-1] if len(exploration.layout) else -1, None)
        self.graph.state.ghost = None
        self.relay()
        if to_leaf:
            self.go_to_entry(exploration.layout.leaf)
        self.show_title()
        self.count()

    def on_wrote(self, message: Wrote) -> None:
        """Shows what a change did, or why it was refused."""
        from leafward.session.journal import OperationKind

        self.writing = False
        exploration = self.exploration
        if message.run != self.generation or exploration is None:
            return
        written = message.written
        if written is None:
            self.tell(f"refused: {message.text}", "bad")
            self.look()
            return
        if not written.changed:
            self.tell("nothing to do: things are like that already")
            return
        moved = written.kind in (
            OperationKind.MOVE,
            OperationKind.SUMMARY_MOVE,
            OperationKind.COMPACT,
            OperationKind.GRAFT,
            OperationKind.MERGE,
            OperationKind.UNDO,
            OperationKind.REDO,
        )
        before = self._head_here()
        self.session_changed(to_leaf=moved)
        self.note_kept = moved and self._head_here() != before
        told = [message.text, *map(remark_words, written.remarks)]
        if written.recent and message.then != "resume":
            told.append(self._reopening(exploration.session))
        undoable = written.kind is not OperationKind.UNDO
        keys = self.key_hints(
            ("operation.undo", "undoes it") if undoable else ("operation.redo", "does it again"),
            *([("session.fork", "makes it real")] if moved and exploration.session.what_if else []),
        )
        self.tell("; ".join(told), "warn" if written.remarks else "leaf", keys)
        if message.then == "resume":
            self.action_agent_resume()

    def _head_here(self) -> int:
        """The entry that the row of the cursor begins with; -1 for none."""
        exploration, row = self.exploration, self.graph.row
        return exploration.layout.head[row] if exploration is not None and row >= 0 else -1

    def _reopening(self, session: Session) -> str:
        """How an agent that may be running gets to see a write: it holds its own leaf in memory."""
        from leafward.agents import agent_behind

        try:
            command = agent_behind(session).resume(session, os.environ).command()
        except LeafwardError:
            return "an agent that runs sees it when it reopens the session"
        return f"an agent that runs sees it after {command}"

    def action_follow_toggle(self) -> None:
        """Follows the file as it grows, or stays with what was read."""
        self.following = not self.following
        self.show_title()
        self.look()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A fault of ours in a worker is said, not swallowed; the screen goes on."""
        if event.state is WorkerState.ERROR:
            self.writing = False
            self.summing = None
            self.tell(f"internal error in {event.worker.group}: {event.worker.error!r}", "bad")
