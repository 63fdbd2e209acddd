"""Outcomes of branches of real sessions, compared with another count from the raw lines."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward.branches.diff.sides import side, sides
from leafward.session.session import Session
from tests.core.files.test_working_sets_corpora import STORES, sessions_of
from tests.corpus_counts import lines_of
from tests.corpus_files import codex_failed
from tests.surroundings import CORPORA, needs_corpora

if TYPE_CHECKING:
    from leafward.branches.diff.outcomes import Outcomes

_PAID = {"compaction", "branch_summary", "usage"}
"""Entries besides replies that say what they used."""
SHELLS = {"bash", "Bash", "exec_command", "shell", "shell_command"}


def counted(calls: dict[str, str], failed: dict[str, bool]) -> tuple[int, int, int, int]:
    """Calls, commands, commands that failed, calls that failed."""
    ran = [call for call, tool in calls.items() if tool in SHELLS and call in failed]
    return len(calls), len(ran), sum(failed[call] for call in ran), sum(failed.values())


def told(came: Outcomes) -> tuple[int, int, int, int]:
    return came.calls, came.commands, came.failed_commands, came.errors


@needs_corpora
@pytest.mark.parametrize(
    ("name", "a", "b"),
    [("branched", 571, 677), ("branched-compacted", 300, 900), ("branched-compacted", 120, 1000)],
)
def test_branches_of_pi(name: str, a: int, b: int) -> None:
    path = CORPORA / "pi" / f"{name}.jsonl"
    rows = lines_of(path)[1:]
    place = {row["id"]: at for at, row in enumerate(rows)}

    def path_to(at: int | None) -> list[int]:
        found: list[int] = []
        while at is not None:
            found.append(at)
            at = place.get(rows[at]["parentId"])
        return found[::-1]

    with closing(Session.open(path)) as session:
        compared = sides(session, a, b)
        assert all(one.outcomes.calls for one in (compared.a, compared.b)), "read while the session is open"
    shared = set(path_to(a)) & set(path_to(b))
    for end, ours in ((a, compared.a), (b, compared.b)):
        messages = [rows[at].get("message") or {} for at in path_to(end) if at not in shared]
        replies = [one for one in messages if one.get("role") == "assistant"]
        summaries = [rows[at] for at in path_to(end) if at not in shared and rows[at]["type"] in _PAID]
        results = [one for one in messages if one.get("role") == "toolResult"]
        calls = {
            block["id"]: block["name"]
            for one in replies
            if one["stopReason"] not in ("aborted", "error")
            for block in one["content"]
            if block["type"] == "toolCall"
        }
        came = ours.outcomes
        assert told(came) == counted(calls, {one["toolCallId"]: one["isError"] for one in results})
        assert ours.turns == sum(one.get("role") == "user" for one in messages)
        assert came.replies == len(replies)
        parts = ("input", "output", "cacheRead", "cacheWrite")
        paid = [one["usage"] for one in (*replies, *summaries) if one.get("usage")]
        assert came.usage.total == sum(usage[part] for usage in paid for part in parts)
        assert came.usage.cost == pytest.approx(sum(usage["cost"]["total"] for usage in paid))
        times = [
            one["timestamp"] for one in messages if one.get("role") in ("user", "assistant", "toolResult")
        ]
        assert came.seconds == pytest.approx((times[-1] - times[0]) / 1000)


def _claude(rows: list[dict[str, Any]]) -> tuple[int, int, int, int]:
    calls: dict[str, str] = {}
    failed: dict[str, bool] = {}
    for row in rows:
        content = (row.get("message") or {}).get("content")
        for block in content if isinstance(content, list) else ():
            if block.get("type") == "tool_use":
                calls[block["id"]] = block["name"]
            elif block.get("type") == "tool_result":
                failed[block["tool_use_id"]] = bool(block.get("is_error"))
    return counted(calls, failed)


def _codex(rows: list[dict[str, Any]]) -> tuple[int, int, int, int]:
    calls: dict[str, str] = {}
    failed: dict[str, bool] = {}
    for row in rows:
        payload = row.get("payload") or {}
        if payload.get("type") in ("function_call", "custom_tool_call"):
            calls[payload["call_id"]] = payload["name"]
        elif payload.get("type") in ("function_call_output", "custom_tool_call_output"):
            failed[payload["call_id"]] = codex_failed(payload["output"])
    return counted(calls, failed)


@needs_corpora
@pytest.mark.parametrize("name", [name for name in STORES if not name.startswith("opencode")])
def test_whole_sessions_of_other_agents(name: str, tmp_path: Path) -> None:
    """Those without branches whose file holds all of them."""
    checked = 0
    for session in sessions_of(STORES[name][0], tmp_path):
        if len(list(session.tree.leaves())) != 1:
            continue
        rows = lines_of(Path(session.path))
        if any("history_base" in (row.get("payload") or {}) for row in rows[:1]):
            continue
        theirs = (_claude if name.startswith("claude") else _codex)(rows)
        assert told(side(session, -1, session.leaf).outcomes) == theirs, session.id
        checked += 1
    assert checked > 2
