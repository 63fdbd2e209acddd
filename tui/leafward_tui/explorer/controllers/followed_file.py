"""The session's file as it grows: entries that others appended, and those that another screen did."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import LeafwardError
from leafward.session.entries import BOOKKEEPING, NO_ENTRY, EntryIndex, Kind
from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans
from leafward_tui.explorer.model.visit import Visit
from leafward_tui.ui.screens.session_watch import BACK, GONE, NOT_IN_IT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.session.columns import Columns
    from leafward.session.session import Session
    from leafward.session.tree.tree_layout import Layout
    from leafward_tui.explorer.controllers.navigation import Navigation
    from leafward_tui.explorer.controllers.row_metrics import RowMetrics
    from leafward_tui.explorer.controllers.session_loader import SessionLoader
    from leafward_tui.ui.jobs import Job


class FollowedFile(ExplorerController):
    """Reads what is new; the loader reads all of it where the file was replaced."""

    def __init__(
        self, means: ExplorerMeans, loader: SessionLoader, navigation: Navigation, metrics: RowMetrics
    ) -> None:
        super().__init__(means)
        self._loader = loader
        self._navigation = navigation
        self._metrics = metrics
        self._visited = False
        """Whether another screen is open that hands back what it wrote."""
        self.actions = {"follow.toggle": self._toggle_following}

    def look(self, refused: str = "") -> None:
        """Checks whether the file has changed; costs one stat. `refused` says why it was not written to just now, empty for none."""
        state = self._state
        session = state.session
        if session is None or self._waiting:
            return
        # A screen on top, such as a sheet or the log, relies on the session in the state in which it was opened.
        if not self._view.on_top:
            self._view.warn_sheet(session.changed_on_disk)
            return
        if not self._visited and not state.trouble and not state.is_read:
            # What a screen wrote as it was closed made another file of it.
            state.unseen = 0
            self._loader.read()
            return
        if state.metrics is not None and len(state.metrics) != len(session) and not self._visited:
            # A screen that was on top was closed before what it wrote was there.
            self.show_changed(to_leaf=True)
        if not state.following:
            return
        gone, changed = session.gone, session.changed_on_disk()
        if session.gone is not gone:
            self._view.tell(*(GONE if session.gone else BACK))
        if changed:
            self._read_on(session, refused=refused)

    @property
    def _waiting(self) -> bool:
        """Whether the file cannot be read on now: a job relies on the present indexes of the entries, as above."""
        state = self._state
        jobs = ("read", "fork", "heal", "edits", "write")
        return state.busy or state.summary is not None or any(map(self._jobs.running, jobs))

    def _read_on(self, session: Session, then: Callable[[], object] | None = None, refused: str = "") -> None:
        self._state.growing = True
        leaf = shown.layout.leaf if (shown := self._state.exploration) is not None else NO_ENTRY
        taken = partial(self._take_in, session, leaf, then, refused)
        self._jobs.latest("follow", partial(grow, session), taken, self._fail_to_follow)

    def reread(
        self,
        entries: Sequence[int],
        then: Callable[[list[int]], object],
        refused: Callable[[str], object] | None = None,
    ) -> None:
        """Reads the file anew for a screen that was on top; `then` gets the new indexes of some entries.

        `refused` gets the reason where one of them is gone, or something else is under way; without it the reason is shown.
        """
        refused = refused or partial(self._view.tell, tone="warn")
        session = self._state.session
        names = [] if session is None else [session.columns.id(EntryIndex(entry)) for entry in entries]

        def shown() -> None:
            now = self._state.session
            found = [int(now.columns.index(name)) for name in names] if now is not None else [-1]
            if min(found, default=0) >= 0:
                then(found)
            else:
                refused(NOT_IN_IT)

        def read() -> None:
            if session is None or session is not self._state.session or self._waiting:
                refused("the session is in use; try again in a moment")
            else:
                self._read_on(session, shown)

        # What is being read already comes first: nothing that was typed is refused for it.
        self._jobs.after("follow", read)

    def _fail_to_follow(self, problem: str) -> None:
        self._state.growing = False
        self._view.tell(problem, "bad")

    def _take_in(
        self, session: Session, leaf: int, then: Callable[[], object] | None, refused: str, growth: Growth
    ) -> None:
        """Shows new entries; a cursor on the leaf moves along, also on what was the leaf before: the rows may show the new one already."""
        self._state.growing = False
        exploration = self._state.exploration
        if exploration is None or session is not exploration.session:
            session.close()
            return
        if growth.replaced:
            self._view.tell(f"{refused or 'the file was replaced or rewritten'}: read again", "warn")
            self._read_anew(growth.before, then)
            return
        if growth.added or growth.filled:
            self._state.grown = True
            on_leaf = self._is_on(exploration.layout, exploration.layout.leaf, leaf)
            if growth.filled:
                self._forget_turn(session, growth.added)
            if not on_leaf and growth.added:
                came = session.columns.kind[-growth.added :]
                self._state.unseen += sum(kind not in BOOKKEEPING for kind in came)
            self.show_changed(to_leaf=on_leaf)
        if then is not None:
            then()

    def _read_anew(self, before: Columns, then: Callable[[], object] | None) -> None:
        # Which entries of another file are new is not known.
        self._state.unseen = 0
        self._loader.read_anew(before, then)

    def _forget_turn(self, session: Session, added: int) -> None:
        """Forgets the figures of the turn that was last, whose entries may have been filled in."""
        kinds, metrics = session.columns.kind, self._state.metrics
        if metrics is not None:
            metrics.forget(max(0, bytes(kinds[: len(kinds) - added]).rfind(Kind.USER)))
        self._view.inspector.reload()

    def _is_on(self, layout: Layout, *leaves: int) -> bool:
        return self._view.tree.row in map(layout.row_of, leaves)

    def cursor_moved(self) -> None:
        """Resets the number of unseen entries when the cursor is on the leaf."""
        shown = self._state.exploration
        if self._state.unseen and shown is not None and self._is_on(shown.layout, shown.layout.leaf):
            self._state.unseen = 0
            self._loader.show_title()

    def show_changed(self, *, to_leaf: bool) -> None:
        """Lays out again after the session grew, and counts the new entries."""
        from leafward.session.journal.operation_log import archived_branches

        exploration, metrics = self._state.exploration, self._state.metrics
        if exploration is None or metrics is None:
            return
        if Kind.LABEL in exploration.session.columns.kind[len(metrics) :]:
            # A label shows on the page of its row, wherever its own entry is.
            self._view.inspector.reload()
        metrics.grow(exploration.session)
        archived = archived_branches(exploration.session)
        exploration.findings = exploration.findings._replace(archived=archived)
        self._metrics.forget_note(exploration.layout.head[-1] if len(exploration.layout) else -1)
        self._navigation.lay_out()
        if to_leaf:
            self._navigation.go_to_leaf()
            # The leaf may have come to the cursor.
            self.cursor_moved()
        self._loader.show_title()
        self._metrics.count_more(self._loader.show_counted)

    def _toggle_following(self) -> None:
        """Follows the file as it grows, or stops following it."""
        self._state.following = not self._state.following
        following = self._state.following
        self._view.tell(
            "following the file" if following else "not following the file", "leaf" if following else ""
        )
        self._loader.show_title()
        self.look()

    # --- other screens ------------------------------------------------------------------------------------------------

    def visit(self) -> Visit | None:
        """The session for another screen, which may append to it and read the lines that others appended; None before it is read."""
        session = self._state.session
        self._visited = session is not None
        return Visit(session, session.scan, len(session)) if session is not None else None

    def is_same(self, visit: Visit, then: Callable[[], object] | None = None) -> bool:
        """Whether the session is the one that the other screen was opened on; else it is read again, and `then` is called.

        A check of the file would find nothing new: the other screen read the lines itself.
        """
        self._visited = False
        if visit.session.scan is not visit.scan:
            self._read_anew(visit.scan.columns, then)
        return visit.session.scan is visit.scan

    def show_grown(self, visit: Visit) -> None:
        """Shows the entries that the other screen read."""
        if len(visit.session) != visit.entries:
            self.show_changed(to_leaf=True)


class Growth(NamedTuple):
    """The result of a check of a session's file."""

    before: Columns
    """The columns before the check."""
    added: int = 0
    replaced: bool = False
    """Whether the file shrank, was replaced or cannot be read, so that it has to be read again."""
    filled: bool = False
    """Whether the records of known entries may have been filled in: opencode stores a reply first and its words later."""


def grow(session: Session, _job: Job) -> Growth:
    """Reads the lines appended to the file of a session."""
    before = session.columns
    try:
        grown = session.refresh()
    except (LeafwardError, OSError):
        return Growth(before, replaced=True)
    if grown is None:
        return Growth(before)
    # Native sessions are only appended to.
    return Growth(before, grown.added, grown.replaced, filled=not session.is_native and not grown.replaced)
