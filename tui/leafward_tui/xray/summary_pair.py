"""Two summaries compared: the choice of the other one, the differences, the search among them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward.compaction.stored_summary.summary_comparison import (
    LineRelation,
    compare_summaries,
    summaries_near,
    summary_at,
)
from leafward.session.entries import NO_ENTRY, Kind
from leafward.summaries.summarizers.summary import tokens_of
from leafward_tui.ui.screens.screen_controller import ScreenController
from leafward_tui.ui.screens.screen_search import ScreenSearch
from leafward_tui.ui.sheets.choice_sheet import LETTERS, Choice, ChoiceSheet
from leafward_tui.ui.text.cells import exact, wrap
from leafward_tui.ui.text.times import moment
from leafward_tui.ui.words.summary_differences import diff_lines

if TYPE_CHECKING:
    from leafward.compaction.stored_summary.summary_comparison import SummaryDiff
    from leafward.session.session import Session
    from leafward_tui.ui.jobs import Job
    from leafward_tui.ui.screens.screen_controller import Means
    from leafward_tui.xray.display import PairDisplay
    from leafward_tui.xray.state import PairState


def other_summaries(session: Session, entry: int, at: int) -> list[int]:
    """Entries with other text summaries than the one of `entry` (-1: not written); the nearest before `at` first."""
    near = summaries_near(session, at, entry if entry >= 0 else NO_ENTRY)
    return [other for other in near if summary_at(session, other).strip()]


class SummaryPair(ScreenController["PairState", "PairDisplay"]):
    """Performs the keys of the comparison. A place of its search is a line."""

    def __init__(self, means: Means[PairState, PairDisplay]) -> None:
        super().__init__(means)
        view = self._view
        self.search = ScreenSearch(self, self._view)
        view.hits = self.search.fact
        self.actions = {
            "pane.next": view.lines.focus,
            "pane.previous": view.lines.focus,
            "change.next": partial(self.change, 1),
            "change.previous": partial(self.change, -1),
            "summary.find": self.ask,
            "summary.other": self.ask_other,
            "same.fold": self.fold,
            "summary.go": self.go,
            "copy.text": self.copy,
            "mode.leave": partial(self.search.leave, view.go_back),
        }

    def enabled(self, intent_id: str) -> bool:
        """Whether one of its intents does something now: most need two summaries on show."""
        two = self._state.diff is not None and not intent_id.startswith("pane.")
        return two or intent_id in ("mode.leave", "summary.other")

    # --- comparing ----------------------------------------------------------------------------------------------------

    def begin(self, at: int) -> None:
        """Compares with the summary before an entry."""
        state = self._state
        state.others = other_summaries(state.session, state.entry, at)
        self._view.show_title()
        if state.others:
            self.compare(state.others[0])
        else:
            self._view.about.say("this session has no other summary", "sub")

    def compare(self, other: int) -> None:
        """Compares with another summary."""
        state = self._state
        state.other = other
        work = partial(summary_difference, state.session, other, state.summary, self._earlier(other))
        self._jobs.latest("summaries", work, self._compared, lambda text: self._view.about.say(text, "bad"))

    def _compared(self, diff: SummaryDiff) -> None:
        """Shows the comparison, with the cursor on the first difference."""
        state, lines = self._state, self._view.lines
        state.diff = diff
        mine, other = self.named(state.entry, state.summary), self.named(state.other, "")
        self._view.head.show(*((other, mine) if self._earlier(state.other) else (mine, other)))
        self.show_lines()
        self._view.show_title()
        if not (lines.line is not None and lines.line.changes):
            lines.change(1)

    def _earlier(self, other: int) -> bool:
        """Whether another summary stands on the left, because it was made before."""
        return self._state.entry < 0 or other < self._state.entry

    def named(self, entry: int, summary: str) -> tuple[str, ...]:
        """The kind and place of a summary, its time, its size."""
        if entry < 0:
            return "planned", f"{exact(tokens_of(summary))} tokens"
        session = self._state.session
        name = "compaction" if session.columns.kind[entry] == Kind.COMPACTION else "branch summary"
        stamp = session.entry(entry).timestamp
        size = exact(tokens_of(summary_at(session, entry)))
        return f"{name} #{entry:,}", moment(stamp) if stamp else "", f"{size} tokens"

    def show_lines(self) -> None:
        """Lays the lines out, with the cursor near where it was."""
        state = self._state
        if state.diff is not None:
            self._view.lines.show(diff_lines(state.diff, fold_same=state.fold_same), self._view.lines.cursor)
            if self.search.words:
                self.look_for(self.search.words)

    def show_about(self) -> None:
        """Shows the cursor's line in full."""
        line, about = self._view.lines.line, self._view.about
        if line is None or line.mark is None:
            about.show([[], []])
        elif line.mark is LineRelation.CHANGED:
            about.show([[("before  ", "faint"), (line.before, "sub")], [(line.after, "text")]])
        else:
            room = max(1, self._view.text_cells)
            wrapped = wrap(line.after or line.before, room, lines=2, ellipsis=self._services.glyphs.ellipsis)
            shown = [[(text, "text")] for text in wrapped]
            about.show([[(f"{line.mark.value:<8}", "faint"), *shown[0]], *shown[1:]] if shown else [])

    # --- keys ---------------------------------------------------------------------------------------------------------

    def change(self, direction: int) -> None:
        """Goes to the next hit or the one before; without a search, to the next difference."""
        if not (self.search.words and self.search.step(direction)) and not self._view.lines.change(direction):
            self._view.about.say("no other difference " + ("below" if direction > 0 else "above"), "sub")

    def ask(self) -> None:
        """Asks for words to find in either summary."""
        if self._state.diff is not None:
            if self._state.fold_same:  # a folded line could not be found
                self.fold()
            self.search.ask("Search both summaries", "words of a line on either side")

    def place(self) -> int:
        """The line of the cursor."""
        return self._view.lines.cursor

    def go_to_place(self, place: int) -> None:
        """Puts the cursor on a line."""
        self._view.lines.move_to(place)

    def show_hits(self) -> None:
        """Shows the hits in the title and in the lines."""
        self._view.lines.light(self.search.words)
        self._view.show_title()

    def look_for(self, words: str) -> None:
        """Searches both summaries for words."""
        lowered = words.lower()
        lines = self._view.lines.lines
        self.search.found(
            words,
            [at for at, line in enumerate(lines) if lowered in f"{line.before}\n{line.after}".lower()],
        )

    def fold(self) -> None:
        """Folds lines that are the same, or shows them."""
        self._state.fold_same = not self._state.fold_same
        self.show_lines()
        self._view.show_hints()

    def ask_other(self) -> None:
        """Offers the other summaries of the session."""
        state = self._state
        if len(state.others) < 2:
            self._view.about.say("there is no other summary to compare with", "sub")
            return
        shown = state.others[: min(len(LETTERS), max(3, self._view.sheet_rows))]
        choices = [
            Choice(
                letter,
                "   ".join(self.named(other, "")),
                current=other == state.other,
                act=partial(self.compare, other),
            )
            for letter, other in zip(LETTERS, shown, strict=False)
        ]
        some = f"{len(shown):,} of " if len(shown) < len(state.others) else ""
        note = f"{some}{counted(len(state.others), 'other summary', 'other summaries')}"
        self._view.open_sheet(ChoiceSheet("Compare with", choices, note=note))

    def go(self) -> None:
        """Goes back to the tree, at the other summary."""
        if self._state.other >= 0:
            self._view.dismiss(self._state.other)

    def copy(self) -> None:
        """Copies the line under the cursor."""
        line = self._view.lines.line
        if line is not None and (line.after or line.before):
            self._services.copy(line.after or line.before)


def summary_difference(session: Session, other: int, summary: str, earlier: bool, _job: Job) -> SummaryDiff:
    """A summary compared with another one of the session, the earlier first. Raises LeafwardError, OSError."""
    found = summary_at(session, other)
    before, after = (found, summary) if earlier else (summary, found)
    return compare_summaries(before, after, session.cwd)
