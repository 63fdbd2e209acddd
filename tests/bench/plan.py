"""Plans of compactions: one of a long path from nothing, and one more at each step of a slider. `python -m tests.bench.plan`."""

from __future__ import annotations

import tempfile
from contextlib import closing
from functools import partial
from pathlib import Path

from leafward.compaction import ALL_ESTIMATORS, PlanSettings, Strategy, measure, plan
from leafward.session import Session
from tests.bench.generate import write_session
from tests.bench.references import decode_lines
from tests.bench.report import ROUNDS, Report, median, p95, seconds

STEPS = range(0, 400_000, 4_000)
"""Tokens to keep, as the slider goes from one end to the other."""


def compaction_plans(report: Report, folder: Path) -> None:
    """A plan of 100,000 entries on one path without a compaction, and slider steps over 10,000."""
    long, short = folder / "path-100k.jsonl", folder / "path-10k.jsonl"
    for path, entries in ((long, 100_000), (short, 10_000)):
        if not path.exists():
            write_session(path, entries, branch_every=0, compact_every=0)
    with closing(Session.open(long)) as session:
        both = [(decode_lines(long), seconds(lambda: plan(measure(session)))) for _ in range(ROUNDS)]
    reference, planned = (median(list(times)) for times in zip(*both, strict=True))
    report.ratio("plan of a compaction on a 100k path", planned, "orjson.loads over the path", reference, 3.0)
    with closing(Session.open(short)) as session:
        sizes = measure(session, estimators=ALL_ESTIMATORS)
    for strategy in Strategy:
        steps = [seconds(partial(plan, sizes, made)) for made in _settings(strategy)]
        report.limit(f"slider step on a 10k path, {strategy}, p95", 1000 * p95(steps), "ms", 16)


def _settings(strategy: Strategy) -> list[PlanSettings]:
    return [PlanSettings(strategy=strategy, keep_recent=keep) for keep in STEPS]


if __name__ == "__main__":
    table = Report()
    table.heading()
    with tempfile.TemporaryDirectory() as scratch:
        compaction_plans(table, Path(scratch))
