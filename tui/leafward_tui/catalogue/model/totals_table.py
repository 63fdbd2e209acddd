"""The rows of the totals: tokens and costs by project and agent, then by day. Pure; knows no colour."""

from __future__ import annotations

import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import Cancelled, LeafwardError
from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward.catalogue.usage.totals import Sum, Totals, day_name
from leafward_tui.ui.text.cells import ZERO, count, exact, money

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from leafward.catalogue.cards.card import Card
    from leafward.compaction.aftermath.aftermath_totals import AftermathSum, Maker
    from leafward_tui.ui.jobs import Job

PUBLISH_EVERY = 0.15
"""Seconds between two reports while sessions are read."""


class TotalsRow(NamedTuple):
    """One row: a name and its figures, each in its column."""

    name: str
    figures: tuple[str, ...] = ()
    share: float = -1.0
    """The length of its bar as a share of the longest; negative where it has none."""
    head: bool = False
    path: bool = False
    """Whether the name is a folder."""
    missing: bool = False
    quiet: bool = False
    warns: bool = False


def totals_rows(sums: Totals, missing: frozenset[str]) -> list[TotalsRow]:
    """All rows, with an empty one between sections."""
    if not sums.all.sessions:
        return [TotalsRow("No sessions.")]
    return [*_whole(sums), *_projects(sums, missing), *_agents(sums), *_days(sums)]


def _whole(sums: Totals) -> Iterator[TotalsRow]:
    yield TotalsRow("", ("sessions", "tokens", "cost"), head=True)
    yield TotalsRow("Total", _figures(sums.all))
    if sums.all.unpriced:
        signs = "+ means at least that, ? none recorded" if sums.all.priced else "? means none recorded"
        yield TotalsRow(f"cost not recorded in {counted(sums.all.unpriced, 'session')}: {signs}", quiet=True)
    yield TotalsRow("shared history counted once; cached tokens count too", quiet=True)


def _projects(sums: Totals, missing: frozenset[str]) -> Iterator[TotalsRow]:
    """A row for each project, and below it one for each of its agents where there are several."""
    yield TotalsRow("")
    yield TotalsRow("By project", ("sessions", "tokens", "cost"), head=True)
    for project, one in sums.projects.items():
        yield TotalsRow(project, _figures(one), path=bool(project), missing=project in missing)
        parts = [(agent, part) for agent in sums.agents if (part := sums.cells.get((project, agent)))]
        if len(parts) > 1:
            for agent, part in parts:
                yield TotalsRow(f"  {safe_line(agent)}", _figures(part), quiet=True)


def _agents(sums: Totals) -> Iterator[TotalsRow]:
    if len(sums.agents) < 2:
        return
    yield TotalsRow("")
    yield TotalsRow("By agent", ("sessions", "tokens", "cost"), head=True)
    for agent, one in sums.agents.items():
        yield TotalsRow(safe_line(agent), _figures(one))


def _days(sums: Totals) -> Iterator[TotalsRow]:
    if not sums.days:
        return
    yield TotalsRow("")
    yield TotalsRow("By day of use", ("sessions", "tokens", "cost"), head=True)
    yield TotalsRow("a session counts on each day on which it used tokens", quiet=True)
    most = max(one.tokens for one in sums.days.values())
    for day, one in sums.days.items():
        yield TotalsRow(day_name(day), _figures(one), one.tokens / most if most else 0.0)


def aftermath_rows(found: AftermathReading) -> list[TotalsRow]:
    """Repeats after compactions, by agent, model and strategy; while sessions are read, also the progress."""
    if not found.sessions:
        return []
    rows = [
        TotalsRow(""),
        TotalsRow("Repeated after compactions", ("compactions", "repeats", "tokens", "cost"), head=True),
    ]
    if found.read < found.sessions:
        words = f"counting: session {found.read + 1:,} of {found.sessions:,} with compactions"
        rows.append(TotalsRow(words, quiet=True))
    makers: dict[Maker, dict[str, AftermathSum]] = {}
    for maker, one in sorted(found.sums.items(), key=lambda row: (-row[1].tokens, row[0])):
        makers.setdefault(maker._replace(strategy=""), {})[maker.strategy] = one
    for maker, sums in makers.items():
        rows += _repeated(maker, sums)
    if found.unread:
        rows.append(TotalsRow(f"{counted(found.unread, 'session')} could not be read", quiet=True))
    return rows


def _repeated(maker: Maker, sums: dict[str, AftermathSum]) -> Iterator[TotalsRow]:
    """All compactions of an agent and a model; where some are by Leafward, the parts below; in a narrow window names are cut."""
    from leafward.compaction.aftermath.aftermath_totals import OWN, AftermathSum

    name = f"{safe_line(maker.agent, 40)}, {safe_line(maker.model_name, 40)}"
    yield TotalsRow(name, _repeats(sum(sums.values(), AftermathSum())))
    if sums.keys() == {OWN}:
        return
    for strategy, one in sums.items():
        by = "by the agent" if strategy == OWN else f"Leafward, {safe_line(strategy, 40)} rules"
        yield TotalsRow(f"  {by}", _repeats(one), quiet=True)


def _repeats(one: AftermathSum) -> tuple[str, ...]:
    again = sum(one.counts.values())
    return exact(one.compactions), exact(again) if again else ZERO, count(one.tokens), _price_again(one)


def _price_again(one: AftermathSum) -> str:
    if not one.dollars:
        return "?" if one.unpriced else ZERO
    return money(one.dollars) + ("+" if one.unpriced else "")


def _figures(one: Sum) -> tuple[str, str, str]:
    return exact(one.sessions), count(one.tokens), _price(one)


def _price(one: Sum) -> str:
    """A cost; with `+` where some sessions record none, `?` where none does."""
    if not one.priced:
        return "?" if one.unpriced else ""
    return (money(one.cost) if one.cost else "$0") + "+" if one.unpriced else money(one.cost)


class AftermathReading(NamedTuple):
    """The aftermaths of the sessions read so far."""

    sums: dict[Maker, AftermathSum]
    read: int
    sessions: int
    unread: int
    """Sessions that could not be read."""


def aftermaths(
    cards: Sequence[Card], progress: Callable[[AftermathReading], object], job: Job
) -> AftermathReading:
    """Adds up the repeats after the compactions of some sessions; `progress` gets the sum now and then. Raises Cancelled."""
    from leafward.agents.registry import agent_named
    from leafward.compaction.aftermath.aftermath_totals import AftermathTotals

    compacted = [card for card in cards if card.compactions and card.problem is None]
    totals, unread, reported = AftermathTotals(), 0, 0.0
    for number, card in enumerate(compacted):
        if not number or time.monotonic() - reported >= PUBLISH_EVERY:
            job.report(partial(progress, AftermathReading(dict(totals.sums), number, len(compacted), unread)))
            reported = time.monotonic()
        try:
            with closing(agent_named(card.agent).open(Path(card.path), job.unwanted)) as session:
                totals.add(card.agent, session, job.unwanted)
        except Cancelled:
            raise
        except (LeafwardError, OSError):
            unread += 1
    return AftermathReading(totals.sums, len(compacted), len(compacted), unread)
