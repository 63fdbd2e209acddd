"""The lists of files: their columns, the file under the cursor, and the files that are the same on both sides."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward.base.errors import Cancelled
from leafward.base.shown_path import no_project_folder
from leafward.branches.diff.contents import SideContents
from leafward.branches.diff.file_sets import Flag
from leafward_tui.compare.controllers.controller import CompareController, CompareMeans
from leafward_tui.compare.model.files import FOLD, Column, FileItem, FileLines, arranged, column_head, listed
from leafward_tui.compare.state import Page
from leafward_tui.ui.screen_results import CompareResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from leafward.branches.diff.file_sets import FileDifference
    from leafward.branches.diff.sides import Sides
    from leafward.files.file_replay.bases import Bases
    from leafward_tui.compare.controllers.content import Content
    from leafward_tui.ui.jobs import Job
    from leafward_tui.ui.panes.lines_view import LinesView

_BASED = "compare-base"
"""The key under which the choice of a base is remembered."""


def _away(line: int, shown: range) -> int:
    """Lines between a line and those on the screen."""
    return max(shown.start - line, line - shown.stop + 1, 0)


class Files(CompareController):
    """Owns `state.files`."""

    def __init__(self, means: CompareMeans, content: Content) -> None:
        super().__init__(means)
        self._content = content
        self._items: dict[Column, list[FileItem]] = {}
        """The rows of each list."""
        self.on_base_changed: Callable[[], object] = lambda: None
        """Called when another base was chosen."""
        self.drawn: Callable[[], object] = lambda: None
        """Called when the lists have other lines."""
        self.actions = {
            "base.toggle": self.toggle_base,
            "file.timeline": self.show_timeline,
        }

    def enabled(self, intent_id: str) -> bool:
        """Whether one of its intents does something now."""
        return intent_id != "file.timeline" or self._state.files.file is not None

    def recall(self) -> None:
        """Restores the base chosen the last time."""
        self._state.files.based = self._services.recall(_BASED) is True and self._state.folder is not None

    def forget(self) -> None:
        """Forgets all files, because other sides are read."""
        self._jobs.cancel("same files")
        files = self._state.files
        files.file, files.same = None, {False: {}, True: {}}

    # --- the lists ----------------------------------------------------------------------------------------------------

    def show(self) -> None:
        """Lays the files out, once they are known; the diff follows."""
        if self._state.read.overall is not None:
            self._lay_out()
            self.follow()

    def show_first(self) -> None:
        """Lays the files out, with the cursor on the first file that was edited in both, else that differs."""
        self._lay_out()
        self._go_to_first()
        self.match()
        self.follow()

    def _lay_out(self) -> None:
        seen, files, glyphs = self._state.read.overall, self._state.files, self._services.glyphs
        if seen is None:
            return
        sets, three = seen.sets, self._view.three_columns
        for column in Column:
            whole = column is Column.BOTH and not three
            items = (
                listed(sets, unfolded=files.unfolded)
                if whole
                else arranged(sets, column, unfolded=files.unfolded)
            )
            self._items[column], head = items, None if whole else column
            self._view.lists[column].show(
                lambda width, _rows, items=items, head=head: FileLines(  # type: ignore[misc]  # mypy cannot infer defaults
                    items, width, glyphs, head, files.same[files.based]
                )
            )
            self._view.heads[column].show(
                lambda width, head=head: (column_head(head, sets, width - 1, glyphs),)  # type: ignore[misc]  # as above
            )
        self._give_rows()
        self.drawn()

    def _give_rows(self) -> None:
        """Gives the lists the rows they need, and the diff the rest, of which 24 rows are enough."""
        height = self._view.size.height
        rows = max((height - 10) // 3, height - 34) if height >= 30 else (height - 6) * 2 // 5
        lists = [view.lines for view in self._view.lists.values()]
        needed = max((len(lines) for lines in lists if lines is not None), default=3)
        self._view.files_page.give_rows(1 + max(3, min(rows, needed)))

    def _go_to_first(self) -> None:
        seen = self._state.read.overall
        if seen is None:
            return
        sets, best = seen.sets, (Column.BOTH, 0)
        for column, files in ((Column.BOTH, sets.both), (Column.A, sets.only_a), (Column.B, sets.only_b)):
            places = [at for at, file in enumerate(files) if file.changed]
            both = [at for at in places if Flag.EDITED_IN_BOTH in files[at].flags]
            if places:
                best = (column, (both or places)[0])
                break
        self.choose_column(best[0] if self._view.three_columns else Column.BOTH)
        self.current_list.go(f"file:{best[0].name}:{best[1]}")
        if self._state.page is Page.FILES:
            self.current_list.focus()

    def fold(self) -> None:
        """Lists the untouched files, or folds them."""
        self._state.files.unfolded = not self._state.files.unfolded
        self.show()

    @property
    def on_fold(self) -> bool:
        """Whether the cursor is on the fold of the untouched files."""
        return self.current_list.key == FOLD

    # --- the cursor ---------------------------------------------------------------------------------------------------

    @property
    def column(self) -> Column:
        """The column that keys go to."""
        return self._state.files.column if self._view.three_columns else Column.BOTH

    @property
    def current_list(self) -> LinesView:
        """The list that keys go to."""
        return self._view.lists[self.column]

    def choose_column(self, column: Column) -> None:
        """Gives the keys to another column, where there are several."""
        if self._view.three_columns and column is not self._state.files.column:
            self._state.files.column = column
            self._view.lists[column].focus()

    def step_column(self, step: int) -> None:
        """Gives the keys to the next column that is not empty, or to the one before."""
        columns = list(Column)
        at = columns.index(self.column) + step
        while 0 <= at < len(columns) and not self._view.lists[columns[at]].key:
            at += step
        if self._view.three_columns and 0 <= at < len(columns):
            self.choose_column(columns[at])
            self.follow()

    def move_by(self, step: int) -> None:
        """Goes to another file of the list."""
        self.current_list.move_by(step)
        self.follow()

    def go(self, column: Column, line: int) -> None:
        """Goes to a line of a list."""
        self.choose_column(column)
        self.current_list.move_to(line)
        self.follow()

    def follow(self) -> None:
        """Lets the diff follow the cursor of the lists."""
        file, files = self._file_at(self.current_list.key), self._state.files
        if file is not files.file or self._state.content.shown is None:
            files.file = file
            self._content.rest()

    def _file_at(self, key: str) -> FileDifference | None:
        """The file that a key of a list names; None for a fold."""
        kind, _, rest = key.partition(":")
        name, _, place = rest.partition(":")
        seen = self._state.read.overall
        if kind != "file" or seen is None:
            return None
        sets = seen.sets
        return {Column.A: sets.only_a, Column.BOTH: sets.both, Column.B: sets.only_b}[Column[name]][
            int(place)
        ]

    def listed(self) -> Iterator[tuple[Column, int, FileDifference]]:
        """The files of all lists, each with its column and line."""
        for column in Column if self._view.three_columns else (Column.BOTH,):
            files = enumerate(item.file for item in self._items.get(column, ()))
            yield from ((column, at, file) for at, file in files if file is not None)

    # --- which are the same -------------------------------------------------------------------------------------------

    def match(self) -> None:
        """Compares the files of both sides: first those on the screen, then those around them."""
        seen, view, files = self._state.read.overall, self._view.lists[Column.BOTH], self._state.files
        if seen is None:
            return
        shown, lines = view.shown(), view.lines
        near = lines.files() if isinstance(lines, FileLines) else ()
        both = [file for _, file in sorted(near, key=lambda one: _away(one[0], shown))]
        every = (*both, *seen.sets.both, *seen.sets.only_a, *seen.sets.only_b)
        known = files.same[files.based]
        unknown = [*{file.path: file for file in every if file.path not in known}.values()]
        if unknown:
            found = partial(self._matched, files.based)
            work = partial(same_files, seen.sides, unknown, self._state.bases(), found)
            self._jobs.latest(
                "same files", work, lambda _none: None, lambda text: self._view.tell(text, "bad")
            )

    def _matched(self, based: bool, same: dict[str, bool | None]) -> None:
        """Shows in the lists which files are the same."""
        files = self._state.files
        files.same[based].update(same)
        if based == files.based:
            self._view.lists[Column.BOTH].redraw()

    def toggle_base(self) -> None:
        """Switches the base of replay between unknown and the contents in the workspace or git."""
        files, session = self._state.files, self._state.session
        if not files.based and self._state.folder is None:
            self._view.tell(f"no base: {no_project_folder(session.cwd)}", "warn")
            return
        files.based = not files.based
        self._services.remember(_BASED, files.based)
        self.on_base_changed()
        self.show()
        self.match()
        self._content.show()

    def show_timeline(self) -> None:
        """Goes back to the tree, with the rows of all branches that touch the file."""
        if self._state.files.file is not None:
            self._view.dismiss(CompareResult(touching=self._state.files.file.path))


_AT_ONCE = 32
"""Number of files that are rebuilt together for the comparison of both sides."""


def same_files(
    both: Sides,
    files: Sequence[FileDifference],
    bases: Bases | None,
    found: Callable[[dict[str, bool | None]], object],
    job: Job,
) -> None:
    """Rebuilds files, some at a time; reports to `found` by path whether both sides are the same (`SideContents.same`).

    Raises Cancelled, LeafwardError, OSError.
    """
    contents = SideContents(both, job.unwanted, bases)
    candidates = [file for file in files if file.changed or contents.swept]
    for begin in range(0, len(candidates), _AT_ONCE):
        some = candidates[begin : begin + _AT_ONCE]
        if job.unwanted():
            raise Cancelled
        same = zip((file.path for file in some), contents.same(some), strict=True)
        job.report(partial(found, dict(same)))
