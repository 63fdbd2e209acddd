"""A rollout as Codex writes one, line by line, for tests that need a certain shape."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leafward.agents.registry import agent_named
from leafward.context.model_context import Context, context_at
from leafward.session.entries import NATIVE_ROLE, Kind
from tests.foreign_sessions import opened_by

if TYPE_CHECKING:
    from leafward.session.session import Session

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["CODEX", "DATA", "THREADS", "Rollout", "bare", "opened", "shape", "zstd"]

DATA = Path(__file__).parent / "data" / "codex"
CODEX = agent_named("codex")
THREADS = [f"01a1ffe0-0000-7000-8000-{number:012d}" for number in range(20)]


class Rollout:
    """Appends lines. Paginated files number them."""

    def __init__(
        self,
        home: Path,
        thread: str = THREADS[0],
        *,
        segment: str | None = None,
        minute: int = 0,
        first: int | None = None,
        folder: str = "sessions/2026/11/21",
        **meta: Any,
    ) -> None:
        name = f"rollout-2026-11-21T10-{minute:02}-00-{thread}" + (f"_{segment}" if segment else "")
        self.path = home / folder / f"{name}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_bytes(b"")
        self.thread = thread
        self.segment = segment or thread
        self.ordinal = first
        self.minute = minute
        self.second = 0
        given = {
            "id": thread,
            "cwd": "/home/ada/orchard",
            "originator": "codex_cli_rs",
            "cli_version": "0.125.0",
        }
        self.line("session_meta", **{**given, "timestamp": self.stamp, "model_provider": "openai", **meta})

    @property
    def stamp(self) -> str:
        return f"2026-11-21T10:{self.minute:02}:{self.second:02}.000Z"

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    def raw(self, data: bytes) -> int:
        """Appends bytes and says where they begin."""
        at = self.size
        with self.path.open("ab") as file:
            file.write(data)
        return at

    def text_of(self, type_: str, **payload: Any) -> str:
        self.second = min(59, self.second + 1)
        line: dict[str, Any] = {"timestamp": self.stamp}
        if self.ordinal is not None:
            line["ordinal"] = self.ordinal
            self.ordinal += 1
        return json.dumps({**line, "type": type_, "payload": payload}, separators=(",", ":"))

    def line(self, type_: str, **payload: Any) -> int:
        return self.raw(self.text_of(type_, **payload).encode() + b"\n")

    def event(self, type_: str, **payload: Any) -> int:
        return self.line("event_msg", type=type_, **payload)

    def item(self, type_: str, **payload: Any) -> int:
        return self.line("response_item", type=type_, **payload)

    def said(self, text: str, role: str = "user") -> int:
        """A message item alone."""
        kind = "output_text" if role == "assistant" else "input_text"
        return self.item("message", role=role, content=[{"type": kind, "text": text}])

    def prompt(self, text: str) -> int:
        """A prompt of the user: an item and an event."""
        at = self.said(text)
        self.event("user_message", message=text, images=[])
        return at

    def reply(self, text: str, total: int | None = None) -> int:
        """A reply of the model: an event and an item, and its usage."""
        at = self.event("agent_message", message=text)
        self.said(text, "assistant")
        if total is not None:
            self.count(total)
        return at

    def count(self, total: int, last: int = 100) -> int:
        usage = {
            "input_tokens": last - 10,
            "cached_input_tokens": 20,
            "output_tokens": 10,
            "total_tokens": last,
        }
        return self.event(
            "token_count",
            info={"total_token_usage": {**usage, "total_tokens": total}, "last_token_usage": usage},
        )

    def call(self, name: str, arguments: dict[str, Any], output: str, call: str = "call_1") -> None:
        self.item("function_call", name=name, arguments=json.dumps(arguments), call_id=call)
        self.item("function_call_output", call_id=call, output=output)

    def turn(self, prompt: str, reply: str) -> None:
        self.prompt(prompt)
        self.reply(reply)

    def opened(self) -> Session:
        return opened(self.path)


def over_and_over(folder: Path) -> Rollout:
    """A thread of 0.47 whose context never got small enough: 382 compactions in one turn."""
    rollout = Rollout(folder, cli_version="0.47.0")
    rollout.turn("Count the pears", "Let me see.")
    rollout.prompt("Count them again")
    rollout.reply("One, two.", 3000)
    for number in range(382):
        rollout.line("compacted", message=f"Pears were counted, round {number}.")
    rollout.turn("How many are there?", "Seven.")
    return rollout


def bare(folder: Path) -> Rollout:
    """A rollout of before September 2025: items are lines by themselves, and nothing says who typed them."""
    rollout = Rollout(folder)
    user = {"type": "message", "id": None, "role": "user"}
    lines: list[dict[str, Any]] = [
        {"id": THREADS[0], "timestamp": "2025-07-10T10:00:00.000Z", "instructions": None},
        {"record_type": "state"},
        {
            **user,
            "content": [
                {
                    "type": "input_text",
                    "text": "<environment_context>\n  <cwd>/home/ada/orchard</cwd>\n</environment_context>",
                }
            ],
        },
        {**user, "content": [{"type": "input_text", "text": "Count the pears"}]},
        {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "Where?"}]},
        {
            "type": "function_call",
            "name": "shell",
            "arguments": '{"command":["cat","pears.txt"]}',
            "call_id": "c",
        },
        {
            "type": "function_call_output",
            "call_id": "c",
            "output": '{"output":"seven\\n","metadata":{"exit_code":0}}',
        },
        {
            "type": "message",
            "id": "m",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Seven."}],
        },
    ]
    rollout.path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    return rollout


def thread_in(home: Path, part: str) -> Path:
    """The first file of the thread with that part in its name."""
    [path] = [path for path in home.rglob("*.jsonl") if part in path.name and "_" not in path.name]
    return path


def opened(path: Path) -> Session:
    """A thread, closed when the test ends."""
    return opened_by(CODEX, path)


def context(session: Session) -> Context:
    return context_at(session)


def shape(session: Session) -> list[str]:
    """Every entry that is no bookkeeping: its role or kind and the beginning of its text, with its parent's number."""
    kinds = session.columns.kind
    return [
        f"{session.columns.parent[index]}>{index} {NATIVE_ROLE.get(kind, Kind(kind).name.lower())}"
        for index, kind in enumerate(kinds)
    ]
