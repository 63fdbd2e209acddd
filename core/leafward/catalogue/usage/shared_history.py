"""Usage of sessions with nothing counted twice, whatever makes two files hold the same history.

A fork names its parent, and its inherited entries are older than its header. Files that begin with the same message but do
not name each other are compared reply by reply, on the days on which both used something.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.base.errors import LeafwardError
from leafward.catalogue.cards.card import DayUsage
from leafward.catalogue.cards.daily_usage import CountedUsage, Meter, day_of, use_of
from leafward.catalogue.lineage import seniority
from leafward.session.entries import INFERRED

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from leafward.catalogue.cards.card import Card

_COMPARED = 24
"""Most files of one history that are compared reply by reply. Larger families are generated, and reading all would take minutes."""
_SESSIONS_KEPT = 8
"""Number of sessions whose replies are kept for further comparisons."""


def counted_once(
    cards: Sequence[Card], found: Mapping[str, tuple[str, str]], spent: Callable[[str], Sequence[DayUsage]]
) -> dict[str, tuple[DayUsage, ...]]:
    """Tokens and costs of each session, by path, with nothing counted twice. For workers: it may open files.

    `found` is the result of `parents`. Inherited usage counts in the session that it was taken from; if that is not among the
    cards, in the fork that took over most. Of native files that hold the same replies, the oldest counts them. A copy in
    another agent's store records itself which part it took over.
    """
    heirs: dict[str, tuple[int, str]] = {}
    alike: dict[tuple[object, ...], list[Card]] = {}
    for card in cards:
        named = card.path in found and found[card.path][1] != INFERRED
        if card.origin:
            # A copied file of a fork has the same header; other forks of that session have headers of their own.
            family: tuple[object, ...] = (card.origin, *_header(card)) if named else (card.origin,)
            alike.setdefault(family, []).append(card)
        elif card.path not in found and (taken := sum(one.tokens for one in spent(card.path) if one.copied)):
            key = card.parent or card.path
            heirs[key] = max(heirs.get(key, (0, "")), (taken, card.path))
    keepers = {path for _, path in heirs.values()}
    counted = {
        card.path: tuple(one for one in spent(card.path) if not one.copied or card.path in keepers)
        for card in cards
        if not card.origin
    }
    for family, files in alike.items():
        counted |= _divided(sorted(files, key=seniority), spent, copied=len(family) == 1)
    return counted


def _divided(
    files: Sequence[Card], spent: Callable[[str], Sequence[DayUsage]], *, copied: bool
) -> dict[str, tuple[DayUsage, ...]]:
    """Usage of each file that no file before it holds; with `copied`, usage older than the file's header is included."""
    days: dict[int, _Day] = {}
    counted: dict[str, tuple[DayUsage, ...]] = {}
    for card in files:
        own = []
        for one in _by_day(spent(card.path), copied=copied):
            day = days.setdefault(one.day, _Day())
            # Files with the same header and the same sums are the same; no look into them is needed.
            if (one, _header(card)) in day.sums:
                continue
            if not day.sums:
                own.append(one)
            elif len(files) > _COMPARED:
                own.append(day.reckoned(one))
            else:
                own.append(day.beyond(one, card, copied=copied))
            day.add(one, card)
        counted[card.path] = tuple(one for one in own if one.tokens or one.cost)
    return counted


class _Day:
    """Usage of a family's files on one day. A file is read once, and only if another one used something on that day."""

    def __init__(self) -> None:
        self.sums: set[tuple[DayUsage, tuple[str, int | None]]] = set()
        self._unread: list[Card] = []
        self._uses: Counter[CountedUsage] = Counter()

    def add(self, one: DayUsage, card: Card) -> None:
        """Adds a file with its whole usage of the day."""
        self.sums.add((one, _header(card)))
        self._unread.append(card)

    def beyond(self, one: DayUsage, card: Card, *, copied: bool) -> DayUsage:
        """Usage of a file in replies that no file before it holds; if a file cannot be read, the sums decide."""
        try:
            while self._unread:
                self._uses |= _uses(self._unread[-1], one.day, copied=copied)
                self._unread.pop()
            own = _uses(card, one.day, copied=copied) - self._uses
        except (OSError, LeafwardError):
            return self.reckoned(one)
        meter = Meter(0)
        for use in own.elements():
            meter.count(use, copied=False)
        return next(iter(meter.days()), DayUsage(one.day, 0, 0.0, 0, copied=False))

    def reckoned(self, one: DayUsage) -> DayUsage:
        """Usage of a file beyond that of the largest file before it, by the sums alone."""
        most = max((known for known, _ in self.sums), key=lambda known: known.tokens)
        cost = max(0.0, round(one.cost - most.cost, 9))
        return one._replace(tokens=max(0, one.tokens - most.tokens), cost=cost)


def _header(card: Card) -> tuple[str, int | None]:
    return card.id, card.created


def _by_day(days: Sequence[DayUsage], *, copied: bool) -> list[DayUsage]:
    """One sum for each day; copied usage is included with `copied`, else left out."""
    found: dict[int, DayUsage] = {}
    for one in days:
        if one.copied and not copied:
            continue
        known = found.get(one.day)
        if known is not None:
            cost = round(known.cost + one.cost, 9)
            one = DayUsage(one.day, known.tokens + one.tokens, cost, known.priced + one.priced, copied=False)
        found[one.day] = one._replace(copied=False)
    return list(found.values())


def _uses(card: Card, day: int, *, copied: bool) -> Counter[CountedUsage]:
    stat = os.stat(card.path)
    uses = _uses_in(card.path, card.created or 0, (stat.st_size, stat.st_mtime_ns))
    began = card.created or 0
    return Counter(use for use in uses if day_of(use.when) == day and (copied or not 0 < use.when < began))


@lru_cache(maxsize=_SESSIONS_KEPT)
def _uses_in(path: str, began: int, stamp: tuple[int, int]) -> tuple[CountedUsage, ...]:
    """Usage of each entry of a native file. `stamp` is part of the cache key: a file that has changed is read again."""
    del stamp
    # Imported here, as few sessions are compared.
    from leafward.agents.registry import native

    with closing(native().open(Path(path), lambda: False)) as session:
        bodies = (session.body(index) for index in range(len(session)))
        uses = (use_of(body, began) for body in bodies if body is not None)
        return tuple(use for use in uses if use is not None)
