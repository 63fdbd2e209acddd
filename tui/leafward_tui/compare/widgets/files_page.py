"""The files of both sides in columns, over the contents of one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Horizontal, Vertical

from leafward_tui.compare.model.files import Column
from leafward_tui.compare.widgets.spans import FilesView, SpanRows
from leafward_tui.ui.panes.hairline import ColumnRule, RowRule

if TYPE_CHECKING:
    from textual.app import ComposeResult


class FilesPage(Vertical):
    """Three lists beside each other or one, a hairline that joins their rules, the diff with a remark on both sides."""

    def __init__(self) -> None:
        super().__init__(id="files-page")
        self.heads = {column: SpanRows() for column in Column}
        self.lists = {column: FilesView(id=f"files-{column.name.lower()}") for column in Column}
        self.diff_head = SpanRows(id="diff-head", rule=True)
        self.diff = FilesView(id="diff")
        self.sentence = SpanRows(id="sentence")
        self.side = SpanRows(id="side")
        self._rules = (ColumnRule(), ColumnRule())
        self._below = RowRule(id="sets-rule")

    def compose(self) -> ComposeResult:
        """The lists over the diff."""
        with Horizontal(id="sets") as self._sets:
            for number, column in enumerate(Column):
                if number:
                    yield self._rules[number - 1]
                with Vertical(id=f"set-{column.name.lower()}"):
                    yield self.heads[column]
                    yield self.lists[column]
        yield self._below
        with Horizontal(id="lower"):
            with Vertical():
                yield self.diff_head
                yield self.diff
                yield self.sentence
            yield ColumnRule()
            yield self.side

    def give_rows(self, rows: int) -> None:
        """Gives the lists this number of rows."""
        self._sets.styles.height = rows

    def join_rules(self, *, three_columns: bool) -> None:
        """Joins the hairline below the lists with those between them, where there are any."""
        if not self.is_attached:
            return
        if three_columns:
            first, second = self._rules
            self._below.join(first.region.x + 1, through=(second.region.x + 1,))
        else:
            self._below.join()
