"""Searching a comparison: paths in the lists, lines of the diff, messages, lines of the summaries, figures."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward_tui.compare.controllers.controller import CompareController, CompareMeans
from leafward_tui.compare.model.files import Column
from leafward_tui.compare.state import Page
from leafward_tui.ui.screens.screen_search import ScreenSearch, entries_holding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.session.session import Session
    from leafward_tui.compare.controllers.content import Content
    from leafward_tui.compare.controllers.cursor import Cursor
    from leafward_tui.compare.controllers.files import Files
    from leafward_tui.compare.controllers.pages import Pages
    from leafward_tui.compare.model.content_lines import ContentLines
    from leafward_tui.compare.model.context_page import MessageRow
    from leafward_tui.ui.jobs import Job

_COLUMNS = list(Column)
_FAR = 1 << 32
"""A place in the lists is a column times this, and a line."""
_ASKED = {
    Page.FILES: ("Search the files", "part of a path"),
    Page.CONTENTS: ("Search this file", "words on a line of either side"),
    Page.CONTEXT: ("Search both contexts", "words of a message"),
    Page.SUMMARY: ("Search both summaries", "words of either summary"),
    Page.OUTCOME: ("Search the outcome", "words of a line"),
}


class Search(CompareController):
    """Owns the hits of the tab on show. Folds that it opens in a diff are closed again when it ends."""

    def __init__(
        self, means: CompareMeans, content: Content, files: Files, pages: Pages, cursor: Cursor
    ) -> None:
        super().__init__(means)
        self._content = content
        self._files = files
        self._pages = pages
        self._cursor = cursor
        self.hits = ScreenSearch(self, self._view)
        self._view.hits = self.hits.fact
        self._opened_before: dict[str, frozenset[int]] | None = None
        """Blocks of same lines that were open before the search; None while it opened none."""
        content.drawn = partial(self._drawn, Page.CONTENTS)
        files.drawn = partial(self._drawn, Page.FILES)
        pages.drawn = partial(self._drawn, Page.CONTEXT, Page.SUMMARY, Page.OUTCOME)
        pages.turned = self._page_turned
        self.actions = {
            "compare.find": self.ask,
            "change.next": partial(self.step, 1),
            "change.previous": partial(self.step, -1),
            "mode.leave": self.leave,
        }

    def enabled(self, intent_id: str) -> bool:
        """Whether one of its intents does something now: there are hits, or changes on the present tab."""
        changes = self._state.page not in (Page.CONTEXT, Page.OUTCOME)
        return changes or bool(self.hits.hits) or not intent_id.startswith("change.")

    @property
    def words(self) -> str:
        """The words of the search; empty for none."""
        return self.hits.words

    def ask(self) -> None:
        """Asks for words to find on this tab."""
        if self._state.read.overall is not None:
            self.hits.ask(*_ASKED[self._state.page])

    def step(self, step: int) -> None:
        """Goes to the next hit or the one before; without a search, to the next change."""
        if not (self.words and self.hits.step(step)):
            self._cursor.change(step)

    def leave(self) -> None:
        """Ends the search; else goes back to the files, and from there to the tree."""
        if self.words:
            self.hits.end()
        elif self._state.page is Page.FILES:
            self._view.go_back()
        else:
            self._pages.turn(Page.FILES)

    # --- for the search within the screen -----------------------------------------------------------------------------

    def place(self) -> int:
        """The line of the cursor; in the lists with its column."""
        line = max(0, self._pages.pane.cursor)
        if self._state.page is Page.FILES:
            return _FAR * _COLUMNS.index(self._files.column) + line
        return line

    def go_to_place(self, place: int) -> None:
        """Puts the cursor on a line."""
        if self._state.page is Page.FILES:
            column, line = divmod(place, _FAR)
            self._files.go(_COLUMNS[column], line)
        else:
            self._pages.pane.move_to(place)
        if self._state.page is Page.CONTENTS:
            self._view.sentence.refresh()

    def look_for(self, words: str) -> None:
        """Searches the tab on show; contents and messages in a job."""
        self._jobs.cancel("search")
        lowered, page, messages = words.lower(), self._state.page, self._state.read.messages
        hits: list[int] = []
        if page is Page.FILES:
            hits = [
                _FAR * _COLUMNS.index(column) + line
                for column, line, file in self._files.listed()
                if lowered in file.path.lower()
            ]
        elif page is Page.CONTENTS:
            if (lines := self._content.lines) is not None:
                found = partial(self._lines_found, words, lines)
                self._jobs.latest("search", partial(lines_holding, lines, words), found, self._failed)
                return
        elif page is Page.SUMMARY:
            both = enumerate(self._view.summary.lines)
            hits = [at for at, one in both if lowered in one.before.lower() or lowered in one.after.lower()]
        elif page is Page.CONTEXT and messages is not None:
            search = partial(messages_holding, self._state.session, messages, words)
            self._jobs.latest("search", search, partial(self._messages_found, words, messages), self._failed)
            return
        elif (listed := self._view.lines.lines) is not None:
            hits = [at for at in range(len(listed)) if lowered in listed[at].text.lower()]
        self.hits.found(words, hits)

    def _failed(self, text: str) -> None:
        self._view.tell(text, "bad")
        self.hits.found(self.words, ())

    def _lines_found(self, words: str, lines: ContentLines, found: HeldLines) -> None:
        """Opens folds that hide a hit, which lays the file out again; without any, goes to the nearest hit."""
        file, opened = self._state.files.file, self._state.content.opened
        if words != self.words or lines is not self._content.lines or file is None:
            return
        if found.folds - opened.get(file.path, frozenset()):
            if self._opened_before is None:
                self._opened_before = opened
            self._move_origin(lines, found.folds)
            self._content.open_blocks(found.folds)
        else:
            self.hits.found(words, found.hits)

    def _move_origin(self, lines: ContentLines, opened: frozenset[int]) -> None:
        """Moves the search's origin down by the lines unfolded above it."""
        origin = self.hits.origin
        folds = lines.folds()
        down = sum(hidden - 1 for at, block, hidden in folds if at < origin and block in opened)
        self.hits.move_origin(origin + down)

    def _messages_found(self, words: str, messages: Sequence[MessageRow], numbers: list[int]) -> None:
        """Goes to the nearest message."""
        lines = self._view.lines.lines
        if messages is self._state.read.messages and self._state.page is Page.CONTEXT and lines is not None:
            self.hits.found(words, [lines.find(f"message:{number}") for number in numbers])

    def show_hits(self) -> None:
        """Shows the hits in the title and in the lines; when the search ends, closes the folds that it opened."""
        page, words, view = self._state.page, self.words, self._view
        for each in view.lists.values():
            each.light(words if page is Page.FILES else "")
        view.diff.light(words if page is Page.CONTENTS else "")
        view.lines.light(words)
        view.summary.light(words)
        view.show_title()
        if not words and self._opened_before is not None:
            opened, self._opened_before = self._opened_before, None
            self._content.open(opened)

    # --- other lines --------------------------------------------------------------------------------------------------

    def _drawn(self, *pages: Page) -> None:
        if self._state.page in pages:
            self._look_again()

    def _page_turned(self) -> None:
        self.show_hits()
        self._look_again()

    def _look_again(self) -> None:
        """Searches again, because other lines are shown; the cursor stays."""
        if self.words:
            self.hits.hits = ()
            self.look_for(self.words)


class HeldLines(NamedTuple):
    """The lines of a diff with hits, and the folds that hide some of them."""

    hits: list[int]
    folds: frozenset[int]


def lines_holding(lines: ContentLines, words: str, job: Job) -> HeldLines:
    """The lines of a diff that hold words."""
    hits, folds = lines.holding(words, job.unwanted)
    return HeldLines(hits, frozenset(folds))


def messages_holding(session: Session, messages: Sequence[MessageRow], words: str, job: Job) -> list[int]:
    """The messages that hold words, by number. Raises Cancelled, LeafwardError, OSError."""
    entries = (one.entry for one in messages if one.entry >= 0)
    lowered, holding = words.lower(), entries_holding(session, entries, words, job)
    return [at for at, one in enumerate(messages) if one.entry in holding or lowered in one.text.lower()]
