"""A field of another type than pi writes: every verb reads on, whatever stands where an object, list or text belongs."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.surroundings import THOROUGH

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.conftest import Run

JUNK: tuple[Any, ...] = (None, 5, 1.5, "", "x", [], [None], ["x"], {}, {"a": 1}, [[]], True, 10**30)
VERBS: tuple[tuple[str, ...], ...] = (
    ("tree",),
    ("tree", "--entries", "--json"),
    ("context",),
    ("context", "--json"),
    ("files",),
    ("log",),
    ("doctor",),
    ("show",),
    ("ls",),
    ("ls", "--totals"),
    ("plan", "--keep-recent", "1"),
    ("diff", "#0", "#5"),
    ("fork", "leaf", "--dry-run"),
    ("move", "#0", "--dry-run"),
    ("export", "--format", "md", "--all"),
)
LINES: tuple[dict[str, Any], ...] = (
    {"type": "session", "version": 3, "id": "s", "timestamp": "2026-11-21T21:00:00.000Z", "cwd": "/home/ada"},
    {
        "type": "message",
        "message": {
            "role": "system",
            "content": "be brief",
            "sections": {"a": "b"},
            "toolsAdded": [{"name": "read"}],
            "toolsRemoved": [{"name": "read"}],
            "timestamp": 1,
        },
    },
    {"type": "message", "message": {"role": "user", "content": [{"type": "text", "text": "hello"}]}},
    {
        "type": "message",
        "message": {
            "role": "assistant",
            "content": [{"type": "toolCall", "id": "c1", "name": "edit", "arguments": {"path": "a.py"}}],
            "usage": {"input": 1, "output": 1, "totalTokens": 2, "cost": {"total": 0.1}},
            "stopReason": "toolUse",
        },
    },
    {
        "type": "message",
        "message": {
            "role": "toolResult",
            "toolCallId": "c1",
            "toolName": "edit",
            "content": [],
            "details": {},
        },
    },
    {"type": "context_edit", "targetId": "00000002", "replacement": {"content": "shorter"}},
    {"type": "compaction", "summary": "s", "firstKeptEntryId": "00000002", "tokensBefore": 9, "details": {}},
    {"type": "branch_summary", "summary": "s", "fromId": "00000001"},
    {"type": "custom", "customType": "leafward.archive", "data": {"target": "00000002", "archived": True}},
    {"type": "custom", "customType": "leafward.leaf", "data": {"from": "00000001", "op": "move"}},
    {"type": "label", "targetId": "00000002", "label": "l"},
    {"type": "message", "message": {"role": "bashExecution", "command": "ls", "output": "o", "exitCode": 0}},
)


def places(value: object, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every field of a line, the `id` and `parentId` that chain the entries left out."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield (*above, key)
            yield from places(value[key], (*above, key))


def chained() -> list[dict[str, Any]]:
    lines = copy.deepcopy(list(LINES))
    for number, line in enumerate(lines[1:], 1):
        line["id"] = f"{number:08x}"
        line["parentId"] = f"{number - 1:08x}" if number > 1 else None
    return lines


def spoiled(folder: Path, line: int, place: tuple[Any, ...], junk: object) -> Path:
    """A session with something else in one field of a line."""
    lines = chained()
    owner: Any = lines[line]
    for key in place[:-1]:
        owner = owner[key]
    owner[place[-1]] = junk
    path = folder / "s.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return path


@pytest.mark.parametrize("line", range(len(LINES)))
def test_no_verb_stumbles(line: int, run: Run, tmp_path: Path) -> None:
    """Each field with each junk, at some of the verbs by turns."""
    step = 1 if THOROUGH else 20
    for at, place in enumerate(places(LINES[line])):
        for number, junk in enumerate(JUNK):
            path = spoiled(tmp_path, line, place, junk)
            for verb, *options in VERBS[(at + number) % step :: step]:
                outcome = run(verb, path, *options)
                assert outcome.code in (0, 1), (verb, place, junk)
                assert "unforeseen" not in outcome.err, (verb, place, junk, outcome.err)
