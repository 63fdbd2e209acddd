"""The explorer screen: its widgets, and where their messages and the keys go."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.containers import Horizontal, Vertical

from leafward.session.tree_layout import Density
from leafward_tui.explorer.assembly import Controllers
from leafward_tui.explorer.panes import ExplorerPanes
from leafward_tui.explorer.state import ExplorerState
from leafward_tui.explorer.widgets.gauge import Gauge
from leafward_tui.explorer.widgets.graph_view import GraphView
from leafward_tui.explorer.widgets.peek import Peek
from leafward_tui.explorer.widgets.strip import StripView
from leafward_tui.ui.hairline import ColumnRule, RowRule
from leafward_tui.ui.inspector_pane import EntryWanted
from leafward_tui.ui.intents import intent_bindings
from leafward_tui.ui.price_line import PriceLine
from leafward_tui.ui.screen import BaseScreen
from leafward_tui.ui.tab_head import TabHead

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.widget import Widget

    from leafward.session.prefetch import Ahead
    from leafward_tui.ui.inspector_pane import CopyWanted, ExamWanted, XRayWanted
    from leafward_tui.ui.key_bar import Hint
    from leafward_tui.ui.open_target import OpenTarget


class ExplorerScreen(BaseScreen[None]):
    """A session as a tree."""

    NAME: ClassVar[str] = "explorer"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("explorer")]

    DEFAULT_CSS = """
    ExplorerScreen {
        #panes { height: 1fr; width: 1fr; }
        #tree { width: 55%; height: 1fr; }
        #graph { width: 1fr; height: 1fr; }
        #inspector { width: 1fr; height: 1fr; }
        #overview { height: 2; width: 1fr; }
        #strip { width: 1fr; height: 1fr; }
        #gauge { width: 37; height: 1fr; }
        #price { height: 1; width: 1fr; }

        &.-tall #price, &.-high #price { height: 2; }
        &.-high #overview { height: 4; }

        Peek, #peek-rule { display: none; }
        &.-one-pane {
            Peek, #peek-rule { display: block; }
            #price-rule { display: none; }
            &.-inspecting Peek, &.-inspecting #peek-rule { display: none; }
            #tree { width: 1fr; }
            #inspector { display: none; }
            ColumnRule { display: none; }
            #overview { height: 1; }
            &.-inspecting #graph { display: none; }
            &.-inspecting #tree { height: 2; }
            &.-inspecting #panes { layout: vertical; }
            &.-inspecting #inspector { display: block; }
        }
    }
    """

    def __init__(
        self,
        path: Path,
        agent: str | None = None,
        ahead: Ahead | None = None,
        target: OpenTarget | None = None,
    ) -> None:
        super().__init__()
        self.state = ExplorerState(path, agent)
        self._ahead = ahead
        """The scan of this session that began before there was a screen."""
        self._target = target
        """Where the cursor goes first."""
        self.waits_for = lambda: (
            "" if self.state.session is not None or self.state.trouble else "the session is still being read"
        )

    def compose_content(self) -> ComposeResult:
        """Tree and inspector side by side, then strip and gauge, then the price line."""
        self.panes = ExplorerPanes(
            self,
            self.state,
            head=TabHead(),
            tree=GraphView(id="graph"),
            column_rule=ColumnRule(),
            inspector=self.shell.screens.inspector(),
            peek=Peek(),
            strip_rule=RowRule(),
            strip=StripView(id="strip"),
            gauge=Gauge(id="gauge"),
            price_line=PriceLine(id="price"),
        )
        self.controllers = Controllers(self.state, self.panes, self.shell, self.shell.jobs(self))
        self.route(*self.controllers.routed)
        with Horizontal(id="panes"):
            with Vertical(id="tree"):
                yield self.panes.head
                yield self.panes.tree
            yield self.panes.column_rule
            yield cast("Widget", self.panes.inspector)
        yield RowRule(id="peek-rule")
        yield self.panes.peek
        yield self.panes.strip_rule
        with Horizontal(id="overview"):
            yield self.panes.strip
            yield self.panes.gauge
        yield RowRule(id="price-rule")
        yield self.panes.price_line

    def mounted(self) -> None:
        """Shows the screen, and reads the session behind it."""
        config, in_turn = self.shell.config, self._target is not None and self._target.in_turn
        self.controllers.navigation.begin(Density.ENTRIES if in_turn else Density(config.density))
        self.title_bar.show(self.state.path.stem)
        self.panes.arrange()
        self.panes.tree.focus()
        self.call_after_refresh(self.controllers.loader.open, self._ahead, self._target)
        self.set_interval(config.follow_interval, self.controllers.loader.look)

    def on_unmount(self) -> None:
        """Closes the session's file; a summary under way is given up."""
        if self.state.session is not None:
            self.controllers.summary.cancel()
            self.controllers.loader.close()

    # --- what the screen is asked -------------------------------------------------------------------------------------

    @property
    def refusal(self) -> str:
        """Why nothing can be written to the session; empty where it can."""
        return self.state.refusal

    def hints(self) -> Sequence[Hint]:
        """The keys that matter now."""
        return self.controllers.modes.hints()

    def on_resize(self) -> None:
        """Two panes or one, as there is room."""
        self.call_after_refresh(self.panes.arrange)

    def on_descendant_focus(self) -> None:
        """The heavy part of the rule says where keys go."""
        self.panes.show_head()
        self.show_hints()

    # --- messages of the widgets --------------------------------------------------------------------------------------

    def on_graph_view_cursor_moved(self, message: GraphView.CursorMoved) -> None:
        """The rest of the screen follows once the cursor rests."""
        message.stop()
        self.controllers.metrics.rest()
        self.controllers.search.cursor_moved()
        self.controllers.loader.cursor_moved()
        self.controllers.details.settle()

    def on_graph_view_rows_shown(self, message: GraphView.RowsShown) -> None:
        """What came on the screen is counted first; the head stands above the columns as they are now."""
        message.stop()
        self.panes.show_head()
        self.controllers.metrics.rows_shown()

    def on_tab_head_tab_wanted(self, message: TabHead.TabWanted) -> None:
        """A tab of the head was clicked."""
        message.stop()
        self.panes.show_pane(message.tab)

    @on(StripView.TurnWanted)
    @on(EntryWanted)
    def show_entry(self, message: StripView.TurnWanted | EntryWanted) -> None:
        """A turn of the strip was clicked, or a line of the inspector that names an entry."""
        message.stop()
        self.controllers.navigation.show_entry(message.entry)

    def on_inspector_xray_wanted(self, message: XRayWanted) -> None:
        """A line of the inspector names a compaction to see through."""
        message.stop()
        self.controllers.compactions.open_xray(message.compaction)

    def on_inspector_exam_wanted(self, message: ExamWanted) -> None:
        """A model is to sit the exam of a compaction."""
        message.stop()
        self.controllers.compactions.examine(message.compaction)

    def on_inspector_copy_wanted(self, message: CopyWanted) -> None:
        """A line or page of the inspector is wanted on the clipboard."""
        message.stop()
        self.shell.copy(message.text)

    def on_inspector_tab_changed(self) -> None:
        """The head of a narrow screen shows the same tab."""
        self.panes.show_head()
