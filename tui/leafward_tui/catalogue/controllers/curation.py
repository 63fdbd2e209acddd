"""Actions on whole sessions: keep, archive, delete, restore, add up."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward_tui.catalogue.controllers.controller import CatalogueController, CatalogueMeans
from leafward_tui.ui.text.cells import exact, fit
from leafward_tui.ui.text.paths import tilde

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.catalogue.cards.card import Card
    from leafward.query.search.query import Query
    from leafward_tui.catalogue.controllers.stores import Stores
    from leafward_tui.catalogue.model.listing import Stock
    from leafward_tui.catalogue.model.totals_table import TotalsRow
    from leafward_tui.ui.jobs import Job


_NAMED = 60
"""Cells of a session's title in a message."""


class Curation(CatalogueController):
    """The keys that act on the session under the cursor."""

    def __init__(self, means: CatalogueMeans, stores: Stores) -> None:
        super().__init__(means)
        self._list, self._stores = self._state.list, stores
        self._undos: list[Callable[[], CurationResult]] = []
        """Functions that undo the actions on this screen, the latest last."""
        self.actions = {
            "session.keep": self.keep,
            "session.archive": self.archive,
            "session.delete": self.ask_delete,
            "session.undo": self.undo,
            "totals.open": self.show_totals,
        }

    def enabled(self, intent_id: str) -> bool:
        """Whether one of its intents does something now."""
        if intent_id == "totals.open":
            return bool(self._list.stock.cards)
        if intent_id == "session.undo":
            return bool(self._undos)
        card = self._view.card
        return card is not None and (card.problem is None or intent_id == "session.delete")

    def keep(self) -> None:
        """Copies the session where its agent cannot reach it."""
        if (card := self._view.card) is not None:
            self._do(partial(keep_copy, card))

    def archive(self) -> None:
        """Archives the session, or unarchives it; the file stays."""
        if (card := self._view.card) is not None:
            self._do(partial(archive, card, not card.archived))

    def ask_delete(self) -> None:
        """Shows the file to be deleted and the forks that stay, then moves the file to the trash."""
        card = self._view.card
        if card is None:
            return
        from leafward.agents.registry import native
        from leafward.catalogue.lineage import forks_of
        from leafward.catalogue.trash import trash_folder
        from leafward_tui.ui.sheets.choice_sheet import Choice, ChoiceSheet
        from leafward_tui.ui.sheets.sheet import SheetLine

        refused = ""
        if card.agent != native().name:
            refused = f"{card.agent}'s own files are never changed: archive it"
        stock = self._list.stock
        forks = forks_of(card, stock.cards, stock.parents)
        entries = counted(card.entries or 0, "entry", "entries")
        about = [SheetLine(f"{card.title}   {entries}   {exact(card.size)} bytes")]
        if forks:
            stay = "stays" if len(forks) == 1 else "stay"
            about.append(
                SheetLine(f"{counted(len(forks), 'session')} made from it {stay}, on their own", "warn")
            )
        trash = f"move 1 file to {tilde(str(trash_folder()))}"
        remove, hide = (
            partial(self._do, partial(delete, card)),
            partial(self._do, partial(archive, card, True)),
        )
        undo = self._services.keymap.label("session.undo")
        restores = f"{undo} restores it" if undo else "leafward delete --undo restores it"
        stays, operation = "the file stays where it is", "append 1 line that hides it"
        choices = [
            Choice("d", "Move to the trash", restores, trash, refused, act=remove),
            Choice("a", "Archive instead", stays, operation, act=hide),
        ]
        self._view.open_sheet(ChoiceSheet("Delete this session", choices, about))

    def undo(self) -> None:
        """Undoes the last action."""
        if self._undos:
            last = self._undos.pop()
            self._do(last, partial(self._not_undone, last))

    def show_totals(self) -> None:
        """Adds up the usage and the cost of the listed sessions, and shows them."""
        stock, listing = self._list.stock, self._view.listing
        work = partial(added_up, stock, listing.query)
        self._jobs.latest(
            "totals", work, partial(self._show_totals, bool(listing.view.text), len(stock.cards))
        )

    def _show_totals(self, filtered: bool, of_all: int, found: AddedUp) -> None:
        if self._view.on_top:
            note = f"{exact(len(found.cards))} of {exact(of_all)} sessions" if filtered else ""
            self._view.show_totals(found.rows, note, found.cards)

    def _do(self, act: Callable[[], CurationResult], refused: Callable[[str], object] | None = None) -> None:
        self._jobs.also("curation", partial(done_of, act), self._did, refused or self._refused)

    def _did(self, done: CurationResult) -> None:
        """Shows the effect, and looks at the stores."""
        if done.undo is not None:
            self._undos.append(done.undo)
        title = fit(safe_line(done.title), _NAMED, ellipsis=self._services.glyphs.ellipsis)
        self._services.say(": ".join(filter(None, (done.words, title))))
        self._stores.look_around()
        self._view.show_hints()

    def _not_undone(self, undo: Callable[[], CurationResult], problem: str) -> None:
        """Keeps an undo that failed: it may be possible again."""
        self._undos.append(undo)
        self._refused(problem)

    def _refused(self, problem: str) -> None:
        self._services.say(problem, problem=True)
        self._view.show_hints()


class AddedUp(NamedTuple):
    """The sessions that are listed, and the rows of their totals."""

    cards: Sequence[Card]
    rows: Sequence[TotalsRow]


def added_up(stock: Stock, query: Query, _job: Job) -> AddedUp:
    """The totals of the sessions that a query finds."""
    from leafward.catalogue.usage.totals import totals
    from leafward_tui.catalogue.model.totals_table import totals_rows

    cards = stock.select(query)
    return AddedUp(cards, totals_rows(totals(cards, stock.status.spent), stock.status.missing))


class CurationResult(NamedTuple):
    """The effect of an action: words for a toast, the title of the session where they are about one, and its undo."""

    words: str
    title: str = ""
    undo: Callable[[], CurationResult] | None = None


def done_of(act: Callable[[], CurationResult], _job: Job) -> CurationResult:
    """Runs the action."""
    return act()


def keep_copy(card: Card) -> CurationResult:
    """Copies a session where its agent cannot reach it."""
    from leafward.catalogue.backups import keep

    kept = keep(card)
    if kept.changed:
        return CurationResult(f"kept a copy ({counted(len(kept.files), kept.what)})", card.title)
    return CurationResult("the kept copy is up to date")


def archive(card: Card, archived: bool) -> CurationResult:
    """Archives a session, or unarchives it."""
    from leafward.agents.registry import agent_named
    from leafward.session.journal.session_operations import archive_session

    with closing(agent_named(card.agent).open(Path(card.path))) as session:
        archive_session(session, archived)
    words = "archived" if archived else "unarchived"
    return CurationResult(words, card.title, partial(_unarchive, card, archived))


def _unarchive(card: Card, archived: bool) -> CurationResult:
    return archive(card, not archived)._replace(undo=None)


def delete(card: Card) -> CurationResult:
    """Moves a session to the trash."""
    from leafward.catalogue.trash import throw_away

    thrown = throw_away(card)

    def back() -> CurationResult:
        from leafward.catalogue.trash import bring_back

        bring_back(thrown)
        return CurationResult("restored from the trash", card.title)

    return CurationResult("in the trash", card.title, back)
