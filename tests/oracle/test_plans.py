"""The real pi, asked for compaction plans of sessions grown at random, answers what ours says it would."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from tests.acting import reading
from tests.core.compaction.plan.test_compaction_against_pi import answer, of_pi
from tests.oracle.installed_agents import NODE, PI, needs_pi
from tests.oracle.wild import write

SCRIPT = Path(__file__).with_name("plans.mjs")

pytestmark = [needs_pi]


@pytest.mark.slow
def test_plans_of_random_sessions_are_those_of_pi(tmp_path: Path) -> None:
    files = [write(tmp_path / f"grown-{seed}.jsonl", seed, 80) for seed in range(100, 130)]
    done = subprocess.run(
        [NODE, str(SCRIPT), PI, "3,40,150,700,2500", "1", *map(str, files)],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    answers = json.loads(done.stdout)
    for file in files:
        with reading(file) as session:
            measured = [measure(session, at) for at in range(len(session))]
        for at, keep, *expected in answers[file.stem]:
            told = None if expected == [None] else tuple(expected)
            assert answer(plan(measured[at], PlanSettings(keep_recent=keep, corrected=False))) == told, (
                file,
                at,
            )
            assert of_pi(plan(measured[at], PlanSettings(keep_recent=keep))) == told, (file, at)
