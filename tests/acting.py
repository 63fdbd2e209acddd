"""A session in which an agent acts on files, for tests of what it did and of what going back costs."""

from __future__ import annotations

import random
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from leafward.session.session import Session
from tests.pi_file import NO_PARENT_GIVEN, PiFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

JUNK: list[Any] = [None, 5, [], {}, [None, 3, [], {"type": []}], "text"]
NO_COST = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}


def call(name: str, call_id: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}


def usage(
    total: int, *, output: int = 0, cost: dict[str, float] | None = None, **parts: int
) -> dict[str, Any]:
    tokens = {"input": 0, "output": output, "cacheRead": 0, "cacheWrite": 0, **parts}
    return {**tokens, "totalTokens": total, "cost": cost or NO_COST}


@contextmanager
def reading(path: Path) -> Iterator[Session]:
    session = Session.open(path)
    try:
        yield session
    finally:
        session.close()


class Acting(PiFile):
    """Replies with any blocks, usage and stop reason; results with errors, diffs and recorded calls."""

    def said(
        self,
        *blocks: dict[str, Any] | str,
        parent: str | None = NO_PARENT_GIVEN,
        stop: str | None = None,
        tokens: dict[str, Any] | None = None,
        model: str = "scripted-1",
    ) -> str:
        content = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
        calls = any(block["type"] == "toolCall" for block in content)
        message = {
            "role": "assistant",
            "content": content,
            "provider": "local",
            "model": model,
            "usage": tokens or usage(0),
            "stopReason": stop or ("toolUse" if calls else "stop"),
        }
        return self.entry("message", parent, message=message)

    def answered(
        self,
        call_id: str,
        tool: str,
        text: str = "done",
        *,
        parent: str | None = NO_PARENT_GIVEN,
        failed: bool = False,
        diff: str | None = None,
        **fields: Any,
    ) -> str:
        message = {
            "role": "toolResult",
            "toolCallId": call_id,
            "toolName": tool,
            "content": [{"type": "text", "text": text}],
            "isError": failed,
            **({"details": {"diff": diff}} if diff is not None else {}),
            **fields,
        }
        return self.entry("message", parent, message=message)

    def compacted(
        self, kept: str, summary: str = "what happened", before: int = 130_600, **fields: Any
    ) -> str:
        return self.entry("compaction", summary=summary, firstKeptEntryId=kept, tokensBefore=before, **fields)

    def junk(self, junk: Any) -> None:
        """Replies, results and commands with the same thing in every field, none of them where it belongs."""
        self.entry(
            "message", message={"role": "assistant", "content": junk, "stopReason": junk, "usage": junk}
        )
        wrong = {"type": "toolCall", "id": junk, "name": junk, "arguments": junk}
        message = {"role": "assistant", "content": [wrong, {**wrong, "name": "edit"}], "model": junk}
        self.entry("message", message={**message, "usage": {"cost": junk, "input": junk}})
        nested = {"calls": [junk, {"name": "edit", "arguments": junk}]}
        for calls in (junk, nested):
            message = {"role": "toolResult", "toolName": junk, "content": junk, "details": junk}
            message |= {"isError": junk, "toolCallId": junk, "nestedCalls": calls}
            self.entry("message", message=message)
        self.entry("context_edit", targetId=junk, replacement=junk)
        self.entry("compaction", summary=junk, firstKeptEntryId=junk, tokensBefore=junk)
        self.entry(
            "message", message={"role": "bashExecution", "command": junk, "output": junk, "exitCode": junk}
        )


def wild(path: Path, seed: int, entries: int = 120) -> Acting:
    """A tree grown at random: several branches, calls with and without results, failures, compactions, edits, books."""
    rng = random.Random(seed)
    file = Acting(path)
    ids: list[str] = []
    asked: list[tuple[str, str]] = []
    for number in range(entries):
        if ids and rng.random() < 0.06:
            file.leaf = rng.choice(ids)
            asked = []
        draw = rng.random()
        if asked and draw < 0.8:
            call_id, tool = asked.pop(0)
            diff = "+1 one\n-2 two\n+3 three" if tool == "edit" and rng.random() < 0.5 else None
            made = file.answered(
                call_id, tool, "out " * rng.randrange(40), failed=rng.random() < 0.2, diff=diff
            )
        elif draw < 0.25:
            made, asked = file.user("why " * rng.randrange(1, 30)), []
        elif draw < 0.72:
            asked = []
            blocks: list[dict[str, Any] | str] = ["sure " * rng.randrange(20)]
            for place in range(rng.randrange(3)):
                tool, call_id = rng.choice(("read", "edit", "write", "bash")), f"c{number}-{place}"
                path_ = f"src/{rng.randrange(9)}.py"
                old, new = "\n".join(rng.choices("abcd", k=5)), "\n".join(rng.choices("abcd", k=5))
                fields = {"oldText": old, "newText": new} if tool == "edit" else {"content": new}
                blocks.append(call(tool, call_id, path=path_, **fields))
                asked.append((call_id, tool))
            stop = rng.choice(("aborted", "error")) if rng.random() < 0.1 else None
            total = rng.randrange(500, 90_000) if rng.random() < 0.6 else 0
            made = file.said(*blocks, stop=stop, tokens=usage(total))
            asked = [] if stop else asked
        elif draw < 0.80:
            made = file.entry("custom", customType="bench", data={"n": number})
        elif draw < 0.84:
            asked = []
            made = file.compacted(rng.choice(ids)) if ids else file.user("first")
        elif draw < 0.88 and ids:
            replacement = None if rng.random() < 0.3 else {"content": "shorter"}
            made = file.entry("context_edit", targetId=rng.choice(ids), replacement=replacement)
        elif draw < 0.91:
            asked = []
            made = file.entry("branch_summary", fromId="x", summary="elsewhere " * rng.randrange(5))
        elif draw < 0.94:
            asked = []
            rules = {"role": "system", "content": "rules " * rng.randrange(9), "timestamp": number}
            made = file.entry("message", message=rules)
        else:
            asked = []
            code = rng.randrange(2)
            message = {"role": "bashExecution", "command": "make", "output": "ok\n", "exitCode": code}
            made = file.entry("message", message=message)
        ids.append(made)
    return file
