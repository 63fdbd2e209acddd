"""The catalogue: all sessions, grouped, nested, filtered as one types, with a preview of the one under the cursor."""

from __future__ import annotations

import os
from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.worker import Worker, WorkerState, get_current_worker

from leafward.catalog import Card, Catalogue, Sort, Update
from leafward_tui.cells import counted, exact
from leafward_tui.intents import bindings_for
from leafward_tui.listing import Grouping, LineKind, Listing, Stock, View, list_sessions
from leafward_tui.screens.base import BaseScreen
from leafward_tui.widgets.filter_bar import FilterBar
from leafward_tui.widgets.hairline import ColumnRule
from leafward_tui.widgets.key_bar import Hint
from leafward_tui.widgets.preview import Preview
from leafward_tui.widgets.session_list import ListHead, SessionList, tilde
from leafward_tui.widgets.title_bar import Progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.timer import Timer

    from leafward.agents import Resume
    from leafward_tui.glimpse import Glimpse

__all__ = ["CatalogueScreen"]

SETTLE = 0.08
"""Seconds the cursor rests before the preview follows."""

LOOK_AGAIN = 15.0
"""Seconds between two looks at the stores."""

_GLIMPSES = 64
_SORTS = tuple(Sort)
_GROUPINGS = tuple(Grouping)


