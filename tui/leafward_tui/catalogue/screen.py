"""The catalogue: all sessions, grouped, nested, filtered as one types, with a preview of the one under the cursor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Horizontal, Vertical

from leafward_tui.catalogue.controllers.arrangement import Arrangement
from leafward_tui.catalogue.controllers.curation import Curation
from leafward_tui.catalogue.controllers.filter import Filter
from leafward_tui.catalogue.controllers.preview import Previews
from leafward_tui.catalogue.controllers.session import SessionExits
from leafward_tui.catalogue.controllers.stores import Stores
from leafward_tui.catalogue.model.empty_words import empty_words
from leafward_tui.catalogue.state import CatalogueState
from leafward_tui.catalogue.widgets.list_head import ListHead
from leafward_tui.catalogue.widgets.preview import Preview
from leafward_tui.catalogue.widgets.session_list import SessionList
from leafward_tui.ui.cells import counted, exact
from leafward_tui.ui.filter_bar import FilterBar
from leafward_tui.ui.hairline import ColumnRule
from leafward_tui.ui.intents import intent_bindings
from leafward_tui.ui.key_bar import Hint
from leafward_tui.ui.row_keys import RowSteps
from leafward_tui.ui.screen import BaseScreen
from leafward_tui.ui.two_panes import Panes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.timer import Timer

    from leafward.agents import Resume
    from leafward.catalog import Card
    from leafward_tui.catalogue.model.listing import Listing, ListLine
    from leafward_tui.catalogue.model.session_preview import Glimpse
    from leafward_tui.catalogue.model.totals_table import TotalsRow
    from leafward_tui.ui.title_bar import Progress

__all__ = ["CatalogueScreen"]

SETTLE = 0.08
"""Seconds the cursor rests before the preview follows."""

LOOK_AGAIN = 2.0
"""Seconds between two looks at the stores, where a look takes next to nothing."""

_AGES_EVERY = 15.0
"""Seconds after which ages are painted anew."""


class CatalogueScreen(BaseScreen[None]):
    """Sessions of every agent, or what lies in ``paths``."""

    NAME = "catalogue"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("catalogue")]
    CSS_PATH = Path(__file__).with_name("screen.tcss")

    def __init__(self, paths: Sequence[Path] = ()) -> None:
        super().__init__()
        self.state = CatalogueState(tuple(paths))
        self._settling: Timer | None = None

    def compose_content(self) -> ComposeResult:
        """Filter, list, preview; and the controllers, which need the services of the application."""
        self.filter_bar = FilterBar()
        self.head = ListHead()
        self.sessions = SessionList()
        self.preview = Preview()
        self._rule = ColumnRule()
        yield self.filter_bar
        with Horizontal(id="panes"):
            with Vertical(id="list"):
                yield self.head
                yield self.sessions
            yield self._rule
            yield self.preview
        state, services = self.state, self.shell
        jobs = services.jobs(self)
        self._panes = Panes(self, lambda: self.line is not None)
        self.arrangement = Arrangement(state, self, services, jobs)
        self.stores = Stores(state, self, services, jobs, self.arrangement)
        self._filter = Filter(self, self._panes)
        self._previews = Previews(state, self, jobs)
        self.curation = Curation(state, self, services, jobs, self.stores)
        exits = SessionExits(state, self, services, jobs, self.arrangement, self.stores)
        rows = RowSteps(self._step, lambda: self.sessions.size.height)
        self.route(rows, self._panes, self.arrangement, self.stores, self._filter, self.curation, exits)

    def mounted(self) -> None:
        """The shell stands; sessions are read beside it."""
        self.arrangement.restore()
        self.sessions.focus()
        self.arrange_panes()
        self.show_state()
        self.stores.look_around()
        self.set_interval(LOOK_AGAIN, self.stores.look_in_time)
        self.set_interval(_AGES_EVERY, self.sessions.forget_ages)

    def resumed(self) -> None:
        """Back from a session."""
        self.stores.resumed()

    # --- what the controllers see -------------------------------------------------------------------------------------

    @property
    def listing(self) -> Listing:
        """The lines on show."""
        return self.sessions.listing

    @property
    def line(self) -> ListLine | None:
        """The line under the cursor."""
        return self.sessions.line

    @property
    def card(self) -> Card | None:
        """The session under the cursor."""
        return self.sessions.card

    @property
    def on_top(self) -> bool:
        """Whether no other screen lies over this one."""
        return self.is_current

    @property
    def preview_shown(self) -> bool:
        """Whether there is a preview on the screen."""
        return self.preview.display

    @property
    def filtering(self) -> bool:
        """Whether the filter has the keys."""
        return self.filter_bar.editing

    def show_listing(self, listing: Listing) -> None:
        """New lines."""
        self.sessions.show(listing)
        self.clear_preview()
        self.show_state()

    def show_state(self) -> None:
        """Everything around the lines: title, figures, hints, what stands where there are none."""
        listing, stock = self.listing, self.state.list.stock
        total, agents = listing.total, len(stock.agents)
        note = counted(stock.projects, "project") if total else ""
        self.title_bar.show("Sessions", note=f"{agents} agents, {note}" if agents > 1 and note else note)
        query, filtered = listing.query, bool(listing.view.text)
        of_all = f" of {counted(total, 'session')}"
        words = of_all if filtered else f" {'session' if total == 1 else 'sessions'}"
        if query.problems:
            self.filter_bar.show(exact(listing.shown), words, query.problems[0].text, problem=True)
        elif filtered:
            self.filter_bar.show(exact(listing.shown), words, "in titles, prompts, projects")
        else:
            self.filter_bar.show(exact(total) if total else "", words if total else "")
        stores = self.state.stores
        self.sessions.say_empty(
            empty_words(
                listing,
                searching=stores.cards is None or (stores.searching and not stores.cards),
                excluded=stores.catalogue.excluded if stores.catalogue is not None else 0,
                searched=stores.catalogue.searched if stores.catalogue is not None else (),
                demo_key=self.shell.keymap.label("demo.open"),
            )
        )
        self.arrange_panes()

    def show_progress(self, progress: Progress | None) -> None:
        """How far the reading is."""
        self.title_bar.progress(progress)

    def relight(self) -> None:
        """The heavy part of a rule says where the keys go."""
        side = self._panes.side and self.preview.display
        agents = len(self.state.list.stock.agents) > 1
        self.head.show(self.state.list.view.sort, agents=agents, lit=not side, bare=not self.listing.total)
        self.preview.light(lit=bool(side))
        self.show_hints()

    def show_glimpse(self, card: Card, glimpse: Glimpse) -> None:
        """In the preview, if the cursor is still there."""
        if self.card is not None and self.card.path == card.path:
            self.preview.show(card, glimpse, self.listing.query, self.state.list.stock)

    def clear_preview(self) -> None:
        """Nothing is shown of a session that is not in the list."""
        shown = self.preview.card
        if shown is not None and self.card is None and shown.path not in self.listing.at:
            self.preview.show(None, None, self.listing.query)

    def move_to_session(self, step: int) -> None:
        """The next session that matches, or the one before."""
        self.sessions.move_to_session(step)

    def edit_filter(self) -> None:
        """The filter has the keys."""
        self.filter_bar.edit()

    def clear_filter(self) -> None:
        """No filter any more."""
        self.filter_bar.clear()

    def focus_list(self) -> None:
        """The list has the keys."""
        self.sessions.focus()

    def leave_field(self) -> bool:
        """Out of the filter."""
        if self.filter_bar.editing:
            self.sessions.focus()
            return True
        return False

    def arrange_panes(self) -> None:
        """The list, the preview, or both."""
        two, panes = self.two_panes, self._panes
        width = self.app.size.width
        self.preview.styles.width = max(36, min(56, width // 3)) if two else "1fr"
        some = bool(self.listing.lines or self.state.list.view.text)
        self._rule.display = two and panes.with_preview and some
        self.preview.display = panes.with_preview and some if two else panes.side
        self.query_one("#list").display = two or not panes.side
        self.preview.styles.padding = 0 if two else (0, 0, 0, 1)
        self.relight()

    def look(self) -> None:
        """Shows what is under the cursor."""
        self._previews.look()

    def show_totals(self, rows: Sequence[TotalsRow], note: str) -> None:
        """The table of what sessions used and cost."""
        from leafward_tui.catalogue.totals import TotalsScreen

        self.app.push_screen(TotalsScreen(rows, note))

    def run_in_agent(self, resume: Resume) -> str | None:
        """In its agent, in our place."""
        from leafward_tui.ui.agent_run import run_in_agent

        return run_in_agent(self.app, resume)

    # --- keys ---------------------------------------------------------------------------------------------------------

    def _step(self, by: int) -> None:
        """Moves the cursor, or the preview where it has the keys."""
        if self._panes.side and self.preview.display:
            self.preview.scroll_by(by)
        else:
            self.sessions.move(by)

    def hints(self) -> Sequence[Hint]:
        """The keys of the state: while filtering, in the preview, on a session, on a project."""
        if self.filtering:
            return [Hint("session.open", "keep filter"), Hint("mode.leave", "clear")]
        card, view, about = self.card, self.state.list.view, self.state.list.stock.about
        if self.line is None:
            if self.state.stores.searching:
                return []
            return [Hint("demo.open", "demo"), Hint("catalogue.refresh"), Hint("filter.edit")]
        if self._panes.side:
            hints = [Hint("session.open"), Hint("mode.leave", "list"), Hint("row.down", "scroll")]
            return [*hints, Hint("session.resume", f"resume in {card.agent}", "resume")] if card else hints
        hints = [Hint("session.open") if card is not None else Hint("session.open", "fold")]
        if self.enabled("session.undo"):
            hints.append(Hint("session.undo"))
        if card is not None and card.problem is None and card.path in about.expires:
            hints += [] if card.path in about.kept else [Hint("session.keep")]
        if view.text:
            hints.append(Hint("mode.leave", "clear filter", "clear"))
        hints += [
            Hint("preview.toggle"),
            Hint("filter.edit"),
            Hint("search.open"),
            Hint("sort.next", f"sort: {view.sort}", "sort"),
            Hint("group.next", f"group: {view.grouping}", "group"),
            Hint("archived.toggle"),
        ]
        if card is not None and card.problem is None:
            hints.append(Hint("session.resume", f"resume in {card.agent}", "resume"))
        return [*hints, Hint("totals.open")]

    # --- what the widgets say -----------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        """One pane or two."""
        self.arrange_panes()

    def on_session_list_cursor_moved(self, message: SessionList.CursorMoved) -> None:
        """The preview follows once the cursor rests."""
        message.stop()
        if self._settling is not None:
            self._settling.stop()
        self._settling = self.set_timer(SETTLE, self._previews.look)
        self.show_hints()

    def on_session_list_group_toggled(self, message: SessionList.GroupToggled) -> None:
        """A group was clicked."""
        message.stop()
        self.arrangement.toggle(message.group)

    def on_session_list_opened(self, message: SessionList.Opened) -> None:
        """A double click."""
        message.stop()
        self.action_intent("session.open")

    def on_list_head_sort_pressed(self, message: ListHead.SortPressed) -> None:
        """A heading was clicked."""
        message.stop()
        self.arrangement.sort_by(message.sort)

    def on_filter_bar_changed(self, message: FilterBar.Changed) -> None:
        """Filters as one types."""
        message.stop()
        self.arrangement.filter_by(message.text.strip())

    def on_filter_bar_committed(self, message: FilterBar.Committed) -> None:
        """The list has the keys again, filtered."""
        message.stop()
        self.sessions.focus()

    def on_descendant_focus(self) -> None:
        """Other keys matter now."""
        self.show_hints()
