"""The X-ray: the context before a compaction beside the one after it, with a ledger that adds up."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from leafward_tui.ui.keys.intents import intent_bindings
from leafward_tui.ui.row_keys import RowSteps
from leafward_tui.ui.screen_results import XRayResult
from leafward_tui.ui.screens.screen import BaseScreen
from leafward_tui.ui.screens.screen_controller import Means
from leafward_tui.ui.screens.session_watch import SessionWatch
from leafward_tui.xray.controllers.lines import Lines
from leafward_tui.xray.controllers.loader import XRayLoader
from leafward_tui.xray.controllers.lost_facts import LostFacts
from leafward_tui.xray.controllers.search import Search
from leafward_tui.xray.display import XRayDisplay
from leafward_tui.xray.hints import hints_of
from leafward_tui.xray.state import XRayState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from leafward.compaction.draft.draft import Draft
    from leafward.compaction.injection.values import Injection
    from leafward.compaction.plan.plan import Plan
    from leafward.session.session import Session
    from leafward_tui.ui.bars.key_bar import Hint
    from leafward_tui.ui.panes.line_scroll import LineList
    from leafward_tui.xray.controllers.controller import XRayMeans
    from leafward_tui.xray.widgets.head import XRayHead


class XRayScreen(BaseScreen[XRayResult | None]):
    """One compaction, before beside after. Ends with the task that follows, or with None."""

    NAME: ClassVar[str] = "xray"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("xray")]

    DEFAULT_CSS = """
    XRayScreen {
        #xray { height: 1fr; }
        #ledger-rule { margin-bottom: 0; }
        &.-tall AboutLine, &.-high AboutLine { margin-top: 1; }
    }
    """

    def __init__(
        self,
        session: Session,
        compaction: int = -1,
        *,
        plan: Plan | None = None,
        draft: Draft | None = None,
        injection: Injection | None = None,
    ) -> None:
        super().__init__()
        self.state = XRayState(session, compaction, plan, draft, injection)

    def compose_content(self) -> ComposeResult:
        """Heads, both sides, ledger, and the text about the line under the cursor."""
        view = self.view = XRayDisplay(self, self.state)
        self.lines = view.lines
        self.clear_note = partial(view.about.say, "", "")
        means: XRayMeans = Means(self.state, view, self.services, self.services.jobs(self))
        self.line_keys = Lines(means)
        self.search = Search(means, self.line_keys)
        self.loader = XRayLoader(means, self.line_keys)
        self._watch = SessionWatch(self.state.session, self.state.file, view, self.services.keymap)
        steps = RowSteps(self.lines.move_by, lambda: self.lines.size.height)
        self.route(steps, self.line_keys, self.search, LostFacts(means))
        yield from view.widgets()

    def mounted(self) -> None:
        """Shows the empty panes, and starts reading."""
        self.view.show_title()
        self.lines.focus()
        self.loader.load()
        self.set_interval(self.services.config.follow_interval, self._watch.look)

    # --- messages of the widgets --------------------------------------------------------------------------------------

    def on_line_list_cursor_moved(self, message: LineList.CursorMoved) -> None:
        """Shows the text about the cursor's line, and lights its lines across."""
        message.stop()
        self.view.head.show(self.state.loaded.xray, self.state.loaded.words, self.lines.side)
        self.line_keys.show_about()
        self.show_hints()

    def on_line_list_chosen(self, message: LineList.Chosen) -> None:
        """Handles a double click like enter."""
        message.stop()
        self.line_keys.go_to_source()

    def on_xray_head_side_wanted(self, message: XRayHead.SideWanted) -> None:
        """Handles a click on a head like tab."""
        message.stop()
        if message.side is not self.lines.side:
            self.line_keys.turn()

    # --- state --------------------------------------------------------------------------------------------------------

    @property
    def refusal(self) -> str:
        """The reason why nothing can be written to the session; empty where it can."""
        return self.state.session.read_only or ""

    def hints(self) -> Sequence[Hint]:
        """The keys that matter now."""
        return hints_of(self.state, self.lines.piece, searched=bool(self.search.words))
