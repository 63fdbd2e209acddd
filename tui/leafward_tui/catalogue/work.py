"""What the catalogue has done for it: cards, lines, previews and resume commands, each made in a worker.

Whatever comes back has a generation; what is out of date is dropped.
"""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message
from textual.worker import Worker, WorkerState, get_current_worker

from leafward.catalog import NOTHING_KNOWN, About, Card, Catalogue, Update, about
from leafward_tui.catalogue.model.listing import Listing, Stock, View, list_sessions
from leafward_tui.ui.title_bar import Progress
from leafward_tui.ui.two_panes import TwoPanes

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from leafward.agents import Resume
    from leafward_tui.catalogue.model.session_preview import Glimpse

__all__ = ["SessionsWork"]

_GLIMPSES = 64
"""Looks into sessions that are kept."""

_IDLE = 150.0
"""How much longer than a look at the stores the rest after it is: with that an open catalogue is idle."""

_LONGEST_REST = 15.0
"""Seconds after which the stores are looked at all the same: after a look that had much to read, the next has not."""

_REST = 6.0
"""While files are being read, how much longer than the making of lines the rest after it is."""


class SessionsWork(TwoPanes[None]):
    """Asks for work and takes in what it brings; a subclass says what the user wants and shows it."""

    @dataclass
    class Known(Message):
        """Cards that are new or better: all of them, and how far the work is. ``update`` is None for the stored ones."""

        cards: list[Card]
        update: Update | None

    @dataclass
    class Listed(Message):
        """Lines are ready."""

        generation: int
        listing: Listing
        seconds: float
        """What making them took."""

    @dataclass
    class Seen(Message):
        """A session was looked into."""

        card: Card
        glimpse: Glimpse

    @dataclass
    class ReadyToResume(Message):
        """How a session is resumed, or why not."""

        resume: Resume | None
        problem: str = ""

    def __init__(self, paths: Sequence[Path] = ()) -> None:
        super().__init__()
        self._paths = tuple(paths)
        self._catalogue: Catalogue | None = None
        self._cards: list[Card] | None = None
        """The cards known; None before the stored index was read."""
        self._searching = True
        self._stock = Stock(())
        self._view = View()
        self._folded_hits: frozenset[str] = frozenset()
        """Groups folded while a filter holds; the others come back with the end of it."""
        self._generation = 0
        self._listed_at = 0.0
        self._pause = 0.0
        self._rested = 0.0
        """When the stores may be looked at again without anybody asking."""
        self._glimpses: OrderedDict[tuple[str, int, int], Glimpse] = OrderedDict()

    def show_listing(self, listing: Listing) -> None:
        """New lines."""
        raise NotImplementedError

    def show_state(self) -> None:
        """What stands around the lines has changed."""
        raise NotImplementedError

    def show_glimpse(self, card: Card, glimpse: Glimpse) -> None:
        """A session was looked into."""
        raise NotImplementedError

    def _work(self, group: str, work: Callable[[], None]) -> None:
        """Starts a thread; the one before it in its group is told to stop."""
        # Textual would describe a worker by the repr of its work, ten thousand cards in it.
        self.run_worker(
            work, group, group, description=group, thread=True, exclusive=True, exit_on_error=False
        )

    # --- cards --------------------------------------------------------------------------------------------------------

    def look_around(self) -> None:
        """Reads the stored index, then the stores."""
        self._searching = True
        self._work("stores", self._refresh)

    def look_again(self) -> None:
        """Now and then, while nobody is busy with it and the screen is the one seen."""
        if self.is_current and not self._searching:
            self.look_around()

    def look_in_time(self) -> None:
        """The same, so seldom that all looks together take a hundredth of the time."""
        if time.perf_counter() >= self._rested:
            self.look_again()

    def on_screen_resume(self) -> None:
        """Back from a session: it may have changed."""
        if self._cards is not None:
            self.look_again()

    def _refresh(self) -> None:
        worker = get_current_worker()
        if self._catalogue is None:
            self._catalogue = Catalogue(self.shell.config, self._paths)
            self.post_message(self.Known(self._catalogue.cards(), None))
        catalogue = self._catalogue

        def publish(update: Update) -> None:
            if not worker.is_cancelled:
                self.post_message(self.Known(catalogue.cards(), update))

        began = time.thread_time()
        update = catalogue.refresh(self.shell.keys_first.stop(worker), publish)
        rest = _IDLE * (time.thread_time() - began)
        self._rested = time.perf_counter() + min(rest, _LONGEST_REST)
        publish(update)

    def on_sessions_work_known(self, message: Known) -> None:
        """Takes the cards; lines are made in a worker."""
        message.stop()
        update = message.update
        known = self._cards is not None
        self._searching = update is None or not update.finished
        if update is not None:
            busy = not update.finished and update.done < update.total
            self.title_bar.progress(Progress("indexing", update.done, update.total) if busy else None)
        if known and update is not None and not update.changed and not update.gone:
            if not self._cards:
                self.show_state()
            return
        # While files are read, lines are made seldom enough that keys always find a free moment.
        soon = self._searching and known and time.perf_counter() - self._listed_at < self._pause
        if not soon:
            self._cards = message.cards
            self.list_again()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A worker that failed is told of, once."""
        if event.state is WorkerState.ERROR:
            self._searching = False
            self.shell.say(f"{event.worker.group}: {event.worker.error}", problem=True)

    # --- lines --------------------------------------------------------------------------------------------------------

    def list_again(self) -> None:
        """Lines for the present view, in a worker; a later call makes an earlier answer void."""
        self._generation += 1
        view = replace(self._view, folded=self._folded_hits) if self._view.text else self._view
        now = int(self.shell.clock().timestamp() * 1000)
        cards = self._cards if self._cards is not None else []
        work = partial(self._make_lines, self._generation, view, now, cards)
        self._work("lines", work)

    def _make_lines(self, generation: int, view: View, now: int, cards: list[Card]) -> None:
        began = time.perf_counter()
        stock = self._stock
        if stock.source is not cards:
            stock = Stock(cards, None, self._about)
        if "file:" in view.text.lower() and stock.files is None and self._catalogue is not None:
            stock = Stock(cards, self._catalogue.files(), self._about)
        listing = list_sessions(stock, view, now)
        self.post_message(self.Listed(generation, listing, time.perf_counter() - began))

    def _about(self, cards: Sequence[Card], found: Mapping[str, tuple[str, str]]) -> About:
        catalogue = self._catalogue
        return about(catalogue, cards, found) if catalogue is not None else NOTHING_KNOWN

    def on_sessions_work_listed(self, message: Listed) -> None:
        """Shows the lines, unless newer ones are on their way."""
        message.stop()
        self._pause = _REST * message.seconds
        self._listed_at = time.perf_counter()
        if message.generation == self._generation:
            self._stock = message.listing.stock
            self.show_listing(message.listing)

    # --- a look into a session ----------------------------------------------------------------------------------------

    def look_into(self, card: Card) -> None:
        """Shows what is known of a session at once, else has it read."""
        known = self._glimpses.get(_version(card))
        if known is not None:
            self.show_glimpse(card, known)
            return
        work = partial(self._glimpse, card)
        self._work("preview", work)

    def _glimpse(self, card: Card) -> None:
        from leafward_tui.catalogue.model.session_preview import glimpse

        worker = get_current_worker()
        catalogue = self._catalogue
        if catalogue is None:
            return
        seen = glimpse(card, catalogue.details(card.path), self.shell.keys_first.stop(worker))
        if seen is not None:
            self.post_message(self.Seen(card, seen))

    def on_sessions_work_seen(self, message: Seen) -> None:
        """Keeps what was seen, and shows it."""
        message.stop()
        self._glimpses[_version(message.card)] = message.glimpse
        while len(self._glimpses) > _GLIMPSES:
            self._glimpses.popitem(last=False)
        self.show_glimpse(message.card, message.glimpse)

    # --- resuming -----------------------------------------------------------------------------------------------------

    def resume(self, card: Card) -> None:
        """Reads the session to learn how its agent opens it, then hands the terminal over."""
        work = partial(self._ask_resume, card)
        self._work("resume", work)

    def _ask_resume(self, card: Card) -> None:
        from leafward.agents import agent_named
        from leafward.base.errors import LeafwardError

        try:
            agent = agent_named(card.agent)
            session = agent.open(Path(card.path))
            try:
                command = agent.resume(session, os.environ)
                problem = command.obstacle()
                if problem is not None:
                    key = self.shell.keymap.label("session.fork")
                    problem = f"{problem}; open it, and go on in a new session elsewhere ({key})"
                answer = self.ReadyToResume(command if problem is None else None, problem or "")
            finally:
                session.close()
        except (LeafwardError, OSError) as error:
            answer = self.ReadyToResume(None, str(error))
        self.post_message(answer)

    def on_sessions_work_ready_to_resume(self, message: ReadyToResume) -> None:
        """Hands the terminal over; back again, looks at what the agent wrote."""
        from leafward_tui.ui.agent_run import run_in_agent

        message.stop()
        problem = message.problem
        if message.resume is not None and (failed := run_in_agent(self.app, message.resume)) is not None:
            problem = f"{failed}; leafward resume --print shows the command"
        if problem:
            self.shell.say(problem, problem=True)
        self.look_again()


def _version(card: Card) -> tuple[str, int, int]:
    return card.path, card.size, card.modified
