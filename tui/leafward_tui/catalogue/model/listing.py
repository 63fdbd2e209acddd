"""The lines of the catalogue: sessions filtered, sorted, grouped and nested. Pure; knows neither widgets nor colour.

Made in a worker from the cards known so far; ten thousand sessions take some tens of milliseconds.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.figures import counted
from leafward.base.shown_path import NO_PROJECT_FOLDER
from leafward.catalogue.cards.card import Card, Details
from leafward.catalogue.catalogue_status import NOTHING_KNOWN, CatalogueStatus
from leafward.catalogue.lineage import Group, Sort, arrange, families, parents
from leafward.catalogue.namesakes import Namesake, told_apart
from leafward.catalogue.usage.totals import NOTHING, Sum, sum_of
from leafward.query.search.cards import CardShelf, matches
from leafward.query.search.query import Query
from leafward.query.search.typed_query import parse
from leafward_tui.ui.text.cells import byte_size, count, money

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


class Grouping(StrEnum):
    """The groupings of sessions."""

    PROJECT = "project"
    FOREST = "forest"
    """Families across projects and agents, then sessions on their own."""
    DAY = "day"
    AGENT = "agent"
    NONE = "none"

    @property
    def label(self) -> str:
        """The name on the screen. A session may have gone on for days: the list has it on the last of them."""
        return {Grouping.FOREST: "family", Grouping.DAY: "last day"}.get(self, str(self))


FAMILIES = "families"
WARM_UPS = "hidden: sub-agents started without a task"
ALONE = "on their own"
"""The groups of the forest."""


class LineKind(StrEnum):
    """The kinds of lines of the list."""

    GROUP = "group"
    SESSION = "session"
    BLANK = "blank"
    HIDDEN = "hidden"
    """The line with the number of sessions that a filter or the archive hides."""


@dataclass(frozen=True, slots=True)
class View:
    """The user's view of the list."""

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
    """For each level of nesting, whether a sibling follows below; empty for a line that is not nested."""
    folded: bool = False
    shown: int = 0
    total: int = 0
    """All sessions of a group, of which `shown` are on show; of a hidden line, in how many groups its sessions are."""
    found: int = 0
    """Of a group: its sessions that match, including those hidden without a filter: `used` is theirs."""
    used: Sum = NOTHING
    """Of a group: usage and cost of its sessions that match, including those hidden without a filter, as in the totals."""
    ordered_by: str = ""
    """Of a group: the sum over its rows that the sort compares; empty where that is no sum."""
    modified: int = 0
    words: str = ""
    relation: str = ""
    """The relation of a nested session to the one above it."""
    apart: Namesake | None = None
    """Of a session with the title of another in its group: the text that distinguishes them."""
    elsewhere: str = ""
    """Of a session in the forest: its project, where that differs from the project of the line above it."""


class Stock:
    """All cards with facts computed from them once: parents, and texts ready for the search."""

    def __init__(
        self,
        cards: Sequence[Card],
        files: Mapping[str, Details] | None = None,
        status: Callable[[Sequence[Card], Mapping[str, tuple[str, str]]], CatalogueStatus] | None = None,
        details: Callable[[str], Details] | None = None,
    ) -> None:
        """`details` gives the last words of a session by its path."""
        self.source = cards
        """The very list of cards it was made from."""
        self.cards = sorted(cards, key=lambda card: card.path)
        self.parents = parents(self.cards)
        self.status = status(self.cards, self.parents) if status is not None else NOTHING_KNOWN
        self.files = files
        self.agents = tuple(sorted({card.agent for card in self.cards}))
        self.projects = len({card.project for card in self.cards})
        self.used = {path: sum_of(days) for path, days in self.status.spent.items()}
        self.details = details or (lambda _path: Details())
        self._shelf: CardShelf | None = None
        self._lock = threading.Lock()

    @cached_property
    def joined(self) -> frozenset[str]:
        """The paths of sessions with a parent or a child."""
        return families(self.cards, self.parents)

    def sum_of(self, path: str) -> Sum:
        """Usage and cost of a session."""
        return self.used.get(path, NOTHING)

    def cost_of(self, path: str) -> str:
        """The cost of a session; empty where that is not known."""
        used = self.sum_of(path)
        return money(used.cost) if used.priced else ""

    def select(self, query: Query) -> list[Card]:
        """The cards that a query finds."""
        if not query:
            return self.cards
        with self._lock:
            if self._shelf is None:
                self._shelf = CardShelf(self.cards, self.files)
        return self._shelf.select(query)


