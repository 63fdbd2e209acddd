"""The catalogue: all sessions, grouped, nested, filtered as one types, with a preview of the one under the cursor."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Horizontal, Vertical

from leafward.base.safe_text import pasted_path
from leafward.catalog import Sort
from leafward_tui.catalogue.curating import SessionsCurating
from leafward_tui.catalogue.going import GROUPINGS, SORTS
from leafward_tui.catalogue.model.listing import Grouping, Listing, View
from leafward_tui.catalogue.widgets.list_head import ListHead
from leafward_tui.catalogue.widgets.preview import Preview
from leafward_tui.catalogue.widgets.session_list import SessionList
from leafward_tui.ui.cells import counted, exact
from leafward_tui.ui.filter_bar import FilterBar
from leafward_tui.ui.hairline import ColumnRule
from leafward_tui.ui.intents import bindings_for
from leafward_tui.ui.key_bar import Hint
from leafward_tui.ui.paths import tilde

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.timer import Timer

    from leafward.catalog import Card
    from leafward_tui.catalogue.model.session_preview import Glimpse

__all__ = ["CatalogueScreen"]

SETTLE = 0.08
"""Seconds the cursor rests before the preview follows."""

LOOK_AGAIN = 2.0
"""Seconds between two looks at the stores, where a look takes next to nothing."""

_AGES_EVERY = 15.0
"""Seconds after which ages are painted anew."""


class CatalogueScreen(SessionsCurating):
    """Sessions of every agent, or what lies in ``paths``. Files are read in workers; what they bring has a generation."""

    NAME = "catalogue"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("catalogue")]
    CSS_PATH = Path(__file__).with_name("screen.tcss")

    def __init__(self, paths: Sequence[Path] = ()) -> None:
        super().__init__(paths)
        self._settling: Timer | None = None
        self._search: object = None
        """The search of all text that was left last."""

    # --- arrangement --------------------------------------------------------------------------------------------------

    def compose_content(self) -> ComposeResult:
        """Filter, list, preview."""
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

    def on_mount(self) -> None:
        """The shell stands; sessions come from a worker."""
        super().on_mount()
        self._view = self._remembered()
        self.sessions.focus()
        self.arrange_panes()
        self.show_state()
        self.look_around()
        self.set_interval(LOOK_AGAIN, self.look_in_time)
        self.set_interval(_AGES_EVERY, self.sessions.forget_ages)

    def _remembered(self) -> View:
        """Sort and grouping of the last time."""
        kept = self.shell.recall("catalogue")
        if not isinstance(kept, dict):
            return View()
        sort = kept.get("sort")
        grouping = kept.get("group")
        return View(
            sort=Sort(sort) if sort in SORTS else Sort.WHEN,
            grouping=Grouping(grouping) if grouping in GROUPINGS else Grouping.PROJECT,
        )

    def on_resize(self) -> None:
        """One pane or two."""
        self.arrange_panes()

    def leave_field(self) -> bool:
        """Out of the filter."""
        if self.filter_bar.editing:
            self.sessions.focus()
            return True
        return False

    def arrange_panes(self) -> None:
        """The list, the preview, or both."""
        two = self.two_panes
        width = self.app.size.width
        self.preview.styles.width = max(36, min(56, width // 3)) if two else "1fr"
        empty = not self.sessions.listing.lines and not self._view.text
        self._rule.display = two and self._with_preview and not empty
        self.preview.display = self._with_preview and not empty if two else self._side
        self.query_one("#list").display = two or not self._side
        self.preview.styles.padding = 0 if two else (0, 0, 0, 1)
        self.relight()

    def relight(self) -> None:
        """The heavy part of a rule says where the keys go."""
        side = self._side and self.preview.display
        bare = not self.sessions.listing.total
        self.head.show(self._view.sort, agents=len(self._stock.agents) > 1, lit=not side, bare=bare)
        self.preview.light(lit=bool(side))
        self.show_hints()

    def hints(self) -> Sequence[Hint]:
        """The keys of the state: while filtering, in the preview, on a session, on a project."""
        if self.filter_bar.editing:
            return [Hint("session.open", "keep filter"), Hint("mode.leave", "clear")]
        line = self.sessions.line
        card = self.sessions.card
        if line is None:
            return (
                []
                if self._searching
                else [Hint("demo.open", "demo"), Hint("catalogue.refresh"), Hint("filter.edit")]
            )
        if self._side:
            hints = [Hint("session.open"), Hint("mode.leave", "list"), Hint("row.down", "scroll")]
            return [*hints, Hint("session.resume", f"resume in {card.agent}", "resume")] if card else hints
        hints = [Hint("session.open") if card is not None else Hint("session.open", "fold")]
        if self._view.text:
            hints.append(Hint("mode.leave", "clear filter", "clear"))
        hints += [
            Hint("preview.toggle"),
            Hint("filter.edit"),
            Hint("search.open"),
            Hint("sort.next", f"sort: {self._view.sort}", "sort"),
            Hint("group.next", f"group: {self._view.grouping}", "group"),
            Hint("archived.toggle"),
        ]
        if card is not None and card.problem is None:
            hints.append(Hint("session.resume", f"resume in {card.agent}", "resume"))
            if card.path in self._stock.about.expires and card.path not in self._stock.about.kept:
                hints.insert(1, Hint("session.keep"))
        if self._taken_back:
            hints.insert(1, Hint("session.undo"))
        return [*hints, Hint("totals.open")]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What works now."""
        line = self.sessions.line if self.is_attached else None
        card = line.card if line is not None else None
        if action in {"find_next", "find_previous"}:
            return bool(self._view.text)
        if action.startswith("project_"):
            return line is not None and self._view.grouping is not Grouping.NONE
        if action in {"session_resume", "session_keep", "session_archive"}:
            return card is not None and card.problem is None
        if action == "session_delete":
            return card is not None
        if action == "session_undo":
            return bool(self._taken_back)
        if action == "totals_open":
            return bool(self._stock.cards)
        if action == "copy_text":
            return card is not None
        if action in {"session_open", "preview_toggle"}:
            return line is not None
        return super().check_action(action, parameters)

    # --- what the work brings -----------------------------------------------------------------------------------------

    def show_listing(self, listing: Listing) -> None:
        """New lines."""
        self.sessions.show(listing)
        self._clear_preview()
        self.show_state()

    def show_state(self) -> None:
        """Everything around the lines: title, figures, hints, what stands where there are none."""
        listing = self.sessions.listing
        total, agents = listing.total, len(self._stock.agents)
        note = counted(self._stock.projects, "project") if total else ""
        self.title_bar.show("Sessions", note=f"{agents} agents, {note}" if agents > 1 and note else note)
        query = listing.query
        words = (
            f" of {counted(total, 'session')}"
            if listing.view.text
            else f" {'session' if total == 1 else 'sessions'}"
        )
        if query.problems:
            self.filter_bar.show(exact(listing.shown), words, query.problems[0].text, problem=True)
        elif listing.view.text:
            self.filter_bar.show(exact(listing.shown), words, "in titles, prompts, projects")
        else:
            self.filter_bar.show(exact(total) if total else "", words if total else "")
        self.sessions.say_empty(self._empty_words(listing))
        self.arrange_panes()

    def _empty_words(self, listing: Listing) -> list[tuple[str, str]]:
        """One sentence, where we looked, one key."""
        if self._cards is None or (self._searching and not self._cards):
            return [("nothing", "looking for sessions")]
        if listing.view.text:
            return [
                ("text", "No session matches."),
                ("nothing", f"{counted(listing.total, 'session')} hidden by the filter"),
                ("faint", ""),
                ("sub", "esc  clears the filter"),
            ]
        if listing.archived:
            return [
                ("text", f"All {counted(listing.archived, 'session')} are archived."),
                ("sub", "a  shows them"),
            ]
        excluded = self._catalogue.excluded if self._catalogue is not None else 0
        if excluded:
            return [
                ("text", f"All {counted(excluded, 'session')} are excluded."),
                ("sub", "exclude in config.toml names their folders"),
            ]
        where = self._catalogue.searched if self._catalogue is not None else ()
        demo = self.shell.keymap.label("demo.open")
        return [
            ("text", "No sessions yet: they appear here once a coding agent has run."),
            ("faint", ""),
            ("faint", "Looked in"),
            *(("path", tilde(place)) for place in where),
            ("faint", ""),
            *([("strong", f"{demo}  opens a demo session to look around in")] if demo else []),
        ]

    def on_session_list_cursor_moved(self, message: SessionList.CursorMoved) -> None:
        """The preview follows once the cursor rests."""
        message.stop()
        if self._settling is not None:
            self._settling.stop()
        self._settling = self.set_timer(SETTLE, self.look)
        self.show_hints()

    def look(self) -> None:
        """Shows what is under the cursor."""
        card = self.sessions.card
        if card is None:
            self._clear_preview()
        elif self.preview.display:
            self.look_into(card)

    def _clear_preview(self) -> None:
        """Nothing is shown of a session that is not in the list."""
        shown = self.preview.card
        if shown is not None and self.sessions.card is None and shown.path not in self.sessions.listing.at:
            self.preview.show(None, None, self.sessions.listing.query)

    def show_glimpse(self, card: Card, glimpse: Glimpse) -> None:
        """In the preview, if the cursor is still there."""
        here = self.sessions.card
        if here is not None and here.path == card.path:
            self.preview.show(card, glimpse, self.sessions.listing.query, self._stock)

    # --- actions ------------------------------------------------------------------------------------------------------

    def action_filter_edit(self) -> None:
        """The filter has the keys."""
        self.to_list()
        self.filter_bar.edit()
        self.show_hints()

    def action_search_open(self) -> None:
        """All text of all sessions; what was found last stands there again, or what is filtered for is searched for."""

        def left(search: object) -> None:
            self._search = search

        self.shell.screens.search(self._paths, self._cards, self._view.text, self._search, left)

    def on_filter_bar_changed(self, message: FilterBar.Changed) -> None:
        """Filters as one types."""
        message.stop()
        self._folded_hits = frozenset()
        self._view = replace(self._view, text=message.text.strip())
        self.list_again()

    def on_filter_bar_committed(self, message: FilterBar.Committed) -> None:
        """The list has the keys again, filtered."""
        message.stop()
        self.sessions.focus()

    def on_descendant_focus(self) -> None:
        """Other keys matter now."""
        self.show_hints()

    def action_mode_leave(self) -> None:
        """Out of the preview on a narrow screen, else no filter any more."""
        if self._side and not self.filter_bar.editing:
            self.to_list()
        else:
            self.filter_bar.clear()
        self.sessions.focus()

    def action_archived_toggle(self) -> None:
        """With or without archived sessions."""
        self._view = replace(self._view, archived=not self._view.archived)
        self.list_again()

    def action_session_open(self) -> None:
        """The session in the explorer; a group opens or closes."""
        card = self.sessions.card
        if card is None:
            self.action_project_fold()
        else:
            self.shell.screens.session(Path(card.path), card.agent)

    def on_session_list_opened(self, message: SessionList.Opened) -> None:
        """A double click."""
        message.stop()
        self.action_session_open()

    def action_catalogue_refresh(self) -> None:
        """Looks at the stores now."""
        self.look_around()
        self.show_state()

    def action_copy_text(self) -> None:
        """The path of the session."""
        card = self.sessions.card
        if card is not None:
            self.shell.copy(pasted_path(card.path))

    def action_demo_open(self) -> None:
        """The bundled session, copied where nothing can be broken."""
        self.shell.screens.demo()

    def action_session_resume(self) -> None:
        """In its agent, in our place."""
        card = self.sessions.card
        if card is not None:
            self.resume(card)
