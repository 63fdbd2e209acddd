"""What sessions used, such that nothing is counted in two of them, whatever makes two files hold the same history.

A fork says what it was made from, and what it took over is older than its header. Files that begin with the same message and
say nothing of each other are compared reply by reply, on the days on which both used something.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.base.errors import LeafwardError
from leafward.catalog.card import INFERRED, Spent
from leafward.catalog.lineage import seniority
from leafward.catalog.spending import Meter, Use, day_of, use_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from leafward.catalog.card import Card

_COMPARED = 24
"""Files of one history that are compared reply by reply: more of them are made, not gone on with, and reading all would take minutes."""
_SESSIONS_KEPT = 8
"""Sessions whose replies are kept to be compared again."""


def counted_once(
    cards: Sequence[Card],
    found: Mapping[str, tuple[str, str]],
    spent: Callable[[str], Sequence[Spent]],
) -> dict[str, tuple[Spent, ...]]:
    """What each session used, by path, such that nothing is counted in two of them. For workers: it may open files.

    `found` is what `parents` said. What a fork took over counts in the session that it was taken from; where that is not among
    the cards, in the fork that took over most. Of native files that hold the same replies the oldest counts them; a copy in
    another agent's store says itself what it took over.
    """
    heirs: dict[str, tuple[int, str]] = {}
    alike: dict[tuple[object, ...], list[Card]] = {}
    for card in cards:
        named = card.path in found and found[card.path][1] != INFERRED
        if card.origin:
            # A copied file of a fork has its header as well; other forks of that session have headers of their own.
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
    files: Sequence[Card], spent: Callable[[str], Sequence[Spent]], *, copied: bool
) -> dict[str, tuple[Spent, ...]]:
    """What each of some files holds that none before it does; `copied`: also what is older than its header."""
    days: dict[int, _Day] = {}
    counted: dict[str, tuple[Spent, ...]] = {}
    for card in files:
        own = []
        for one in _by_day(spent(card.path), copied=copied):
            day = days.setdefault(one.day, _Day())
            # Of files with one header the sums tell, without a look into them.
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
    """What the files of a family used on one day. Each is read once, and only where another one used something on that day."""

    def __init__(self) -> None:
        self.sums: set[tuple[Spent, tuple[str, int | None]]] = set()
        self._unread: list[Card] = []
        self._uses: Counter[Use] = Counter()

    def add(self, one: Spent, card: Card) -> None:
        """Adds a file with what it used in all."""
        self.sums.add((one, _header(card)))
        self._unread.append(card)

    def beyond(self, one: Spent, card: Card, *, copied: bool) -> Spent:
        """What a file used in replies that no file before it holds; where one cannot be read, the sums tell."""
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
        return next(iter(meter.days()), Spent(one.day, 0, 0.0, 0, copied=False))

    def reckoned(self, one: Spent) -> Spent:
        """What a file used beyond the one that used most, by the sums alone."""
        most = max((known for known, _ in self.sums), key=lambda known: known.tokens)
        cost = max(0.0, round(one.cost - most.cost, 9))
        return one._replace(tokens=max(0, one.tokens - most.tokens), cost=cost)


def _header(card: Card) -> tuple[str, int | None]:
    return card.id, card.created


def _by_day(days: Sequence[Spent], *, copied: bool) -> list[Spent]:
    """One for each day, what was copied together with the rest or left out."""
    found: dict[int, Spent] = {}
    for one in days:
        if one.copied and not copied:
            continue
        known = found.get(one.day)
        if known is not None:
            cost = round(known.cost + one.cost, 9)
            one = Spent(one.day, known.tokens + one.tokens, cost, known.priced + one.priced, copied=False)
        found[one.day] = one._replace(copied=False)
    return list(found.values())


def _uses(card: Card, day: int, *, copied: bool) -> Counter[Use]:
    stat = os.stat(card.path)
    uses = _uses_in(card.path, card.created or 0, (stat.st_size, stat.st_mtime_ns))
    began = card.created or 0
    return Counter(use for use in uses if day_of(use.when) == day and (copied or not 0 < use.when < began))


@lru_cache(maxsize=_SESSIONS_KEPT)
def _uses_in(path: str, began: int, stamp: tuple[int, int]) -> tuple[Use, ...]:
    """What each entry of a native file used. `stamp` makes a file that was written to be read again."""
    del stamp
    # Few sessions are compared.
    from leafward.agents import native

    with closing(native().open(Path(path), lambda: False)) as session:
        bodies = (session.body(index) for index in range(len(session)))
        uses = (use_of(body, began) for body in bodies if body is not None)
        return tuple(use for use in uses if use is not None)
