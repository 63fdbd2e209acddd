"""Plans agree with what pi 1.5.2 itself computed: as it is, and mended but for the faults that are named."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import Plan, plan
from leafward.compaction.plan.settings import PlanSettings
from tests.acting import reading
from tests.oracle import golden

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.compaction.strategies.division import Diagnostic

PAIRS = list(golden.pairs())
PLANS = golden.TESTS / "data" / "pi" / "plans"
MANY = [
    (folder / f"{name}.jsonl", rows)
    for file, folder in (("sessions", golden.SESSIONS), ("wild", PLANS), ("corpora", golden.CORPORA))
    for name, rows in json.loads((PLANS / f"{file}.json").read_text()).items()
    if (folder / f"{name}.jsonl").exists()
]

FALSE_SPLITS = {
    # In front of the first message kept stands an entry that says nothing, so pi calls a turn split that ends before it.
    ("branched-compacted", 545, 20_000),
    ("branched-compacted", 961, 2_000),
}
"""Goldens from which a mended plan differs, all for one reason; more of them are told by their own diagnostic below."""

Answer = tuple[Any, ...]


def answer(made: Plan) -> Answer | None:
    if made.nothing:
        return None
    return (
        made.first_kept,
        made.split_turn,
        len(made.summarize),
        len(made.turn_prefix),
        made.tokens.before,
        made.previous_summary is not None,
        len(made.files.read),
        len(made.files.modified),
    )


def of_pi(made: Plan) -> Answer | None:
    """Diagnostics of a mended plan about pi's own plan."""
    told = answer(made)
    for remark in made.diagnostics:
        if remark.pi is not None and told is not None:
            pi = remark.pi
            return (pi.first_kept, pi.split_turn, pi.summarize, pi.turn_prefix, *told[4:])
    return told


def codes(diagnostics: tuple[Diagnostic, ...]) -> set[str]:
    return {remark.code for remark in diagnostics}


def wanted(expected: dict[str, Any] | None) -> Answer | None:
    return tuple(expected.values())[1:] if expected is not None else None


@pytest.mark.parametrize(("path", "answers"), PAIRS, ids=[path.stem for path, _ in PAIRS])
def test_every_golden_node_agrees_at_both_settings(path: Path, answers: Path) -> None:
    differing = set()
    with reading(path) as session:
        for node in golden.load(answers).nodes:
            sizes = measure(session, node.at)
            for keep, expected in zip((20_000, 2_000), node.plans, strict=True):
                as_it_is = plan(sizes, PlanSettings(keep_recent=keep, corrected=False))
                assert answer(as_it_is) == wanted(expected), (node.at, keep)
                assert not codes(as_it_is.diagnostics) & {"false-split", "tail-over-budget", "file-lists"}
                mended = plan(sizes, PlanSettings(keep_recent=keep))
                assert of_pi(mended) == wanted(expected), (node.at, keep)
                if answer(mended) != wanted(expected):
                    differing.add((path.stem, node.at, keep))
                    assert "false-split" in codes(mended.diagnostics)
    assert differing == {exception for exception in FALSE_SPLITS if exception[0] == path.stem}


@pytest.mark.parametrize(("path", "rows"), MANY, ids=[path.stem for path, _ in MANY])
def test_plans_at_many_settings_agree(path: Path, rows: list[list[Any]]) -> None:
    with reading(path) as session:
        measured = {at: measure(session, at) for at in {row[0] for row in rows}}
    for at, keep, *expected in rows:
        told = None if expected == [None] else tuple(expected)
        assert answer(plan(measured[at], PlanSettings(keep_recent=keep, corrected=False))) == told, (at, keep)
        mended = plan(measured[at], PlanSettings(keep_recent=keep))
        assert of_pi(mended) == told, (at, keep)
        if answer(mended) != told:
            assert "false-split" in codes(mended.diagnostics)


def test_the_wild_sessions_reach_every_rule() -> None:
    seen: set[str] = set()
    reasons = ""
    for path, rows in MANY:
        if not path.stem.startswith("wild"):
            continue
        with reading(path) as session:
            for at, keep in {(row[0], row[1]) for row in rows}:
                sizes = measure(session, at)
                made = plan(sizes, PlanSettings(keep_recent=keep))
                seen |= codes(made.diagnostics)
                reasons += made.why
                seen |= {line.rule.name for line in made.cuts()}
    assert {"false-split", "tail-over-budget", "large-first-entry", "nothing-to-compact"} <= seen
    assert {"TURN_START", "MID_TURN", "RESULT", "BETWEEN", "SYSTEM", "UNKNOWN_ROLE", "QUIET_INSIDE"} <= seen
    for words in ("edited out", "the last one is taken", "are kept with it", "fit into"):
        assert words in reasons
