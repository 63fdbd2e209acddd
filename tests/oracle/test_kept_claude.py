"""The real Claude Code behind a compaction that kept messages: what it sends where it goes on from one of them is the context.

Runs where ``LEAFWARD_CLAUDE`` names the program, or several with colons between them; skipped elsewhere.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from leafward.session.entries import Kind
from tests.oracle.forked import differences, prompts
from tests.oracle.installed_agents import each_claude, needs_claude
from tests.oracle.test_fork_claude import Yard, assert_context, attachments_sorted, made, yard

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["yard"]

pytestmark = [needs_claude, each_claude]


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def keeping(path: Path, kept: list[str], *, listed: bool) -> None:
    """Lets the compaction of a transcript keep some rows, as one of a long conversation does."""
    rows = rows_of(path)
    boundary = next(row for row in rows if row.get("subtype") == "compact_boundary")
    summary = next(row["uuid"] for row in rows if row.get("isCompactSummary"))
    said = boundary["compactMetadata"]
    said["preservedSegment"] = {"headUuid": kept[0], "anchorUuid": summary, "tailUuid": kept[-1]}
    said.pop("preservedMessages", None)
    if listed:
        said["preservedMessages"] = {"anchorUuid": summary, "uuids": kept, "allUuids": kept}
    path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows), "utf-8")


SAID = {
    True: ("Hello there", "Compare the fruit", "Write the list down", "/compact"),
    # Of a stretch that is not listed it takes one of the calls made together.
    False: ("Hello there", "Good day", "Well then", "/compact"),
}


@pytest.mark.parametrize("listed", [True, False])
def test_where_it_goes_back_to_a_kept_row_the_summary_and_what_was_kept_before_are_sent(
    yard: Yard, *, listed: bool
) -> None:
    session, _ = made(yard, *SAID[listed])
    path = yard.folder / f"{session}.jsonl"
    rows = rows_of(path)
    stop = next(at for at, row in enumerate(rows) if row.get("subtype") == "compact_boundary")
    spoken = [row for row in rows[:stop] if row["type"] in ("user", "assistant")]
    typed = [at for at, row in enumerate(spoken) if row["message"]["content"] in SAID[listed]]
    # From the second prompt on; the turn goes back to the end of the first turn that is kept.
    kept = [row["uuid"] for row in spoken[typed[1] :]]
    back = spoken[typed[2] - 1]["uuid"]
    keeping(path, kept, listed=listed)
    yard.client.ask(yard.project, "Thank you", "--resume", session)
    there = ("--resume", session, "--resume-session-at", back)
    sent = yard.client.ask(yard.project, "Good night", *there).first
    again = yard.client.ask(yard.project, "Good morning", "--resume", session).first
    source = yard.opened(session)
    assert source.columns.kind.count(Kind.COMPACTION) == 1
    assert source.branches == 1
    places = prompts(source)
    shown = source.columns.parent[places["Good morning"]]
    assert_context(source, shown, again)
    texts = json.dumps(sent["messages"])
    assert "continued from a previous conversation" in texts
    assert SAID[listed][1] in texts
    assert SAID[listed][2] not in texts
    new = yard.forked(source, places["Good morning"])
    resumed = yard.resumed(new, "Good morning").first
    assert differences(attachments_sorted(resumed), attachments_sorted(again)) == []
