"""How well lost facts foretell what is repeated after a compaction: `python -m tests.bench.aftermath`; needs the corpora.

Spearman's rank correlation over all stored compactions of the corpora that calls follow, with the range in which nineteen of
twenty draws of as many compactions lie. Forecast is what the lab shows of a draft: how many facts are lost, and their share by
weight.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.compaction.aftermath.aftermath import aftermath_of
from leafward.session.entries import Kind
from leafward.summaries.fates.report import Status, survival_of
from tests.bench.need import sessions
from tests.surroundings import CORPORA

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDERS = ("pi", "claude", "codex", "real")
"""Folders of the corpora; those of `public` hold excerpts."""
_DRAWS = 2000
_LEAST_LEFT = 4
"""Compactions below which nothing is said of a correlation."""


@dataclass(frozen=True)
class Case:
    """One compaction: what was foretold, and what came."""

    name: str
    real: bool
    """Whether it stands in a session of a stranger's, as it was."""
    lost: int
    share: float
    """Of the facts, by weight, that were lost."""
    repeated: int
    tokens: int


def cases() -> list[Case]:
    """The compactions that calls follow and that replaced facts."""
    found = []
    for folder in FOLDERS:
        for session in sessions(CORPORA / folder):
            for index, kind in enumerate(session.columns.kind):
                if kind != Kind.COMPACTION:
                    continue
                later = aftermath_of(session, index)
                report = survival_of(session, index)
                overall = report.overall()
                if later.calls and overall is not None:
                    lost = sum(fate.status is Status.LOST for fate in report.fates)
                    name = f"{session.path.stem[:28]} #{index}"
                    found.append(
                        Case(name, folder == "real", lost, 1 - overall, len(later.repeated), later.tokens)
                    )
    return found


def ranks(values: Sequence[float]) -> list[float]:
    """The place of each value, from 0; equal ones share theirs."""
    order = sorted(values)
    first = {value: order.index(value) for value in set(values)}
    return [first[value] + (order.count(value) - 1) / 2 for value in values]


def spearman(a: Sequence[float], b: Sequence[float]) -> float:
    """The rank correlation of two rows of values; 0 where one of them has one value only."""
    x, y = ranks(a), ranks(b)
    mean = (len(x) - 1) / 2
    up = sum((one - mean) * (other - mean) for one, other in zip(x, y, strict=True))
    wide, high = sum((one - mean) ** 2 for one in x), sum((one - mean) ** 2 for one in y)
    return up / (wide * high) ** 0.5 if wide and high else 0.0


def interval(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """The range of nineteen in twenty draws; the same draws on every run."""
    draw = random.Random(15)  # no secret
    places = range(len(a))
    found = []
    for _ in range(_DRAWS):
        chosen = draw.choices(places, k=len(places))
        found.append(spearman([a[at] for at in chosen], [b[at] for at in chosen]))
    found.sort()
    return found[_DRAWS // 40], found[-_DRAWS // 40]


def main() -> None:
    """Prints the cases and the correlations."""
    found = cases()
    for case in found:
        print(
            f"{case.name:38} {case.lost:5} lost {case.share:5.0%}  {case.repeated:3} again ~{case.tokens:,} tokens"
        )
    print(f"{len(found)} compactions, {sum(case.repeated > 0 for case in found)} with something repeated")
    for title, some in (("all", found), ("real", [case for case in found if case.real])):
        if len(some) < _LEAST_LEFT:
            continue
        outcomes = (
            ("repeated", [case.repeated for case in some]),
            ("tokens", [case.tokens for case in some]),
        )
        forecasts = (
            ("lost facts", [case.lost for case in some]),
            ("lost share", [case.share for case in some]),
        )
        for forecast, first in forecasts:
            for outcome, second in outcomes:
                low, high = interval(first, second)
                rho = f"{spearman(first, second):+.2f} ({low:+.2f} to {high:+.2f})"
                print(f"{title}, {len(some)} compactions: {forecast} -> {outcome}: {rho}")


if __name__ == "__main__":
    main()
