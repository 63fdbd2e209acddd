"""The weights of the ranking: what they were fitted on, that figures use none that saw what is measured, when they are read."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from leafward.summaries.facts.values import Fact, FactKind
from leafward.summaries.summarizers.extractive.evidence import collect
from leafward.summaries.summarizers.extractive.selection.ranking import FEATURES, Chances, features, fitted
from tests.bench.cases import cases
from tests.bench.fit_ranking import PACKAGED, digest, regression
from tests.bench.need import project_of
from tests.bench.weights import WITHOUT
from tests.core.told import DAY, span
from tests.surroundings import CORPORA, THOROUGH

if TYPE_CHECKING:
    from pathlib import Path


def test_the_weights_say_when_and_on_what_they_were_fitted() -> None:
    ranking = fitted()
    assert ranking.date.count("-") == 2
    assert len(ranking.sessions) > 5
    assert all(len(weights) == len(FEATURES) for weights in ranking.weights.values())
    assert 0 <= ranking.end_share < 1
    assert FactKind.CONSTRAINT not in ranking.weights


def test_figures_use_weights_that_never_saw_the_project() -> None:
    stored = json.loads(WITHOUT.read_text("utf-8"))
    projects = {project_of(CORPORA / name) for name in fitted().sessions}
    assert set(stored) == projects
    for project, weights in stored.items():
        assert weights["sessions"]
        assert not any(project_of(CORPORA / name) == project for name in weights["sessions"])


_QUICK = 3
"""Sessions whose first span is read anew."""


def test_the_weights_are_those_that_the_script_fits(corpora: Path) -> None:
    packaged = json.loads(PACKAGED.read_text("utf-8"))
    stored = json.loads(WITHOUT.read_text("utf-8"))
    named = sorted(
        ((CORPORA / name).stat().st_size, name, project, known)
        for project, weights in stored.items()
        for name, known in weights["first spans"].items()
    )
    for _, name, project, known in named if THOROUGH else named[:_QUICK]:
        found = digest(next(cases((name,))), stored[project], packaged)
        assert found == known, f"{name}: run python -m tests.bench.fit_ranking"


def test_what_was_said_often_and_late_is_likelier() -> None:
    what = span(*DAY)
    evidence = collect(what, what.messages, "", lambda: False)
    rows = list(features(evidence))
    assert all(len(row) == len(FEATURES) and all(0 <= value <= 1 for value in row) for _, row in rows)
    chances = Chances(evidence, lambda _fact: False, fitted())
    assert all(0 <= chance < 1 for chance in chances.values())
    assert chances[FactKind.PATH, "src/parser.py"] > chances[FactKind.PATH, "src/tree.py"]
    assert not any(Chances(evidence, lambda _fact: True, fitted()).values())


def test_only_what_is_asked_for_is_worked_out() -> None:
    what = span(*DAY)
    asked: list[str] = []

    def held(fact: Fact) -> bool:
        asked.append(fact.key)
        return False

    evidence = collect(what, what.messages, "", lambda: False)
    chances = Chances(evidence, held, fitted())
    assert len(chances) == len(evidence.facts)
    assert list(chances) == list(evidence.facts)
    assert (FactKind.PATH, "src/parser.py") in chances
    assert (FactKind.PATH, "src/nowhere.py") not in chances
    assert not asked
    assert chances.get((FactKind.PATH, "src/nowhere.py"), 0.0) == 0.0
    assert chances[FactKind.PATH, "src/parser.py"] == chances[FactKind.PATH, "src/parser.py"] > 0
    assert asked == ["src/parser.py"]


def test_the_regression_finds_what_made_the_rows() -> None:
    zeros = (0.0,) * (len(FEATURES) - 2)
    rows = [((1.0, float(place % 2), *zeros), place % 2 == 1 or place % 10 == 0) for place in range(2000)]
    weights = regression(rows)
    assert weights[1] > 3
    assert -2 < weights[0] < 0
    assert all(abs(weight) < 1e-9 for weight in weights[2:])


def test_help_reads_no_weights() -> None:
    script = (
        "import sys\nfrom leafward.summaries.summarizers.extractive import summarizer\n"
        "from leafward.summaries.summarizers.extractive.selection import ranking\n"
        "sys.exit(ranking.fitted.cache_info().currsize)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
