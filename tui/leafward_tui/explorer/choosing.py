"""Rows chosen by a query, or by a file that they touch: a filter whose entries are worked out behind the screen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import work
from textual.message import Message
from textual.worker import get_current_worker

from leafward.base.errors import Cancelled, LeafwardError
from leafward.base.safe_text import safe_line
from leafward_tui.explorer.comparing import Comparing
from leafward_tui.explorer.model.exploration import Filter
from leafward_tui.explorer.model.folds import LineKind
from leafward_tui.ui.cells import counted
from leafward_tui.ui.page import Tab

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.files.file_replay import Step
    from leafward.session.session import Session


@dataclass
class Chosen(Message):
    """A query is answered; without entries the words say why there are none."""

    run: int
    words: str
    entries: tuple[int, ...] | None
    touching: tuple[Step, ...] = ()
    """The steps of the file that was asked for."""


class FilesTouched(Message):
    """The files that a row touches, those it changes first."""

    # No dataclass: making one takes time before the first frame.
    def __init__(self, run: int, paths: tuple[str, ...]) -> None:
        super().__init__()
        self.run = run
        self.paths = paths


_LETTERS = "abcdefghilmnop"
"""Letters of the sheet that asks for a file; j, k and q are the sheet's own."""


class Choosing(Comparing):
    """Filters that ask the session."""

    def ask_query(self) -> None:
        """Asks for a query; what is wrong with it is said while it is typed."""
        from leafward.query.select import FUNCTIONS, QueryError, parse
        from leafward_tui.ui.sheet import SheetLine, TextSheet

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
        from leafward.query.select import QueryError, select

        try:
            found = select(session, query, self.shell.keys_first.stop(get_current_worker()))
        except Cancelled:
            return
        except (QueryError, LeafwardError, OSError) as error:
            self.post_message(Chosen(run, safe_line(str(error), 300), None))
        else:
            self.post_message(Chosen(run, safe_line(query, 200), tuple(found.entries)))

    def action_file_timeline(self) -> None:
        """The timeline of a file that the row of the cursor touches, or of one that the tab Files shows; asks which of several."""
        exploration, line, session = self.exploration, self.graph.line, self.session
        if exploration is None or session is None or line is None or line.kind is not LineKind.ROW:
            self.tell("" if self.bare else "go to one row: what is folded here is several", "warn")
            return
        entries = [at for span in exploration.layout.entries_of(line.row) for at in span]
        if not self.in_tree and self.inspector.tab is Tab.FILES:
            entries = [*session.tree.path(entries[-1])]
        self._look_for_files(self.generation, session, entries)

    @work(thread=True, exclusive=True, group="choose", exit_on_error=False)
    def _look_for_files(self, run: int, session: Session, entries: Sequence[int]) -> None:
        from leafward.files.file_replay import steps

        try:
            found = steps(session, entries, self.shell.keys_first.stop(get_current_worker()))
        except Cancelled:
            return
        except (LeafwardError, OSError) as error:
            self.post_message(Chosen(run, safe_line(str(error), 300), None))
        else:
            # What is changed first: that is what is asked for most.
            ordered = sorted(found, key=lambda step: not step.deed.changes)
            self.post_message(FilesTouched(run, tuple(dict.fromkeys(step.path for step in ordered))))

    def on_files_touched(self, message: FilesTouched) -> None:
        """Shows the timeline of the one file, or asks which."""
        from leafward_tui.ui.sheet import Choice, ChoiceSheet

        session, paths = self.session, message.paths
        if message.run != self.generation or session is None or self.app.screen is not self:
            return
        if len(paths) < 2:
            if paths:
                self.choose_touching(self.generation, session, paths[0])
            else:
                self.tell("this row touches no file", "warn")
            return
        shown = dict(zip(_LETTERS, paths, strict=False))
        choices = [Choice(letter, safe_line(path, 300)) for letter, path in shown.items()]

        def done(letter: str | None) -> None:
            if letter is not None:
                self.choose_touching(self.generation, session, shown[letter])

        more = f"{len(paths) - len(shown):,} more are not listed" if len(paths) > len(shown) else ""
        self.app.push_screen(ChoiceSheet("Timeline of", choices, note=more), done)

    @work(thread=True, exclusive=True, group="choose", exit_on_error=False)
    def choose_touching(self, run: int, session: Session, path: str) -> None:
        """Looks for the entries of all branches that read or change a file."""
        from leafward.files.file_replay import timeline

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
            from leafward_tui.explorer.model.file_markers import summed

            told = f"{message.words}: {summed(message.touching)}"
        self.tell(told, "", keys)
