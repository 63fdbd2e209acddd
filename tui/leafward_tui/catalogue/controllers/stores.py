"""The look at the stores of the agents: at the start, on request, and now and then while the application is idle."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.catalogue.listing import Catalogue, Update
from leafward_tui.catalogue.controllers.controller import CatalogueController, CatalogueMeans
from leafward_tui.ui.bars.title_bar import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from leafward.base.config import Config
    from leafward.catalogue.cards.card import Card
    from leafward_tui.catalogue.controllers.arrangement import Arrangement
    from leafward_tui.ui.jobs import Job

_IDLE = 150.0
"""Length of the rest after a look at the stores, as a multiple of its time: an open catalogue stays idle."""

_LONGEST_REST = 15.0
"""Seconds after which the stores are looked at all the same: after a look with much to read, the next has little."""


class Stores(CatalogueController):
    """Reads cards and hands them on to the list."""

    def __init__(self, means: CatalogueMeans, arrangement: Arrangement) -> None:
        super().__init__(means)
        self._found, self._paths = self._state.stores, self._state.paths
        self._arrangement = arrangement
        self.rested = 0.0
        """The time from which the stores may be looked at again without a request."""
        self._missed = False
        """Whether some read cards are not listed, because the look was cancelled or the lines were not made yet.

        Cards that were read once are not read again.
        """
        self.actions = {"catalogue.refresh": self.refresh}

    def refresh(self) -> None:
        """Looks at the stores now."""
        self.look_around()
        self._view.show_state()

    def look_around(self) -> None:
        """Reads the stored index, then the stores."""
        self._found.searching = True
        self._missed = self._missed or self._jobs.running("stores")
        work = partial(read_stores, self._services.config, self._paths, self._found.catalogue, self._take)
        self._jobs.latest("stores", work, self._rest, self._failed)

    def look_again(self) -> None:
        """Looks unless a look is under way, or another screen is on top."""
        if self._view.on_top and not self._found.searching:
            self.look_around()

    def look_in_time(self) -> None:
        """Looks again after a rest of 150 times the last look, but of 15 seconds at most."""
        if time.perf_counter() >= self.rested:
            self.look_again()

    def resumed(self) -> None:
        """Looks again after a visit to a session, which may have changed."""
        if self._found.cards is not None:
            self.look_again()

    def _rest(self, took: float) -> None:
        self.rested = time.perf_counter() + min(_IDLE * took, _LONGEST_REST)

    def _failed(self, problem: str) -> None:
        self._found.searching = False
        self._rest(_LONGEST_REST)
        self._view.show_progress(None)
        self._view.show_state()
        self._services.say(problem, problem=True)

    def _take(self, known: StoreReading) -> None:
        """Takes the cards; their lines are made beside the screen."""
        state, update = self._found, known.update
        state.catalogue = known.catalogue
        before = state.cards is not None
        state.searching = update is None or not update.finished
        if update is not None:
            busy = not update.finished and update.done < update.total
            self._view.show_progress(Progress("indexing", update.done, update.total) if busy else None)
        new = update is None or update.changed or update.gone or self._missed
        if before and not new:
            if self._view.line is None:
                # An empty list says whether sessions are still looked for.
                self._view.show_state()
            return
        # While files are read, lines are made so seldom that keys always find a free moment.
        self._missed = state.searching and before and self._arrangement.resting
        if not self._missed:
            state.cards = known.cards
            self._arrangement.list_again()


class StoreReading(NamedTuple):
    """All known cards, after new or better ones were read, and the progress of the look."""

    catalogue: Catalogue
    cards: list[Card]
    update: Update | None
    """None for the stored index."""


def read_stores(
    config: Config,
    paths: Sequence[Path],
    catalogue: Catalogue | None,
    known: Callable[[StoreReading], object],
    job: Job,
) -> float:
    """Reads the stored index, where that was not done, then the stores; returns the seconds of processor time.

    `known` is called whenever there are new cards.
    """
    if catalogue is None:
        catalogue = Catalogue(config, paths)
        job.report(partial(known, StoreReading(catalogue, catalogue.cards(), None)))
    every = catalogue

    def publish(update: Update) -> None:
        job.report(partial(known, StoreReading(every, every.cards(), update)))

    began = time.thread_time()
    update = every.refresh(job.unwanted, publish)
    took = time.thread_time() - began
    publish(update)
    return took
