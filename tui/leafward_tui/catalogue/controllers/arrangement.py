"""The lines of the catalogue: their order, their groups, their folds, their filter."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.catalogue.catalogue_status import NOTHING_KNOWN, CatalogueStatus, status_of
from leafward.catalogue.lineage import Sort
from leafward_tui.catalogue.controllers.controller import CatalogueController, CatalogueMeans
from leafward_tui.catalogue.model.listing import Grouping, LineKind, Listing, Stock, View, list_sessions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leafward.catalogue.cards.card import Card
    from leafward.catalogue.listing import Catalogue
    from leafward_tui.ui.jobs import Job

_SORTS = tuple(Sort)
_GROUPINGS = tuple(Grouping)
_REST = 6.0
"""Length of the rest after the making of lines, as a multiple of its time, while files are being read."""


class Arrangement(CatalogueController):
    """Makes the lines, and owns the keys that arrange them."""

    def __init__(self, means: CatalogueMeans) -> None:
        super().__init__(means)
        self._list, self._stores = self._state.list, self._state.stores
        self._listed_at = 0.0
        self._pause = 0.0
        self.actions = {
            "find.next": partial(self._view.move_to_session, 1),
            "find.previous": partial(self._view.move_to_session, -1),
            "sort.next": self.sort_next,
            "group.next": self.group_next,
            "archived.toggle": self.toggle_archived,
            "project.fold": self.toggle_here,
            "project.fold_all": self.fold_all,
            "project.close": self.close_here,
            "project.open": self.open_here,
        }

    def enabled(self, intent_id: str) -> bool:
        """Whether one of its intents does something now."""
        if intent_id == "archived.toggle":
            cards = self._list.stock.cards
            return self._list.view.archived or any(card.archived or card.warm_up for card in cards)
        if intent_id in ("sort.next", "group.next"):
            return bool(self._list.stock.cards)
        if intent_id.startswith("find."):
            return bool(self._list.view.text)
        if intent_id.startswith("project."):
            return self._view.line is not None and self._list.view.grouping is not Grouping.NONE
        return True

    # --- lines --------------------------------------------------------------------------------------------------------

    def list_again(self) -> None:
        """Makes lines for the present view; a later call makes an earlier answer void."""
        state = self._list
        view = replace(state.view, folded=state.folded_hits) if state.view.text else state.view
        now = int(self._services.clock().timestamp() * 1000)
        cards = self._stores.cards if self._stores.cards is not None else []
        work = partial(make_lines, state.stock, cards, self._stores.catalogue, view, now)
        self._jobs.latest("lines", work, self._show, self._fail)

    def _ask(self) -> None:
        """Makes lines for another view; keys of a row wait for them, so that they mean the row that is there then."""
        self._list.asked = True
        self.list_again()

    def _fail(self, problem: str) -> None:
        self._list.asked = False
        self._services.say(problem, problem=True)
        self._view.show_state()

    def _show(self, listed: ListedView) -> None:
        self._list.asked = False
        self._pause = _REST * listed.seconds
        self._listed_at = time.perf_counter()
        self._list.stock = listed.listing.stock
        self._view.show_listing(listed.listing)

    @property
    def resting(self) -> bool:
        """Whether lines are being made, or were a moment ago."""
        return self._jobs.running("lines") or time.perf_counter() - self._listed_at < self._pause

    # --- order and groups ---------------------------------------------------------------------------------------------

    def restore(self) -> None:
        """Restores sort and grouping of the last time."""
        recalled = self._services.recall("catalogue")
        if isinstance(recalled, dict):
            sort, grouping = recalled.get("sort"), recalled.get("group")
            self._list.view = View(
                sort=Sort(sort) if sort in _SORTS else Sort.WHEN,
                grouping=Grouping(grouping) if grouping in _GROUPINGS else Grouping.PROJECT,
            )

    @property
    def next_sort(self) -> Sort:
        """The order after the present one: when, name, size, turns, tokens."""
        return _SORTS[(_SORTS.index(self._list.view.sort) + 1) % len(_SORTS)]

    @property
    def next_grouping(self) -> Grouping:
        """The grouping after the present one: project, family, day, agent where there are several, none."""
        at = _GROUPINGS.index(self._list.view.grouping) + 1
        grouping = _GROUPINGS[at % len(_GROUPINGS)]
        alone = grouping is Grouping.AGENT and len(self._list.stock.agents) < 2
        return Grouping.NONE if alone else grouping

    def sort_next(self) -> None:
        """Orders by the next column."""
        self.sort_by(self.next_sort)

    def sort_by(self, sort: Sort) -> None:
        """Orders the sessions of each group."""
        self._list.view = replace(self._list.view, sort=sort)
        self._keep_view()

    def group_next(self) -> None:
        """Sets the next grouping."""
        self._list.view = replace(self._list.view, grouping=self.next_grouping, folded=frozenset())
        self._list.folded_hits = frozenset()
        self._keep_view()

    def _keep_view(self) -> None:
        view = self._list.view
        self._services.remember("catalogue", {"sort": view.sort.value, "group": view.grouping.value})
        self._view.relight()
        self._ask()

    def toggle_archived(self) -> None:
        """Shows or hides archived sessions, and sub-agents without a task."""
        self._list.view = replace(self._list.view, archived=not self._list.view.archived)
        self._ask()

    def filter_by(self, text: str) -> None:
        """Shows the sessions that a query finds; all for an empty one."""
        self._list.folded_hits = frozenset()
        self._list.view = replace(self._list.view, text=text)
        self._ask()

    # --- folds --------------------------------------------------------------------------------------------------------

    def _fold(self, folded: frozenset[str]) -> None:
        if self._list.view.text:
            self._list.folded_hits = folded
        else:
            self._list.view = replace(self._list.view, folded=folded)
        self._ask()

    def toggle(self, group: str) -> None:
        """Folds a group, or unfolds it."""
        self._fold(self._list.folded ^ {group})

    def toggle_here(self) -> None:
        """Folds or unfolds the group of the cursor."""
        if (line := self._view.line) is not None:
            self.toggle(line.group)

    def close_here(self) -> None:
        """Folds the group of the cursor."""
        if (line := self._view.line) is not None and line.group not in self._list.folded:
            self.toggle(line.group)

    def open_here(self) -> None:
        """Unfolds the group of the cursor."""
        if (line := self._view.line) is not None and line.group in self._list.folded:
            self.toggle(line.group)

    def fold_all(self) -> None:
        """Folds all groups, or unfolds them where any is folded."""
        groups = {line.group for line in self._view.listing.lines if line.kind is LineKind.GROUP}
        self._fold(frozenset() if self._list.folded & groups else frozenset(groups))


class ListedView(NamedTuple):
    """Lines, and the seconds spent on making them."""

    listing: Listing
    seconds: float


def make_lines(
    stock: Stock, cards: list[Card], catalogue: Catalogue | None, view: View, now: int, _job: Job
) -> ListedView:
    """The lines of a view; `stock` is that of the last lines, `now` in milliseconds since 1970."""
    began = time.perf_counter()
    describe = partial(_status_of, catalogue)
    details = catalogue.details if catalogue is not None else None
    if stock.source is not cards:
        stock = Stock(cards, None, describe, details)
    if "file:" in view.text.lower() and stock.files is None and catalogue is not None:
        stock = Stock(cards, catalogue.files(), describe, details)
    return ListedView(list_sessions(stock, view, now), time.perf_counter() - began)


def _status_of(
    catalogue: Catalogue | None, cards: Sequence[Card], found: Mapping[str, tuple[str, str]]
) -> CatalogueStatus:
    return status_of(catalogue, cards, found) if catalogue is not None else NOTHING_KNOWN
