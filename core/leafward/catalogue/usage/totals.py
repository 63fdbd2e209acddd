"""Sums of tokens and costs over sessions: by project, by agent and by day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from leafward.catalogue.cards.card import Card, DayUsage


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
