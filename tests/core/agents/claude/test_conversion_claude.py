"""Sessions of other agents converted to a transcript of Claude Code."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.registry import agent_named
from leafward.branches import fork as forking
from leafward.context.model_context import context_at
from leafward.session.entries import Kind
from tests.claude_forks import draft, rows_of, written
from tests.claude_transcript import CLAUDE
from tests.forks import PI_SESSIONS, at_home, texts

if TYPE_CHECKING:
    from pathlib import Path

PI = agent_named("pi")


def test_what_another_agent_said_is_told_in_rows(tmp_path: Path) -> None:
    source = PI.open(PI_SESSIONS / "branches.jsonl")
    end = next(
        index
        for index in range(len(source.columns) - 1, -1, -1)
        if forking.cuts(source, index, (CLAUDE,))["claude"].legal
    )
    made = draft(source, end, at_home(HOME=str(tmp_path)), source="pi")
    rows = rows_of(made)
    assert made.draft.path.parent.parent == tmp_path / ".claude" / "projects"
    chain = [row for row in rows if "uuid" in row]
    assert [row["parentUuid"] for row in chain] == [None, *(row["uuid"] for row in chain[:-1])]
    asked: list[str] = []
    for row in chain:
        content = row["message"]["content"]
        for block in content if isinstance(content, list) else []:
            if block["type"] == "tool_use":
                asked.append(block["id"])
            elif block["type"] == "tool_result":
                asked.remove(block["tool_use_id"])
            assert block["type"] != "thinking"
            assert block.get("text") != ""
    assert asked == []
    assert chain[-1]["type"] == "assistant"
    copy = written(made, made.draft.path.parent)
    assert (copy.header["parentSession"], copy.header["relation"]) == (source.id, "fork")
    assert copy.inherited == 0, "nobody else counts what was said there in this form"
    spoken = [text for role, text in texts(copy, copy.leaf) if role == "toolResult"]
    assert spoken == [text for role, text in texts(source, end) if role == "toolResult"]
    source.close()


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_a_folder_reached_by_a_link_is_the_folder_itself(tmp_path: Path) -> None:
    (tmp_path / "orchard").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "orchard")
    source = PI.open(PI_SESSIONS / "branches.jsonl")
    source.header["cwd"] = str(tmp_path / "link")
    end = next(
        index
        for index in range(len(source.columns))
        if forking.cuts(source, index, (CLAUDE,))["claude"].legal
    )
    made = draft(source, end, at_home(HOME=str(tmp_path)), source="pi")
    assert made.draft.path.parent.name.endswith("-orchard")
    source.close()


def test_ids_and_images_that_anthropic_does_not_take_are_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    calls: list[dict[str, Any]] = [
        {"type": "toolCall", "id": name, "name": "a.b c", "arguments": {}}
        for name in ("call|fc_1", "ok_1", "ok_1")
    ]
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    odd = {"type": "image", "data": "AAAA", "mimeType": "image/tiff"}
    usage = {"input": 1, "output": 1, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 2, "cost": {"total": 0}}
    assistant = {"role": "assistant", "provider": "openai", "model": "gpt-5", "usage": usage, "timestamp": 3}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "See"}, image, odd], "timestamp": 1},
        {**assistant, "content": [{"type": "thinking", "thinking": "Hm"}, *calls[:2]], "stopReason": "toolUse"},
        {"role": "toolResult", "toolCallId": "call|fc_1", "toolName": "a", "content": [], "isError": True, "timestamp": 4},
        {"role": "toolResult", "toolCallId": "ok_1", "toolName": "a", "content": [{"type": "text", "text": "x"}], "isError": False, "timestamp": 5},
        {**assistant, "content": [calls[2]], "stopReason": "toolUse"},
        {"role": "toolResult", "toolCallId": "ok_1", "toolName": "a", "content": [{"type": "text", "text": "y"}], "isError": False, "timestamp": 6},
        {**assistant, "content": [{"type": "text", "text": "Done."}], "stopReason": "stop"},
    ]  # fmt: skip
    lines: list[dict[str, Any]] = [
        {
            "type": "session",
            "version": 3,
            "id": "s",
            "timestamp": "2026-01-01T00:00:00.000Z",
            "cwd": "/home/ada",
        }
    ]
    above = None
    for number, message in enumerate(messages):
        lines.append(
            {
                "type": "message",
                "id": f"{number:08x}",
                "parentId": above,
                "timestamp": "2026-01-01T00:00:00.000Z",
                "message": message,
            }
        )
        above = f"{number:08x}"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    source = PI.open(path)
    made = draft(source, 6, at_home("Mind the pears.", HOME=str(tmp_path)), source="pi")
    rows = rows_of(made)
    uses = [block for row in rows for block in blocks(row) if block["type"] == "tool_use"]
    results = [block for row in rows for block in blocks(row) if block["type"] == "tool_result"]
    assert [block["id"] for block in uses] == [block["tool_use_id"] for block in results]
    assert len({block["id"] for block in uses}) == 3
    assert uses[1]["id"] == "ok_1"
    assert {block["name"] for block in uses} == {"a_b_c"}
    assert [block["content"] for block in results] == ["(empty)", "x", "y"]
    assert [block.get("is_error", False) for block in results] == [True, False, False]
    seen = rows[0]["message"]["content"]
    assert [block["type"] for block in seen] == ["text", "image", "text"]
    assert rows[1]["message"]["model"] == "gpt-5"
    assert [row["attachment"]["content"] for row in rows if "attachment" in row] == ["Mind the pears."]
    assert "reasoning-left" in {remark.code for remark in made.remarks}
    source.close()


def blocks(row: dict[str, Any]) -> list[dict[str, Any]]:
    content = (row.get("message") or {}).get("content")
    return content if isinstance(content, list) else []


def test_right_behind_another_agents_summary_no_reply_stands_yet() -> None:
    source = PI.open(PI_SESSIONS / "compacted-twice.jsonl")
    seen = 0
    for index, kind in enumerate(source.columns.kind):
        if kind not in (Kind.COMPACTION, Kind.BRANCH_SUMMARY):
            continue
        seen += 1
        last = context_at(source, index).messages[-1]
        stop = ((source.body(last.entry) or {}).get("message") or {}).get("stopReason")
        answered = kind == Kind.COMPACTION and last.kind is Kind.ASSISTANT and stop == "stop"
        assert forking.cuts(source, index, (CLAUDE,))["claude"].legal == answered
    assert seen
    source.close()
