"""Fits the weights of the summaries' ranking: `python -m tests.bench.fit_ranking`. Needs the corpora, takes some minutes.

Logistic regression with a small penalty, by Newton's method, kind by kind: whether a fact of a span is used again behind it.
Written are the weights on all sessions (package data), and for each project those without it, which figures are measured with.
The same code and sessions give the same files, byte for byte: what has not changed keeps its date. Beside the
weights stand digests of the first span of each session, by which a test tells that they are not the script's any more.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from leafward.summaries.facts.values import FactKind
from leafward.summaries.summarizers.extractive.selection.ranking import FEATURES, Ranking
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from leafward.summaries.survival.text_match import FactMatch, FactText
from tests.bench.weights import WITHOUT
from tests.surroundings import CORPORA, REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tests.bench.cases import Case

PACKAGED = REPOSITORY / "core" / "leafward" / "data" / "ranking.json"
_PENALTY = 4.0
_STEPS = 9
_SHARES = (0.0, 0.1, 0.2, 0.3, 0.4)
"""Parts of the room that the end of a span might have."""
_NEARLY = 0.99
_SIZE = 2_500
"""Tokens of the summaries that these are tried with: what agents that keep nothing write."""
Row = tuple[tuple[float, ...], bool]


def regression(rows: Sequence[Row]) -> list[float]:
    """Weights of a logistic regression: Newton's method on the penalised likelihood."""
    size = len(FEATURES)
    # Rows that are alike are counted once: this alone makes plain Python fast enough.
    counted: dict[tuple[tuple[float, ...], bool], int] = {}
    for features, wanted in rows:
        row = tuple(round(value, 2) for value in features)
        counted[row, wanted] = counted.get((row, wanted), 0) + 1
    weights = [0.0] * size
    sparse = [
        ([(at, value) for at, value in enumerate(row) if value], wanted, times)
        for (row, wanted), times in counted.items()
    ]
    for _ in range(_STEPS):
        slope = [-_PENALTY * weight for weight in weights]
        bend = [[_PENALTY if at == other else 0.0 for other in range(size)] for at in range(size)]
        for row_values, wanted, times in sparse:
            score = sum(weights[at] * value for at, value in row_values)
            chance = 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))
            error, curve = times * (wanted - chance), times * chance * (1 - chance)
            for at, value in row_values:
                slope[at] += error * value
                scaled = curve * value
                line = bend[at]
                for other, second in row_values:
                    line[other] += scaled * second
        weights = [weight + step for weight, step in zip(weights, _solved(bend, slope), strict=True)]
    return weights


def _solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """The solution of linear equations, by elimination; the matrix is positive."""
    size = len(right)
    rows = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    for at in range(size):
        pivot = rows[at][at]
        for below in range(at + 1, size):
            if factor := rows[below][at] / pivot:
                rows[below] = [
                    value - factor * above for value, above in zip(rows[below], rows[at], strict=True)
                ]
    found = [0.0] * size
    for at in reversed(range(size)):
        known = sum(rows[at][other] * found[other] for other in range(at + 1, size))
        found[at] = (rows[at][size] - known) / rows[at][at]
    return found


def fit(cases: Iterable[Case]) -> dict[str, Any]:
    """The weights on some spans, as they are stored."""
    rows: dict[FactKind, list[Row]] = {}
    sessions = set()
    for case in cases:
        sessions.add(case.session)
        for kind, features, wanted in case.rows:
            rows.setdefault(kind, []).append((features, wanted))
    weights = {
        kind.value: {
            name: round(weight, 3)
            for name, weight in zip(FEATURES, regression(rows[kind]), strict=True)
            if abs(weight) >= 0.0005
        }
        for kind in FactKind
        if kind in rows
    }
    return {"date": datetime.now(UTC).date().isoformat(), "sessions": sorted(sessions), "weights": weights}


def main() -> int:
    """Writes both files."""
    from tests.bench.cases import cases

    if not CORPORA.is_dir():
        print(f"fit_ranking: skipped, no {CORPORA}")
        return 0
    every = list(cases())
    projects = sorted({case.project for case in every})
    for project in projects:
        of = [case for case in every if case.project == project]
        count = sum(len(case.rows) for case in of)
        again = sum(wanted for case in of for _, _, wanted in case.rows)
        print(f"{project}: {len(of)} spans, {count:,} facts, {again:,} used again")
    left_out = {project: fit(case for case in every if case.project != project) for project in projects}
    # How much of the room the end may have is tried out on each project with weights that know nothing of it.
    held = {project: ends(every, project, left_out[project]) for project in projects}
    for project in projects:
        left_out[project]["end share"] = _best(counts for other, counts in held.items() if other != project)
        print(f"without {project}: end share {left_out[project]['end share']}")
    packaged = {**fit(every), "end share": _best(held.values())}
    first: dict[str, Case] = {}
    for case in every:
        first.setdefault(case.session, case)
    for project in projects:
        left_out[project]["first spans"] = {
            name: digest(case, left_out[project], packaged)
            for name, case in first.items()
            if case.project == project
        }
    before = json.loads(WITHOUT.read_text("utf-8"))
    dated = {project: _dated(left_out[project], before.get(project, {})) for project in projects}
    WITHOUT.write_text(json.dumps(dated, indent=1) + "\n", "utf-8")
    before = json.loads(PACKAGED.read_text("utf-8"))
    PACKAGED.write_text(json.dumps(_dated(packaged, before), indent=1) + "\n", "utf-8")
    return 0


def digest(case: Case, *fits: dict[str, Any]) -> str:
    """A digest of a span's rows, of the weights that they alone give, and of fitted weights.

    Another one says that the features, the method or the weights are no longer those of the last fit.
    """
    rows = [(kind.value, tuple(round(value, 6) for value in row), wanted) for kind, row, wanted in case.rows]
    fitted = [(one["weights"], one["end share"]) for one in fits]
    return hashlib.sha256(repr((rows, fit([case])["weights"], fitted)).encode()).hexdigest()[:16]


def _dated(new: dict[str, Any], old: dict[str, Any]) -> dict[str, Any]:
    """What was fitted, with the date of the stored one where that is the same."""
    return {**new, "date": old["date"]} if old and {**old, "date": ""} == {**new, "date": ""} else new


def ends(every: Sequence[Case], project: str, stored: dict[str, Any]) -> list[float]:
    """For each share that the end may have, the part of the needed facts that summaries of a project's spans hold."""
    found = []
    for share in _SHARES:
        summarizer = Extractive(Ranking.read(json.dumps({**stored, "end share": share})))
        held = wanted = 0
        for case in every:
            if case.project != project or case.span.kept:
                continue
            text = FactText(summarizer.summarize(case.span, _SIZE).text, case.span.cwd)
            wanted += len(case.needed)
            held += sum(
                text.holds(fact, case.names) in {FactMatch.VERBATIM, FactMatch.PARAPHRASED}
                for fact in case.needed
            )
        found.append(held / max(1, wanted))
    print(
        f"{project}: held by share of the end {dict(zip(_SHARES, (f'{part:.2f}' for part in found), strict=True))}"
    )
    return found


def _best(counts: Iterable[Sequence[float]]) -> float:
    """The smallest share with which nearly most is held, each project counting the same: less than that is chance."""
    sums = [sum(parts) for parts in zip(*counts, strict=True)]
    return next(share for share, held in zip(_SHARES, sums, strict=True) if held >= _NEARLY * max(sums))


if __name__ == "__main__":
    sys.exit(main())
