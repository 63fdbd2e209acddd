"""The files of the Compare screen: lists, and the contents of the file under the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import work
from textual.worker import get_current_worker

from leafward.branches.diff.contents import Contents
from leafward.branches.diff.file_sets import Flag
from leafward_tui.compare.model.content import arranged_content
from leafward_tui.compare.model.content_lines import ContentLines, content_head, sentence
from leafward_tui.compare.model.files import Column, FileLines, arranged, column_head, listed
from leafward_tui.compare.parts import CompareParts
from leafward_tui.compare.values import Laid, Matched, Page, Wanted
from leafward_tui.ui.cells import fit
from leafward_tui.ui.pane_lines import Block, LabLine, Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.branches.diff.file_sets import FileDifference

__all__ = ["CompareFiles"]

_REST = 0.03
"""Seconds the cursor rests on a file before its contents are rebuilt."""
_KEPT = 64
"""Layouts that are kept."""
_TOLD = (Flag.EDITED_IN_BOTH, Flag.READ_IN_A, Flag.READ_IN_B)
"""Flags that the numbers beside the path say as well."""
_AT_ONCE = 32
"""Files that are rebuilt together to see whether they are the same on both sides."""


def _away(line: int, shown: range) -> int:
    """Lines between a line and those on the screen."""
    return max(shown.start - line, line - shown.stop + 1, 0)


class CompareFiles(CompareParts):
    """Lists of files over the diff of one of them."""

    # --- the lists ---------------------------------------------------------------------------------------------------

    def show_files(self, *, first: bool = False) -> None:
        """Lays the files out; `first` puts the cursor on the first file that was edited in both, else that differs."""
        seen, glyphs = self.overall, self.shell.glyphs
        if seen is None:
            return
        sets = seen.sets
        three = self.three_columns
        for column in Column:
            whole = column is Column.BOTH and not three
            items = (
                listed(sets, unfolded=self.unfolded)
                if whole
                else arranged(sets, column, unfolded=self.unfolded)
            )
            head = None if whole else column
            self.lists[column].show(
                lambda width, _rows, items=items, head=head: FileLines(  # type: ignore[misc]  # mypy cannot infer defaults
                    items, width, glyphs, head, self.same[self.based]
                )
            )
            self.heads[column].show(lambda width, head=head: (column_head(head, sets, width - 1, glyphs),))  # type: ignore[misc]  # as above
        self.size_sets()
        if first:
            self._first_file()
            self.match_files()
        self.follow()

    def match_files(self) -> None:
        """Finds out which files are the same on both sides: first those on the screen, then those around them."""
        seen, view = self.overall, self.lists[Column.BOTH]
        if seen is None:
            return
        shown, lines = view.shown(), view.lines
        files = lines.files() if isinstance(lines, FileLines) else ()
        both = [file for _, file in sorted(files, key=lambda one: _away(one[0], shown))]
        known, others = self.same[self.based], (*seen.sets.both, *seen.sets.only_a, *seen.sets.only_b)
        contents = Contents(seen.sides, lambda: self._closed, self.bases())
        wanted = {
            file.path: file
            for file in (*both, *others)
            if (file.changed or contents.swept) and file.path not in known
        }
        if wanted:
            self.match(self.run, [*wanted.values()], contents, self.based)

    @work(thread=True, exclusive=True, group="match", exit_on_error=False, description="same files")
    def match(self, run: int, files: Sequence[FileDifference], contents: Contents, based: bool) -> None:
        """Rebuilds files, some at a time, to see which are the same on both sides."""
        stop = self.shell.keys_first.stop(get_current_worker())
        for begin in range(0, len(files), _AT_ONCE):
            some = files[begin : begin + _AT_ONCE]
            if stop() or self._closed:
                return
            same = contents.same(some)
            if not self._closed:
                self.post_message(
                    Matched(run, based, dict(zip((one.path for one in some), same, strict=True)))
                )

    def on_matched(self, message: Matched) -> None:
        """Shows in the lists which files are the same."""
        if message.run == self.run:
            self.same[message.based].update(message.same)
            if message.based == self.based:
                self.lists[Column.BOTH].redraw()

    def _first_file(self) -> None:
        if self.overall is None:
            return
        sets = self.overall.sets
        best = (Column.BOTH, 0)
        for column, files in ((Column.BOTH, sets.both), (Column.A, sets.only_a), (Column.B, sets.only_b)):
            places = [at for at, file in enumerate(files) if file.changed]
            both = [at for at in places if Flag.EDITED_IN_BOTH in files[at].flags]
            if places:
                best = (column, (both or places)[0])
                break
        column = best[0] if self.three_columns else Column.BOTH
        self.choose_column(column)
        self.lists[column].go(f"file:{best[0].name}:{best[1]}")
        if self.page is Page.FILES:
            self.lists[column].focus()

    def size_sets(self) -> None:
        """As many rows for the lists as they need, and the diff the rest."""
        seen = self.overall
        height = self.app.size.height
        rows = (height - 10) // 3 if height >= 30 else (height - 6) * 2 // 5
        needed = 3
        if seen is not None:
            lists = [self.lists[column].lines for column in Column]
            needed = max((len(lines) for lines in lists if lines is not None), default=3)
        sets = self.query_one("#sets")
        sets.styles.height = 1 + max(3, min(rows, needed))

    @property
    def column(self) -> Column:
        """The column that keys go to, or went to last."""
        return self._column if self.three_columns else Column.BOTH

    _column = Column.BOTH

    def file_at(self, key: str) -> FileDifference | None:
        """The file that a key of a list names; None for a fold."""
        kind, _, rest = key.partition(":")
        name, _, place = rest.partition(":")
        if kind != "file" or self.overall is None:
            return None
        sets = self.overall.sets
        return {Column.A: sets.only_a, Column.BOTH: sets.both, Column.B: sets.only_b}[Column[name]][
            int(place)
        ]

    def files_in(self, column: Column) -> Iterator[tuple[int, FileDifference]]:
        """The files of a list, each with its line."""
        lines = self.lists[column].lines
        for at in range(len(lines) if lines is not None else 0):
            file = self.file_at(lines[at].key) if lines is not None else None
            if file is not None:
                yield at, file

    def choose_column(self, column: Column) -> None:
        """Keys go to another column, where there are several."""
        if self.three_columns and column is not self._column:
            self._column = column
            self.lists[column].focus()

    def follow(self) -> None:
        """The diff follows the cursor of the lists."""
        file = self.file_at(self.lists[self.column].key)
        if file is not self.file or self.shown is None:
            self.file = file
            self.rest()

    # --- one file -----------------------------------------------------------------------------------------------------

    def rest(self) -> None:
        """The cursor is on another file: its contents follow once it rests, at once where they are known."""
        if self._resting is not None:
            self._resting.stop()
        wanted = self.wanted()
        if wanted is None or wanted in self._laid:
            self.show_content()
        else:
            self._resting = self.set_timer(_REST, self.show_content)

    def wanted(self) -> Wanted | None:
        """The layout that is to be on the screen."""
        if self.file is None:
            return None
        path = self.file.path
        return Wanted(path, self.show, self.fold, self.opened.get(path, frozenset()), self.based)

    def show_content(self) -> None:
        """Shows the file under the cursor, or has it laid out."""
        wanted = self.wanted()
        if wanted is None or self.file is None:
            self.shown = None
            self.draw_content()
            return
        laid = self._laid.get(wanted)
        if laid is not None:
            self.shown = laid
            self.draw_content()
        elif self.overall is not None:
            contents = self._contents.get(self.based)
            if contents is None:
                contents = Contents(self.overall.sides, lambda: self._closed, self.bases())
                self._contents[self.based] = contents
            self.lay_out(self.run, wanted, self.file, contents)

    @work(thread=True, exclusive=True, group="content", exit_on_error=False)
    def lay_out(self, run: int, wanted: Wanted, file: FileDifference, contents: Contents) -> None:
        """Rebuilds a file, once, and lays it out."""
        difference = self._differences.get((file.path, wanted.based))
        if difference is None:
            self.rebuilt += 1
            difference = contents.of(file)
        if get_current_worker().is_cancelled or self._closed:
            return
        shown = arranged_content(difference, wanted.show, wanted.opened, fold=wanted.fold, based=wanted.based)
        self.post_message(Laid(run, wanted, shown))

    def on_laid(self, message: Laid) -> None:
        """Keeps a layout, and shows it where the cursor still is."""
        if message.run != self.run:
            return
        if len(self._laid) >= _KEPT:
            self._laid.clear()
        self._laid[message.wanted] = message.shown
        self._differences[message.wanted.path, message.wanted.based] = message.shown.difference
        if message.wanted == self.wanted():
            self.shown = message.shown
            self.draw_content()

    def draw_content(self) -> None:
        """Draws the diff, its head and its sentence. The cursor stays on its line where the file was drawn before."""
        shown, glyphs = self.shown, self.shell.glyphs
        self.said = ("", "")
        before, at = self.diff.lines, self.diff.cursor
        spot = None
        if isinstance(before, ContentLines) and shown is not None and at >= 0:
            same = before.laid.difference.path == shown.difference.path
            spot = before.spot(at) if same and max(before.spot(at)) >= 0 else None

        def lines(width: int, _rows: int) -> ContentLines | Block:
            if shown is None:
                return Block([LabLine((Span(self._nothing(), "nothing"),))])
            return ContentLines(shown, width, glyphs)

        self.diff.show(lines, at="line:0")
        self.diff_head.show(self._content_head)
        self.sentence.show(self._sentence)
        after = self.diff.lines
        if spot is not None and isinstance(after, ContentLines):
            self.diff.move_to(after.nearest(spot))
            self.sentence.refresh()
        else:
            self.to_change(0)
        self.show_hints()

    def _nothing(self) -> str:
        if self.trouble:
            return self.trouble
        if self.overall is None:
            return "reading both sides"
        return "no file was read or changed on either side" if not len(self.overall.sets) else ""

    def _content_head(self, width: int) -> Sequence[LabLine]:
        """Path, what the contents rest on, lines of both."""
        file = self.file
        return (content_head(file.path, self.shown, width, self.shell.glyphs),) if file is not None else ()

    def _sentence(self, width: int) -> Sequence[LabLine]:
        """Which change, and what is to be said of both; or what was just done."""
        ellipsis = self.shell.glyphs.ellipsis
        if self.said[0]:
            return (LabLine((Span(fit(self.said[0], width, ellipsis=ellipsis), self.said[1]),)),)
        lines = self.diff.lines
        if self.shown is None or not isinstance(lines, ContentLines):
            return ()
        file = self.file
        flags = [flag.value for flag in file.flags if flag not in _TOLD] if file is not None else []
        fates = file.fates if file is not None else ()
        return (sentence(lines, max(0, self.diff.cursor), width, ellipsis, [*fates, *flags]),)

    def tell(self, text: str, ink: str = "sub") -> None:
        """Says what was just done in the place of the sentence."""
        self.said = (text, ink)
        self.sentence.show(self._sentence)

    def to_change(self, place: int) -> None:
        """Brings a change on the screen, counted from 0."""
        lines = self.diff.lines
        if not isinstance(lines, ContentLines):
            return
        changes = lines.changes()
        if 0 <= place < len(changes):
            self.diff.move_to(changes[place])
            self.diff.scroll_to(y=max(0, changes[place] - 3), animate=False, force=True)
        self.sentence.refresh()
