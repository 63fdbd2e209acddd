"""The panes of the lab beside each other, as many as there is room for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Horizontal, Vertical

from leafward_tui.lab.state import PAGES, TABS
from leafward_tui.lab.widgets.state_line import StateLine, Writing
from leafward_tui.ui.panes.hairline import ColumnRule, RowRule
from leafward_tui.ui.panes.lines_view import LinesView
from leafward_tui.ui.panes.pane_lines import Block
from leafward_tui.ui.panes.tab_head import TabHead

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.widget import Widget
    from textual.widgets import TextArea


class LabPanes(Horizontal):
    """Three columns: the fate of each turn, the plan, the summary with the surviving facts."""

    def __init__(self) -> None:
        super().__init__(id="columns")
        self.cut_head = TabHead(id="cut-head")
        self.cut = LinesView(id="cut")
        self.why = LinesView(id="why", cursor=False)
        self.plan_head = TabHead(id="plan-head")
        self.plan = LinesView(id="plan", drags="dial")
        self.text_head = TabHead(id="text-head")
        self.state_line = StateLine()
        self.text = LinesView(id="text")
        self.fates = LinesView(id="fates")
        self.editor: TextArea | None = None
        """The field with the summary, while there is one."""
        self._whole = False
        self._hairlines = (ColumnRule(), ColumnRule(), RowRule())

    def compose(self) -> ComposeResult:
        """The panes and their heads; `show_area` decides which are shown."""
        first, second, row = self._hairlines
        with Vertical(id="cut-pane") as self._cut_pane:
            yield self.cut_head
            yield self.cut
            yield self.why
        yield first
        with Vertical(id="plan-pane") as self._plan_pane:
            yield self.plan_head
            yield self.plan
        yield second
        with Vertical(id="text-pane") as self._text_pane:
            yield self.text_head
            yield self.state_line
            yield self.text
            yield row
            yield self.fates

    @property
    def columns_shown(self) -> int:
        """The number of panes beside each other."""
        width, height = self.app.size
        if self._whole or width < 100 or height < 30:
            return 1
        return 3 if width >= 120 else 2

    def show_area(self, area: str, page: str, rules: str, *, whole: bool) -> None:
        """Shows as many panes as fit, the one with the keys among them, with their heads; or that one `whole`."""
        self._whole = whole
        shown = self.columns_shown
        alone = shown == 1
        first, second, row = self._hairlines
        self.set_class(alone, "-one")
        self.set_class(shown == 2, "-two")
        self._cut_pane.display = shown > 1 or area == "cut"
        self._plan_pane.display = shown == 3 or area == "plan" or (shown == 2 and area == "cut")
        self._text_pane.display = shown == 3 or area in ("text", "fates")
        first.display = shown > 1
        second.display = shown == 3
        # One pane has no room for both halves of the right column.
        text = not (alone and area == "fates")
        self.state_line.display = self.text.display = text
        if self.editor is not None:
            self.editor.display = text
            self.text.display = False
        fates = page == "Summary" and not (alone and area != "fates")
        self.fates.display = fates
        row.display = fates and not alone
        self.fates.styles.height = "1fr" if alone else "50%"
        self.show_heads(area, page, rules)

    def show_heads(self, area: str, page: str, rules: str) -> None:
        """Shows the tabs of every pane, the pane with the keys marked."""
        shown = self.columns_shown
        if shown == 1:
            active = {"cut": "Cut", "plan": "Plan", "text": page, "fates": "Lost"}[area]
            for head in (self.cut_head, self.plan_head, self.text_head):
                head.show(TABS, active, right="tokens" if area == "cut" else "", focused=True)
            return
        self.cut_head.show(
            ("Cut",), "Cut", note="what happens to each turn", right="tokens", focused=area == "cut"
        )
        pages = PAGES if shown == 3 else ("Plan", *PAGES)
        self.plan_head.show(("Plan",) if shown == 3 else pages, "Plan", right=rules, focused=area == "plan")
        self.text_head.show(pages, page, focused=area in ("text", "fates"))

    def pane(self, area: str) -> LinesView:
        """The pane of lines of an area."""
        return {"cut": self.cut, "plan": self.plan, "text": self.text}.get(area, self.fates)

    def area_of(self, widget: Widget | None) -> str:
        """The area of a pane of lines; empty for anything else."""
        areas = {self.cut: "cut", self.plan: "plan", self.text: "text", self.fates: "fates"}
        return areas.get(widget, "") if isinstance(widget, LinesView) else ""

    def clear(self) -> None:
        """Shows no lines in any pane."""
        for view in (self.cut, self.why, self.plan, self.text, self.fates):
            view.show(lambda _width, _height: Block())
        self.state_line.show(Writing(""))

    def focus_area(self, area: str) -> None:
        """Gives the keys to a pane, or to the field in it."""
        target: Widget = self.editor if self.editor is not None and area == "text" else self.pane(area)
        target.focus()

    def open_editor(self, text: str) -> None:
        """Puts a field with a text in the place of the summary."""
        from textual.widgets import TextArea

        self.editor = TextArea(text, id="edit", soft_wrap=True, show_line_numbers=False)
        self.editor.cursor_blink = False
        self.text.display = False
        self._text_pane.mount(self.editor, after=self.state_line)
        self.editor.focus()

    def close_editor(self) -> str:
        """Removes the field; returns its text."""
        editor, self.editor = self.editor, None
        if editor is None:
            return ""
        text = editor.text
        editor.remove()
        self.text.display = True
        return text
