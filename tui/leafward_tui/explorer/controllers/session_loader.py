"""Reads the session, again where its file was replaced, and follows the file as it grows."""

from __future__ import annotations

import os
import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import LeafwardError
from leafward.base.safe_text import safe_line
from leafward.session.entries import BOOKKEEPING, NO_ENTRY, EntryIndex, Kind
from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans
from leafward_tui.explorer.controllers.row_metrics import PUBLISH_EVERY
from leafward_tui.explorer.model.title import title_bar_of
from leafward_tui.explorer.model.visit import Visit
from leafward_tui.ui.bars.title_bar import Progress
from leafward_tui.ui.screens.session_watch import BACK, GONE, NOT_IN_IT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from leafward.agents.base import Agent
    from leafward.base.config import Config
    from leafward.context.entry_metrics import EntryMetrics
    from leafward.session.columns import Columns
    from leafward.session.lines.prefetch import Prefetch
    from leafward.session.session import Session
    from leafward.session.tree.density import Density
    from leafward.session.tree.tree_layout import Layout
    from leafward_tui.explorer.controllers.cursor_details import CursorDetails
    from leafward_tui.explorer.controllers.navigation import Navigation
    from leafward_tui.explorer.controllers.row_metrics import RowMetrics
    from leafward_tui.explorer.controllers.search import Search
    from leafward_tui.explorer.model.exploration import Exploration, Findings
    from leafward_tui.explorer.model.view_state import ViewState
    from leafward_tui.ui.jobs import Job
    from leafward_tui.ui.open_target import OpenTarget

    BytesRead = Callable[[int | None, int], object]
    """Gets the bytes read so far, None where that is not known, and the total."""

_REMARK = 300
"""Characters of a remark on the whole session."""
_LONG_READ = 16 << 20
"""Bytes of another agent's session from which reading takes long enough to show a message."""
_LEAST_ROWS = 8
_OF_THE_SESSION = (
    "count", "note", "lost", "price", "glance", "survey", "forecast", "search", "choose", "edits", "branches",
    "fork", "healable", "parent", "sub_agents",
)  # fmt: skip
"""Jobs whose results are about the session on show only."""


