"""What the search does beside the screen: functions of values."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from leafward_tui.ui.cells import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.base.config import Config
    from leafward.catalog import Card
    from leafward.query.search import Query
    from leafward.query.search.text_match import Hit
    from leafward.query.search.text_search import Progress, Search, SessionHits
    from leafward_tui.ui.services import Job

__all__ = ["Found", "HitText", "run_search", "text_of_hit"]

PUBLISH_EVERY = 0.15
"""Seconds between two repaints while results come."""
SESSIONS_AT_MOST = 300
"""Sessions with hits after which a search ends: nobody reads more, a narrower one is wanted."""
AROUND = 6000
"""Characters of a text shown before the first place found, and behind it."""


class Found(NamedTuple):
    """More sessions with hits; `finished` with the last of them."""

    sessions: list[SessionHits]
    progress: Progress
    finished: bool
    remarks: tuple[str, ...] = ()
    """What is to be said of the search once it is finished."""


class HitText(NamedTuple):
    """The text that a hit stands in, safe, with the places in it; or why it cannot be shown."""

    text: str = ""
    spans: tuple[tuple[int, int], ...] = ()
    problem: str = ""


def run_search(
    config: Config,
    paths: Sequence[Path],
    cards: Sequence[Card] | None,
    query: Query,
    found: Callable[[Found], object],
    job: Job,
) -> Found:
    """Searches; `found` is called with results while there are more, the last ones are returned."""
    from leafward.query.search.text_search import Search, ripgrep

    if cards is None:
        from leafward.catalog import sighted

        cards = list(sighted(config, paths, os.environ, []))
    search = Search(cards, query, program=ripgrep())
    published = 0.0
    waiting: list[SessionHits] = []

    def publish(progress: Progress) -> None:
        nonlocal published, waiting
        now = time.perf_counter()
        if now - published >= PUBLISH_EVERY:
            published = now
            job.report(partial(found, Found(waiting, progress, finished=False)))
            waiting = []

    for one in search.run(job.unwanted, publish):
        waiting.append(one)
        publish(search.progress)
        if search.sessions >= SESSIONS_AT_MOST:
            break
    return Found(waiting, search.progress, True, tuple(_remarks(search)))


def _remarks(search: Search) -> list[str]:
    remarks = []
    if search.matcher.slow:
        remarks.append(f"the pattern took too long on {counted(search.matcher.slow, 'text')}")
    if search.sessions >= SESSIONS_AT_MOST and search.done + 1 < len(search.cards):
        remarks.append("the newest sessions only: narrow it")
    if search.unread:
        remarks.append(f"{counted(len(search.unread), 'session')} cannot be read")
    return remarks


def text_of_hit(card: Card, hit: Hit, query: Query, job: Job) -> HitText:
    """Reads the text that a hit stands in. Raises LeafwardError, OSError."""
    from leafward.agents import agent_named
    from leafward.base.safe_text import safe
    from leafward.files.tool_calls import table_of
    from leafward.query.search.passages import passages
    from leafward.query.search.text_match import Matcher

    session = agent_named(card.agent).open(Path(card.path), job.unwanted)
    try:
        index = session.columns.index(hit.entry)
        entry = session.entry(index) if index >= 0 else None
        table = table_of(session)
        texts = list(passages(entry.body, entry.kind, table, with_paths=True)) if entry is not None else []
    finally:
        session.close()
    same = [one for one in texts if (one.part, one.tool) == (hit.part, hit.tool)]
    passage = next((one for one in same if hit.matched in one.text), same[0] if same else None)
    if passage is None:
        return HitText(problem="this entry is no longer in the session")
    at = max(0, passage.text.find(hit.matched))
    piece = safe(passage.text[max(0, at - AROUND) : at + AROUND])
    return HitText(piece, Matcher(query).places(passage._replace(text=piece)))
