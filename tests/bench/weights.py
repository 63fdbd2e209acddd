"""The weights that figures are reported with: fitted without the project that is measured."""

from __future__ import annotations

import json

from leafward.summaries.summarizers.extractive.selection.ranking import Ranking
from tests.surroundings import REPOSITORY

WITHOUT = REPOSITORY / "tests" / "bench" / "ranking_without.json"


def without(project: str) -> Ranking | None:
    """Weights fitted without a project; None where it is none of those fitted on: the packaged ones know nothing of it."""
    stored = json.loads(WITHOUT.read_text("utf-8"))
    return Ranking.read(json.dumps(stored[project])) if project in stored else None
