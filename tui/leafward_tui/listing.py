"""The lines of the catalogue: sessions filtered, sorted, grouped and nested. Pure; knows neither widgets nor colour.

Made in a worker from what is known at that moment; ten thousand sessions take some tens of milliseconds.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from leafward.catalog import Card, Details, Group, Sort, arrange, parents
from leafward.search import Query, Shelf, matches, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["EMPTY", "Grouping", "LineKind", "ListLine", "Listing", "Stock", "View", "list_sessions"]


class Grouping(StrEnum):
    """What sessions stand together by."""

    PROJECT = "project"
    AGENT = "agent"
    NONE = "none"


class LineKind(StrEnum):
    """What a line of the list is."""

    GROUP = "group"
    SESSION = "session"
    BLANK = "blank"
    HIDDEN = "hidden"
    """Says how many sessions a filter or the archive hides."""


@dataclass(frozen=True, slots=True)
class View:
    """What the user wants to see."""

    text: str = ""
    """The query as typed."""
    sort: Sort = Sort.WHEN
    grouping: Grouping = Grouping.PROJECT
    folded: frozenset[str] = frozenset()
    """Names of the groups that are folded."""
    archived: bool = False
    """Whether archived sessions are shown."""


class ListLine(NamedTuple):
    """One line."""

    kind: LineKind
    group: str = ""
    card: Card | None = None
    nest: tuple[bool, ...] = ()
    """For each level of nesting, whether a sibling follows below; empty for what hangs under nothing."""
    folded: bool = False
    shown: int = 0
    total: int = 0
    """Of a group: its sessions that are shown, and all of them. Of a hidden line: how many, and in how many groups."""
    tokens: int = 0
    modified: int = 0
    words: str = ""


class Stock:
    """All cards with what is worked out from them once: who is whose fork, texts ready to be searched."""

    def __init__(self, cards: Sequence[Card], files: Mapping[str, Details] | None = None) -> None:
        self.source = cards
        """The very list it was made from."""
        self.cards = sorted(cards, key=lambda card: card.path)
        self.parents = parents(self.cards)
        self.files = files
        self.agents = tuple(sorted({card.agent for card in self.cards}))
        self.projects = len({card.project for card in self.cards})
        self._shelf: Shelf | None = None
        self._lock = threading.Lock()

    def select(self, query: Query) -> list[Card]:
        """The cards that a query finds."""
        if not query:
            return self.cards
        with self._lock:
            if self._shelf is None:
                self._shelf = Shelf(self.cards, self.files)
        return self._shelf.select(query)


@dataclass(frozen=True)
class Listing:
    """The lines as they stand, and the figures around them."""

    lines: Sequence[ListLine]
    view: View
    query: Query
    stock: Stock
    shown: int
    """Sessions that match and are not hidden; those in folded groups count."""
    total: int
    archived: int
    """Sessions left out because they are archived."""
    at: Mapping[str, int] = field(default_factory=dict)
    """Line by path of the session, and by ``group:`` and its name."""

    def files_found(self, path: str) -> tuple[str, ...]:
        """The files of a session that ``file:`` found."""
        files = self.stock.files
        card = self.lines[self.at[path]].card if path in self.at else None
        if not self.query.files or files is None or card is None:
            return ()
        found = matches(card, self.query, files.get(path))
        return found.files if found is not None else ()


EMPTY = Listing((), View(), Query(), Stock(()), 0, 0, 0)


def list_sessions(stock: Stock, view: View, now: int) -> Listing:
    """The lines for ``view``; ``now`` in milliseconds since 1970."""
    query = parse(view.text, now)
    found = stock.select(query)
    archived = 0 if view.archived else sum(1 for card in found if card.archived)
    shown = [card for card in found if not card.archived] if archived else found
    totals = _totals(stock.cards, view.grouping)
    lines: list[ListLine] = []
    at: dict[str, int] = {}
    for name, group in _groups(shown, stock, view):
        if view.grouping is not Grouping.NONE:
            if lines:
                lines.append(ListLine(LineKind.BLANK))
            folded = name in view.folded
            at[f"group:{name}"] = len(lines)
            lines.append(
                ListLine(
                    LineKind.GROUP,
                    name,
                    folded=folded,
                    shown=len(group.rows),
                    total=totals[name],
                    tokens=group.tokens,
                    modified=group.modified,
                )
            )
            if folded:
                continue
        _add_sessions(lines, at, name, group)
    _add_hidden(
        lines,
        query,
        stock,
        len(found),
        archived,
        len(totals) - len({_name(card, view.grouping) for card in shown}),
    )
    return Listing(lines, view, query, stock, len(shown), len(stock.cards), archived, at)


def _name(card: Card, grouping: Grouping) -> str:
    if grouping is Grouping.PROJECT:
        return card.project
    return card.agent if grouping is Grouping.AGENT else ""


def _totals(cards: Iterable[Card], grouping: Grouping) -> dict[str, int]:
    totals: dict[str, int] = {}
    for card in cards:
        name = _name(card, grouping)
        totals[name] = totals.get(name, 0) + 1
    return totals


def _groups(shown: Sequence[Card], stock: Stock, view: View) -> list[tuple[str, Group]]:
    if view.grouping is Grouping.PROJECT:
        found = [(group.project, group) for group in arrange(shown, stock.parents, view.sort)]
        # What belongs to no project is damaged or strange: it never pushes the others away from the top.
        return sorted(found, key=lambda one: not one[0])
    found = []
    names = stock.agents if view.grouping is Grouping.AGENT else ("",)
    for name in names:
        members = [card for card in shown if card.agent == name] if name else shown
        found += [(name, group) for group in arrange(members, stock.parents, view.sort, by_project=False)]
    return found


def _add_sessions(lines: list[ListLine], at: dict[str, int], name: str, group: Group) -> None:
    follows: list[bool] = []
    for row in group.rows:
        del follows[row.depth :]
        follows.append(not row.last)
        at[row.card.path] = len(lines)
        lines.append(ListLine(LineKind.SESSION, name, row.card, tuple(follows[1:])))


def _add_hidden(
    lines: list[ListLine], query: Query, stock: Stock, found: int, archived: int, groups: int
) -> None:
    """What is left out leaves a line with a count."""
    filtered = len(stock.cards) - found if query else 0
    if not lines:
        return
    if filtered:
        lines.append(ListLine(LineKind.BLANK))
        lines.append(ListLine(LineKind.HIDDEN, shown=filtered, total=groups, words="hidden by the filter"))
    if archived:
        if not filtered:
            lines.append(ListLine(LineKind.BLANK))
        lines.append(ListLine(LineKind.HIDDEN, shown=archived, words="archived"))
