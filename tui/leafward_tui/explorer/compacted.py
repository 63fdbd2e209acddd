"""What a compaction did, from the explorer: how much each one lost, its tab, its X-ray."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from textual import work
from textual.message import Message
from textual.worker import get_current_worker

from leafward.base.errors import LeafwardError
from leafward.session.entries import EntryIndex, Kind
from leafward_tui.explorer.forking import Forking
from leafward_tui.explorer.model.folds import LineKind
from leafward_tui.explorer.results import Wrote
from leafward_tui.ui.page import Tab

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.timer import Timer

    from leafward.session.session import Session
    from leafward_tui.ui.results import LabResult
    from leafward_tui.ui.results import XRayResult as Leaving

IDLE = 0.25
"""Seconds without a move of the cursor before lost facts are counted: that takes the interpreter from the keys."""
_NAP = 0.02
LAB, XRAY, COMPARE = "leafward_tui.lab", "leafward_tui.xray", "leafward_tui.compare"
_SOON = (
    "leafward_tui.ui.sheet",
    "leafward_tui.ui.reading_sheet",
    XRAY,
    LAB,
    COMPARE,
    "leafward.query.select",
)
"""Modules that a key needs and that take longer to load than a frame; loaded once nothing else is done."""
MOST_BYTES = 24 << 20
"""Bytes of the path above a compaction beyond which its lost facts are counted only when somebody asks for them."""


@dataclass(eq=False, repr=False)
class LostCounted(Message):
    """More compactions have their number of lost facts."""

    run: int

    def can_replace(self, message: Message) -> bool:
        """One redraw is enough."""
        return isinstance(message, LostCounted)


@dataclass(eq=False, repr=False)
class Loaded(Message):
    """A module is there."""

    name: str
    then: Callable[[], None]


class Compacted(Forking):
    """The parts of the explorer that are about compactions that happened."""

    _idling: Timer | None = None
    _wanted = ""
    """The module of the screen that is opened once it is loaded."""

    # --- modules ------------------------------------------------------------------------------------------------------

    @work(thread=True, exclusive=True, group="modules", exit_on_error=False)
    def _load_soon(self) -> None:
        stop = self.shell.keys_first.stop(get_current_worker())
        for name in _SOON:
            if stop():
                return
            import_module(name)

    def once_loaded(self, name: str, then: Callable[[], None]) -> None:
        """Does something that needs a module: at once where it is loaded, else once it is. Keys go on meanwhile."""
        if name in sys.modules:
            then()
        elif self._wanted != name:
            self._wanted = name
            self._load(name, then)

    @work(thread=True, group="modules", exit_on_error=False)
    def _load(self, name: str, then: Callable[[], None]) -> None:
        import_module(name)
        self.post_message(Loaded(name, then))

    def on_loaded(self, message: Loaded) -> None:
        """Goes on with what needed the module, if that is still wanted."""
        if self._wanted == message.name and self.app.screen is self:
            message.then()
        self._wanted = ""

    # --- lost facts ---------------------------------------------------------------------------------------------------

    def await_idle(self) -> None:
        """Counts lost facts of the compactions on the screen once nothing was pressed for a moment."""
        self.workers.cancel_group(self, "lost")
        if self._idling is not None:
            self._idling.stop()
        self._idling = self.set_timer(IDLE, self.count_lost)

    def count_lost(self) -> None:
        """Starts counting for the compactions on the screen that have no number yet."""
        exploration = self.exploration
        if exploration is None or not self.is_attached or self.app.screen is not self:
            return
        if any(name not in sys.modules for name in _SOON):
            self._load_soon()
        layout = exploration.layout
        wanted = []
        for y in self.graph.rows_on_screen():
            line = exploration.lines.line(y)
            head = layout.head[line.row]
            known = head in self.lost
            if line.kind is LineKind.ROW and layout.tree.kind[head] == Kind.COMPACTION and not known:
                wanted.append(head)
        if wanted:
            self._count_lost(self.generation, exploration.session, wanted, self.lost)

    @work(thread=True, exclusive=True, group="lost", exit_on_error=False)
    def _count_lost(self, run: int, session: Session, wanted: list[int], lost: dict[int, int]) -> None:
        from leafward.summaries.survival import Status, Stopped
        from leafward_tui.ui.survival_cache import survivals_of

        worker = get_current_worker()
        reports = survivals_of(session)
        stop = self.shell.keys_first.stop(worker)
        for head in wanted:
            if _bytes_above(session, head) > MOST_BYTES:
                continue
            try:
                report = reports.report(session, head, stop)
            except Stopped:
                return
            except (LeafwardError, OSError):
                continue
            lost[head] = sum(1 for fate in report.fates if fate.status is Status.LOST)
            if worker.is_cancelled:
                return
            self.post_message(LostCounted(run))
            time.sleep(_NAP)

    def on_lost_counted(self, message: LostCounted) -> None:
        """Fills the numbers in."""
        if message.run == self.generation:
            self.graph.redraw_rows()

    def settle(self) -> None:
        """The cursor moved: counting waits until it rests."""
        super().settle()
        self.await_idle()

    # --- the tab and the X-ray ----------------------------------------------------------------------------------------

    def action_tab_compaction(self) -> None:
        """What the compaction here did."""
        self.show_tab(Tab.COMPACTION)

    def compaction_here(self) -> EntryIndex:
        """The compaction under the cursor, or the one that applies there; -1 where there is none."""
        exploration, line = self.exploration, self.graph.line
        if exploration is None or line is None or line.kind is LineKind.HIDDEN:
            return EntryIndex(-1)
        from leafward.context.projection import latest

        head = exploration.layout.head[line.row]
        if exploration.layout.tree.kind[head] == Kind.COMPACTION and line.kind is LineKind.ROW:
            return EntryIndex(head)
        return latest(exploration.session, exploration.target(line), frozenset({Kind.COMPACTION}))

    @property
    def on_compaction(self) -> bool:
        """Whether the cursor is on a compaction, or on a context edit."""
        exploration, line = self.exploration, self.graph.line
        if exploration is None or line is None or line.kind is not LineKind.ROW:
            return False
        head = exploration.layout.tree.kind[exploration.layout.head[line.row]]
        return head in (Kind.COMPACTION, Kind.CONTEXT_EDIT)

    @property
    def on_path(self) -> bool:
        """Whether the cursor is on the path to the leaf."""
        exploration, line = self.exploration, self.graph.line
        if exploration is None or line is None or line.kind is LineKind.HIDDEN:
            return False
        return exploration.layout.on_path(exploration.target(line))

    def action_xray_open(self) -> None:
        """Shows the compaction here before and after; on a context edit, and where nothing was compacted, the edits."""
        compaction = self.compaction_here()
        edit = self.edit_here(above=compaction < 0)
        if compaction < 0 and edit < 0:
            self.tell("nothing was compacted or edited on the path to here", "warn")
            return
        self.open_xray(edit if edit >= 0 else compaction)

    def edit_here(self, *, above: bool) -> EntryIndex:
        """The context edit under the cursor; with `above` also the last one on the path, also below the cursor.

        -1 where there is none.
        """
        exploration, line = self.exploration, self.graph.line
        if exploration is None or line is None or line.kind is LineKind.HIDDEN:
            return EntryIndex(-1)
        from leafward.context.projection import latest

        if line.kind is LineKind.ROW:
            kinds = exploration.layout.tree.kind
            for span in exploration.layout.entries_of(line.row):
                found = kinds.rfind(Kind.CONTEXT_EDIT, span.start, span.stop)
                if found >= 0:
                    return EntryIndex(found)
        if not above:
            return EntryIndex(-1)
        # An edit stands below what it concerns.
        session = exploration.session
        at = session.leaf if self.on_path else exploration.target(line)
        return latest(session, at, frozenset({Kind.CONTEXT_EDIT}))

    def open_xray(self, compaction: int) -> None:
        """Shows a compaction before and after."""
        self.once_loaded(XRAY, lambda: self._open_xray(compaction))

    def _open_xray(self, compaction: int) -> None:
        from leafward_tui.xray import XRayScreen

        session = self.session
        if session is None:
            return

        def done(leaving: Leaving | None) -> None:
            if leaving is None:
                return
            if leaving.undo:
                self.undo_operation(leaving.undo)
            elif leaving.pins:
                self.correct_compaction(leaving.compaction, leaving.pins)
            elif leaving.entry >= 0:
                self.go_to_entry(leaving.entry)
                if not self.two_panes:
                    self.show_tree()

        self.app.push_screen(XRayScreen(session, compaction), done)

    def correct_compaction(self, compaction: int, pins: tuple[str, ...]) -> None:
        """Opens the lab beside a compaction, with facts pinned that it lost."""
        self.open_lab(compaction, pins)

    def action_lab_open(self) -> None:
        """Opens the compaction lab at the line of the cursor; on a compaction, beside it."""
        exploration, line = self.exploration, self.graph.line
        if exploration is None or line is None or line.kind is LineKind.HIDDEN:
            self.tell("" if self.bare else "these rows are hidden: go to one that is shown", "warn")
            return
        head = exploration.layout.head[line.row]
        compaction = exploration.layout.tree.kind[head] == Kind.COMPACTION and line.kind is LineKind.ROW
        self.open_lab(head if compaction else exploration.target(line))

    def open_lab(self, entry: int, pins: tuple[str, ...] = ()) -> None:
        """Opens the compaction lab at an entry, or beside a compaction, with pins."""
        self.once_loaded(LAB, lambda: self._open_lab(entry, pins))

    def _open_lab(self, entry: int, pins: tuple[str, ...]) -> None:
        from leafward_tui.lab import LabScreen

        session = self.session
        if session is None or self.refuse_while_writing():
            return
        scan, known = session.scan, len(session)

        def done(result: LabResult | None) -> None:
            # The lab took lines in itself, its own and others', so a look at the file would find nothing new.
            if session.scan is not scan:
                self.read_anew(scan.columns)
            elif result is not None:
                self.writing = True
                self.post_message(Wrote(self.generation, result.write, result.outcome, ""))
            elif len(session) != known:
                self.session_changed(to_leaf=True)

        self.app.push_screen(LabScreen(session, entry, pins), done)

    def undo_operation(self, op: str) -> None:
        """Takes an operation back."""
        from leafward.session.journal import undo

        self.start_write("undone", lambda it, writing: undo(it, op, writing))

    def show_tab(self, tab: Tab) -> None:
        """Shows a tab of the inspector."""
        raise NotImplementedError

    def show_tree(self) -> None:
        """Keys go to the tree."""
        raise NotImplementedError


def _bytes_above(session: Session, entry: int) -> int:
    """Bytes of the lines on the path to an entry, back to the compaction before the one before it."""
    columns, tree = session.columns, session.tree
    total = 0
    for run in tree.path_runs(columns.parent[entry]):
        stop = columns.start[run.stop] if run.stop < len(columns) else session.scan.end
        total += stop - columns.start[run.start]
    return total
