"""Two summaries of a session compared: a compaction's with the one before it, or with any other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual import work
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.worker import Worker, WorkerState

from leafward.base.errors import LeafwardError
from leafward.base.safe_text import safe_line
from leafward.compaction.run_comparison import (
    Mark,
    SummaryDiff,
    compare_summaries,
    summaries_near,
    summary_at,
)
from leafward.session.entries import NO_ENTRY, Kind
from leafward.summaries.summarizers import tokens_of
from leafward_tui.ui.cells import cell_len, counted, exact, fit, wrap
from leafward_tui.ui.hairline import RowRule
from leafward_tui.ui.intents import bindings_for
from leafward_tui.ui.key_bar import Hint
from leafward_tui.ui.row_keys import RowKeys
from leafward_tui.ui.screen_search import Searching
from leafward_tui.ui.services import services_of
from leafward_tui.ui.sheet import Choice, ChoiceSheet
from leafward_tui.ui.summary_comparison import ComparisonView
from leafward_tui.ui.summary_differences import diff_lines
from leafward_tui.ui.times import moment
from leafward_tui.ui.title_bar import Fact
from leafward_tui.xray.widgets.foot import AboutLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from leafward.session.session import Session
    from leafward_tui.ui.line_scroll import LineList

__all__ = ["SummariesScreen"]

_LETTERS = "abcdefghilmnoprstuvwxyz"
"""Letters of the sheet that offers other summaries; j, k and q are the sheet's own."""


@dataclass
class Compared(Message):
    """The summaries are compared."""

    other: int
    diff: SummaryDiff


class _Head(Widget):
    """Which two summaries stand there, the earlier on the left, and a rule."""

    DEFAULT_CSS = "_Head { height: 2; width: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._names: tuple[Sequence[str], Sequence[str]] = ((), ())

    def show(self, before: Sequence[str], after: Sequence[str]) -> None:
        """Names both, each by the parts of its name, the first of which goes last."""
        self._names = (before, after)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """The names, then the rule."""
        shell = services_of(self)
        ground, glyphs = shell.styles_now.bg, shell.glyphs
        width = self.size.width
        if y == 1:
            segments = [
                Segment(" ", ground.blank),
                Segment(glyphs.heavy * 10, ground.leaf),
                Segment(glyphs.hairline * max(0, width - 12), ground.line),
            ]
            return Strip(segments).adjust_cell_length(width, ground.blank)
        before, after = self._names
        half = (width - 8) // 2
        segments = [
            Segment("  ", ground.blank),
            Segment(fit(fitting(before, half + 1), half + 1, pad=True, ellipsis=glyphs.ellipsis), ground.sub),
            Segment(f" {glyphs.arrow}  ", ground.faint),
            Segment(
                fit(fitting(after, width - half - 8), width - half - 8, ellipsis=glyphs.ellipsis),
                ground.strong,
            ),
        ]
        return Strip(segments).adjust_cell_length(width, ground.blank)


def fitting(parts: Sequence[str], width: int) -> str:
    """As many parts of a name as fit, whole: those in the middle go first, then the last."""
    told = [part for part in parts if part]
    while len(told) > 1 and cell_len("   ".join(told)) > width:
        del told[-2 if len(told) > 2 else -1]
    return "   ".join(told)


