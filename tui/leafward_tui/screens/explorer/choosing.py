"""Rows chosen by a query, or by a file that they touch: a filter whose entries are worked out behind the screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import work
from textual.message import Message
from textual.worker import get_current_worker

from leafward.errors import Cancelled, LeafwardError
from leafward.safe_text import safe_line
from leafward_tui.cells import counted
from leafward_tui.exploration import Filter
from leafward_tui.screens.explorer.comparing import Comparing

if TYPE_CHECKING:
    from leafward.rebuilding import Step
    from leafward.session import Session


@dataclass
class Chosen(Message):
    """A query is answered; without entries the words say why there are none."""

    run: int
    words: str
    entries: tuple[int, ...] | None
    touching: tuple[Step, ...] = ()
    """The steps of the file that was asked for."""


class Choosing(Comparing):
    """Filters that ask the session."""

    def ask_query(self) -> None:
        """Asks for a query; what is wrong with it is said while it is typed."""
        from leafward.select import FUNCTIONS, QueryError, parse
        from leafward_tui.widgets.sheet import SheetLine, TextSheet

        def judged(text: str) -> str:
            if not text.strip():
                return ""
            try:
                parse(text)
            except QueryError as error:
                return safe_line(str(error), 200)
            return "shows the rows that it chooses"

        def done(text: str | None) -> None:
            session = self.session
            if text and text.strip() and session is not None:
                self.asked_query = text
                self.choose(self.generation, session, text)

        about = [
            SheetLine("& both   | either   - without   ! not   a text in quotes is searched for"),
            SheetLine("  ".join(FUNCTIONS), lines=4),
        ]
        self.app.push_screen(
            TextSheet(
                "Show the rows that a query chooses",
                self.asked_query,
                about,
                placeholder="ancestors(leaf) & tool(edit) & tokens>2k",
                commit="show",
                operation_of=judged,
            ),
            done,
        )

    @work(thread=True, exclusive=True, group="choose", exit_on_error=False)
    def choose(self, run: int, session: Session, query: str) -> None:
        """Asks the session which entries a query chooses."""
        from leafward.select import QueryError, select

        try:
            found = select(session, query, self.shell.keys_first.stop(get_current_worker()))
        except Cancelled:
            return
        except (QueryError, LeafwardError, OSError) as error:
            self.post_message(Chosen(run, safe_line(str(error), 300), None))
        else:
            self.post_message(Chosen(run, safe_line(query, 200), tuple(found.entries)))

    @work(thread=True, exclusive=True, group="choose", exit_on_error=False)
    def choose_touching(self, run: int, session: Session, path: str) -> None:
        """Looks for the entries of all branches that read or change a file."""
        from leafward.rebuilding import timeline

        try:
            found = timeline(session, path, stop=self.shell.keys_first.stop(get_current_worker()))
        except Cancelled:
            return
        except (LeafwardError, OSError) as error:
            self.post_message(Chosen(run, safe_line(str(error), 300), None))
        else:
            named = safe_line(path, 200)
            entries = tuple(sorted({int(one.entry) for one in found}))
            if entries:
                self.post_message(Chosen(run, named, entries, tuple(found)))
            else:
                self.post_message(Chosen(run, f"no entry touches {named}", None))

    def on_chosen(self, message: Chosen) -> None:
        """Shows what was chosen; where nothing was, the tree stays as it is."""
        exploration = self.exploration
        if message.run != self.generation or exploration is None:
            return
        if message.entries is None:
            self.tell(message.words, "bad")
            return
        if not message.entries:
            self.tell(f"nothing is chosen by {message.words}", "warn")
            return
        exploration.chosen, exploration.touching = message.entries, message.touching
        exploration.filter = Filter.CHOSEN
        self.relay()
        keys = self.key_hints(("filter.choose", "another"), ("mode.leave", "everything again"))
        told = f"showing {counted(len(message.entries), 'entry', 'entries')}: {message.words}"
        if message.touching:
            from leafward_tui.touches import summed

            told = f"{message.words}: {summed(message.touching)}"
        self.tell(told, "", keys)
