"""The widgets of the catalogue and their drawing: all that its controllers see of the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.figures import counted
from leafward.catalogue.lineage import Sort
from leafward_tui.catalogue.model.listing import Grouping
from leafward_tui.catalogue.widgets.list_head import ListHead
from leafward_tui.catalogue.widgets.preview import Preview
from leafward_tui.catalogue.widgets.session_list import SessionList
from leafward_tui.ui.bars.filter_bar import FilterBar
from leafward_tui.ui.panes.divider import RULE, Divider
from leafward_tui.ui.panes.hairline import ColumnRule
from leafward_tui.ui.panes.two_panes import Panes, has_two_panes
from leafward_tui.ui.text.cells import exact
from leafward_tui.ui.text.paths import tilde

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.agents.resume import Resume
    from leafward.catalogue.cards.card import Card
    from leafward_tui.catalogue.model.listing import Listing, ListLine, View
    from leafward_tui.catalogue.model.session_preview import SessionPreview
    from leafward_tui.catalogue.model.totals_table import TotalsRow
    from leafward_tui.catalogue.state import CatalogueState
    from leafward_tui.ui.screens.screen import BaseScreen


class CatalogueDisplay:
    """The screen as its controllers see it."""

    def __init__(self, screen: BaseScreen[None], state: CatalogueState, look: Callable[[], object]) -> None:
        """`look` fills the preview."""
        self._screen, self._state = screen, state
        self.filter_bar = FilterBar()
        self.head = ListHead()
        self.sessions = SessionList()
        self.preview = Preview()
        self.rule = ColumnRule()
        self.divider = Divider(screen.services, screen.NAME, self.rule, self.arrange_panes)
        self.panes = Panes(self, lambda: self.line is not None)
        """List and preview, and which one has the keys."""
        self.early: list[str] = []
        """Intents of the keys that came before the first list, or before the lines that another key asked for."""
        self.look = look
        self.open_sheet = screen.open_sheet
        self.show_progress = screen.title_bar.progress
        self.edit_filter, self.clear_filter = self.filter_bar.edit, self.filter_bar.clear
        self.focus_list, self.move_to_session = self.sessions.focus, self.sessions.move_to_session

    # --- content ------------------------------------------------------------------------------------------------------

    @property
    def listing(self) -> Listing:
        """The lines on show."""
        return self.sessions.listing

    @property
    def line(self) -> ListLine | None:
        """The line under the cursor; None where there is none."""
        return self.sessions.line

    @property
    def card(self) -> Card | None:
        """The session under the cursor; None where the line is no session."""
        return self.sessions.card

    @property
    def project(self) -> str:
        """The folder of the session or project under the cursor; empty where there is none."""
        line = self.line
        if line is None or line.card is not None:
            return line.card.project if line is not None and line.card is not None else ""
        return line.group if self._state.list.view.grouping is Grouping.PROJECT else ""

    @property
    def awaits_row(self) -> bool:
        """Whether there is no row yet, and sessions are being looked for or listed."""
        stores = self._state.stores
        listed = stores.cards is None or self.listing.stock.source is stores.cards
        return self.line is None and (stores.searching or not listed)

    @property
    def on_top(self) -> bool:
        """Whether no other screen lies over this one."""
        return self._screen.is_active

    @property
    def two_panes(self) -> bool:
        """Whether there is room for list and preview beside each other."""
        return has_two_panes(self._screen.app.size)

    @property
    def preview_shown(self) -> bool:
        """Whether there is a preview on the screen."""
        return self.preview.display

    @property
    def in_preview(self) -> bool:
        """Whether the preview has the keys."""
        return self.panes.side and self.preview.display

    @property
    def in_field(self) -> bool:
        """Whether the filter has the keys."""
        return self.filter_bar.editing

    # --- showing ------------------------------------------------------------------------------------------------------

    def show_listing(self, listing: Listing) -> None:
        """Shows new lines."""
        self.sessions.show(listing)
        self.clear_preview()
        self.show_state()

    def show_state(self) -> None:
        """Shows everything around the lines: title, figures, hints, and words for an empty list."""
        listing, stock = self.listing, self._state.list.stock
        total, agents = listing.total, len(stock.agents)
        note = counted(stock.projects, "project") if total else ""
        note = f"{agents} agents, {note}" if agents > 1 and note else note
        self._screen.title_bar.show("Sessions", note=note)
        query, filtered = listing.query, bool(listing.view.text)
        of_all = f" of {counted(total, 'session')}"
        words = of_all if filtered else f" {'session' if total == 1 else 'sessions'}"
        if query.problem:
            problem = f"left out: {query.problem}" if query.broken else query.problem
            self.filter_bar.show(exact(listing.matched), words, problem, problem=True)
        elif filtered:
            where = "in titles, first prompts, projects" if query.words else ""
            self.filter_bar.show(exact(listing.matched), words, where)
        else:
            self.filter_bar.show(exact(total) if total else "", words if total else "")
        self.arrange_panes()
        if not (self.awaits_row or self._state.list.asked):
            self._run_early()

    def _run_early(self) -> None:
        """Runs the keys that waited, unless another screen was opened meanwhile."""
        early, self.early = self.early, []
        if self.on_top:
            for intent_id in early:
                self._screen.run_intent(intent_id)

    def _say_empty(self) -> None:
        if self.listing.lines:
            return
        listing, stores, keymap = self.listing, self._state.stores, self._screen.services.keymap
        self.sessions.say_empty(
            empty_words(
                listing,
                searching=stores.cards is None or (stores.searching and not stores.cards),
                excluded=stores.catalogue.excluded if stores.catalogue is not None else 0,
                searched=stores.catalogue.searched if stores.catalogue is not None else (),
                key=keymap.label_while_typing if self.in_field else keymap.label,
            )
        )

    def show_hints(self) -> None:
        """Shows the keys that matter now."""
        self._say_empty()
        self._screen.show_hints()

    def arrange_panes(self) -> None:
        """Shows the list, the preview, or both."""
        two, panes = self.two_panes, self.panes
        width = self._screen.app.size.width
        left = self.divider.left(width)
        right = max(36, min(56, width // 3)) if left is None else width - left - RULE
        self.preview.styles.width = right if two else "1fr"
        some = bool(self.listing.lines or self._state.list.view.text)
        self.rule.display = two and panes.with_preview and some
        self.preview.display = panes.with_preview and some if two else panes.side
        self._screen.query_one("#list").display = two or not panes.side
        self.preview.styles.padding = 0 if two else (0, 0, 0, 1)
        self.relight()

    def relight(self) -> None:
        """Draws the rule heavy where the keys go."""
        side, view = self.in_preview, self._state.list.view
        agents = len(self._state.list.stock.agents) > 1
        self.head.show(view.sort, order_words(view), agents=agents, lit=not side, bare=not self.listing.total)
        self.preview.light(lit=side)
        self.show_hints()

    def show_preview(self, card: Card, preview: SessionPreview) -> None:
        """Shows a preview, if the cursor is still there."""
        if self.card is not None and self.card.path == card.path:
            self.preview.show(card, preview, self.listing.query, self._state.list.stock)

    def show_group(self, line: ListLine) -> None:
        """Shows a group in the preview."""
        self.preview.show_group(line, self.listing)

    def clear_preview(self) -> None:
        """Clears the preview of a session that is not in the list."""
        shown = self.preview.card.path if self.preview.card is not None else f"group:{self.preview.group}"
        if self.card is None and shown not in self.listing.at:
            self.preview.show(None, None, self.listing.query)

    # --- going about --------------------------------------------------------------------------------------------------

    def step(self, by: int) -> None:
        """Moves the cursor, or the preview where it has the keys."""
        if self.in_preview:
            self.preview.scroll_by(by)
        else:
            self.sessions.move_by(by)

    def leave_field(self) -> bool:
        """Leaves the filter."""
        if self.in_field:
            self.focus_list()
            return True
        return False

    def show_totals(self, rows: Sequence[TotalsRow], note: str, cards: Sequence[Card]) -> None:
        """Opens the table of the usage and the cost of sessions."""
        from leafward_tui.catalogue.totals import TotalsScreen

        self._screen.app.push_screen(TotalsScreen(rows, note, cards))

    def run_in_agent(self, resume: Resume) -> str | None:
        """Hands the terminal to a session's agent until it ends; returns the problem, None for none."""
        from leafward_tui.ui.agent_run import run_in_agent

        return run_in_agent(self._screen.app, resume)


