"""The widgets of the blame and their drawing: all that its controllers see of the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward_tui.blame.model.blame_text import LineFact
from leafward_tui.blame.widgets.blame_lines import BlameLines
from leafward_tui.blame.widgets.line_facts import LineFacts
from leafward_tui.ui.bars.key_bar import Hint
from leafward_tui.ui.bars.price_line import PriceLine
from leafward_tui.ui.bars.title_bar import Fact
from leafward_tui.ui.panes.hairline import RowRule
from leafward_tui.ui.panes.tab_head import TabHead
from leafward_tui.ui.text.paths import tilde

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.widget import Widget

    from leafward_tui.blame.model.blame_text import BlameText
    from leafward_tui.blame.state import BlameState
    from leafward_tui.ui.screens.screen import BaseScreen


class BlameDisplay:
    """The screen as its controllers see it."""

    def __init__(self, screen: BaseScreen[None], state: BlameState) -> None:
        self._screen, self._state = screen, state
        self.head = TabHead()
        self.lines = BlameLines()
        self.facts = LineFacts()
        self.note = PriceLine(id="note")
        self.show_hints, self.open_sheet, self.close = screen.show_hints, screen.open_sheet, screen.go_back
        self.move_by, self.show_hits = self.lines.move_by, self.lines.show_hits
        self.tell = self.note.note

    def widgets(self) -> tuple[Widget, ...]:
        """The lines, and below them the facts of the one under the cursor."""
        return (self.head, self.lines, RowRule(), self.facts, self.note)

    @property
    def on_top(self) -> bool:
        """Whether no other screen lies over this one."""
        return self._screen.is_active

    @property
    def text(self) -> BlameText | None:
        """The lines on show; None before they were read."""
        return self.lines.text

    @property
    def cursor(self) -> int:
        """The line of the cursor, from 0; -1 where there is none."""
        return self.lines.cursor

    def show_text(self, text: BlameText) -> None:
        """Shows the lines of a file, with the cursor on the first, or where it was."""
        self.lines.show(text, min(max(0, self.cursor), max(0, len(text) - 1)))
        if not len(text):
            self.tell("this file is empty", "warn")
        elif not text.blame.sessions:
            self.tell("no session is known to have touched this file", "warn")
        self.show_title()
        self.show_hints()

    def show_details(self) -> None:
        """Shows the facts of the line under the cursor."""
        text, at = self.text, self.cursor
        if text is not None and at >= 0:
            reason = self._state.reasons.get(text.line(at).author)
            self.facts.show(text.head(at), text.facts(at, reason))
        self.show_hints()

    def show_problem(self, title: str, problem: str) -> None:
        """Shows the reason why there are no lines."""
        self.tell("")
        self.facts.show((title, ""), [LineFact("", problem, "bad")])
        self.show_hints()

    def show_title(self) -> None:
        """Shows the file, and numbers of lines by author."""
        path, text = self._state.path, self.text
        facts = self._state.file.facts()
        if text is not None:
            facts += [
                Fact(f"{count:,}", name, keep=3 - min(at, 2))
                for at, (count, name) in enumerate(text.figures())
            ]
        self._screen.title_bar.show(
            safe_line(path.name, 200),
            crumb=safe_line(tilde(str(path.parent)), 60),
            note="who wrote its lines",
            facts=facts,
        )
        sessions = text.blame.sessions if text is not None else 0
        note = f"{counted(sessions, 'session')} touched it" if text is not None else ""
        self.head.show(tabs=("Lines",), active="Lines", note=note, focused=True)

    def hints(self) -> Sequence[Hint]:
        """The keys that matter now."""
        text = self.text
        reload = (Hint("session.reload"),) if self._state.file.changed else ()
        if text is None or not len(text):
            return (*reload, Hint("mode.leave", "back"))
        show = (Hint("blame.show"),) if text.author(self.cursor) is not None else ()
        return (
            *reload,
            *show,
            Hint(("change.previous", "change.next"), "turn before, after", "turn"),
            Hint("blame.find"),
            Hint("copy.text"),
            Hint("mode.leave", "back"),
        )