class SessionLoader(ExplorerController):
    """Owns the session: nothing else opens or closes one."""

    def __init__(
        self,
        means: ExplorerMeans,
        navigation: Navigation,
        details: CursorDetails,
        metrics: RowMetrics,
        search: Search,
    ) -> None:
        super().__init__(means)
        self._navigation = navigation
        self._details = details
        self._metrics = metrics
        self._search = search
        self._ahead: Prefetch | None = None
        self._target: OpenTarget | None = None
        self._kept: ViewState | None = None
        """Cursor, mark, folds and filter, while the session is read again."""
        self._visited = False
        """Whether another screen is open that hands back what it wrote."""
        self._again = False
        """Whether the session was replaced once more during the read."""
        self._then: Callable[[], object] | None = None
        """Called once the session was read again."""
        self.counted: Callable[[], object] = lambda: None
        """Called when all numbers of the session on show are known."""
        self.actions = {"follow.toggle": self._toggle_following}

    # --- reading ------------------------------------------------------------------------------------------------------

    def open(self, ahead: Prefetch | None, target: OpenTarget | None) -> None:
        """Reads the session for the first time; `ahead` is its scan under way, `target` the first place of the cursor."""
        self._ahead, self._target = ahead, target
        self.read()

    def read(self) -> None:
        """Reads the session."""
        if self._jobs.running("read"):
            self._again = True
            return
        state, services = self._state, self._services
        rows = max(_LEAST_ROWS, self._view.tree.page_rows or 20)
        self._jobs.latest(
            "read",
            partial(
                open_session,
                state.path,
                state.density,
                rows,
                services.config,
                self._ahead,
                self._show_progress,
            ),
            self._show,
            self._fail,
        )

    def read_anew(self, before: Columns, then: Callable[[], object] | None = None) -> None:
        """Reads the session again and keeps cursor, mark, folds and filter by the ids in the columns from `before`.

        `then` is called once it is on show.
        """
        self._then = then
        if self._state.exploration is not None:
            from leafward_tui.explorer.model.view_state import ViewState

            self._kept = ViewState.of(self._state.exploration, before, self._view.tree.row)
        self.read()

    def close(self) -> None:
        """Closes the session's file, because the screen closes."""
        if self._state.session is not None:
            self._state.session.close()
            self._services.collector.let_go()

    def _show_progress(self, done: int | None, total: int) -> None:
        read = done // 1_000_000 if done is not None else None
        self._view.title_bar.progress(Progress("reading", read, total // 1_000_000, "MB"))

    def _fail(self, problem: str) -> None:
        """Shows why there is no session."""
        if self._read_once_more():
            return
        self._then = None
        self._view.title_bar.progress(None)
        # The title bar names the session: without its folder the reason fits into the line.
        problem = problem.removeprefix(f"{self._state.path.parent}/")
        self._state.trouble = problem
        self._view.tell(problem, "bad")
        self._view.show_hints()

    def _read_once_more(self) -> bool:
        again, self._again = self._again, False
        if again:
            self.read()
        return again

    def _show(self, opened: OpenedSession) -> None:
        """Shows the tree with the cursor on the leaf, or where it was."""
        if self._read_once_more():
            opened.exploration.session.close()
            return
        state, view, before = self._state, self._view, self._state.session
        self._jobs.cancel(*_OF_THE_SESSION)
        if before is not None and not state.busy and state.summary is None:
            # Those that still work on it close it.
            before.close()
        state.exploration, state.metrics, state.unseen = opened.exploration, opened.metrics, 0
        state.shut = opened.shut
        self._metrics.begin()
        self._details.begin()
        kept, self._kept = self._kept, None
        cursor = kept.take_up(opened.exploration) if kept is not None else -1
        view.title_bar.progress(None)
        state.trouble = ""
        layout = opened.exploration.layout
        self._services.collector.keep_for_long()
        self._navigation.show_rows(layout.row_of(cursor if cursor >= 0 else layout.leaf))
        self.show_title()
        self._metrics.count(self._show_counted)
        view.show_hints()
        if state.bare:
            view.tell("")
        unread = opened.exploration.session.unread
        if unread:
            more = f" (and {len(unread) - 1} more)" if len(unread) > 1 else ""
            view.tell(f"{safe_line(unread[0], _REMARK)}{more}", "warn")
        if state.search.text:
            self._search.start(state.search.text)
        self._arrive(opened.exploration.session)
        then, self._then = self._then, None
        if then is not None:
            then()

    def _arrive(self, session: Session) -> None:
        """Goes to the entry that the session was opened at, and searches for its words."""
        target, self._target = self._target, None
        if target is None:
            return
        entry = session.columns.index(target.entry)
        if entry < 0:
            self._view.tell("the entry that was found is no longer in this session", "warn")
            return
        self._navigation.show_found(entry)
        if target.words:
            self._search.arrive(target.words)

    def _show_counted(self, findings: Findings) -> None:
        """Updates filters and overview, now that all numbers are known."""
        if self._state.exploration is not None:
            self._state.exploration.findings = findings
            self._navigation.lay_out()
            self.show_title()
            self._details.survey()
            self.counted()

    def show_title(self) -> None:
        """Shows project, name and facts of the session."""
        state, exploration = self._state, self._state.exploration
        if exploration is None:
            return
        if not state.agent:
            from leafward.agents.recognition import agent_behind

            state.agent = agent_behind(exploration.session).name
        title = title_bar_of(
            exploration,
            state.agent,
            self._services.glyphs,
            following=state.following,
            unseen=state.unseen,
            shut=state.shut,
            parent=state.parent_title,
        )
        self._view.title_bar.show(title.title, crumb=title.crumb, facts=title.facts)

    # --- following ----------------------------------------------------------------------------------------------------

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
            self.read()
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
            self.read_anew(growth.before, then)
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
            self.show_title()

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
        self.show_title()
        self._metrics.count_more(self._show_counted)

    def _toggle_following(self) -> None:
        """Follows the file as it grows, or stops following it."""
        self._state.following = not self._state.following
        following = self._state.following
        self._view.tell(
            "following the file" if following else "not following the file", "leaf" if following else ""
        )
        self.show_title()
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
            self.read_anew(visit.scan.columns, then)
        return visit.session.scan is visit.scan

    def show_grown(self, visit: Visit) -> None:
        """Shows the entries that the other screen read."""
        if len(visit.session) != visit.entries:
            self.show_changed(to_leaf=True)


class OpenedSession(NamedTuple):
    """A session that was read and laid out."""

    exploration: Exploration
    metrics: EntryMetrics
    shut: bool
    """Whether its file or folder cannot be written."""


class Growth(NamedTuple):
    """The result of a check of a session's file."""

    before: Columns
    """The columns before the check."""
    added: int = 0
    replaced: bool = False
    """Whether the file shrank, was replaced or cannot be read, so that it has to be read again."""
    filled: bool = False
    """Whether the records of known entries may have been filled in: opencode stores a reply first and its words later."""


def open_session(
    path: Path,
    density: Density,
    height: int,
    config: Config,
    ahead: Prefetch | None,
    progress: BytesRead,
    job: Job,
) -> OpenedSession:
    """Reads and lays out a session; an `ahead` scan is reused. Raises LeafwardError."""
    # Imported here, in the job: the modules that read sessions take longer to load than everything before the first
    # frame.
    from leafward.agents.recognition import agent_of
    from leafward.agents.registry import native
    from leafward.context.entry_metrics import EntryMetrics
    from leafward.session.journal.open_file import why_unwritable
    from leafward.session.journal.operation_log import archived_branches
    from leafward.session.session import Session
    from leafward_tui.explorer.model.exploration import Exploration, Findings

    size = path.stat().st_size if path.exists() else 0
    reported = time.monotonic()

    def publish(end: int) -> None:
        nonlocal reported
        now = time.monotonic()
        if now - reported >= PUBLISH_EVERY:
            reported = now
            job.report(lambda: progress(end, size))

    scan = ahead.take(job.unwanted, lambda end, _entries: publish(end)) if ahead is not None else None
    agent = agent_of(path, lambda: _configured_stores(config))
    if agent is native():
        session = Session.open(path, job.unwanted, lambda scan: publish(scan.end), scan)
        session.source.tools = agent.tool_table
    else:
        if size > _LONG_READ:
            # The progress of the agent's own reader is not known, only the size.
            job.report(lambda: progress(None, size))
        session = agent.open(path, job.unwanted)
    findings = Findings(archived=archived_branches(session))
    return OpenedSession(
        Exploration(session, density, height, findings), EntryMetrics(session), bool(why_unwritable(session))
    )


def _configured_stores(config: Config) -> list[tuple[Agent, Path]]:
    """Stores of agents in the configuration; needed where neither place nor bytes of a file show whose it is."""
    # Loading it takes a fifth as long as everything before the first frame.
    from leafward.catalogue.roots import stores

    return stores(config, os.environ)


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
