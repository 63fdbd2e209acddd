"""Codex: numbers in its lines, of the lines themselves and of tokens."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.codex.entries.items import native_usage
from leafward.context.basis import Basis
from leafward.context.recorded_usage import usage_total
from leafward.doctor.session_problems import check
from tests.codex_rollout import Rollout, opened

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def numbered(folder: Path) -> Rollout:
    rollout = Rollout(folder, first=0, cli_version="0.169.0", history_mode="paginated")
    for turn in range(4):
        rollout.prompt(f"Count the pears {turn}")
        rollout.reply(f"Seven {turn}", 1000 * (turn + 1))
    return rollout


def lost(path: Path) -> list[str]:
    return [problem.text for problem in check(opened(path)) if problem.code == "lost-lines"]


def test_lines_that_are_gone_from_a_numbered_file_are_named(tmp_path: Path) -> None:
    path = numbered(tmp_path).path
    assert lost(path) == []
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line for at, line in enumerate(lines) if at not in (3, 9, 10, 11)))
    assert lost(path) == ["lines that are not in the file, by their numbers: 3, 9 to 11"]


def test_lines_written_twice_or_in_another_order_are_not_gone(tmp_path: Path) -> None:
    path = numbered(tmp_path).path
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:8], lines[4], *lines[8:]]))
    assert lost(path) == []


@pytest.mark.parametrize(
    "field", ["input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens"]
)
def test_a_count_below_zero_is_none(field: str) -> None:
    usage = native_usage(
        {"input_tokens": 50, "cached_input_tokens": 20, "output_tokens": 7, "total_tokens": 57, field: -1}
    )
    assert usage is not None
    assert min(usage[key] for key in ("input", "output", "cacheRead", "cacheWrite")) >= 0
    assert usage["input"] + usage["cacheRead"] + usage["cacheWrite"] <= 50


def test_a_count_in_a_line_of_an_unknown_type_is_no_reply_s(tmp_path: Path) -> None:
    """Sums and sizes read the same lines."""
    rollout = Rollout(tmp_path)
    rollout.prompt("Count the pears")
    rollout.said("Seven", "assistant")
    last = {"input_tokens": 90, "cached_input_tokens": 20, "output_tokens": 10, "total_tokens": 100}
    line = {
        "timestamp": rollout.stamp,
        "type": "hologram",
        "payload": {"type": "token_count", "info": {"last_token_usage": last}},
    }
    rollout.raw(json.dumps(line).encode() + b"\n")
    session = opened(rollout.path)
    reply = next(index for index in range(len(session)) if "Seven" in json.dumps(session.body(index)))
    assert "usage" not in session.entry(reply).message
    assert usage_total(session, range(len(session))).total == 0
    assert not Basis.of(session).count_at(session.leaf).recorded


def spaced(line: dict[str, Any]) -> str:
    return json.dumps(line)


def turned(line: dict[str, Any]) -> str:
    return json.dumps(dict(reversed(line.items())), separators=(",", ":"))


@pytest.mark.parametrize("written", [spaced, turned])
def test_lines_that_another_program_wrote_again_are_the_same(
    tmp_path: Path, written: Callable[[dict[str, Any]], str]
) -> None:
    """What a sub-agent was given counts for the session that it is from, and a turn has its own folder."""
    rollout = Rollout(tmp_path, first=0, subagent_history_start_ordinal=3, source={"subagent": "review"})
    rollout.prompt("Count the pears")
    rollout.line("turn_context", cwd="/home/ada/barn", model="pear-1")
    rollout.prompt("Count the plums")
    rollout.item("function_call", name="shell", arguments='{"command":["ls"]}', call_id="a")
    rollout.item("function_call_output", call_id="a", output="plums")
    rollout.reply("Nine", 500)
    before = opened(rollout.path)
    facts = [before.body(index) for index in range(len(before))]
    used = usage_total(before, range(before.inherited, len(before)))
    inherited = before.inherited
    lines = [json.loads(line) for line in rollout.path.read_text(encoding="utf-8").splitlines()]
    rollout.path.write_text("".join(written(line) + "\n" for line in lines), encoding="utf-8")
    again = opened(rollout.path)
    assert used.total > 0
    assert usage_total(again, range(again.inherited, len(again))) == used
    assert again.inherited == inherited > 0
    assert [without_ids(again.body(index)) for index in range(len(again))] == list(map(without_ids, facts))


def without_ids(body: dict[str, Any] | None) -> dict[str, Any]:
    return {key: value for key, value in (body or {}).items() if key not in ("id", "parentId")}
