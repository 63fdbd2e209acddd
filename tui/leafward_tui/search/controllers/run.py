"""The running search: begun as the user types, stopped, left."""

from __future__ import annotations

import os
import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.figures import counted
from leafward.query.search.conjunction import query_of
from leafward_tui.search.model.finds import Finds
from leafward_tui.ui.bars.title_bar import Progress
from leafward_tui.ui.delay import Delay
from leafward_tui.ui.screens.screen_controller import ScreenController

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from leafward.base.config import Config
    from leafward.query.search.corpus import Corpus
    from leafward.query.search.query import Query
    from leafward.query.search.text_search import SearchProgress, SessionHits, TextSearch
    from leafward_tui.search.display import SearchDisplay
    from leafward_tui.search.state import LeftSearch, SearchState
    from leafward_tui.ui.jobs import Job
    from leafward_tui.ui.screens.screen_controller import Means

_PAUSE = 0.3
"""Seconds without a key after which the typed text is searched for."""
_LEAST = 2
"""Characters before a search starts by itself."""


class SearchRun(ScreenController["SearchState", "SearchDisplay"]):
    """Owns the field, and the way out of each mode."""

    def __init__(self, means: Means[SearchState, SearchDisplay]) -> None:
        super().__init__(means)
        self._typing = Delay(means.view.set_timer)
        self.actions = {
            "query.edit": self.edit,
            "mode.leave": self.leave,
        }

    def take_up(self, left: LeftSearch) -> None:
        """Goes on with an earlier search, or begins it."""
        if left.finds.lines:
            self._state.text, self._state.query = left.text, self._parsed(left.text)
            self._state.words = left.words
            self._view.show_finds(left.finds, left.cursor)
        elif left.text:
            self._begin(left.text)

    def _parsed(self, text: str) -> Query:
        return query_of(text, int(self._services.clock().timestamp() * 1000), whole=True)

    # --- typing -------------------------------------------------------------------------------------------------------

    def type(self, text: str) -> None:
        """Searches after a pause in the typing."""
        self._state.typed = text
        self._typing.stop()
        if text != self._state.text:
            self._typing.start(_PAUSE, self._search_typed)

    def _search_typed(self) -> None:
        typed = self._state.typed
        if len(typed) >= _LEAST or not typed:
            self._begin(typed)
            return
        # What was found for an earlier text would stand under this one.
        self._begin("")
        self._state.words = "enter searches for one character", ""
        self._view.show_state()

    def commit(self) -> None:
        """Searches at once; where that is done, gives the keys to the results."""
        if self._state.typed != self._state.text:
            self._begin(self._state.typed)
        self._view.focus_results()

    def edit(self) -> None:
        """Gives the keys to the field."""
        self._view.panes.to_list()
        self._view.edit()
        self._view.show_hints()

    # --- searching ----------------------------------------------------------------------------------------------------

    def _begin(self, text: str) -> None:
        """Searches for a text; an empty one clears everything."""
        state = self._state
        self._typing.stop()
        state.text, state.query, state.words = text, self._parsed(text), ("", "")
        self._view.show_finds(Finds())
        state.searching = state.query.looks_inside and not state.query.broken
        if state.searching:
            work = partial(
                run_search, self._services.config, state.paths, state.corpus, state.query, self._take
            )
            self._jobs.latest("search", work, self._take, self._fail)
        else:
            self._jobs.cancel("search")
            self._view.show_progress(None)
        self._view.arrange_panes()
        self._view.show_state()

    def stop(self) -> None:
        """Stops a running search, and says so; its results stay."""
        if self._state.searching:
            self._jobs.cancel("search")
            self._end("stopped")

    def _fail(self, why: str) -> None:
        self._services.say(why, problem=True)
        self._end("failed")

    def _end(self, words: str) -> None:
        self._state.searching = False
        # Beside hits the number of sessions has no room; that it is not of all of them is to be seen.
        self._state.words = ("", words) if self._view.finds.hits else (words, "")
        self._view.show_progress(None)
        self._view.show_state()

    def _take(self, found: FoundSessions) -> None:
        """Adds lines at the end; the cursor stays where it is."""
        finds, progress = self._view.finds, found.progress
        before = len(finds.lines)
        for session in found.sessions:
            finds.add(session)
        self._state.searching = not found.finished
        busy = Progress("searching", progress.done, progress.total)
        self._view.show_progress(None if found.finished else busy)
        if found.finished:
            self._state.words = f"{counted(progress.done, 'session')} searched", "; ".join(found.remarks)
        if len(finds.lines) > before:
            self._view.finds_grew(before)
        if not before:
            self._view.arrange_panes()
        self._view.show_state()

    def leave(self) -> None:
        """Leaves one mode: the text, the field where there are results, the running search; then goes back."""
        if self._view.panes.side:
            self._view.panes.to_list()
        elif self._view.in_field and self._view.finds.lines:
            self._view.focus_results()
        elif self._state.searching:
            self.stop()
        else:
            self._view.go_back()


PUBLISH_EVERY = 0.15
"""Seconds between two repaints while results come."""
SESSIONS_AT_MOST = 300
"""Sessions with hits after which a search ends: a longer list is of no use, and a narrower search is needed."""


class FoundSessions(NamedTuple):
    """More sessions with hits; `finished` with the last of them."""

    sessions: list[SessionHits]
    progress: SearchProgress
    finished: bool
    remarks: tuple[str, ...] = ()
    """Remarks on the search once it is finished."""


def run_search(
    config: Config,
    paths: Sequence[Path],
    corpus: Corpus | None,
    query: Query,
    found: Callable[[FoundSessions], object],
    job: Job,
) -> FoundSessions:
    """Searches; `found` is called with results while there are more, and the last ones are returned."""
    from leafward.query.search.corpus import Corpus
    from leafward.query.search.prefilter import ripgrep
    from leafward.query.search.text_search import TextSearch

    if corpus is None:
        from leafward.catalogue.lookup import sighted

        corpus = Corpus(list(sighted(config, paths, os.environ, [])))
    search = TextSearch(corpus, query, program=ripgrep())
    published = 0.0
    waiting: list[SessionHits] = []

    def publish(progress: SearchProgress) -> None:
        nonlocal published, waiting
        now = time.perf_counter()
        if now - published >= PUBLISH_EVERY:
            published = now
            job.report(partial(found, FoundSessions(waiting, progress, finished=False)))
            waiting = []

    for one in search.run(job.unwanted, publish):
        waiting.append(one)
        publish(search.progress)
        if search.sessions >= SESSIONS_AT_MOST:
            break
    return FoundSessions(waiting, search.progress, True, tuple(_remarks(search)))


def _remarks(search: TextSearch) -> list[str]:
    remarks = []
    if search.matcher.slow:
        remarks.append(f"the pattern took too long on {counted(search.matcher.slow, 'text')}")
    if search.sessions >= SESSIONS_AT_MOST and search.done < search.progress.total:
        remarks.append("the newest sessions only: narrow it")
    if search.copies:
        hits = counted(search.copied_hits, "more hit")
        remarks.append(f"{hits} in forks and copies not listed")
    if search.unread:
        remarks.append(f"{counted(len(search.unread), 'session')} cannot be read")
    return remarks
