"""The lab's screen: its panes, the routes of their messages, and the condition of its keys."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from leafward_tui.lab.assembly import Controllers
from leafward_tui.lab.display import LabDisplay
from leafward_tui.lab.hints import hints_of
from leafward_tui.lab.model.paid_summaries import kept_drafts
from leafward_tui.lab.state import LabState
from leafward_tui.ui.keys.intents import intent_bindings
from leafward_tui.ui.row_keys import RowSteps
from leafward_tui.ui.screen_results import LabResult
from leafward_tui.ui.screens.screen import BaseScreen
from leafward_tui.ui.screens.screen_controller import Means

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.widgets import TextArea

    from leafward.session.session import Session
    from leafward_tui.lab.controllers.controller import LabMeans
    from leafward_tui.ui.bars.key_bar import Hint
    from leafward_tui.ui.panes.lines_view import LinesView
    from leafward_tui.ui.panes.tab_head import TabHead


class LabScreen(BaseScreen[LabResult | None]):
    """A planned compaction. Ends with its write, or with None."""

    NAME: ClassVar[str] = "lab"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("lab")]

    DEFAULT_CSS = """
    LabScreen {
        #columns { height: 1fr; width: 1fr; }
        #columns > Vertical { height: 1fr; }
        #cut-pane { width: 31%; }
        #plan-pane { width: 36%; }
        #text-pane { width: 1fr; }
        #why { height: 4; }
        #fates { height: 50%; }
        #note { height: 1; }
        #edit {
            height: 1fr; width: 1fr; border: none; padding: 0 1;
            background: $lw-raise; color: $lw-text;
            scrollbar-size-vertical: 1;
            & > .text-area--cursor-line { background: $lw-raise; }
            & > .text-area--cursor { background: $lw-leaf; color: $lw-bg; }
            & > .text-area--selection { background: $lw-ghost-tint; }
        }
        &.-tall #why { height: 7; }
        &.-high #why { height: 8; }
        .-one #cut-pane, .-one #plan-pane, .-one #text-pane { width: 1fr; }
        .-two #cut-pane { width: 46%; }
        .-two #plan-pane, .-two #text-pane { width: 1fr; }
    }
    """

    def __init__(self, session: Session, entry: int, pins: tuple[str, ...]) -> None:
        """`entry` is an entry to plan at, or a compaction to plan beside; `pins` go into the summary."""
        super().__init__()
        self.state = LabState(session, entry, pins)

    def compose_content(self) -> ComposeResult:
        """The panes, and the row over the keys."""
        view = self.view = LabDisplay(self, self.state)
        self.panes = view.panes
        means: LabMeans = Means(self.state, view, self.services, self.services.jobs(self))
        prefetch = partial(self.services.screens.prefetch, self)
        self.controllers = Controllers(means, kept_drafts(self.app), prefetch)
        steps = RowSteps(
            lambda by: self.panes.pane(self.state.layout.area).move_by(by),
            lambda: self.panes.pane(self.state.layout.area).size.height,
        )
        self.route(steps, *self.controllers.routed, condition=self.state.takes)
        self.clear_note = partial(view.tell, "")
        yield view.panes
        yield view.note

    def mounted(self) -> None:
        """Shows the empty panes, and starts the measurement."""
        self.view.show_title()
        self.controllers.layout.go_to(self.state.layout.area)
        self.call_after_refresh(self.controllers.path.measure)
        self.set_interval(self.services.config.follow_interval, self.controllers.file.look)

    # --- messages of the widgets --------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        """Shows as many panes as there is room for."""
        self.call_after_refresh(self.controllers.display.arrange)

    def on_tab_head_tab_wanted(self, message: TabHead.TabWanted) -> None:
        """Goes to the page of the clicked tab."""
        message.stop()
        self.controllers.layout.go_to_tab(message.tab)

    def on_descendant_focus(self) -> None:
        """Gives the keys to a pane that was clicked."""
        if area := self.panes.area_of(self.focused):
            self.controllers.layout.take_focus(area)

    def on_lines_view_chosen(self, message: LinesView.Chosen) -> None:
        """Puts the cut before a clicked row, goes to the source of a clicked fact, switches a clicked section."""
        message.stop()
        panes, view = self.panes, message.view
        if view is panes.plan:
            self.controllers.settings.plan_chosen(message.key, message.x)
        elif view is panes.cut or view is panes.why:
            self.controllers.settings.turn_chosen(message.key, twice=message.twice)
        elif view is panes.fates or message.twice:
            self.controllers.sources.go_to_source(view)

    def on_lines_view_dragged(self, message: LinesView.Dragged) -> None:
        """Moves the slider that the mouse holds."""
        message.stop()
        self.controllers.settings.drag(message)

    def on_lines_view_lines_shown(self, message: LinesView.LinesShown) -> None:
        """Looks up the headlines of rows that came on the screen."""
        message.stop()
        if message.view is self.panes.cut:
            self.controllers.turns.word_shown()

    def on_text_area_changed(self, message: TextArea.Changed) -> None:
        """Updates the number of tokens over the field."""
        self.controllers.edit.changed(message.text_area.text)

    # --- state --------------------------------------------------------------------------------------------------------

    @property
    def refusal(self) -> str:
        """The reason why nothing can be written to the session; empty where it can."""
        return self.state.path.shut

    def go_back(self) -> None:
        """Leaves one mode at a time."""
        self.controllers.leave.leave()

    def reason(self, intent_id: str) -> str:
        """The reason why an intent does nothing now."""
        if self.state.edit.open:
            return f"the summary is being edited; {self.services.keymap.label('mode.leave')} keeps the edit"
        if self.state.path.what_if is None:
            return self.state.path.trouble or "the context is still being read"
        return super().reason(intent_id)

    def hints(self) -> Sequence[Hint]:
        """The keys that matter now."""
        return hints_of(self.state, alone=self.panes.columns_shown == 1)
