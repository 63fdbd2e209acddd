"""Reads the session, again where its file was replaced."""

from __future__ import annotations

import os
import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.safe_text import safe_line
from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans
from leafward_tui.explorer.controllers.row_metrics import PUBLISH_EVERY
from leafward_tui.explorer.model.title import title_bar_of
from leafward_tui.ui.bars.title_bar import Progress

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from leafward.agents.base import Agent
    from leafward.base.config import Config
    from leafward.context.entry_metrics import EntryMetrics
    from leafward.session.columns import Columns
    from leafward.session.lines.prefetch import Prefetch
    from leafward.session.session import Session
    from leafward.session.tree.density import Density
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
        self._again = False
        """Whether the session was replaced once more during the read."""
        self._then: Callable[[], object] | None = None
        """Called once the session was read again."""
        self.counted: Callable[[], object] = lambda: None
        """Called when all numbers of the session on show are known."""

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
        state.exploration, state.metrics = opened.exploration, opened.metrics
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
        self._metrics.count(self.show_counted)
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

    def show_counted(self, findings: Findings) -> None:
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


class OpenedSession(NamedTuple):
    """A session that was read and laid out."""

    exploration: Exploration
    metrics: EntryMetrics
    shut: bool
    """Whether its file or folder cannot be written."""


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
