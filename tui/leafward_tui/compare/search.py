"""Searching a comparison: paths in the lists, lines of the diff, messages, lines of the summaries, figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual import work
from textual.message import Message
from textual.worker import get_current_worker

from leafward.base.errors import LeafwardError
from leafward.session.entries import EntryIndex, Kind
from leafward.session.messages import message_text, messages_of
from leafward_tui.compare.files import CompareFiles
from leafward_tui.compare.model.content_lines import ContentLines
from leafward_tui.compare.model.files import Column
from leafward_tui.compare.values import Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward_tui.compare.model.pages import Spoken

__all__ = ["CompareHunting"]

_COLUMNS = list(Column)
_FAR = 1 << 32
"""A place in the lists is a column times this, and a line."""


@dataclass
class LinesFound(Message):
    """The lines of the diff that hold what is searched for, and the folds that hide some of them."""

    words: str
    lines: ContentLines
    hits: list[int]
    folds: frozenset[int]


@dataclass
class MessagesFound(Message):
    """The messages that hold what is searched for, by number; the text says what went wrong."""

    words: str
    messages: Sequence[Spoken]
    numbers: list[int]
    text: str = ""


class CompareHunting(CompareFiles):
    """The search of the tab that is shown. What it opens in a diff is folded again when it ends."""

    _opened_before: dict[str, frozenset[int]] | None = None
    """Blocks of same lines that were open before the search."""

    def action_compare_find(self) -> None:
        """Asks for words to find on this tab."""
        if self.overall is None:
            return
        title, placeholder = {
            Page.FILES: ("Search the files", "part of a path"),
            Page.CONTENTS: ("Search this file", "words on a line of either side"),
            Page.CONTEXT: ("Search both contexts", "words of a message"),
            Page.SUMMARY: ("Search both summaries", "words of either summary"),
            Page.OUTCOME: ("Search the outcome", "words of a line"),
        }[self.page]
        self.ask_search(title, placeholder)

    # --- places -------------------------------------------------------------------------------------------------------

    def place(self) -> int:
        """The line of the cursor; in the lists with its column."""
        match self.page:
            case Page.FILES:
                return _FAR * _COLUMNS.index(self.column) + max(0, self.lists[self.column].cursor)
            case Page.CONTENTS:
                return max(0, self.diff.cursor)
            case Page.SUMMARY:
                return max(0, self.summary.cursor)
            case _:
                return max(0, self.lines.cursor)

    def go_to_place(self, place: int) -> None:
        """Puts the cursor on a line."""
        match self.page:
            case Page.FILES:
                number, line = divmod(place, _FAR)
                self.choose_column(_COLUMNS[number])
                self.lists[self.column].move_to(line)
                self.follow()
            case Page.CONTENTS:
                self.diff.move_to(place)
                self.sentence.refresh()
            case Page.SUMMARY:
                self.summary.move_to(place)
            case _:
                self.lines.move_to(place)

    # --- looking ------------------------------------------------------------------------------------------------------

    def look_for(self, words: str) -> None:
        """Looks on the tab that is shown; through contents and messages behind the screen."""
        wanted = words.lower()
        if self.page is Page.FILES:
            columns = _COLUMNS if self.three_columns else [Column.BOTH]
            self.found(
                words,
                [
                    _FAR * _COLUMNS.index(column) + line
                    for column in columns
                    for line, file in self.files_in(column)
                    if wanted in file.path.lower()
                ],
            )
        elif self.page is Page.CONTENTS:
            lines = self.diff.lines
            if isinstance(lines, ContentLines):
                self._look_in_file(words, lines)
            else:
                self.found(words, ())
        elif self.page is Page.SUMMARY:
            both = enumerate(self.summary.lines)
            self.found(
                words, [at for at, one in both if wanted in one.before.lower() or wanted in one.after.lower()]
            )
        elif self.page is Page.CONTEXT and self.messages is not None:
            self._look_in_messages(words, self.messages)
        else:
            lines = self.lines.lines
            listed = [lines[at] for at in range(len(lines))] if lines is not None else []
            self.found(words, [at for at, line in enumerate(listed) if wanted in line.text.lower()])

    @work(thread=True, exclusive=True, group="search", exit_on_error=False)
    def _look_in_file(self, words: str, lines: ContentLines) -> None:
        worker = get_current_worker()
        hits, folds = lines.holding(words, self.shell.keys_first.stop(worker))
        if not worker.is_cancelled:
            self.post_message(LinesFound(words, lines, hits, frozenset(folds)))

    def on_lines_found(self, message: LinesFound) -> None:
        """Unfolds what hides a hit, which lays the file out anew; else goes to the nearest."""
        if message.words != self.searched or message.lines is not self.diff.lines or self.file is None:
            return
        path = self.file.path
        opened = self.opened.get(path, frozenset())
        if message.folds - opened:
            if self._opened_before is None:
                self._opened_before = dict(self.opened)
            self._keep_origin(message.lines, opened | message.folds)
            self.opened[path] = opened | message.folds
            self.show_content()
        else:
            self.found(message.words, message.hits)

    def _keep_origin(self, lines: ContentLines, opened: frozenset[int]) -> None:
        """What is unfolded above the line that the search began at moves it down."""
        if self._origin >= 0:
            self._origin += sum(
                hidden - 1 for at, block, hidden in lines.folds() if at < self._origin and block in opened
            )

    @work(thread=True, exclusive=True, group="search", exit_on_error=False)
    def _look_in_messages(self, words: str, messages: Sequence[Spoken]) -> None:
        stop = self.shell.keys_first.stop(get_current_worker())
        wanted, kinds = words.lower(), self.session.columns.kind
        holding = set()
        try:
            entries = sorted({one.entry for one in messages if one.entry >= 0})
            for index, body in self.session.bodies(map(EntryIndex, entries)):
                if stop():
                    return
                said = (message_text(message) for message in messages_of(body or {}, Kind(kinds[index])))
                if any(wanted in text.lower() for text in said):
                    holding.add(index)
        except (LeafwardError, OSError) as error:
            self.post_message(MessagesFound(words, messages, [], str(error)))
            return
        numbers = [
            at for at, one in enumerate(messages) if one.entry in holding or wanted in one.text.lower()
        ]
        self.post_message(MessagesFound(words, messages, numbers))

    def on_messages_found(self, message: MessagesFound) -> None:
        """Goes to the nearest message."""
        if message.words != self.searched or message.messages is not self.messages:
            return
        if message.text:
            self.tell(message.text, "bad")
        lines = self.lines.lines
        if self.page is Page.CONTEXT and lines is not None:
            self.found(message.words, [lines.find(f"message:{number}") for number in message.numbers])

    # --- what is shown ------------------------------------------------------------------------------------------------

    def show_hits(self) -> None:
        """In the title, and lit in the lines."""
        for view in self.lists.values():
            view.light(self.searched if self.page is Page.FILES else "")
        self.diff.light(self.searched if self.page is Page.CONTENTS else "")
        self.lines.light(self.searched)
        self.summary.light(self.searched)
        self.show_title()

    def look_again(self) -> None:
        """Other lines are shown: the hits are others, and the cursor stays."""
        if self.searched:
            self.hits = ()
            self.look_for(self.searched)

    def draw_content(self) -> None:
        """Draws the diff; hits in it are looked for anew."""
        super().draw_content()
        if self.page is Page.CONTENTS:
            self.look_again()

    def end_search(self) -> None:
        """Forgets the search, and folds what it opened."""
        super().end_search()
        self.show_hits()
        if self._opened_before is not None:
            self.opened, self._opened_before = self._opened_before, None
            self.show_content()
