"""Relations between sessions: forks under their parents, grouped by project, in a chosen order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from leafward.session.entries import INFERRED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from leafward.catalogue.cards.card import Card


class Sort(StrEnum):
    """The order of a catalogue."""

    WHEN = "when"
    NAME = "name"
    SIZE = "size"
    TURNS = "turns"
    TOKENS = "tokens"


@dataclass(frozen=True, slots=True)
class CardRow:
    """A card in a listing, with its depth."""

    card: Card
    depth: int
    """0 for a session that has no parent in the listing."""
    last: bool
    """Whether this is the last of its siblings."""


@dataclass(frozen=True, slots=True)
class Group:
    """The sessions of one project, day or agent; or all of them, if they are not grouped."""

    project: str
    """The name of the group."""
    rows: tuple[CardRow, ...]
    """Parents before their forks."""
    tokens: int
    modified: int
    """Milliseconds since 1970 of the latest session in the group."""


def parents(cards: Iterable[Card]) -> dict[str, tuple[str, str]]:
    """The path of each session's parent and the relation, for those whose parent is among the cards. Never a cycle.

    A parent is looked up by its path and, because stores are moved, then by its file name and by its id. Sessions that name
    no parent but begin with the same message as an older one are copies or forks of it (`inferred`).
    """
    cards = list(cards)
    by_path = {card.path: card.path for card in cards}
    by_name: dict[str, str | None] = {}
    by_id: dict[str, str | None] = {}
    for card in cards:
        _note(by_name, _file_name(card.path), card.path)
        _note(by_id, card.id, card.path)
    found: dict[str, tuple[str, str]] = {}
    for card in cards:
        if card.parent is None:
            continue
        name = _file_name(card.parent)
        above = (
            by_path.get(card.parent) or by_name.get(name) or by_id.get(_id_in(name)) or by_id.get(card.parent)
        )
        if above is not None and above != card.path:
            found[card.path] = (above, card.relation or INFERRED)
    found |= _inferred(cards, found)
    _cut_cycles(found)
    return found


def forks_of(card: Card, cards: Iterable[Card], found: Mapping[str, tuple[str, str]]) -> list[Card]:
    """The sessions that were made from one; `found` is the result of `parents` for all cards."""
    return [one for one in cards if found.get(one.path, ("", ""))[0] == card.path]


def _note(table: dict[str, str | None], key: str, path: str) -> None:
    """Adds a path under a key; the value is None if several files have the key."""
    table[key] = None if key in table else path


def _file_name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _id_in(name: str) -> str:
    """The session id in a file name of pi: the part after the time."""
    return name.removesuffix(".jsonl").rpartition("_")[2]


def _inferred(cards: list[Card], named: Mapping[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    oldest: dict[int, Card] = {}
    for card in cards:
        if card.origin:
            known = oldest.get(card.origin)
            if known is None or seniority(card) < seniority(known):
                oldest[card.origin] = card
    found = {}
    for card in cards:
        if card.origin and card.parent is None and card.path not in named:
            first = oldest[card.origin]
            if first.path != card.path:
                found[card.path] = (first.path, INFERRED)
    return found


def seniority(card: Card) -> tuple[bool, int, str]:
    """Sort key of files that begin alike: the original sorts before the files made from it."""
    return card.parent is not None, card.created if card.created is not None else card.modified, card.path


def _cut_cycles(found: dict[str, tuple[str, str]]) -> None:
    """Removes the parent of the session that closes a cycle."""
    settled: set[str] = set()
    for start in list(found):
        walk: dict[str, None] = {}
        at = start
        while at in found and at not in settled:
            if at in walk:
                del found[at]
                break
            walk[at] = None
            at = found[at][0]
        settled.update(walk)


def with_parents(cards: Iterable[Card], found: Mapping[str, tuple[str, str]]) -> list[Card]:
    """The cards with inferred parents filled in."""
    return [
        card._replace(parent=found[card.path][0], relation=found[card.path][1])
        if card.parent is None and card.path in found
        else card
        for card in cards
    ]


def families(cards: Iterable[Card], found: Mapping[str, tuple[str, str]]) -> frozenset[str]:
    """The paths of the cards that have an ancestor or a descendant among the cards."""
    shown = {card.path for card in cards}
    joined: set[str] = set()
    for path in shown:
        at = path
        while at in found:
            at = found[at][0]
            if at in shown:
                joined |= {path, at}
                break
    return frozenset(joined)


_KEYS: dict[Sort, Callable[[Card], Any]] = {
    Sort.WHEN: lambda card: -card.when,
    Sort.NAME: lambda card: (card.title.casefold(), card.title),
    Sort.SIZE: lambda card: -card.size,
    Sort.TURNS: lambda card: -(card.turns or 0),
    Sort.TOKENS: lambda card: -(card.tokens or 0),
}


def arrange(
    cards: Iterable[Card],
    found: Mapping[str, tuple[str, str]],
    sort: Sort = Sort.WHEN,
    *,
    by: Callable[[Card], str] | None = lambda card: card.project,
) -> list[Group]:
    """The cards in order: groups, and in each group the sessions with their forks under them.

    `by` names the group of a card, by default its project; with None all cards are one group. A fork stands under its parent
    only if both are in the same group.

    `found` is the result of `parents` for all cards, so that a fork whose parent is filtered out stands under its nearest shown
    ancestor. In the order of time, a session counts as young as its youngest fork (pi 1.5.2).
    """
    shown = {card.path: card for card in cards}
    above = _shown_parents(shown, found, by)
    below: dict[str, list[str]] = {}
    tops: dict[str, list[str]] = {}
    for path, card in shown.items():
        if path in above:
            below.setdefault(above[path], []).append(path)
        else:
            tops.setdefault(by(card) if by is not None else "", []).append(path)
    key = _KEYS[sort]
    order = {path: key(card) for path, card in shown.items()}
    if sort is Sort.WHEN and below:
        for path in _upwards(above, shown):
            if path in above:
                order[above[path]] = min(order[above[path]], order[path])
    groups = [_group(project, paths, shown, below, order) for project, paths in tops.items()]
    groups.sort(key=lambda group: _group_key(group, sort))
    return groups


def _shown_parents(
    shown: Mapping[str, Card], found: Mapping[str, tuple[str, str]], by: Callable[[Card], str] | None
) -> dict[str, str]:
    above = {}
    for path, card in shown.items():
        at = path
        while at in found:
            at = found[at][0]
            if at in shown:
                if by is None or by(shown[at]) == by(card):
                    above[path] = at
                break
    return above


def _upwards(above: Mapping[str, str], shown: Iterable[str]) -> list[str]:
    """Paths in such an order that each comes before its parent."""
    waiting: dict[str, int] = {}
    for parent in above.values():
        waiting[parent] = waiting.get(parent, 0) + 1
    ready = [path for path in shown if path not in waiting]
    order = []
    while ready:
        path = ready.pop()
        order.append(path)
        if path in above:
            waiting[above[path]] -= 1
            if not waiting[above[path]]:
                ready.append(above[path])
    return order


def _group(
    project: str,
    tops: list[str],
    shown: Mapping[str, Card],
    below: dict[str, list[str]],
    order: Mapping[str, Any],
) -> Group:
    rows: list[CardRow] = []
    stack: list[tuple[str, int, bool]] = []
    _push(stack, tops, 0, order)
    while stack:
        path, depth, last = stack.pop()
        rows.append(CardRow(shown[path], depth, last))
        if path in below:
            _push(stack, below[path], depth + 1, order)
    return Group(
        project, tuple(rows), sum(row.card.tokens or 0 for row in rows), max(row.card.when for row in rows)
    )


def _push(stack: list[tuple[str, int, bool]], paths: list[str], depth: int, order: Mapping[str, Any]) -> None:
    paths.sort(key=lambda path: (order[path], path), reverse=True)
    stack.extend((path, depth, position == 0) for position, path in enumerate(paths))


def _group_key(group: Group, sort: Sort) -> Any:
    if sort is Sort.NAME:
        return group.project.casefold(), group.project
    if sort is Sort.WHEN:
        return -group.modified, group.project
    counts = {
        Sort.SIZE: sum(row.card.size for row in group.rows),
        Sort.TURNS: sum(row.card.turns or 0 for row in group.rows),
        Sort.TOKENS: group.tokens,
    }
    return -counts[sort], group.project