class CatalogueScreen(BaseScreen[None]):
    """Sessions of every agent, or what lies in ``paths``. Files are read in workers; what they bring has a generation."""

    NAME = "catalogue"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("catalogue")]
    CSS_PATH = Path(__file__).with_name("catalogue.tcss")

    @dataclass
    class Known(Message):
        """Cards that are new or better: all of them, and how far the work is. ``update`` is None for the stored ones."""

        cards: list[Card]
        update: Update | None

    @dataclass
    class Listed(Message):
        """Lines are ready."""

        generation: int
        listing: Listing

    @dataclass
    class Seen(Message):
        """A session was looked into."""

        generation: int
        card: Card
        glimpse: Glimpse

    @dataclass
    class ReadyToResume(Message):
        """How a session is resumed, or why not."""

        resume: Resume | None
        problem: str = ""

    def __init__(self, paths: Sequence[Path] = ()) -> None:
        super().__init__()
        self._paths = tuple(paths)
        self._catalogue: Catalogue | None = None
        self._cards: list[Card] | None = None
        self._stock = Stock(())
        self._view = View()
        self._folded_hits: frozenset[str] = frozenset()
        self._generation = 0
        self._looks = 0
        self._settling: Timer | None = None
        self._glimpses: OrderedDict[tuple[str, int, int], Glimpse] = OrderedDict()
        self._searching = True
        self._side = False
        """On a narrow screen, whether the preview is shown instead of the list."""
        self._with_preview = True

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
        self._arrange_panes()
        self._show_state()
        self._look_around()
        self.set_interval(LOOK_AGAIN, self._look_again)

    def _remembered(self) -> View:
        """Sort and grouping of the last time."""
        kept = self.shell.recall("catalogue")
        if not isinstance(kept, dict):
            return View()
        sort = kept.get("sort")
        grouping = kept.get("group")
        return View(
            sort=Sort(sort) if sort in _SORTS else Sort.WHEN,
            grouping=Grouping(grouping) if grouping in _GROUPINGS else Grouping.PROJECT,
        )

    def on_resize(self) -> None:
        """One pane or two."""
        self._arrange_panes()

    def _arrange_panes(self) -> None:
        two = self.two_panes
        width = self.app.size.width
        self.preview.styles.width = max(36, min(56, width // 3)) if two else "1fr"
        empty = not self.sessions.listing.lines and not self._view.text
        self._rule.display = two and self._with_preview and not empty
        self.preview.display = self._with_preview and not empty if two else self._side
        self.query_one("#list").display = two or not self._side
        self.preview.styles.padding = 0 if two else (0, 0, 0, 1)
        self._light()

    def _light(self) -> None:
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
            Hint("sort.next", f"sort: {self._view.sort}", "sort"),
            Hint("group.next", f"group: {self._view.grouping}", "group"),
            Hint("archived.toggle"),
        ]
        if card is not None and card.problem is None:
            hints.append(Hint("session.resume", f"resume in {card.agent}", "resume"))
        return hints

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What works now."""
        line = self.sessions.line if self.is_attached else None
        card = line.card if line is not None else None
        if action in {"find_next", "find_previous"}:
            return bool(self._view.text)
        if action.startswith("project_"):
            return line is not None and self._view.grouping is not Grouping.NONE
        if action == "session_resume":
            return card is not None and card.problem is None
        if action == "copy_text":
            return card is not None
        if action in {"session_open", "preview_toggle"}:
            return line is not None
        return super().check_action(action, parameters)

    # --- cards --------------------------------------------------------------------------------------------------------

    def _look_around(self) -> None:
        """Reads the stored index, then the stores."""
        self._searching = True
        self.run_worker(self._refresh, thread=True, group="stores", exclusive=True, exit_on_error=False)

    def _look_again(self) -> None:
        """Now and then, while nobody is busy with it and the screen is the one seen."""
        if self.is_current and not self._searching:
            self._look_around()
            self.sessions.forget_ages()

    def on_screen_resume(self) -> None:
        """Back from a session: it may have changed."""
        if self._cards is not None:
            self._look_again()

    def _refresh(self) -> None:
        worker = get_current_worker()
        if self._catalogue is None:
            self._catalogue = Catalogue(self.shell.config, self._paths)
            self.post_message(self.Known(self._catalogue.cards(), None))
        catalogue = self._catalogue

        def publish(update: Update) -> None:
            if not worker.is_cancelled:
                self.post_message(self.Known(catalogue.cards(), update))

        publish(catalogue.refresh(lambda: worker.is_cancelled, publish))

    def on_catalogue_screen_known(self, message: Known) -> None:
        """Takes the cards; lines are made in a worker."""
        message.stop()
        update = message.update
        known = self._cards is not None
        self._searching = update is None or not update.finished
        if update is not None:
            busy = not update.finished and update.done < update.total
            self.title_bar.progress(Progress("indexing", update.done, update.total) if busy else None)
        if known and update is not None and not update.changed and not update.gone:
            if not self._cards:
                self._show_state()
            return
        self._cards = message.cards
        self._list_again(cards=message.cards)

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A worker that failed is told of, once."""
        if event.state is WorkerState.ERROR:
            self._searching = False
            self.shell.say(f"{event.worker.group}: {event.worker.error}", problem=True)

    # --- lines --------------------------------------------------------------------------------------------------------

    def _list_again(self, cards: list[Card] | None = None) -> None:
        """Lines for the present view, in a worker; a later call makes an earlier answer void."""
        self._generation += 1
        view = replace(self._view, folded=self._folded_hits) if self._view.text else self._view
        now = int(self.shell.clock().timestamp() * 1000)
        work = partial(self._make_lines, self._generation, view, now, cards)
        self.run_worker(work, thread=True, group="lines", exclusive=True, exit_on_error=False)

    def _make_lines(self, generation: int, view: View, now: int, cards: list[Card] | None) -> None:
        stock = self._stock if cards is None else Stock(cards)
        if "file:" in view.text.lower() and stock.files is None and self._catalogue is not None:
            stock = Stock(stock.cards, self._catalogue.files())
        self.post_message(self.Listed(generation, list_sessions(stock, view, now)))

    def on_catalogue_screen_listed(self, message: Listed) -> None:
        """Shows the lines, unless newer ones are on their way."""
        message.stop()
        if message.listing.stock is not self._stock and len(message.listing.stock.cards) >= 0:
            self._stock = message.listing.stock
        if message.generation != self._generation:
            return
        self.sessions.show(message.listing)
        self._show_state()

    def _show_state(self) -> None:
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
        self._arrange_panes()

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
        where = self._catalogue.searched if self._catalogue is not None else ()
        demo = self.shell.keymap.label("demo.open")
        return [
            ("text", "No sessions yet: they appear here once a coding agent has run."),
            ("faint", ""),
            ("faint", "Looked in"),
            *(("sub", f"  {tilde(place)}") for place in where),
            ("faint", ""),
            *([("strong", f"{demo}  opens a demo session to look around in")] if demo else []),
        ]

    # --- preview ------------------------------------------------------------------------------------------------------

    def on_session_list_cursor_moved(self, message: SessionList.CursorMoved) -> None:
        """The preview follows once the cursor rests."""
        message.stop()
        self._looks += 1
        if self._settling is not None:
            self._settling.stop()
        self._settling = self.set_timer(SETTLE, self._look)
        self.show_hints()

    def _look(self) -> None:
        card = self.sessions.card
        if card is None or not self.preview.display:
            return
        known = self._glimpses.get(_version(card))
        if known is not None:
            self.preview.show(card, known, self.sessions.listing.query)
            return
        work = partial(self._glimpse, self._looks, card)
        self.run_worker(work, thread=True, group="preview", exclusive=True, exit_on_error=False)

    def _glimpse(self, generation: int, card: Card) -> None:
        from leafward_tui.glimpse import glimpse

        worker = get_current_worker()
        catalogue = self._catalogue
        if catalogue is None:
            return
        seen = glimpse(card, catalogue.details(card.path), lambda: worker.is_cancelled)
        if seen is not None:
            self.post_message(self.Seen(generation, card, seen))

    def on_catalogue_screen_seen(self, message: Seen) -> None:
        """Keeps what was seen; shows it if the cursor is still there."""
        message.stop()
        self._glimpses[_version(message.card)] = message.glimpse
        while len(self._glimpses) > _GLIMPSES:
            self._glimpses.popitem(last=False)
        card = self.sessions.card
        if card is not None and card.path == message.card.path:
            self.preview.show(card, message.glimpse, self.sessions.listing.query)

    # --- actions ------------------------------------------------------------------------------------------------------

    def _move(self, by: int) -> None:
        if self._side and self.preview.display:
            self.preview.scroll_by(by)
        else:
            self.sessions.move(by)

    def action_row_down(self) -> None:
        """The next line."""
        self._move(1)

    def action_row_up(self) -> None:
        """The line before."""
        self._move(-1)

    def action_page_down(self) -> None:
        """A page on."""
        self._move(self.sessions.size.height - 1)

    def action_page_up(self) -> None:
        """A page back."""
        self._move(1 - self.sessions.size.height)

    def action_half_down(self) -> None:
        """Half a page on."""
        self._move(self.sessions.size.height // 2)

    def action_half_up(self) -> None:
        """Half a page back."""
        self._move(-(self.sessions.size.height // 2))

    def action_row_top(self) -> None:
        """The first line."""
        self._move(-(1 << 30))

    def action_row_bottom(self) -> None:
        """The last line."""
        self._move(1 << 30)

    def action_find_next(self) -> None:
        """The next session that matches."""
        self.sessions.move_to_session(1)

    def action_find_previous(self) -> None:
        """The one before."""
        self.sessions.move_to_session(-1)

    def action_filter_edit(self) -> None:
        """The filter has the keys."""
        self._to_list()
        self.filter_bar.edit()
        self.show_hints()

    def on_filter_bar_changed(self, message: FilterBar.Changed) -> None:
        """Filters as one types."""
        message.stop()
        self._folded_hits = frozenset()
        self._view = replace(self._view, text=message.text.strip())
        self._list_again()

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
            self._to_list()
        else:
            self.filter_bar.clear()
        self.sessions.focus()

    def action_pane_next(self) -> None:
        """Between list and preview."""
        if self.filter_bar.editing:
            self.sessions.focus()
            return
        if not self._with_preview and self.two_panes:
            self._with_preview = True
        self._side = not self._side
        self._arrange_panes()
        self._look()

    def action_pane_previous(self) -> None:
        """There are two."""
        self.action_pane_next()

    def action_preview_toggle(self) -> None:
        """With or without it; on a narrow screen, instead of the list."""
        if self.two_panes:
            self._with_preview = not self._with_preview
            self._side = False
        else:
            self._side = not self._side
        self._arrange_panes()
        self._look()

    def _to_list(self) -> None:
        if self._side:
            self._side = False
            self._arrange_panes()

    def action_sort_next(self) -> None:
        """When, name, size, turns, tokens."""
        self._sort_by(_SORTS[(_SORTS.index(self._view.sort) + 1) % len(_SORTS)])

    def on_list_head_sort_pressed(self, message: ListHead.SortPressed) -> None:
        """A heading was clicked."""
        message.stop()
        self._sort_by(message.sort)

    def _sort_by(self, sort: Sort) -> None:
        self._view = replace(self._view, sort=sort)
        self._keep_view()

    def action_group_next(self) -> None:
        """By project, by agent where there are several, not at all."""
        at = _GROUPINGS.index(self._view.grouping) + 1
        grouping = _GROUPINGS[at % len(_GROUPINGS)]
        if grouping is Grouping.AGENT and len(self._stock.agents) < 2:
            grouping = Grouping.NONE
        self._view = replace(self._view, grouping=grouping, folded=frozenset())
        self._folded_hits = frozenset()
        self._keep_view()

    def _keep_view(self) -> None:
        self.shell.remember("catalogue", {"sort": self._view.sort.value, "group": self._view.grouping.value})
        self._light()
        self._list_again()

    def action_archived_toggle(self) -> None:
        """With or without archived sessions."""
        self._view = replace(self._view, archived=not self._view.archived)
        self._list_again()

    @property
    def _folded(self) -> frozenset[str]:
        return self._folded_hits if self._view.text else self._view.folded

    def _fold(self, folded: frozenset[str]) -> None:
        if self._view.text:
            self._folded_hits = folded
        else:
            self._view = replace(self._view, folded=folded)
        self._list_again()

    def action_project_fold(self) -> None:
        """The group of the cursor, closed or open."""
        line = self.sessions.line
        if line is not None:
            self._fold(self._folded ^ {line.group})

    def action_project_close(self) -> None:
        """Closes it."""
        line = self.sessions.line
        if line is not None and line.group not in self._folded:
            self._fold(self._folded | {line.group})

    def action_project_open(self) -> None:
        """Opens it."""
        line = self.sessions.line
        if line is not None and line.group in self._folded:
            self._fold(self._folded - {line.group})

    def action_project_fold_all(self) -> None:
        """All groups closed, or open when any is closed."""
        groups = {line.group for line in self.sessions.listing.lines if line.kind is LineKind.GROUP}
        self._fold(frozenset() if self._folded & groups else frozenset(groups))

    def on_session_list_group_toggled(self, message: SessionList.GroupToggled) -> None:
        """A group was clicked."""
        message.stop()
        self._fold(self._folded ^ {message.group})

    def action_session_open(self) -> None:
        """The session in the explorer; a group opens or closes."""
        card = self.sessions.card
        if card is None:
            self.action_project_fold()
        else:
            self.shell.open_session(Path(card.path), card.agent)

    def on_session_list_opened(self, message: SessionList.Opened) -> None:
        """A double click."""
        message.stop()
        self.action_session_open()

    def action_catalogue_refresh(self) -> None:
        """Looks at the stores now."""
        self._look_around()
        self._show_state()

    def action_copy_text(self) -> None:
        """The path of the session."""
        card = self.sessions.card
        if card is not None:
            self.shell.copy(card.path)

    def action_demo_open(self) -> None:
        """The bundled session, copied where nothing can be broken."""
        self.shell.open_demo()

    def action_session_resume(self) -> None:
        """Reads the session to learn how its agent opens it."""
        card = self.sessions.card
        if card is not None:
            work = partial(self._ask_resume, card)
            self.run_worker(work, thread=True, group="resume", exclusive=True, exit_on_error=False)

    def _ask_resume(self, card: Card) -> None:
        from leafward.agents import agent_named
        from leafward.errors import LeafwardError

        try:
            agent = agent_named(card.agent)
            session = agent.open(Path(card.path))
            try:
                answer = self.ReadyToResume(agent.resume(session, os.environ))
            finally:
                session.close()
        except (LeafwardError, OSError) as error:
            answer = self.ReadyToResume(None, str(error))
        self.post_message(answer)

    def on_catalogue_screen_ready_to_resume(self, message: ReadyToResume) -> None:
        """Hands the terminal over; back again, looks at what the agent wrote."""
        from leafward_tui.resume import run_in_agent

        message.stop()
        problem = message.problem if message.resume is None else run_in_agent(self.app, message.resume)
        if problem:
            self.shell.say(problem, problem=True)
        self._look_again()


def _version(card: Card) -> tuple[str, int, int]:
    return card.path, card.size, card.modified
