"""What the catalogue has done beside the screen: functions of values."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import Cancelled, LeafwardError
from leafward.catalog import NOTHING_KNOWN, About, Card, Catalogue, Update, about
from leafward_tui.catalogue.model.listing import Listing, Stock, View, list_sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from leafward.agents import Resume
    from leafward.base.config import Config
    from leafward.compaction.aftermath_totals import AftermathSum, Maker
    from leafward_tui.catalogue.model.session_preview import SessionPreview
    from leafward_tui.ui.services import Job

__all__ = [
    "Followed",
    "Known",
    "Listed",
    "aftermaths",
    "make_lines",
    "preview_of",
    "read_stores",
    "resume_command",
]


class Known(NamedTuple):
    """Cards that are new or better: all of them, and how far the work is."""

    catalogue: Catalogue
    cards: list[Card]
    update: Update | None
    """None for the stored index."""


class Listed(NamedTuple):
    """Lines, and the seconds that making them took."""

    listing: Listing
    seconds: float


class Followed(NamedTuple):
    """What followed the compactions of sessions, as far as they are read."""

    sums: dict[Maker, AftermathSum]
    read: int
    sessions: int
    unread: int
    """Sessions that could not be read."""


def aftermaths(cards: Sequence[Card], told: Callable[[Followed], object], job: Job) -> Followed:
    """Adds up what was done again after the compactions of some sessions; `told` hears it after each. Raises Cancelled."""
    from leafward.agents import agent_named
    from leafward.compaction.aftermath_totals import AftermathTotals

    wanted = [card for card in cards if card.compactions and card.problem is None]
    totals, unread = AftermathTotals(), 0
    for number, card in enumerate(wanted):
        job.report(partial(told, Followed(dict(totals.sums), number, len(wanted), unread)))
        try:
            session = agent_named(card.agent).open(Path(card.path), job.unwanted)
            try:
                totals.add(card.agent, session, job.unwanted)
            finally:
                session.close()
        except Cancelled:
            raise
        except (LeafwardError, OSError):
            unread += 1
    return Followed(totals.sums, len(wanted), len(wanted), unread)


def read_stores(
    config: Config,
    paths: Sequence[Path],
    catalogue: Catalogue | None,
    known: Callable[[Known], object],
    job: Job,
) -> float:
    """Reads the stored index, where that was not done, then the stores; returns the seconds it took the processor.

    `known` is called with whatever is new.
    """
    if catalogue is None:
        catalogue = Catalogue(config, paths)
        job.report(partial(known, Known(catalogue, catalogue.cards(), None)))
    every = catalogue

    def publish(update: Update) -> None:
        job.report(partial(known, Known(every, every.cards(), update)))

    began = time.thread_time()
    update = every.refresh(job.unwanted, publish)
    took = time.thread_time() - began
    publish(update)
    return took


def make_lines(
    stock: Stock, cards: list[Card], catalogue: Catalogue | None, view: View, now: int, _job: Job
) -> Listed:
    """The lines of a view; `stock` is that of the last lines, `now` in milliseconds since 1970."""
    began = time.perf_counter()
    describe = partial(_about, catalogue)
    details = catalogue.details if catalogue is not None else None
    if stock.source is not cards:
        stock = Stock(cards, None, describe, details)
    if "file:" in view.text.lower() and stock.files is None and catalogue is not None:
        stock = Stock(cards, catalogue.files(), describe, details)
    return Listed(list_sessions(stock, view, now), time.perf_counter() - began)


def _about(catalogue: Catalogue | None, cards: Sequence[Card], found: Mapping[str, tuple[str, str]]) -> About:
    return about(catalogue, cards, found) if catalogue is not None else NOTHING_KNOWN


def preview_of(catalogue: Catalogue, card: Card, job: Job) -> SessionPreview | None:
    """A look into a session; None where it was stopped."""
    from leafward_tui.catalogue.model.session_preview import read_preview

    return read_preview(card, catalogue.details(card.path), job.unwanted)


def resume_command(card: Card, fork_key: str, _job: Job) -> Resume | str:
    """How the agent of a session opens it, or why it cannot. Raises LeafwardError, OSError."""
    from leafward.agents import agent_named

    agent = agent_named(card.agent)
    session = agent.open(Path(card.path))
    try:
        command = agent.resume(session, os.environ)
        problem = command.obstacle()
    finally:
        session.close()
    if problem is not None:
        return f"{problem}; open it, and go on in a new session elsewhere ({fork_key})"
    return command