_ORDERS = {
    Sort.WHEN: ("newest first", "newest first"),
    Sort.NAME: ("by title", "by title"),
    Sort.SIZE: ("largest first", "by size"),
    Sort.TURNS: ("most turns first", "by turns"),
    Sort.TOKENS: ("largest context first", "by context"),
}
"""For each order, its description and the words for its key after `sort`."""


def sort_hint(sort: Sort) -> str:
    """The hint for the key of the next order: `sort by context`."""
    return f"sort {_ORDERS[sort][1]}"


def group_hint(grouping: Grouping) -> str:
    """The hint for the key of the next grouping: `group by last day`."""
    return "do not group" if grouping is Grouping.NONE else f"group by {grouping.label}"


def order_words(view: View) -> str:
    """The grouping and the order of the rows in words: `by project, newest first`."""
    grouped = f"by {view.grouping.label}, " if view.grouping is not Grouping.NONE else ""
    return grouped + _ORDERS[view.sort][0]


def empty_words(
    listing: Listing,
    *,
    searching: bool,
    excluded: int,
    searched: Sequence[str],
    key: Callable[[str], str | None],
) -> list[tuple[str, str]]:
    """One sentence, the searched places, one key: each with the name of its ink.

    `key` gives the key of an intent, as the interface writes it.
    """
    if searching:
        return [("nothing", "looking for sessions")]

    def with_key(intent_id: str, effect: str, ink: str = "sub") -> list[tuple[str, str]]:
        return [(ink, f"{label}  {effect}")] if (label := key(intent_id)) else []

    hidden = listing.archived + listing.warm_ups
    what = "archived" if not listing.warm_ups else "archived, or sub-agents started without a task"
    if listing.view.text:
        other = counted(listing.missed, "session")
        return [
            ("text", "Only hidden sessions match." if hidden else "No session matches."),
            ("nothing", f"{other} hidden by the filter"),
            ("faint", ""),
            *(
                with_key("archived.toggle", f"shows {counted(hidden, 'match', 'matches')}: {what}")
                if hidden
                else ()
            ),
            *with_key("mode.leave", "clears the filter"),
            *with_key("search.open", "searches all text of all sessions"),
        ]
    if hidden:
        return [
            ("text", f"All {counted(hidden, 'session')} are {what}."),
            *with_key("archived.toggle", "shows them"),
        ]
    if excluded:
        return [
            ("text", f"All {counted(excluded, 'session')} are excluded."),
            ("sub", "exclude in config.toml names their folders"),
        ]
    return [
        ("text", "No sessions yet: they appear here once a coding agent has run."),
        ("faint", ""),
        ("faint", "Looked in"),
        *(("path", tilde(place)) for place in searched),
        ("faint", ""),
        *with_key("demo.open", "opens a demo session to look around in", "strong"),
    ]
