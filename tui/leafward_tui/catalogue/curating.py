"""What is done with whole sessions: kept, archived, thrown away, brought back, added up. Files are touched in workers."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from textual.message import Message

from leafward_tui.catalogue.going import SessionsGoing
from leafward_tui.ui.cells import count, counted, exact
from leafward_tui.ui.sheet import Choice, ChoiceSheet, SheetLine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.catalog import Card

__all__ = ["SessionsCurating"]


class Done(NamedTuple):
    """What became of an act: words for a toast, and how it is taken back."""

    words: str
    problem: bool = False
    undo: Callable[[], Done] | None = None


class SessionsCurating(SessionsGoing):
    """The keys that do something with the session under the cursor."""

    class Curated(Message):
        """Something was done, or refused."""

        def __init__(self, done: Done) -> None:
            super().__init__()
            self.done = done

    def __init__(self, paths: Sequence[Path] = ()) -> None:
        super().__init__(paths)
        self._taken_back: list[Callable[[], Done]] = []
        """How what was done here is taken back, the latest last."""

    def action_session_keep(self) -> None:
        """Copies the session where its agent cannot reach it."""
        card = self.sessions.card
        if card is not None:
            self._do(partial(_keep, card))

    def action_session_archive(self) -> None:
        """Puts the session away, or takes it out again; the file stays."""
        card = self.sessions.card
        if card is not None:
            self._do(partial(_archive, card, not card.archived))

    def action_session_delete(self) -> None:
        """Says what would go, and then moves it to the trash."""
        card = self.sessions.card
        if card is None:
            return
        from leafward.agents import native

        refused = ""
        if card.agent != native().name:
            refused = f"{card.agent}'s own files are never touched: archive it"
        forks = [one for one in self._stock.cards if self._stock.parents.get(one.path, ("",))[0] == card.path]
        about = [
            SheetLine(
                f"{counted(card.entries or 0, 'entry', 'entries')}   {exact(card.size)} bytes   {card.title}"
            )
        ]
        if forks:
            stay = "stays" if len(forks) == 1 else "stay"
            about.append(
                SheetLine(f"{counted(len(forks), 'session')} made from it {stay}, on their own", "warn")
            )
        choices = [
            Choice(
                "d",
                "Move to the trash",
                "u brings it back",
                f"move {Path(card.path).name} to the trash",
                refused,
            ),
            Choice("a", "Archive instead", "the file stays where it is", "append 1 line that hides it"),
        ]

        def done(key: str | None) -> None:
            if key == "d":
                self._do(partial(_delete, card))
            elif key == "a":
                self._do(partial(_archive, card, True))

        self.app.push_screen(ChoiceSheet("Delete", choices, about, note=count(card.size)), done)

    def action_session_undo(self) -> None:
        """Takes back what was done last."""
        if self._taken_back:
            self._do(self._taken_back.pop())

    def action_totals_open(self) -> None:
        """What the sessions that are listed used and cost."""
        from leafward.catalog import totals
        from leafward_tui.catalogue.model.totals_table import totals_rows
        from leafward_tui.catalogue.totals import TotalsScreen

        stock, listing = self._stock, self.sessions.listing
        cards = stock.select(listing.query)
        rows = totals_rows(totals(cards, stock.about.spent), stock.about.missing)
        note = (
            f"{exact(len(cards))} of {exact(len(stock.cards))} sessions"
            if listing.view.text
            else "esc goes back"
        )
        self.app.push_screen(TotalsScreen(rows, note))

    # --- work ---------------------------------------------------------------------------------------------------------

    def _do(self, act: Callable[[], Done]) -> None:
        """Runs an act in a worker; its result comes as a message."""
        self._work("curating", partial(self._act, act))

    def _act(self, act: Callable[[], Done]) -> None:
        from leafward.base.errors import LeafwardError

        try:
            done = act()
        except (LeafwardError, OSError) as error:
            done = Done(str(error), problem=True)
        self.post_message(self.Curated(done))

    def on_sessions_curating_curated(self, message: Curated) -> None:
        """Says what was done, and looks at the stores."""
        message.stop()
        done = message.done
        if done.undo is not None:
            self._taken_back.append(done.undo)
        self.shell.say(done.words, problem=done.problem)
        if not done.problem:
            self.look_around()
        self.show_hints()


def _keep(card: Card) -> Done:
    from leafward.catalog.backups import keep

    kept = keep(card)
    return Done(
        f"kept, {counted(len(kept.files), kept.what)}"
        if kept.changed
        else "kept already, nothing has changed"
    )


def _archive(card: Card, archived: bool) -> Done:
    from leafward.agents import agent_named
    from leafward.session.journal import archive_session

    session = agent_named(card.agent).open(Path(card.path))
    try:
        archive_session(session, archived)
    finally:
        session.close()
    return Done("archived" if archived else "brought back", undo=partial(_unarchive, card, archived))


def _unarchive(card: Card, archived: bool) -> Done:
    done = _archive(card, not archived)
    return Done(done.words)


def _delete(card: Card) -> Done:
    from leafward.catalog.trash import throw_away

    thrown = throw_away(card)

    def back() -> Done:
        from leafward.catalog.trash import bring_back

        bring_back(thrown)
        return Done("brought back from the trash")

    return Done("in the trash", undo=back)
