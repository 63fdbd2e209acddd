"""The explorer screen: its widgets, and the routes of their messages and the keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on

from leafward.base.safe_text import safe_line
from leafward_tui.explorer.widgets.gauge import Gauge
from leafward_tui.explorer.widgets.graph_view import GraphView
from leafward_tui.explorer.widgets.peek import Peek
from leafward_tui.explorer.widgets.strip import StripView
from leafward_tui.inspector.messages import EntryWanted, ExamWanted, XRayWanted
from leafward_tui.inspector.pane import Inspector
from leafward_tui.ui.bars.price_line import PriceLine
from leafward_tui.ui.keys.intents import intent_bindings
from leafward_tui.ui.panes.divider import Divider
from leafward_tui.ui.panes.hairline import ColumnRule, RowRule
from leafward_tui.ui.panes.painted import Pane
from leafward_tui.ui.panes.tab_head import TabHead
from leafward_tui.ui.panes.two_panes import has_two_panes
from leafward_tui.ui.screens.screen import BaseScreen

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from leafward.session.lines.prefetch import Prefetch
    from leafward_tui.explorer.assembly import Controllers
    from leafward_tui.explorer.display import ExplorerDisplay
    from leafward_tui.explorer.state import ExplorerState
    from leafward_tui.inspector.messages import PageShown
    from leafward_tui.ui.bars.key_bar import Hint
    from leafward_tui.ui.open_target import OpenTarget


class ExplorerScreen(BaseScreen[None]):
    """A session as a tree.

    The first frame shows empty widgets: their content and the controllers of the keys are loaded after it. Keys are
    held until then.
    """

    state: ExplorerState
    panes: ExplorerDisplay
    controllers: Controllers

    NAME: ClassVar[str] = "explorer"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("explorer")]

    DEFAULT_CSS = """
    ExplorerScreen {
        #panes { layout: horizontal; }
        #tree { width: 55%; }
        #overview { layout: horizontal; height: 2; }
        #strip { width: 1fr; height: 1fr; }
        #gauge { width: 37; height: 1fr; }
        #price { height: 1; width: 1fr; }

        &.-tall #price, &.-high #price { height: 2; }
        &.-high #overview { height: 4; }
        /* Toasts stand above the strip and the gauge too. */
        ToastRack { margin-bottom: 5; }
        &.-tall ToastRack { margin-bottom: 9; }
        &.-high ToastRack { margin-bottom: 11; }

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
        agent: str | None,
        ahead: Prefetch | None,
        target: OpenTarget | None = None,
    ) -> None:
        super().__init__()
        self._path, self._agent = path, agent
        self._ahead = ahead
        """The scan of this session that began before there was a screen."""
        self._target = target
        """The first place of the cursor."""
        self.ready = False
        self.waits_for = lambda: (
            ""
            if self.ready and (self.state.is_read or self.state.trouble)
            else "the session is still being read"
        )

    def compose_content(self) -> ComposeResult:
        """Tree and inspector side by side, then strip and gauge, then the price line."""
        # Else a narrow screen would be laid out twice.
        two, width = has_two_panes(self.app.size), self.app.size.width
        self.set_class(not two, "-one-pane")
        self._divider = Divider(self.services, self.NAME, ColumnRule())
        with Pane(id="panes"):
            with Pane(id="tree") as tree:
                tree.styles.width = self._divider.left(width) if two else None
                yield TabHead(id="head")
                yield GraphView()
            yield self._divider.rule
            yield Inspector(id="inspector")
        yield RowRule(id="peek-rule")
        yield Peek()
        yield RowRule(id="strip-rule")
        with Pane(id="overview"):
            yield StripView(id="strip")
            yield Gauge(id="gauge")
        yield RowRule(id="price-rule")
        yield PriceLine(id="price")

    def mounted(self) -> None:
        """Shows the screen. Its content comes after the first frame, which is painted before the next message."""
        self.title_bar.show(safe_line(self._path.stem, 200))
        self.call_later(self._begin)

    def _begin(self) -> None:
        """Takes keys, and reads the session."""
        from leafward.session.tree.density import Density
        from leafward_tui.explorer.assembly import Controllers
        from leafward_tui.explorer.display import ExplorerDisplay
        from leafward_tui.explorer.state import ExplorerState
        from leafward_tui.ui.screens.screen_controller import Means

        self.state = ExplorerState(self._path, self._agent)
        self.panes = ExplorerDisplay(self, self.state, self._divider)
        self.controllers = Controllers(Means(self.state, self.panes, self.services, self.services.jobs(self)))
        self.route(self._divider, *self.controllers.routed, condition=lambda _: self.state.is_read)
        self.clear_note = self.panes.begin_key
        self.ready = True
        config, in_turn = self.services.config, self._target is not None and self._target.in_turn
        self.controllers.navigation.begin(Density.ENTRIES if in_turn else Density(config.density))
        self.panes.arrange()
        self.panes.tree.focus()
        self.controllers.loader.open(self._ahead, self._target)
        self.set_interval(config.follow_interval, self.controllers.followed.look)

    def on_unmount(self) -> None:
        """Closes the session's file; cancels a summary under way."""
        if self.ready and self.state.session is not None:
            self.controllers.summary.cancel()
            self.controllers.loader.close()

    # --- state --------------------------------------------------------------------------------------------------------

    @property
    def refusal(self) -> str:
        """The reason why nothing can be written to the session; empty where it can."""
        return self.state.refusal

    def hints(self) -> Sequence[Hint]:
        """The keys that matter now."""
        return self.controllers.modes.hints() if self.ready else ()

    def on_resize(self) -> None:
        """Shows two panes or one, as there is room."""
        if self.ready:
            two = not self.has_class("-one-pane")
            self.call_after_refresh(self.panes.arrange)
            if two and not self.panes.two_panes:
                # The lines under the tree are made for one pane alone.
                self.call_after_refresh(self.controllers.details.settle)

    def on_descendant_focus(self) -> None:
        """Draws the rule heavy where keys go."""
        self.panes.show_head()
        self.show_hints()

    def on_inspector_page_shown(self, message: PageShown) -> None:
        """Shows the keys for the new page."""
        message.stop()
        if not self.panes.in_tree:
            self.show_hints()

    # --- messages of the widgets --------------------------------------------------------------------------------------

    def on_graph_view_cursor_moved(self, message: GraphView.CursorMoved) -> None:
        """Lets the rest of the screen follow the cursor once it rests."""
        message.stop()
        self.controllers.metrics.rest()
        self.controllers.search.cursor_moved()
        self.controllers.followed.cursor_moved()
        self.controllers.details.settle()

    def on_graph_view_rows_shown(self, message: GraphView.RowsShown) -> None:
        """Counts the rows that came on the screen first, and fits the head to their columns."""
        message.stop()
        self.panes.show_head()
        self.controllers.metrics.rows_shown()

    def on_tab_head_tab_wanted(self, message: TabHead.TabWanted) -> None:
        """Shows the pane of the clicked tab."""
        message.stop()
        self.panes.show_pane(message.tab)

    @on(StripView.TurnWanted)
    @on(EntryWanted)
    def show_entry(self, message: StripView.TurnWanted | EntryWanted) -> None:
        """Goes to the entry of a clicked turn of the strip, or of a line of the inspector."""
        message.stop()
        self.controllers.navigation.show_entry(message.entry)

    @on(XRayWanted)
    @on(ExamWanted)
    def look_into(self, message: XRayWanted | ExamWanted) -> None:
        """Opens the X-ray or the exam of the compaction that a line of the inspector names."""
        message.stop()
        if not self.state.is_read:
            return
        if isinstance(message, XRayWanted):
            self.controllers.compactions.open_xray(message.compaction)
        else:
            self.controllers.exam.ask_model(message.compaction)

    def on_inspector_tab_changed(self) -> None:
        """Shows the same tab in the head of a narrow screen."""
        self.panes.show_head()
