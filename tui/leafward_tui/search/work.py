"""What the search does off the UI thread, and the messages its results come back in."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message
from textual.worker import Worker, WorkerState, get_current_worker

from leafward_tui.ui.cells import counted
from leafward_tui.ui.two_panes import TwoPanes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.catalog import Card
    from leafward.query.search import Query
    from leafward.query.search.text_match import Hit
    from leafward.query.search.text_search import Progress, Search, SessionHits

__all__ = ["SearchWork"]

PUBLISH_EVERY = 0.15
"""Seconds between two repaints while results come."""
SESSIONS_AT_MOST = 300
"""Sessions with hits after which a search ends: nobody reads more, a narrower one is wanted."""
AROUND = 6000
"""Characters of a text shown before the first place found, and behind it."""


@dataclass(eq=False, repr=False)
class Found(Message):
    """More sessions with hits; `finished` with the last of them."""

    run: int
    sessions: list[SessionHits]
    progress: Progress
    finished: bool
    remarks: tuple[str, ...] = ()
    """What is to be said of the search once it is finished."""


@dataclass(eq=False, repr=False)
class InText(Message):
    """The text that a hit stands in, safe, with the places in it; or why it cannot be shown."""

    hit: Hit
    text: str
    spans: tuple[tuple[int, int], ...]
    problem: str = ""


class SearchWork(TwoPanes[object]):
    """The threads of the search. Results belong to a run; those of an earlier one are dropped by whoever receives them."""

    paths: tuple[Path, ...] = ()
    cards: Sequence[Card] | None = None
    """The sessions to search; None where they are not known yet."""
    run_number = 0

    def start(self, query: Query) -> None:
        """Searches; what an earlier search finds is void."""
        self.run_number += 1
        self._work("search", partial(self._search, self.run_number, query))

    def cease(self) -> None:
        """Ends the search; what was found stays."""
        self.run_number += 1
        self.workers.cancel_group(self, "search")

    def look_into(self, card: Card, hit: Hit, query: Query) -> None:
        """Reads the text that a hit stands in."""
        self._work("text", partial(self._read, card, hit, query))

    def _work(self, group: str, work: Callable[[], None]) -> None:
        # Textual would describe a worker by the repr of its work, ten thousand cards in it.
        self.run_worker(
            work, group, group, description=group, thread=True, exclusive=True, exit_on_error=False
        )

    def _search(self, run: int, query: Query) -> None:
        from leafward.query.search.text_search import Search, ripgrep

        worker = get_current_worker()
        stop = self.shell.keys_first.stop(worker)
        cards = self.cards
        if cards is None:
            from leafward.catalog import sighted

            cards = list(sighted(self.shell.config, self.paths, os.environ, []))
        search = Search(cards, query, program=ripgrep())
        said = 0.0
        waiting: list[SessionHits] = []

        def publish(progress: Progress) -> None:
            nonlocal said, waiting
            now = time.monotonic()
            if now - said >= PUBLISH_EVERY and not worker.is_cancelled:
                said = now
                self.post_message(Found(run, waiting, progress, finished=False))
                waiting = []

        for found in search.run(stop, publish):
            waiting.append(found)
            publish(search.progress)
            if search.sessions >= SESSIONS_AT_MOST:
                break
        if not worker.is_cancelled:
            self.post_message(Found(run, waiting, search.progress, True, tuple(_remarks(search))))

    def _read(self, card: Card, hit: Hit, query: Query) -> None:
        from leafward.agents import agent_named
        from leafward.base.errors import LeafwardError
        from leafward.base.safe_text import safe
        from leafward.files.edits import table_of
        from leafward.query.search.passages import passages
        from leafward.query.search.text_match import Matcher

        worker = get_current_worker()
        try:
            session = agent_named(card.agent).open(Path(card.path), lambda: worker.is_cancelled)
        except (LeafwardError, OSError) as error:
            self.post_message(InText(hit, "", (), str(error)))
            return
        try:
            index = session.columns.index(hit.entry)
            entry = session.entry(index) if index >= 0 else None
            matcher = Matcher(query)
            texts = (
                list(passages(entry.body, entry.kind, table_of(session), with_paths=True)) if entry else []
            )
        except OSError as error:
            self.post_message(InText(hit, "", (), str(error)))
            return
        finally:
            session.close()
        same = [one for one in texts if (one.part, one.tool) == (hit.part, hit.tool)]
        passage = next((one for one in same if hit.matched in one.text), same[0] if same else None)
        if passage is None:
            self.post_message(InText(hit, "", (), "this entry is no longer in the session"))
            return
        at = max(0, passage.text.find(hit.matched))
        piece = safe(passage.text[max(0, at - AROUND) : at + AROUND])
        self.post_message(InText(hit, piece, matcher.places(passage._replace(text=piece))))

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A worker that failed is told of, once."""
        if event.state is WorkerState.ERROR:
            self.cease()
            self.shell.say(f"{event.worker.group}: {event.worker.error}", problem=True)


def _remarks(search: Search) -> list[str]:
    remarks = []
    if search.matcher.slow:
        remarks.append(f"the pattern took too long on {counted(search.matcher.slow, 'text')}")
    if search.sessions >= SESSIONS_AT_MOST and search.done + 1 < len(search.cards):
        remarks.append("the newest sessions only: narrow it")
    if search.unread:
        remarks.append(f"{counted(len(search.unread), 'session')} cannot be read")
    return remarks
