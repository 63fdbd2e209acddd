"""The catalogue screen: all sessions, grouped, nested, filtered as the user types, with a preview."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Horizontal, Vertical

from leafward.base.shown_path import NO_PROJECT_FOLDER
from leafward_tui.catalogue.controllers.arrangement import Arrangement
from leafward_tui.catalogue.controllers.blame import ProjectBlame
from leafward_tui.catalogue.controllers.curation import Curation
from leafward_tui.catalogue.controllers.filter import Filter
from leafward_tui.catalogue.controllers.installation import AgentInstallation
from leafward_tui.catalogue.controllers.preview import Previews
from leafward_tui.catalogue.controllers.relocation import ProjectRelocation
from leafward_tui.catalogue.controllers.session import SessionExits
from leafward_tui.catalogue.controllers.stores import Stores
from leafward_tui.catalogue.display import CatalogueDisplay, group_hint, sort_hint
from leafward_tui.catalogue.state import CatalogueState
from leafward_tui.ui.bars.key_bar import Hint
from leafward_tui.ui.delay import Delay
from leafward_tui.ui.keys.intents import intent_bindings
from leafward_tui.ui.row_keys import RowSteps
from leafward_tui.ui.screens.screen import BaseScreen
from leafward_tui.ui.screens.screen_controller import Means

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from leafward.catalogue.cards.card import Card
    from leafward.catalogue.catalogue_status import CatalogueStatus
    from leafward_tui.catalogue.controllers.controller import CatalogueMeans
    from leafward_tui.catalogue.widgets.list_head import ListHead
    from leafward_tui.catalogue.widgets.session_list import SessionList
    from leafward_tui.ui.bars.filter_bar import FilterBar
    from leafward_tui.ui.panes.line_scroll import LineList

SETTLE = 0.08
"""Seconds the cursor rests before the preview follows."""

LOOK_AGAIN = 2.0
"""Seconds between two looks at the stores, where a look takes next to no time."""

_OF_LINES = (
    *(f"find.{way}" for way in ("next", "previous")),
    *(f"project.{act}" for act in ("fold", "fold_all", "close", "open")),
    *(f"session.{act}" for act in ("resume", "keep", "archive")),
    "copy.text",
)
"""Intents that act on the lines on show, and ask nothing before."""

_AGES_EVERY = 15.0
"""Seconds between two updates of the ages."""


class CatalogueScreen(BaseScreen[None]):
    """Sessions of every agent, or those in `paths`."""

    NAME = "catalogue"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("catalogue")]
    DEFAULT_CSS = """
    CatalogueScreen {
        #panes { height: 1fr; width: 1fr; }
        #list { height: 1fr; width: 1fr; }
        &.-tall FilterBar, &.-high FilterBar { margin-bottom: 1; }
    }
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        super().__init__()
        self.state = CatalogueState(tuple(paths))
        self._settling = Delay(self.set_timer)

    def compose_content(self) -> ComposeResult:
        """Filter, list, preview; and the controllers, which need the services of the application."""
        view = self.view = CatalogueDisplay(self, self.state, self._look)
        means: CatalogueMeans = Means(self.state, view, self.services, self.services.jobs(self))
        self.sessions, self.preview = view.sessions, view.preview
        self.arrangement = Arrangement(means)
        self.stores = Stores(means, self.arrangement)
        self.resumed = self.stores.resumed
        self._previews = Previews(means)
        relocation = ProjectRelocation(means, self.stores)
        exits = SessionExits(means, self.arrangement, self.stores)
        steps = RowSteps(view.step, lambda: self.sessions.size.height)
        self._of_a_row = {*steps.actions, "session.open"}
        self._of_lines = {*self._of_a_row, *_OF_LINES}
        self.route(
            steps,
            view.panes,
            view.divider,
            self.arrangement,
            self.stores,
            Filter(means),
            Curation(means, self.stores),
            relocation,
            AgentInstallation(means),
            ProjectBlame(means),
            exits,
        )
        self.refuses = lambda intent_id: exits.refusal(intent_id) or relocation.refusal(intent_id)
        yield view.filter_bar
        with Horizontal(id="panes"):
            with Vertical(id="list"):
                yield view.head
                yield view.sessions
            yield view.rule
            yield view.preview

    def mounted(self) -> None:
        """Starts the reading of sessions, after the screen is shown."""
        self.arrangement.restore()
        self.sessions.focus()
        self.view.show_state()
        self.stores.look_around()
        self.set_interval(LOOK_AGAIN, self.stores.look_in_time)
        self.set_interval(_AGES_EVERY, self.sessions.forget_ages)

    def action_intent(self, intent_id: str) -> None:
        """As on every screen; a key that goes to a row, or opens it, waits for the first list.

        One that acts on a row waits also for the lines that the key before asked for: the row under the cursor may be another.
        """
        if intent_id == "filter.edit":
            self.view.early.clear()
        if self.view.awaits_row and intent_id in self._of_a_row:
            self.view.early.append(intent_id)
        elif self.state.list.asked and intent_id in self._of_lines:
            self.view.early.append(intent_id)
            return
        super().action_intent(intent_id)

    def _look(self) -> None:
        self._previews.look()

    def hints(self) -> Sequence[Hint]:
        """The keys that matter while filtering, in the preview, on a session, or on a project."""
        card, view, status = self.view.card, self.state.list.view, self.state.list.stock.status
        if self.view.in_field:
            return [Hint("session.open", "keep filter"), Hint("mode.leave", "clear")]
        undo = [Hint("session.undo")] if self.enabled("session.undo") else []
        clear = [Hint("mode.leave", "clear filter", "clear")] if view.text else []
        if self.view.line is None:
            if self.state.stores.searching:
                return []
            if view.text:
                return [*undo, *clear, Hint("filter.edit", "filter"), Hint("search.open")]
            return [
                *undo,
                Hint("demo.open", "open the demo", "demo"),
                Hint("catalogue.refresh"),
                Hint("filter.edit", "filter"),
            ]
        fold = "unfold" if self.view.line.folded else "fold"
        opens = Hint("session.open") if card is not None else Hint("session.open", fold)
        resume = [self._resume_hint(card, status)] if card is not None else []
        if self.view.panes.side:
            return [opens, Hint("mode.leave", "list"), *resume]
        sound = card is not None and card.problem is None
        ends = card is not None and card.path in status.expires and card.path not in status.kept
        listing = self.view.listing
        put_away = view.archived or listing.archived or listing.warm_ups
        shows = "show archived" if listing.archived else "show hidden"
        return [
            opens,
            *undo,
            *([Hint("project.relocate")] if self.enabled("project.relocate") else []),
            *([Hint("session.keep")] if sound and ends else []),
            *clear,
            Hint("filter.edit", "filter"),
            Hint("search.open"),
            *(resume if sound else []),
            Hint("preview.toggle"),
            Hint("sort.next", sort_hint(self.arrangement.next_sort), "sort"),
            Hint("group.next", group_hint(self.arrangement.next_grouping), "group"),
            *([Hint("archived.toggle", "hide again" if view.archived else shows)] if put_away else []),
            Hint("totals.open"),
        ]

    def _resume_hint(self, card: Card, status: CatalogueStatus) -> Hint:
        """The hint for the key that resumes a session, or why the key does nothing."""
        if card.project in status.missing:
            return Hint("session.resume", f"resume: {NO_PROJECT_FOLDER}", "resume: no folder")
        return Hint("session.resume", f"resume in {card.agent}", "resume")

    # --- messages of the widgets --------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        """Shows one pane or two; one that appears is filled."""
        before = self.view.preview_shown
        self.view.arrange_panes()
        if self.view.preview_shown and not before:
            self._look()

    def on_line_list_cursor_moved(self, message: LineList.CursorMoved) -> None:
        """Lets the preview follow once the cursor rests."""
        message.stop()
        self._settling.start(SETTLE, self._previews.look)
        self.show_hints()

    def on_session_list_group_toggled(self, message: SessionList.GroupToggled) -> None:
        """Folds or unfolds the clicked group."""
        message.stop()
        self.arrangement.toggle(message.group)

    def on_line_list_chosen(self, message: LineList.Chosen) -> None:
        """Opens the double-clicked session."""
        message.stop()
        self.action_intent("session.open")

    def on_list_head_sort_pressed(self, message: ListHead.SortPressed) -> None:
        """Sorts by the clicked heading."""
        message.stop()
        self.arrangement.sort_by(message.sort)

    def on_filter_bar_changed(self, message: FilterBar.Changed) -> None:
        """Filters as the user types."""
        message.stop()
        self.arrangement.filter_by(message.text.strip())

    def on_filter_bar_committed(self, message: FilterBar.Committed) -> None:
        """Gives the keys back to the filtered list."""
        message.stop()
        self.sessions.focus()

    def on_descendant_focus(self) -> None:
        """Shows the keys that matter now."""
        self.show_hints()
