"""The pane of the turns: the fate of each, and headlines for those on the screen."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward.session.headlines.entry_headline import headline
from leafward_tui.lab.controllers.controller import LabController, LabMeans
from leafward_tui.lab.model.cut_lines import CutLines, why_lines
from leafward_tui.lab.model.turns import CutRows
from leafward_tui.ui.panes.pane_lines import Block, SpanLine
from leafward_tui.ui.text.spans import Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.session.headlines.entry_headline import Headline
    from leafward.session.session import Session
    from leafward_tui.ui.jobs import Job
    from leafward_tui.ui.panes.pane_lines import Lines

_AHEAD = 40
"""Rows around those on the screen whose headlines are read with them."""


class TurnsPane(LabController):
    """Owns `state.turns`."""

    def __init__(self, means: LabMeans) -> None:
        super().__init__(means)
        self.actions = {"lab.unfold": self.unfold}

    def show(self) -> None:
        """Draws the rows of the path, and the reasons why the cut does not stand lower."""
        what_if = self._state.what_if
        if what_if is None:
            return
        turns, glyphs = self._state.turns, self._services.glyphs
        kinds, keymap = self._state.session.columns.kind, self._services.keymap
        keys = " ".join(filter(None, map(keymap.label, ("cut.down", "cut.up"))))
        carried = what_if.plan.previous_summary is not None

        def rows(width: int, height: int) -> Lines:
            if not len(what_if.turns):
                return Block([SpanLine((Span("nothing was said up to here", "nothing"),))])
            made = CutRows(what_if.turns, what_if.plan, height, opened=turns.unfolded, carried=carried)
            return CutLines(made, kinds, turns.words.get, width, glyphs, keys)

        def why(width: int, height: int) -> Lines:
            made = CutRows(what_if.turns, what_if.plan, 24)
            return why_lines(what_if.turns, made, width, height, glyphs)

        self._view.panes.cut.show(rows)
        self._view.panes.why.show(why)

    def unfold(self) -> None:
        """Gives every turn a row, or only those around the cut."""
        self._state.turns.unfolded = not self._state.turns.unfolded
        self.show()
        self._view.panes.cut.reveal()

    def go_to_position(self, position: int) -> None:
        """Puts the cursor on the turn of a position, unfolded where it has to be."""
        if not self._show_position(position):
            self._state.turns.unfolded = True
            self.show()
            self._show_position(position)

    def _show_position(self, position: int) -> bool:
        """Whether the row of a position could be shown without unfolding."""
        pane = self._view.panes.cut
        lines = pane.lines
        at = lines.find(f"at:{position}") if lines is not None else -1
        if lines is None or at < 0:
            return False
        if not self._state.turns.unfolded and f"{self._services.glyphs.folded} " in lines[at].text:
            return False
        pane.move_to(at)
        return True

    # --- words --------------------------------------------------------------------------------------------------------

    def entries_shown(self) -> list[int]:
        """The entries whose headlines are on the screen."""
        pane = self._view.panes.cut
        return pane.lines.entries(pane.shown()) if isinstance(pane.lines, CutLines) else []

    def word_shown(self) -> None:
        """Looks up the headlines of rows that came on the screen."""
        pane, words = self._view.panes.cut, self._state.turns.words
        lines = pane.lines
        if not isinstance(lines, CutLines) or all(entry in words for entry in self.entries_shown()):
            return
        shown = pane.shown()
        around = range(max(0, shown.start - _AHEAD), min(len(lines), shown.stop + _AHEAD))
        entries = dict.fromkeys([*lines.entries(shown), *lines.entries(around)])
        missing = [entry for entry in entries if entry not in words]
        self._jobs.latest(
            "words",
            partial(worded, self._state.session, missing),
            self._worded,
            lambda text: self._view.tell(f"cannot read the session any more: {text}", "bad"),
        )

    def _worded(self, words: dict[int, Headline]) -> None:
        """Fills in headlines; they hold for every plan of the session."""
        self._state.turns.words.update(words)
        self._view.panes.cut.redraw()

    def forget_words(self) -> None:
        """Forgets all headlines, because the session is read again and its entries may differ."""
        self._jobs.cancel("words")
        self._state.turns.words.clear()


def worded(session: Session, entries: Iterable[int], job: Job) -> dict[int, Headline]:
    """The headlines of some entries, as many as were read before a stop. Raises OSError."""
    found: dict[int, Headline] = {}
    for entry in entries:
        if job.unwanted():
            break
        found[entry] = headline(session, entry)
    return found
