"""An estimate that is more than a provider counted for all that was sent carries `~`, in every place that shows it."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from leafward.context.entry_metrics import EntryMetrics
from leafward.context.estimate_sign import estimate_sign
from tests.codex_rollout import CODEX, Rollout

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


def thread(folder: Path, counted: int) -> Path:
    """A system prompt that is estimated at 1,000 tokens, and a request whose context was counted."""
    made = Rollout(folder, base_instructions={"text": "pear " * 800})
    made.prompt("Compare")
    made.reply("They differ.")
    made.count(counted, last=counted)
    return made.path


def test_a_system_prompt_is_held_against_the_first_reply(tmp_path: Path) -> None:
    for counted, sign in ((900, "~"), (1_100, "")):
        with closing(CODEX.open(thread(tmp_path / str(counted), counted))) as session:
            metrics = EntryMetrics(session)
            metrics.fill(session, range(len(session)))
            kinds = session.columns.kind
            assert estimate_sign(metrics.reported, kinds, [range(1)], metrics.tokens[0]) == sign
            assert metrics.tokens[0] == 1_000


def test_the_tree_says_which_figure_is_an_estimate(done: Run, tmp_path: Path) -> None:
    outcome = done("tree", thread(tmp_path, 900))
    (row,) = [line for line in outcome.out.splitlines() if "pear pear" in line and "┃" in line]
    assert row.split()[-1] == "~1.0k"