class SummariesScreen(RowKeys, Searching["int | None"]):
    """The comparison. Ends with an entry to go to, or with None."""

    NAME: ClassVar[str] = "summaries"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("summaries")]

    def __init__(self, session: Session, entry: int, at: int, summary: str) -> None:
        super().__init__()
        self.session = session
        self.entry = entry
        """The entry of the summary; -1 for one that is not written."""
        self.summary = summary
        self.others = [
            other
            for other in summaries_near(session, at, entry if entry >= 0 else NO_ENTRY)
            if summary_at(session, other).strip()
        ]
        self.other = self.others[0] if self.others else -1
        self.diff: SummaryDiff | None = None
        self.fold_same = False

    def compose_content(self) -> ComposeResult:
        """Names, lines, what is known of the line under the cursor."""
        self.head = _Head()
        self.view = ComparisonView(id="comparison")
        self.about = AboutLine()
        yield self.head
        yield self.view
        yield RowRule()
        yield self.about

    def on_mount(self) -> None:
        """Compares with the summary before."""
        super().on_mount()
        self.view.focus()
        self.show_title()
        if self.other >= 0:
            self.compare(self.other)
        else:
            self.about.say("this session has no other summary", "sub")

    @work(thread=True, exclusive=True, group="summaries", exit_on_error=False)
    def compare(self, other: int) -> None:
        """Compares with another summary."""
        try:
            found = summary_at(self.session, other)
        except (LeafwardError, OSError):
            found = ""
        before, after = (found, self.summary) if self.earlier(other) else (self.summary, found)
        self.post_message(Compared(other, compare_summaries(before, after, self.session.cwd)))

    def earlier(self, other: int) -> bool:
        """Whether another summary stands on the left: it was made before."""
        return self.entry < 0 or other < self.entry

    def on_compared(self, message: Compared) -> None:
        """Shows the comparison, with the cursor on the first difference."""
        if message.other != self.other:
            return
        self.diff = message.diff
        self.head.show(*self.named_pair())
        self.show_lines()
        self.show_title()
        if not (self.view.line is not None and self.view.line.changes):
            self.view.change(1)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A fault of ours in a worker is said, not swallowed; the screen goes on."""
        if event.state is WorkerState.ERROR:
            self.about.say(f"internal error in {event.worker.group}: {event.worker.error!r}", "bad")

    def named_pair(self) -> tuple[Sequence[str], Sequence[str]]:
        """The names of both in parts, the earlier first."""
        mine, other = self.named(self.entry, self.summary), self.named(self.other, "")
        return (other, mine) if self.earlier(self.other) else (mine, other)

    def named(self, entry: int, summary: str) -> tuple[str, ...]:
        """What a summary is and where it stands, when it was made, how large it is."""
        if entry < 0:
            return "planned", f"{exact(tokens_of(summary))} tokens"
        kind = self.session.columns.kind[entry]
        name = "compaction" if kind == Kind.COMPACTION else "branch summary"
        stamp = self.session.entry(entry).timestamp
        size = exact(tokens_of(summary_at(self.session, entry)))
        return f"{name} #{entry:,}", moment(stamp) if stamp else "", f"{size} tokens"

    def show_title(self) -> None:
        """What is compared, how much differs, and how many hits there are."""
        facts = []
        if (found := self.hits_fact()) is not None:
            facts.append(found)
        diff = self.diff
        if diff is not None:
            for mark, hue in (
                (Mark.SAME, ""),
                (Mark.CHANGED, "warn"),
                (Mark.ADDED, "leaf"),
                (Mark.REMOVED, "bad"),
            ):
                facts.append(Fact(f"{diff.count(mark):,} {mark.value}", keep=2, hue=hue))
        self.title_bar.show(
            "Summaries", crumb=safe_line(self.session.title or self.session.path.stem, 60), facts=facts
        )

    def show_lines(self) -> None:
        """Lays the lines out, with the cursor near where it was."""
        if self.diff is not None:
            self.view.show(diff_lines(self.diff, fold_same=self.fold_same), self.view.cursor)
            if self.searched:
                self.look_for(self.searched)

    def on_line_list_cursor_moved(self, message: LineList.CursorMoved) -> None:
        """The line in full."""
        message.stop()
        line = self.view.line
        if line is None or line.mark is None:
            self.about.show([[], []])
        elif line.mark is Mark.CHANGED:
            self.about.show([[("before  ", "faint"), (line.before, "sub")], [(line.after, "text")]])
        else:
            room = max(1, self.app.size.width - 12)
            said = wrap(line.after or line.before, room, lines=2, ellipsis=self.shell.glyphs.ellipsis)
            told = [[(text, "text")] for text in said]
            self.about.show([[(f"{line.mark.value:<8}", "faint"), *told[0]], *told[1:]] if told else [])
        self.show_hints()

    # --- keys ---------------------------------------------------------------------------------------------------------

    def step_rows(self, by: int) -> None:
        """Moves the cursor."""
        self.view.move_by(by)

    def rows_seen(self) -> int:
        """Lines on the screen."""
        return self.view.size.height

    def action_pane_next(self) -> None:
        """The lines are all that keys go to."""
        self.view.focus()

    def action_pane_previous(self) -> None:
        """The lines are all that keys go to."""
        self.view.focus()

    def action_change_next(self) -> None:
        """The next hit; while nothing is searched, the next line that differs."""
        if not (self.searched and self.step_hit(1)) and not self.view.change(1):
            self.about.say("no other difference below", "sub")

    def action_change_previous(self) -> None:
        """The hit before; while nothing is searched, the line before that differs."""
        if not (self.searched and self.step_hit(-1)) and not self.view.change(-1):
            self.about.say("no other difference above", "sub")

    # --- searching ----------------------------------------------------------------------------------------------------

    def action_summary_find(self) -> None:
        """Asks for words to find in either summary."""
        if self.diff is not None:
            if self.fold_same:  # what is folded could not be found
                self.action_same_fold()
            self.ask_search("Search both summaries", "words of a line on either side")

    def place(self) -> int:
        """The line of the cursor."""
        return self.view.cursor

    def go_to_place(self, place: int) -> None:
        """Puts the cursor on a line."""
        self.view.move_to(place)

    def look_for(self, words: str) -> None:
        """The lines that hold words on either side."""
        wanted = words.lower()
        lines = self.view.lines
        self.found(
            words,
            [at for at, line in enumerate(lines) if wanted in f"{line.before}\n{line.after}".lower()],
        )

    def show_hits(self) -> None:
        """In the title, and lit in the lines."""
        self.view.light(self.searched)
        self.show_title()

    def action_same_fold(self) -> None:
        """Folds what is the same, or shows it."""
        self.fold_same = not self.fold_same
        self.show_lines()

    def action_summary_other(self) -> None:
        """Offers the other summaries of the session."""
        if len(self.others) < 2:
            self.about.say("there is no other summary to compare with", "sub")
            return
        shown = self.others[: min(len(_LETTERS), max(3, self.app.size.height - 10))]
        choices = [
            Choice(letter, "   ".join(self.named(other, "")), current=other == self.other)
            for letter, other in zip(_LETTERS, shown, strict=False)
        ]

        def chosen(key: str | None) -> None:
            if key is not None:
                self.other = shown[_LETTERS.index(key)]
                self.compare(self.other)

        note = counted(len(self.others), "other summary", "other summaries")
        self.app.push_screen(ChoiceSheet("Compare with", choices, note=note), chosen)

    def action_summary_go(self) -> None:
        """Back to the tree, at the other summary."""
        if self.other >= 0:
            self.dismiss(self.other)

    def action_copy_text(self) -> None:
        """Copies the line under the cursor."""
        line = self.view.line
        if line is not None and (line.after or line.before):
            self.shell.copy(line.after or line.before)

    def hints(self) -> Sequence[Hint]:
        """The keys that matter now."""
        if self.other < 0:
            return (Hint("app.back"),)
        return (
            Hint(("row.down", "row.up"), "line"),
            Hint(
                ("change.next", "change.previous"), *(("hit",) if self.searched else ("difference", "diff"))
            ),
            Hint("same.fold", "show same" if self.fold_same else "fold same", "same"),
            Hint("summary.other", "another summary", "another"),
            Hint("summary.go", "show in tree", "show"),
            Hint("mode.leave", "end search", "end") if self.searched else Hint("app.back"),
            Hint("summary.find"),
        )
