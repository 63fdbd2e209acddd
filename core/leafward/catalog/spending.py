"""Tokens and costs of sessions: by day, with inherited usage kept apart."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import date, timedelta
from operator import add
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.times import parse_time
from leafward.catalog.card import DayUsage
from leafward.catalog.card_fields import time_in
from leafward.session.entries import Kind, read_usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from leafward.catalog.card import Card
    from leafward.session.entries import Body
    from leafward.session.session import Session

_USED = frozenset({Kind.ASSISTANT, Kind.COMPACTION, Kind.BRANCH_SUMMARY, Kind.USAGE})
"""Kinds that may record usage in another agent's session. In a native one every line may: pi 1.5.2 counts tools too."""
_MINUTE = 60_000
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
_STOP_EVERY = 256


@dataclass(frozen=True, slots=True)
class Sum:
    """Tokens and costs of several sessions."""

    sessions: int = 0
    tokens: int = 0
    cost: float = 0.0
    """US dollars of the sessions whose agent recorded a cost."""
    unpriced: int = 0
    """Number of sessions that used tokens without a recorded cost."""
    priced: int = 0
    """Number of sessions whose agent recorded a cost."""

    def __add__(self, other: Sum) -> Sum:
        return Sum(
            self.sessions + other.sessions,
            self.tokens + other.tokens,
            self.cost + other.cost,
            self.unpriced + other.unpriced,
            self.priced + other.priced,
        )

    @property
    def known_cost(self) -> float | None:
        """The cost, rounded; None if no session records one."""
        return round(self.cost, 6) if self.priced else None

    def as_json(self) -> dict[str, object]:
        """The sum as `ls --json` writes it."""
        return {
            "sessions": self.sessions,
            "tokens": self.tokens,
            "cost": self.known_cost,
            "without_cost": self.unpriced,
        }


NOTHING = Sum()


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
    message = body.get("message")
    within = message if isinstance(message, dict) else body
    raw = within.get("usage")
    used = read_usage(raw)
    if used is None or not isinstance(raw, dict) or not (used.total or used.cost):
        return None
    cost = raw.get("cost")
    total = cost.get("total") if isinstance(cost, dict) else None
    when = time_in(within)
    if when is None:
        when = parse_time(body.get("timestamp"))
    return CountedUsage(
        began if when is None else when,
        used.total,
        used.cost,
        isinstance(total, (int, float)) and not isinstance(total, bool),
    )


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


def sum_of(days: Sequence[DayUsage]) -> Sum:
    """The sum of one session's days."""
    tokens = sum(one.tokens for one in days)
    priced = any(one.priced for one in days)
    return Sum(1, tokens, sum(one.cost for one in days), int(bool(tokens) and not priced), int(priced))


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums by project, by agent, by both, and by day; days latest first, others largest first."""

    all: Sum
    projects: Mapping[str, Sum]
    agents: Mapping[str, Sum]
    cells: Mapping[tuple[str, str], Sum]
    """By project and agent."""
    days: Mapping[int, Sum]
    """By day since 1970; a session counts on each day on which it used something."""

    def as_json(self) -> dict[str, object]:
        """The sums as `ls --json` writes them."""
        return {
            **self.all.as_json(),
            "by_project": [{"project": name, **one.as_json()} for name, one in self.projects.items()],
            "by_agent": [{"agent": name, **one.as_json()} for name, one in self.agents.items()],
            "by_project_and_agent": [
                {"project": project, "agent": agent, **one.as_json()}
                for (project, agent), one in self.cells.items()
            ],
            "by_day": [{"day": day_name(day), **one.as_json()} for day, one in self.days.items()],
        }


def totals(cards: Iterable[Card], counted: Mapping[str, Sequence[DayUsage]]) -> Totals:
    """The sums of some sessions, from the result of `counted_once` for all sessions."""
    whole = NOTHING
    projects: dict[str, Sum] = {}
    agents: dict[str, Sum] = {}
    cells: dict[tuple[str, str], Sum] = {}
    days: dict[int, Sum] = {}
    for card in cards:
        spent = counted.get(card.path, ())
        one = sum_of(spent)
        whole += one
        projects[card.project] = projects.get(card.project, NOTHING) + one
        agents[card.agent] = agents.get(card.agent, NOTHING) + one
        cells[card.project, card.agent] = cells.get((card.project, card.agent), NOTHING) + one
        for day in {each.day for each in spent}:
            part = sum_of([each for each in spent if each.day == day])
            days[day] = days.get(day, NOTHING) + part
    return Totals(
        whole,
        _largest_first(projects),
        _largest_first(agents),
        cells,
        dict(sorted(days.items(), reverse=True)),
    )


def _largest_first(sums: dict[str, Sum]) -> dict[str, Sum]:
    return dict(sorted(sums.items(), key=lambda one: (-one[1].cost, -one[1].tokens, one[0])))


def day_name(day: int) -> str:
    """A day since 1970 in ISO 8601; empty if it is beyond the calendar."""
    try:
        return (date(1970, 1, 1) + timedelta(days=day)).isoformat()
    except OverflowError:
        return ""
