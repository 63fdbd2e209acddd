"""Plans of compactions: one of a long path from nothing, and one more at each step of a slider."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from leafward.base.strategies import Strategy
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.compaction.strategies.by_name import ALL_ESTIMATORS
from leafward.session.session import Session
from tests.bench.references import decode_lines
from tests.bench.report import ROUNDS, median, p95, seconds

if TYPE_CHECKING:
    from pathlib import Path

    from tests.bench.report import Report

STEPS = range(0, 400_000, 4_000)
"""Tokens to keep, as the slider goes from one end to the other."""


def compaction_plans(report: Report, long: Path, short: Path, entries: tuple[int, int]) -> None:
    """A plan of a long path without a compaction, and slider steps over a shorter one, each of so many entries."""
    both = [(decode_lines(long), _planned_anew(long)) for _ in range(ROUNDS)]
    reference, planned = (median(list(times)) for times in zip(*both, strict=True))
    report.ratio(
        f"plan of a compaction, path of {entries[0]:,}", planned, "orjson.loads over the path", reference, 2.0
    )
    with closing(Session.open(short)) as session:
        sizes = measure(session, estimators=ALL_ESTIMATORS)
    for strategy in Strategy:
        steps = [seconds(partial(plan, sizes, made)) for made in _settings(strategy)]
        report.limit(f"slider step, path of {entries[1]:,}, {strategy}: p95", 1000 * p95(steps), "ms", 16)


def _planned_anew(path: Path) -> float:
    """Seconds for a plan of a session that was just opened: what was counted before would be taken over."""
    with closing(Session.open(path)) as session:
        return seconds(lambda: plan(measure(session)))


_DRAFT = """
import os, sys, time
from contextlib import closing
from pathlib import Path
from leafward.compaction.draft.draft_assembly import draft
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.session.session import Session
from leafward.summaries.summarizers.extractive.summarizer import Extractive

with closing(Session.open(Path(sys.argv[1]))) as session:
    worked, began = sum(os.times()[:4]), time.perf_counter()
    draft(session, plan(measure(session)), Extractive())
    print(time.perf_counter() - began, sum(os.times()[:4]) - worked)
"""


def offline_summary(report: Report, path: Path, entries: int) -> None:
    """A compaction with a summary made offline, of a path of so many entries, worked out and not written.

    Each in a new process: a second one in the same finds words and sentences remembered, and takes two thirds.
    """
    both = [(decode_lines(path), *_drafted_anew(path)) for _ in range(ROUNDS)]
    reference, took, worked = (median(list(times)) for times in zip(*both, strict=True))
    what = f"compaction offline, path of {entries:,}"
    report.limit(what, took, "s", 2.0)
    report.limit(f"{what}: on all processors", worked, "s", None)
    # A slower machine takes longer for both.
    report.ratio(f"{what}: the same", took, "orjson.loads over the path", reference, None)


def _drafted_anew(path: Path) -> tuple[float, float]:
    """Seconds for a draft in a new process, without its imports: by the clock, and of processor time with its child's."""
    ran = subprocess.run([sys.executable, "-c", _DRAFT, str(path)], check=True, capture_output=True)
    took, worked = map(float, ran.stdout.split())
    return took, worked


def _settings(strategy: Strategy) -> list[PlanSettings]:
    return [PlanSettings(strategy=strategy, keep_recent=keep) for keep in STEPS]
