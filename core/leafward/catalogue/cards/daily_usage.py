"""Tokens and costs of one session by day, with inherited usage kept apart."""

from __future__ import annotations

import time
from operator import add
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.times import parse_time
from leafward.catalogue.cards.card import DayUsage
from leafward.catalogue.cards.card_fields import time_in
from leafward.session.entries import Kind
from leafward.session.messages import usage_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from leafward.session.entries import Body
    from leafward.session.session import Session

_USED = frozenset({Kind.ASSISTANT, Kind.COMPACTION, Kind.BRANCH_SUMMARY, Kind.USAGE})
"""Kinds that may record usage in another agent's session. In a native one every line may: pi 1.5.2 counts tools too."""
_MINUTE = 60_000
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
_STOP_EVERY = 256


class CountedUsage(NamedTuple):
    """Usage of one entry: equal in every copy of it, whatever id the copy has."""

    when: int
    """Milliseconds since 1970: the message's own time, else the entry's, else the beginning of the session."""
    tokens: int
    cost: float
    priced: bool


def use_of(body: Body, began: int) -> CountedUsage | None:
    """Usage of an entry; None if it used no tokens and cost nothing, such as our compactions without a model.

    Such a compaction records a cost of 0, which says nothing about the costs that the agent does not record.
    """
    used = usage_of(body)
    if used is None or not (used.total or used.cost):
        return None
    message = body.get("message")
    when = time_in(message if isinstance(message, dict) else body)
    if when is None:
        when = parse_time(body.get("timestamp"))
    return CountedUsage(began if when is None else when, used.total, used.cost, used.priced)


class Meter:
    """Adds up usage by day. `began` is the beginning of the session in milliseconds; 0 if it is not recorded."""

    def __init__(self, began: int, known: Iterable[DayUsage] = ()) -> None:
        self.began = began
        self._hours: dict[int, list[float]] = {}
        self._days: dict[tuple[int, bool], list[float]] = {
            (one.day, one.copied): [one.tokens, one.cost, one.priced] for one in known
        }

    def add(self, body: Body, *, copied: bool | None = None) -> None:
        """Adds an entry to the day of its time; if `copied` is None, its time tells whether it was inherited."""
        used = use_of(body, self.began)
        if used is not None:
            self.count(used, copied=0 < used.when < self.began if copied is None else copied)

    def count(self, used: CountedUsage, *, copied: bool) -> None:
        """Adds the usage of one entry."""
        day = self._day(day_of(used.when), copied=copied)
        day[0] += used.tokens
        day[1] += used.cost
        day[2] += used.priced

    def day_at(self, when: float) -> tuple[int, int, list[float]]:
        """The sums of the day of a time in milliseconds, to be added to: tokens, cost and number of costs.

        Before the sums come two times: every time from the first up to, but not including, the second is on the same day.
        """
        first = int(when) // _HOUR * _HOUR
        known = self._hours.get(first)
        return (first, first + _HOUR, known) if known is not None else self._day_at(int(when))

    def _day_at(self, when: int) -> tuple[int, int, list[float]]:
        """The sums of a time's day; cached for its hour if the hour is on one day and on one side of the session's beginning."""
        copied = 0 < when < self.began
        for size in (_HOUR, _MINUTE):
            first = when - when % size
            until = first + size
            # Inherited usage ends where the session begins.
            if first < self.began < until:
                first, until = (first, self.began) if copied else (self.began, until)
            number = day_of(first)
            if first > 0 and day_of(until - 1) == number:
                day = self._day(number, copied=copied)
                if until - first == _HOUR:
                    self._hours[first] = day
                return first, until, day
        return when, when + 1, self._day(day_of(when), copied=copied)

    def _day(self, number: int, *, copied: bool) -> list[float]:
        return self._days.setdefault((number, copied), [0, 0.0, 0])

    def join(self, other: Meter) -> None:
        """Adds the sums that another meter counted for the same session."""
        for key, more in other._days.items():
            day = self._days.setdefault(key, [0, 0.0, 0])
            day[:] = map(add, day, more)

    def days(self) -> tuple[DayUsage, ...]:
        """The sums of each day, in order."""
        return tuple(
            DayUsage(day, int(tokens), round(cost, 9), int(priced), copied)
            for (day, copied), (tokens, cost, priced) in sorted(self._days.items())
        )


def day_of(milliseconds: int) -> int:
    """The day of a time in milliseconds, in days since 1970 and in the zone of this machine."""
    try:
        offset = time.localtime(milliseconds / 1000).tm_gmtoff
    except (OverflowError, ValueError, OSError):
        offset = 0
    return (milliseconds + offset * 1000) // _DAY


def spent_by(session: Session, stop: Callable[[], bool]) -> tuple[DayUsage, ...] | None:
    """Usage of a session of another agent, by day; None if it was stopped."""
    meter = Meter(parse_time(session.header.get("timestamp")) or 0)
    kinds = session.columns.kind
    for number, index in enumerate(index for index, kind in enumerate(kinds) if kind in _USED):
        if not number % _STOP_EVERY and stop():
            return None
        body = session.body(index)
        if body is not None:
            meter.add(body, copied=index < session.inherited)
    return meter.days()
