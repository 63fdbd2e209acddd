"""The Compare screen: its keys, and what its widgets say."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from leafward.base.safe_text import safe_line
from leafward_tui.compare.model.content import Show
from leafward_tui.compare.model.content_lines import ContentLines
from leafward_tui.compare.model.files import FOLD, Column
from leafward_tui.compare.parts import BASED
from leafward_tui.compare.transfer import CompareCarrying
from leafward_tui.compare.values import Leaving, Page
from leafward_tui.ui.intents import bindings_for
from leafward_tui.ui.key_bar import Hint
from leafward_tui.ui.row_keys import RowKeys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual import events
    from textual.binding import BindingType

    from leafward_tui.ui.lines_view import LinesView
    from leafward_tui.ui.pane_head import PaneHead

__all__ = ["CompareScreen"]


class CompareScreen(RowKeys, CompareCarrying):
    """Two nodes compared. Ends with what is wanted of the explorer, or with None."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("compare")]

    # --- tabs ---------------------------------------------------------------------------------------------------------

    def show_tab(self, page: Page) -> None:
        """Another tab; the file under the cursor stays."""
        self.page = page
        self.show_page()
        target = {
            Page.FILES: self.lists[self.column],
            Page.CONTENTS: self.diff,
            Page.SUMMARY: self.summary,
        }.get(page, self.lines)
        target.focus()
        self.show_hits()
        self.look_again()
        self.show_hints()

    def action_compare_files(self) -> None:
        """The files of both."""
        self.show_tab(Page.FILES)

    def action_compare_contents(self) -> None:
        """The contents of the file, over all of the screen."""
        self.show_tab(Page.CONTENTS)

    def action_compare_context(self) -> None:
        """What the model sees at both."""
        self.show_tab(Page.CONTEXT)

    def action_compare_summary(self) -> None:
        """What both say in short."""
        self.show_tab(Page.SUMMARY)

    def action_compare_outcome(self) -> None:
        """What came of both."""
        self.show_tab(Page.OUTCOME)

    def _tab(self, step: int) -> None:
        pages = list(Page)
        self.show_tab(pages[(pages.index(self.page) + step) % len(pages)])

    def action_pane_next(self) -> None:
        """The next tab."""
        self._tab(1)

    def action_pane_previous(self) -> None:
        """The tab before."""
        self._tab(-1)

    def on_pane_head_tab_wanted(self, message: PaneHead.TabWanted) -> None:
        """A tab was clicked."""
        message.stop()
        self.show_tab(Page(message.tab))

    # --- going about --------------------------------------------------------------------------------------------------

    def step_rows(self, by: int) -> None:
        """Moves the cursor: over files, or over lines."""
        if self.page is Page.FILES:
            self.lists[self.column].move_by(by)
            self.follow()
        elif self.page is Page.CONTENTS:
            self.diff.move_by(by)
            self.sentence.refresh()
        elif self.page is Page.SUMMARY:
            self.summary.move_by(by)
        else:
            self.lines.move_by(by)
        self.show_hints()

    def rows_seen(self) -> int:
        """Rows on the screen."""
        views = {Page.FILES: self.lists[self.column], Page.CONTENTS: self.diff, Page.SUMMARY: self.summary}
        return views.get(self.page, self.lines).size.height

    def _side_step(self, step: int) -> None:
        """Another column; in the contents another file."""
        if self.page is Page.CONTENTS:
            view = self.lists[self.column]
            view.move_by(step)
            self.follow()
        elif self.page is Page.FILES and self.three_columns:
            columns = list(Column)
            at = columns.index(self._column) + step
            while 0 <= at < len(columns) and not self.lists[columns[at]].key:
                at += step
            if 0 <= at < len(columns):
                self.choose_column(columns[at])
                self.follow()

    def action_column_left(self) -> None:
        """The column to the left, or the file before."""
        self._side_step(-1)

    def action_column_right(self) -> None:
        """The column to the right, or the next file."""
        self._side_step(1)

    def _change(self, step: int) -> None:
        if self.searched and self.step_hit(step):
            return
        if self.page is Page.SUMMARY:
            self.summary.change(step)
            return
        lines = self.diff.lines
        if not isinstance(lines, ContentLines) or self.page not in (Page.FILES, Page.CONTENTS):
            return
        changes = lines.changes()
        here = max(0, self.diff.cursor)
        ahead = [at for at, line in enumerate(changes) if (line > here if step > 0 else line < here)]
        if ahead:
            self.to_change(ahead[0] if step > 0 else ahead[-1])
        elif changes:
            self.tell("no other change " + ("below" if step > 0 else "above"))

    def action_change_next(self) -> None:
        """The next hit; while nothing is searched, the next change."""
        self._change(1)

    def action_change_previous(self) -> None:
        """The hit before; while nothing is searched, the change before."""
        self._change(-1)

    def action_compare_enter(self) -> None:
        """On a file its contents, on a fold what is folded, on a line all of it, on a message or figure its entry in the tree."""
        if self.page is Page.FILES:
            if self.lists[self.column].key == FOLD:
                self.action_compare_fold()
            elif self.file is not None:
                self.show_tab(Page.CONTENTS)
        elif self.page is Page.CONTENTS:
            lines = self.diff.lines
            block = lines.block(self.diff.cursor) if isinstance(lines, ContentLines) else -1
            if block >= 0 and self.file is not None:
                path = self.file.path
                self.opened[path] = self.opened.get(path, frozenset()) | {block}
                self.show_content()
            elif isinstance(lines, ContentLines) and self.file is not None and self.diff.cursor >= 0:
                self.read_whole(self.file.path, lines.whole(self.diff.cursor))
        elif self.page is Page.SUMMARY:
            told = self.summary.line
            if told is not None and told.mark is not None and not told.hidden:
                texts = (("A", told.before), ("B", told.after))
                self.read_whole("One line of the summaries", [one for one in texts if one[1]])
        else:
            line = self.lines.line
            if line is not None and line.entry >= 0:
                self.dismiss(Leaving(entry=line.entry))

    def read_whole(self, title: str, texts: Sequence[tuple[str, str]]) -> None:
        """Shows a line in full, of each side that has it; what is the same on all of them once."""
        from leafward_tui.ui.reading_sheet import ReadingSheet

        if len({text for _, text in texts}) == 1:
            texts = [("  ".join(name for name, _ in texts), texts[0][1])]
        told = "\n\n".join(f"{name}\n{text}" for name, text in texts)
        if told:
            self.app.push_screen(ReadingSheet(safe_line(title, 200), told, markdown=False))

    def action_compare_fold(self) -> None:
        """Folds what is the same, or shows it: files nobody touched, or lines."""
        if self.page is Page.FILES:
            self.unfolded = not self.unfolded
            self.show_files()
        elif self.page in (Page.CONTENTS, Page.SUMMARY):
            self.fold = not self.fold
            if self.page is Page.SUMMARY:
                self.show_summary()
            else:
                self.opened = {}
                self.show_content()

    def action_sides_swap(self) -> None:
        """A becomes B, and B becomes A."""
        if self.overall is not None:
            self.ends = (self.ends[1], self.ends[0])
            self.start()

    def action_ancestor_show(self) -> None:
        """The ancestor in the place of A, then all three, then A and B again."""
        if self.page not in (Page.FILES, Page.CONTENTS):
            return
        order = list(Show)
        self.show = order[(order.index(self.show) + 1) % len(order)]
        self.show_content()

    def action_base_toggle(self) -> None:
        """Lets files begin with what lies in the workspace, or in git there, or not."""
        if not self.based and self.folder is None:
            where = safe_line(self.session.cwd, 200) or "nowhere"
            self.tell(f"no base: the folder of this session is not there: {where}", "warn")
            return
        self.based = not self.based
        self.shell.remember(BASED, self.based)
        self.show_page()
        self.show_files()
        self.match_files()
        self.show_content()

    def action_file_timeline(self) -> None:
        """Back to the tree, with the rows of all branches that touch the file."""
        if self.file is not None:
            self.dismiss(Leaving(touching=self.file.path))

    # --- the rest -----------------------------------------------------------------------------------------------------

    def action_copy_text(self) -> None:
        """Copies the diff of the file as text that a patch tool reads; elsewhere the line."""
        from leafward.branches.diff.patches import unified

        if self.page in (Page.FILES, Page.CONTENTS):
            if self.shown is not None and self.file is not None:
                self.shell.copy("".join(unified(*self.shown.plain[:2])) or self.shown.difference.sentence)
        elif self.page is Page.SUMMARY:
            line = self.summary.line
            if line is not None:
                self.shell.copy(line.after or line.before)
        elif self.lines.line is not None:
            self.shell.copy(self.lines.line.text.strip())

    def action_mode_leave(self) -> None:
        """Ends the search; then back to the files, and from there to the tree."""
        if self.searched:
            self.end_search()
        elif self.page is Page.FILES:
            self.dismiss(None)
        else:
            self.show_tab(Page.FILES)

    def action_app_back(self) -> None:
        """Back to the tree."""
        self.dismiss(None)

    def on_lines_view_chosen(self, message: LinesView.Chosen) -> None:
        """A click on a file shows it, two open it; on a line they do what enter does."""
        message.stop()
        for column, view in self.lists.items():
            if view is message.view:
                self.choose_column(column)
                view.focus()
                self.follow()
        if message.view is self.diff and self.page is Page.FILES:
            self.show_tab(Page.CONTENTS)
        elif message.twice or message.key == FOLD:
            self.action_compare_enter()
        self.show_hints()

    def on_lines_view_lines_shown(self, message: LinesView.LinesShown) -> None:
        """The list was laid out for another size: the diff stays with its file."""
        message.stop()
        if message.view in self.lists.values() and self.overall is not None:
            self.follow()

    def on_resize(self, event: events.Resize) -> None:
        """Three columns or one list, as there is room."""
        del event
        self.call_after_refresh(self._arrange)

    def _arrange(self) -> None:
        if not self.is_attached:
            return
        self.show_files()
        self.show_page()
        self.show_title()
        if self.page is Page.FILES:
            self.lists[self.column].focus()

    def _on_fold(self) -> bool:
        lines = self.diff.lines
        return isinstance(lines, ContentLines) and lines.block(self.diff.cursor) >= 0

    def hints(self) -> Sequence[Hint]:
        """The keys that matter now."""
        if self.overall is None:
            return (Hint("app.back"),)
        back = Hint("mode.leave", "back" if self.page is Page.FILES else "files")
        if self.searched:
            back = Hint("mode.leave", "end search", "end")
            hits = Hint(("change.next", "change.previous"), "hit")
            return (hits, back, Hint(("row.down", "row.up"), "line"), Hint("compare.find"))
        tab = Hint("pane.next", "view")
        if self.page in (Page.FILES, Page.CONTENTS) and not len(self.overall.sets):
            return (
                tab,
                Hint("sides.swap", "swap A B", "swap"),
                back,
                Hint("carry.open"),
                Hint("comparison.save"),
            )
        if self.page is Page.FILES:
            columns = (Hint(("column.left", "column.right"), "column"),) if self.three_columns else ()
            ancestor = {Show.SIDES: "ancestor as A", Show.FROM_ANCESTOR: "three-way"}.get(
                self.show, "A and B"
            )
            return (
                Hint(("row.down", "row.up"), "file"),
                *columns,
                tab,
                Hint(("change.next", "change.previous"), "change"),
                Hint("compare.enter", "open"),
                Hint("sides.swap", "swap A B", "swap"),
                Hint("ancestor.show", ancestor, "ancestor"),
                back,
                Hint("compare.find"),
                Hint("carry.open"),
                Hint("comparison.save"),
                Hint("file.timeline"),
                Hint("base.toggle", "no base" if self.based else "base"),
                Hint("copy.text", "copy diff", "copy"),
            )
        if self.page is Page.CONTENTS:
            return (
                Hint(("row.down", "row.up"), "line"),
                Hint(("change.next", "change.previous"), "change"),
                Hint(("column.left", "column.right"), "file"),
                Hint("compare.enter", "unfold" if self._on_fold() else "whole line", "all"),
                back,
                tab,
                Hint("ancestor.show", "ancestor"),
                Hint("compare.fold", "show same" if self.fold else "fold same", "same"),
                Hint("compare.find"),
                Hint("base.toggle", "no base" if self.based else "base"),
                Hint("copy.text", "copy diff", "copy"),
            )
        if self.page is Page.SUMMARY:
            return (
                Hint(("row.down", "row.up"), "line"),
                Hint(("change.next", "change.previous"), "difference", "diff"),
                Hint("compare.enter", "whole line", "all"),
                Hint("compare.fold", "show same" if not self.fold else "fold same", "same"),
                back,
                tab,
                Hint("compare.find"),
                Hint("difference.pin"),
            )
        return (
            Hint(("row.down", "row.up"), "line"),
            Hint("compare.enter", "show entry", "show"),
            back,
            tab,
            Hint("compare.find"),
        )
