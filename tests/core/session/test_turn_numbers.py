"""Turns are numbered and counted alike wherever they are said, on branches too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from leafward.branches.diff.sides import sides
from tests.acting import reading
from tests.codex_rollout import Rollout

if TYPE_CHECKING:
    from leafward.session.session import Session

SESSIONS = Path(__file__).parents[2] / "data" / "pi" / "sessions"


def check_turns(session: Session) -> None:
    """A side of a comparison has as many turns as the numbers of its ends are apart."""
    tree = session.tree
    for leaf in tree.leaves():
        compared = sides(session, session.leaf, leaf)
        shared = tree.prompts_upto(compared.ancestor)
        assert compared.a.turns == tree.prompts_upto(session.leaf) - shared
        assert compared.b.turns == tree.prompts_upto(leaf) - shared


def test_a_comparison_counts_the_turns_that_are_numbered(tmp_path: Path) -> None:
    for path in sorted(SESSIONS.glob("*.jsonl")):
        with reading(path) as session:
            check_turns(session)
    rollout = Rollout(tmp_path)
    for text in "ab":
        rollout.turn(text, text.upper())
    rollout.event("thread_rolled_back", num_turns=1)
    rollout.turn("c", "C")
    check_turns(rollout.opened())