@dataclass(frozen=True)
class Listing:
    """The present lines, and the figures around them."""

    lines: Sequence[ListLine]
    view: View
    query: Query
    stock: Stock
    shown: int
    """Sessions that match and are not hidden; those in folded groups count."""
    total: int
    archived: int
    """Sessions left out because they are archived."""
    warm_ups: int = 0
    """Sub-agents left out because they had no task."""
    at: Mapping[str, int] = field(default_factory=dict)
    """Line by path of the session, and by `group:` and its name."""
    groups: Mapping[str, tuple[Card, ...]] = field(default_factory=dict)
    """The sessions of each group that are on show, or would be if it were unfolded."""

    @property
    def missed(self) -> int:
        """Sessions that the filter does not find; with those on show, archived or without a task, all sessions."""
        return self.total - self.matched

    @property
    def matched(self) -> int:
        """Sessions that the filter finds, including those hidden without a filter; all where there is none."""
        return self.shown + self.archived + self.warm_ups

    def files_found(self, path: str) -> tuple[str, ...]:
        """The files of a session that `file:` found."""
        files = self.stock.files
        card = self.lines[self.at[path]].card if path in self.at else None
        if not self.query.files or files is None or card is None:
            return ()
        found = matches(card, self.query, files.get(path))
        return found.files if found is not None else ()


EMPTY = Listing((), View(), Query(), Stock(()), 0, 0, 0)


def list_sessions(stock: Stock, view: View, now: int) -> Listing:
    """The lines for `view`; `now` in milliseconds since 1970."""
    query = parse(view.text, now)
    found = stock.select(query)
    archived = 0 if view.archived else sum(1 for card in found if card.archived)
    warm_ups = 0 if view.archived else sum(1 for card in found if card.warm_up and not card.archived)
    shown = [card for card in found if not (card.archived or card.warm_up)] if archived or warm_ups else found
    group_of = _grouped(stock, view.grouping, shown)
    used = _used(found, stock, group_of)
    totals, matching = _totals(stock.cards, group_of), _totals(found, group_of)
    lines: list[ListLine] = []
    at: dict[str, int] = {}
    cards: dict[str, tuple[Card, ...]] = {}
    for name, group in _groups(shown, stock, view, group_of):
        cards[name] = tuple(row.card for row in group.rows)
        if view.grouping is not Grouping.NONE:
            if lines:
                lines.append(ListLine(LineKind.BLANK))
            at[f"group:{name}"] = len(lines)
            lines.append(
                _group_line(
                    name, group, view, stock, total=totals[name], found=matching[name], used=used[name]
                )
            )
            if name in view.folded:
                continue
        _add_sessions(
            lines, at, name, group, stock, forest=view.grouping is Grouping.FOREST and stock.projects > 1
        )
    paths = {card.path for card in found}
    there = _totals((card for card in stock.cards if card.path not in paths), group_of)
    elsewhere = [there[name] for name in there.keys() - {group_of(card) for card in shown}]
    _add_hidden(
        lines,
        query,
        stock,
        len(stock.cards) - len(found),
        archived,
        warm_ups,
        elsewhere if view.grouping is Grouping.PROJECT else [],
    )
    return Listing(
        lines, view, query, stock, len(shown), len(stock.cards), archived, warm_ups, at=at, groups=cards
    )


def _group_line(
    name: str, group: Group, view: View, stock: Stock, *, total: int, found: int, used: Sum
) -> ListLine:
    return ListLine(
        LineKind.GROUP,
        name,
        folded=name in view.folded,
        shown=len(group.rows),
        total=total,
        found=found,
        used=used,
        ordered_by=_ordered_by(group, view.sort),
        modified=group.modified,
        words=NO_PROJECT_FOLDER if name in stock.status.missing else "",
    )


def day_of(milliseconds: int) -> str:
    """The day of a moment in the user's zone, as ISO 8601 writes it; empty where there is no such day."""
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).astimezone().date().isoformat()
    except (OverflowError, ValueError, OSError):
        return ""


