"""The explorer screen: its panes, what its widgets say, and which keys work when."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from leafward_tui.explorer.model.exploration import Filter
from leafward_tui.explorer.parts import PANES, ExplorerParts
from leafward_tui.explorer.reading import Reading
from leafward_tui.ui.intents import bindings_for
from leafward_tui.ui.key_bar import Hint
from leafward_tui.ui.page import Tab

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.binding import BindingType
    from textual.geometry import Region

    from leafward_tui.explorer.widgets.graph_view import GraphView
    from leafward_tui.explorer.widgets.strip import StripView
    from leafward_tui.ui.inspector_pane import CopyWanted, EntryWanted, TabChanged, XRayWanted
    from leafward_tui.ui.tree_head import TreeHead


class ExplorerScreen(Reading, ExplorerParts):
    """A session as a tree."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("explorer")]

    # --- panes --------------------------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        """Two panes or one, as there is room."""
        self.call_after_refresh(self.arrange_panes)

    _covered = 0
    """Rows at the bottom that a sheet takes."""
    _shortened: Region | None = None
    """Where the tree lay when it was shortened last."""

    def make_room(self, height: int) -> None:
        """Shortens the tree so far that its cursor stays above a sheet of some height; `on_screen_resume` undoes it.

        May be asked for again, when the sheet, the tree or the terminal has another height.
        """
        self._covered = height
        graph = self.graph
        if graph.region == self._shortened:
            # What was asked for last is not laid out yet: counted from the place of before it would be taken away twice.
            return
        line = graph.state.cursor * graph.line_height - graph.scroll_offset.y
        bottom = graph.region.bottom + graph.styles.margin.bottom
        covered = bottom - (self.app.size.height - height)
        hidden = graph.region.y + line + graph.line_height > bottom - covered
        if covered > 0 and graph.display and (hidden or graph.styles.margin.bottom):
            most = max(0, bottom - graph.region.y - graph.line_height)
            room = min(covered, most)
            if room != graph.styles.margin.bottom:
                self._shortened = graph.region
                graph.styles.margin = (0, 0, room, 0)

    def on_screen_resume(self) -> None:
        """What was covered is free again, unless another sheet is there already."""
        if self.is_mounted and self.app.screen is self:
            self._covered = 0
            self._shortened = None
            if self.graph.styles.margin.bottom:
                self.graph.styles.margin = 0

    def on_graph_view_rows_shown(self, message: GraphView.RowsShown) -> None:
        """The tree was laid out anew, maybe under a sheet. What it shows is counted by the base's own method."""
        message.stop()
        if self._covered:
            self.make_room(self._covered)

    def arrange_panes(self) -> None:
        """Fits panes, rules and heads to the size of the screen."""
        two = self.two_panes
        self.set_class(not two, "-one-pane")
        self.inspector.show_tabs(two)
        if two:
            self.remove_class("-inspecting")
        self.strip_rule.join(*([self.column_rule.region.x + 1] if two else []))
        self.show_head()

    def show_head(self) -> None:
        """Tabs and headings over the tree."""
        exploration = self.exploration
        note = ""
        if exploration is not None:
            note = exploration.layout.density.value
            if exploration.filter is not Filter.CONVERSATION:
                touching = exploration.filter is Filter.CHOSEN and exploration.touching
                note += ", timeline of a file" if touching else f", {exploration.filter.value}"
        narrow = not self.two_panes
        pane = "Tree" if not narrow or not self.has_class("-inspecting") else self.inspector.tab.value
        self.head.show(
            tabs=PANES if narrow else ("Tree",),
            active=pane,
            note="" if narrow else note,
            columns=self.graph.columns if pane == "Tree" else None,
            focused=self.graph.has_focus or narrow,
        )

    def on_tree_head_tab_wanted(self, message: TreeHead.TabWanted) -> None:
        """A tab of the head was clicked."""
        message.stop()
        if message.tab == "Tree":
            self.show_tree()
        else:
            self.show_tab(Tab(message.tab))

    def show_tree(self) -> None:
        """Keys go to the tree."""
        self.remove_class("-inspecting")
        self.graph.focus()
        self.show_head()

    def show_tab(self, tab: Tab) -> None:
        """Shows a tab of the inspector; on a narrow screen in place of the tree."""
        self.inspector.show_tab(tab)
        if not self.two_panes:
            self.add_class("-inspecting")
            self.inspector.focus()
        self.show_head()

    def action_tab_entry(self) -> None:
        """What the entry says."""
        self.show_tab(Tab.ENTRY)

    def action_tab_context(self) -> None:
        """What the model sees here."""
        self.show_tab(Tab.CONTEXT)

    def action_tab_files(self) -> None:
        """Files read and modified up to here."""
        self.show_tab(Tab.FILES)

    def action_tab_raw(self) -> None:
        """The line of the file."""
        self.show_tab(Tab.RAW)

    def action_pane_next(self) -> None:
        """The other pane; on a narrow screen the next tab."""
        self._pane(1)

    def action_pane_previous(self) -> None:
        """The other pane; on a narrow screen the tab before."""
        self._pane(-1)

    def _pane(self, step: int) -> None:
        if self.two_panes:
            (self.inspector if self.graph.has_focus else self.graph).focus()
            self.show_head()
            return
        now = PANES.index(self.inspector.tab.value) if self.has_class("-inspecting") else 0
        to = (now + step) % len(PANES)
        if to:
            self.show_tab(Tab(PANES[to]))
        else:
            self.show_tree()

    # --- messages of the widgets --------------------------------------------------------------------------------------

    def on_graph_view_cursor_moved(self, message: GraphView.CursorMoved) -> None:
        """The rest of the screen follows once the cursor rests; what was said makes room for the price."""
        message.stop()
        self.rest_counting()
        if self.searched:
            self.tell_hits()
        elif not self.note_kept:
            self.tell("")
        self.note_kept = False
        self.settle()

    def on_graph_view_row_chosen(self, message: GraphView.RowChosen) -> None:
        """A double click is enter."""
        message.stop()
        self.action_move_here()

    def on_graph_view_fold_toggled(self, message: GraphView.FoldToggled) -> None:
        """A click on a fold opens it."""
        message.stop()
        self.action_fold_toggle()

    def on_inspector_entry_wanted(self, message: EntryWanted) -> None:
        """A line of the inspector names an entry."""
        message.stop()
        self.go_to_entry(message.entry)
        if not self.two_panes:
            self.show_tree()

    def on_inspector_xray_wanted(self, message: XRayWanted) -> None:
        """A line of the inspector names a compaction to see through."""
        message.stop()
        self.open_xray(message.compaction)

    def on_inspector_copy_wanted(self, message: CopyWanted) -> None:
        """A line or page of the inspector is wanted on the clipboard."""
        message.stop()
        self.shell.copy(message.text)

    def on_inspector_tab_changed(self, message: TabChanged) -> None:
        """The head of a narrow screen shows the same tab."""
        message.stop()
        self.show_head()

    def on_strip_view_turn_wanted(self, message: StripView.TurnWanted) -> None:
        """A turn of the strip was clicked."""
        message.stop()
        self.go_to_entry(message.entry)

    def on_descendant_focus(self) -> None:
        """The heavy part of the rule says where keys go."""
        self.show_head()
        self.show_hints()

    # --- keys ---------------------------------------------------------------------------------------------------------

    def action_mode_leave(self) -> None:
        """Leaves, one at a time: jump letters, the inspector, the search, the filter; then goes back to the leaf."""
        exploration = self.exploration
        if self.summing is not None:
            self.cancel_summary()
        elif self.graph.jumping:
            self.graph.end_jump()
        elif not self.in_tree:
            self.show_tree()
        elif self.searched:
            self.clear_search()
        elif exploration is not None and exploration.filter is not Filter.CONVERSATION:
            self.set_filter(Filter.CONVERSATION)
        else:
            self.tell("")
            self.action_leaf_go()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What cannot work before a session is read does not."""
        if self.exploration is None and action not in _ALWAYS:
            return None
        if action in ("find_next", "find_previous"):
            return bool(self.hits) or None
        if action == "mark_go":
            return (self.exploration is not None and self.exploration.mark >= 0) or None
        return super().check_action(action, parameters)

    def hints(self) -> Sequence[Hint]:
        """The keys that matter now."""
        if self.trouble:
            return (Hint("app.back"),)
        if self.summing is not None:
            return (Hint("mode.leave", "cancel summary"), Hint("row.down"), Hint("tab.context"))
        if not self.in_tree:
            return (
                Hint("row.down"),
                Hint("move.here", "open", key_only=True),
                Hint("mode.leave", "tree"),
                *((Hint("file.timeline"),) if self.inspector.tab is Tab.FILES else ()),
                Hint("copy.text"),
            )
        if self.bare:
            told = (Hint("density.next"),) if self.session is not None and len(self.session) else ()
            return (*told, Hint("app.back"))
        through = (Hint("xray.open"),) if self.on_compaction else ()
        compact = (Hint("lab.open"),) if self.on_path else ()
        if self.price is not None:
            return (
                Hint("move.here"),
                Hint("mode.leave", "back to leaf", "leaf"),
                *through,
                Hint(("branch.previous", "branch.next")),
                Hint(("point.previous", "point.next")),
                *compact,
                Hint("mark.set"),
                Hint("tab.context"),
                Hint("operation.undo"),
            )
        return (
            Hint("row.down"),
            *through,
            Hint(("branch.previous", "branch.next")),
            Hint(("point.previous", "point.next")),
            Hint("find.open"),
            *compact,
            Hint("filter.choose"),
            Hint("fold.toggle"),
            Hint("label.edit"),
            Hint("density.next"),
            Hint("log.open"),
        )


_ALWAYS = frozenset({"app_back", "app_help", "app_themes", "app_quit", "mode_leave", "app_palette"})
