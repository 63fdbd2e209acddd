"""The line under the cursor, on any tab: moved, opened, folded, shown in full, copied."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward_tui.compare.controllers.controller import CompareController, CompareMeans
from leafward_tui.compare.model.files import FOLD
from leafward_tui.compare.state import Page
from leafward_tui.ui.screen_results import CompareResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward_tui.compare.controllers.content import Content
    from leafward_tui.compare.controllers.files import Files
    from leafward_tui.compare.controllers.pages import Pages
    from leafward_tui.compare.model.content import Shown
    from leafward_tui.ui.jobs import Job
    from leafward_tui.ui.panes.lines_view import LinesView


class Cursor(CompareController):
    """Writes nothing itself: the controller of each tab carries out its keys."""

    def __init__(self, means: CompareMeans, content: Content, files: Files, pages: Pages) -> None:
        super().__init__(means)
        self._content = content
        self._files = files
        self._pages = pages
        self.actions = {
            "column.left": partial(self._step_aside, -1),
            "column.right": partial(self._step_aside, 1),
            "compare.enter": self.enter,
            "compare.fold": self.fold,
            "copy.text": self.copy,
            "session.reload": lambda: self._view.dismiss(CompareResult(reload=True)),
        }

    def enabled(self, intent_id: str) -> bool:
        """Whether one of its intents does something on the present tab."""
        page = self._state.page
        if intent_id == "compare.enter":
            return self._opens()
        if intent_id == "copy.text":
            return self._has_text()
        if intent_id == "compare.fold":
            return page in (Page.FILES, Page.CONTENTS, Page.SUMMARY)
        return page in (Page.FILES, Page.CONTENTS) or not intent_id.startswith("column.")

    def _opens(self) -> bool:
        """Whether there is something to open at the cursor."""
        match self._state.page:
            case Page.FILES:
                return self._files.on_fold or self._state.files.file is not None
            case Page.CONTENTS:
                return self._content.fold_here >= 0 or bool(self._content.whole_line()[1])
            case Page.SUMMARY:
                return bool(self._summary_texts())
            case _:
                line = self._view.lines.line
                return line is not None and line.entry >= 0

    def _has_text(self) -> bool:
        """Whether there is something to copy at the cursor."""
        match self._state.page:
            case Page.FILES | Page.CONTENTS:
                return self._state.content.shown is not None and self._state.files.file is not None
            case Page.SUMMARY:
                return self._view.summary.line is not None
            case _:
                return self._view.lines.line is not None

    def _summary_texts(self) -> list[tuple[str, str]]:
        """The line of the summaries under the cursor, of each side that has it; none for a heading or a fold."""
        pair = self._view.summary.line
        if pair is None or pair.mark is None or pair.hidden:
            return []
        return [one for one in (("A", pair.before), ("B", pair.after)) if one[1]]

    def step(self, by: int) -> None:
        """Moves the cursor: over files, or over lines."""
        if self._state.page is Page.FILES:
            self._files.move_by(by)
        else:
            self._pages.pane.move_by(by)
        if self._state.page is Page.CONTENTS:
            self._view.sentence.refresh()
        self._view.show_hints()

    def rows_seen(self) -> int:
        """Rows on the screen."""
        return self._pages.pane.size.height

    def _step_aside(self, step: int) -> None:
        """Goes to another column; in the contents to another file."""
        if self._state.page is Page.CONTENTS:
            self._files.move_by(step)
        elif self._state.page is Page.FILES:
            self._files.step_column(step)

    def change(self, step: int) -> None:
        """Goes to the next change of the contents or the summaries, or to the one before."""
        if self._state.page is Page.SUMMARY:
            self._view.summary.change(step)
        elif self._state.page in (Page.FILES, Page.CONTENTS):
            self._content.change(step)

    def enter(self) -> None:
        """Opens a file's contents, a fold or a line in full; goes to the entry of a message or figure in the tree."""
        match self._state.page:
            case Page.FILES:
                if self._files.on_fold:
                    self._files.fold()
                elif self._state.files.file is not None:
                    self._pages.turn(Page.CONTENTS)
            case Page.CONTENTS:
                if (block := self._content.fold_here) >= 0:
                    self._content.open_blocks(frozenset({block}))
                else:
                    self._read_whole(*self._content.whole_line())
            case Page.SUMMARY:
                self._read_whole("One line of the summaries", self._summary_texts())
            case _:
                line = self._view.lines.line
                if line is not None and line.entry >= 0:
                    self._view.dismiss(CompareResult(entry=line.entry))

    def _read_whole(self, title: str, texts: Sequence[tuple[str, str]]) -> None:
        """Shows a line in full, of each side that has it; once where all of them are the same."""
        from leafward_tui.ui.sheets.reading_sheet import ReadingSheet

        if len({text for _, text in texts}) == 1:
            texts = [("  ".join(name for name, _ in texts), texts[0][1])]
        whole = "\n\n".join(f"{name}\n{text}" for name, text in texts)
        if whole:
            self._view.open_sheet(ReadingSheet(title, whole, markdown=False), lambda _answer: None)

    def fold(self) -> None:
        """Folds untouched files or lines that are the same, or shows them."""
        match self._state.page:
            case Page.FILES:
                self._files.fold()
            case Page.CONTENTS:
                self._content.fold()
            case Page.SUMMARY:
                self._content.turn_fold()
                self._pages.show_summary()

    def copy(self) -> None:
        """Copies the diff of the file as text for a patch tool; on other tabs the line."""
        shown, line, summary_line = self._state.content.shown, self._view.lines.line, self._view.summary.line
        if self._state.page in (Page.FILES, Page.CONTENTS):
            if shown is not None and self._state.files.file is not None:
                self._jobs.latest("copy", partial(patch_of, shown), self._services.copy)
        elif self._state.page is Page.SUMMARY:
            if summary_line is not None:
                self._services.copy(summary_line.after or summary_line.before)
        elif line is not None:
            self._services.copy(line.text.strip())

    def clicked(self, view: LinesView, key: str, *, twice: bool) -> None:
        """Shows a clicked file and opens it on two clicks; on a line, two clicks do the same as enter."""
        for column, each in self._view.lists.items():
            if each is view:
                self._files.choose_column(column)
                view.focus()
                self._files.follow()
        if view is self._view.diff and self._state.page is Page.FILES:
            self._pages.turn(Page.CONTENTS)
        elif twice or key == FOLD:
            self.enter()
        self._view.show_hints()


def patch_of(shown: Shown, _job: Job) -> str:
    """The diff of a file for a patch tool; where there is none, the sentence about its contents."""
    from leafward.branches.diff.patches import unified

    return "".join(unified(*shown.plain[:2])) or shown.difference.sentence