def _grouped(stock: Stock, grouping: Grouping, shown: Sequence[Card]) -> Callable[[Card], str]:
    """The name of a card's group; `shown` are the cards with a line."""
    if grouping is Grouping.PROJECT:
        return lambda card: card.project
    if grouping is Grouping.AGENT:
        return lambda card: card.agent
    if grouping is Grouping.DAY:
        return lambda card: day_of(card.when)
    if grouping is Grouping.FOREST:
        # A session whose relatives are all hidden is on its own on the screen.
        alone = {card.path for card in shown} - families(shown, stock.parents)
        joined = stock.joined - alone
        return lambda card: FAMILIES if card.path in joined else ALONE
    return lambda _card: ""


def _totals(cards: Iterable[Card], group_of: Callable[[Card], str]) -> dict[str, int]:
    totals: dict[str, int] = {}
    for card in cards:
        name = group_of(card)
        totals[name] = totals.get(name, 0) + 1
    return totals


def _groups(
    shown: Sequence[Card], stock: Stock, view: View, group_of: Callable[[Card], str]
) -> list[tuple[str, Group]]:
    grouping = view.grouping
    by = None if grouping is Grouping.NONE else group_of
    found = [(group.project, group) for group in arrange(shown, stock.parents, view.sort, by=by)]
    if grouping is Grouping.AGENT:
        return sorted(found, key=lambda one: stock.agents.index(one[0]))
    if grouping is Grouping.FOREST:
        return sorted(found, key=lambda one: one[0] != FAMILIES)
    if grouping is Grouping.DAY:
        return sorted(found, key=lambda one: one[0], reverse=True)
    # Sessions without a project are damaged or strange: they never push the others away from the top.
    return sorted(found, key=lambda one: not one[0])


def _used(cards: Iterable[Card], stock: Stock, group_of: Callable[[Card], str]) -> dict[str, Sum]:
    """Usage and cost of the sessions of each group."""
    used: dict[str, Sum] = {}
    for card in cards:
        name = group_of(card)
        used[name] = used.get(name, NOTHING) + stock.sum_of(card.path)
    return used


def _ordered_by(group: Group, sort: Sort) -> str:
    """The sum that a sort compares groups by, with its unit; empty for a time or a name."""
    cards = [row.card for row in group.rows]
    if sort is Sort.SIZE:
        return byte_size(sum(card.size for card in cards))
    if sort is Sort.TURNS:
        return counted(sum(card.turns or 0 for card in cards), "turn")
    if sort is Sort.TOKENS and group.tokens:
        sign = "~" if any(card.estimated and card.tokens for card in cards) else ""
        return f"{sign}{count(group.tokens)} context"
    return ""


def _add_sessions(
    lines: list[ListLine], at: dict[str, int], name: str, group: Group, stock: Stock, *, forest: bool
) -> None:
    follows: list[bool] = []
    above: list[Card] = []
    apart = told_apart((row.card for row in group.rows), stock.details, stock.cost_of)
    for row in group.rows:
        del follows[row.depth :], above[row.depth :]
        follows.append(not row.last)
        card = row.card
        relation = stock.parents.get(card.path, ("", ""))[1] if row.depth else ""
        project = card.project if forest and (not above or above[-1].project != card.project) else ""
        above.append(card)
        at[card.path] = len(lines)
        lines.append(
            ListLine(
                LineKind.SESSION,
                name,
                card,
                tuple(follows[1:]),
                relation=relation,
                apart=apart.get(card.path),
                elsewhere=project,
            )
        )


def _add_hidden(
    lines: list[ListLine],
    query: Query,
    stock: Stock,
    filtered: int,
    archived: int,
    warm_ups: int,
    elsewhere: list[int],
) -> None:
    """Adds lines with the numbers of hidden sessions; `elsewhere` are the numbers for each project without a visible one."""
    if not lines:
        return
    if query and filtered:
        lines.append(ListLine(LineKind.BLANK))
        words, groups, there = "hidden by the filter", len(elsewhere), sum(elsewhere)
        if 0 < there < filtered:
            words += f", {there:,} of them in {groups:,} other project{'s' if groups > 1 else ''}"
            groups = 0
        lines.append(ListLine(LineKind.HIDDEN, shown=filtered, total=groups, words=words))
    for hidden, words in (
        (archived, "archived"),
        (warm_ups, WARM_UPS),
        (stock.status.excluded, "excluded by the configuration"),
    ):
        if hidden:
            if lines[-1].kind is not LineKind.HIDDEN:
                lines.append(ListLine(LineKind.BLANK))
            lines.append(ListLine(LineKind.HIDDEN, shown=hidden, words=words))
