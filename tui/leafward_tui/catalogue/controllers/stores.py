"""The look at the stores of the agents: at the start, when asked for, and now and then while nobody is busy."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.catalog import Card, Catalogue, Update
from leafward_tui.ui.title_bar import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from leafward.base.config import Config
    from leafward_tui.catalogue.controllers.arrangement import Arrangement
    from leafward_tui.catalogue.ports import CatalogueView
    from leafward_tui.catalogue.state import CatalogueState
    from leafward_tui.ui.services import AppServices, Job, Jobs

_IDLE = 150.0
"""How much longer than a look at the stores the rest after it is: with that an open catalogue is idle."""

_LONGEST_REST = 15.0
"""Seconds after which the stores are looked at all the same: after a look that had much to read, the next has not."""


class Stores:
    """Reads cards and hands them on to the list."""

    def __init__(
        self,
        state: CatalogueState,
        view: CatalogueView,
        services: AppServices,
        jobs: Jobs,
        arrangement: Arrangement,
    ) -> None:
        self._state = state.stores
        self._paths = state.paths
        self._view, self._services, self._jobs = view, services, jobs
        self._arrangement = arrangement
        self.rested = 0.0
        """When the stores may be looked at again without anybody asking."""
        self._missed = False
        """Whether cards were found that are not listed: the look was cancelled, or lines were not made that soon. What was found once is
        not found again."""
        self.actions: Mapping[str, Callable[[], object]] = {"catalogue.refresh": self.refresh}

    def refresh(self) -> None:
        """Looks at the stores now."""
        self.look_around()
        self._view.show_state()

    def look_around(self) -> None:
        """Reads the stored index, then the stores."""
        self._state.searching = True
        self._missed = self._missed or self._jobs.running("stores")
        work = partial(read_stores, self._services.config, self._paths, self._state.catalogue, self._take)
        self._jobs.latest("stores", work, self._rest, self._failed)

    def look_again(self) -> None:
        """Looks unless that is under way, or the screen is not the one seen."""
        if self._view.on_top and not self._state.searching:
            self.look_around()

    def look_in_time(self) -> None:
        """The same, so seldom that all looks together take a hundredth of the time."""
        if time.perf_counter() >= self.rested:
            self.look_again()

    def resumed(self) -> None:
        """Back from a session: it may have changed."""
        if self._state.cards is not None:
            self.look_again()

    def _rest(self, took: float) -> None:
        self.rested = time.perf_counter() + min(_IDLE * took, _LONGEST_REST)

    def _failed(self, problem: str) -> None:
        self._state.searching = False
        self._services.say(problem, problem=True)

    def _take(self, known: StoreReading) -> None:
        """Takes the cards; lines are made of them beside the screen."""
        state, update = self._state, known.update
        state.catalogue = known.catalogue
        before = state.cards is not None
        state.searching = update is None or not update.finished
        if update is not None:
            busy = not update.finished and update.done < update.total
            self._view.show_progress(Progress("indexing", update.done, update.total) if busy else None)
        new = update is None or update.changed or update.gone or self._missed
        if before and not new:
            if not state.cards:
                self._view.show_state()
            return
        # While files are read, lines are made seldom enough that keys always find a free moment.
        self._missed = state.searching and before and self._arrangement.resting
        if not self._missed:
            state.cards = known.cards
            self._arrangement.list_again()


class StoreReading(NamedTuple):
    """Cards that are new or better: all of them, and how far the work is."""

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
    """Reads the stored index, where that was not done, then the stores; returns the seconds it took the processor.

    `known` is called with whatever is new.
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
