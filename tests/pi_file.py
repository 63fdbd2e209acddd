"""A session file as pi writes one, line by line, for tests that need a certain shape."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

HEADER = {
    "type": "session",
    "version": 3,
    "id": "01a1fff9-4aff-76cb-ada1-bd2fdd737bfd",
    "timestamp": "2026-11-21T21:18:10.175Z",
    "cwd": "/home/ada/orchard",
}
NO_PARENT_GIVEN = "?"


class PiFile:
    """Appends entries like pi: each a child of the last one, unless a parent is given."""

    def __init__(self, path: Path, header: dict[str, Any] | None = None) -> None:
        self.path = path
        self.leaf: str | None = None
        self.count = 0
        path.write_bytes(b"")
        self.raw(json.dumps(header or HEADER, separators=(",", ":")))

    def raw(self, text: str, end: str = "\n") -> None:
        with self.path.open("ab") as file:
            file.write((text + end).encode())

    def entry(self, type_: str, parent: str | None = NO_PARENT_GIVEN, **fields: Any) -> str:
        self.count += 1
        entry = f"{self.count:08x}"
        above = self.leaf if parent == NO_PARENT_GIVEN else parent
        stamp = f"2026-11-21T21:{self.count // 60:02}:{self.count % 60:02}.000Z"
        line = {"type": type_, "id": entry, "parentId": above, "timestamp": stamp, **fields}
        self.raw(json.dumps(line, separators=(",", ":"), ensure_ascii=False))
        self.leaf = entry
        return entry

    def user(self, text: str, parent: str | None = NO_PARENT_GIVEN) -> str:
        content = [{"type": "text", "text": text}]
        return self.entry("message", parent, message={"role": "user", "content": content, "timestamp": 1})

    def reply(
        self, text: str, *calls: str, parent: str | None = NO_PARENT_GIVEN, stop: str | None = None
    ) -> str:
        content: list[dict[str, Any]] = [{"type": "text", "text": text}]
        content += [{"type": "toolCall", "id": call, "name": "read", "arguments": {}} for call in calls]
        message = {
            "role": "assistant",
            "content": content,
            "api": "test",
            "provider": "local",
            "model": "scripted-1",
            "usage": {
                "input": 10,
                "output": 5,
                "cacheRead": 0,
                "cacheWrite": 0,
                "totalTokens": 15,
                "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
            },
            "stopReason": stop or ("toolUse" if calls else "stop"),
            "timestamp": 2,
        }
        return self.entry("message", parent, message=message)

    def result(self, call: str, parent: str | None = NO_PARENT_GIVEN) -> str:
        message = {
            "role": "toolResult",
            "toolCallId": call,
            "toolName": "read",
            "content": [{"type": "text", "text": f"what {call} found"}],
            "isError": False,
            "timestamp": 3,
        }
        return self.entry("message", parent, message=message)


def conversation(path: Path, turns: int = 3) -> PiFile:
    """A file of plain turns: entry 2n is the n-th prompt, 2n + 1 its reply."""
    file = PiFile(path)
    for turn in range(turns):
        file.user(f"question {turn}")
        file.reply(f"answer {turn}")
    return file


def broken_reply(entry: str, parent: str) -> str:
    """A line that begins and ends like a message but is no object."""
    return (
        f'{{"type":"message","id":"{entry}","parentId":"{parent}","timestamp":"2026-11-21T21:00:00.000Z",'
        '"message":{"role":"assistant","content":[}'
    )


def last_line(path: Path) -> Any:
    """The last line of a file, as an object."""
    return json.loads(path.read_bytes().splitlines()[-1])


RULE = "Never push to main without asking me first."
STEP = "The parser still needs to be fixed for empty files."


def lossy(path: Path) -> str:
    """A session whose compaction says nothing of a rule, of a step and of a checklist; the compaction's id."""
    file = PiFile(path / "s.jsonl")
    file.user(f"Please look at the lease table. {RULE}")
    file.reply(f"The lease table is read now. {STEP}")
    kept = file.user("go on")
    file.reply("It goes on.")
    compaction = file.entry(
        "compaction",
        summary="## Goal\n- look at the lease table",
        firstKeptEntryId=kept,
        tokensBefore=400,
        details={},
    )
    file.user("next")
    return compaction
