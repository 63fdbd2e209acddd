"""Small pi sessions, written line by line, for tests of what lists and reads them."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

START = 1_767_600_000_000
"""2026-01-05T08:00:00Z in milliseconds; every entry is a second later than the one before it."""
DAY = 86_400_000
"""In milliseconds."""


def iso(milliseconds: int) -> str:
    from leafward.base.times import iso_time

    return str(iso_time(milliseconds))


class Draft:
    """A session in the making. Every method appends one line and returns the entry's id."""

    def __init__(
        self,
        session_id: str = "01a20083-0000-7000-8000-000000000001",
        cwd: str = "/home/ada/orchard",
        *,
        parent: str | None = None,
        start: int = START,
        version: int = 3,
        prefix: str = "e",
    ) -> None:
        self.id = session_id
        self.clock = start
        self.prefix = prefix
        self.leaf: str | None = None
        self.count = 0
        header: dict[str, Any] = {
            "type": "session",
            "version": version,
            "id": session_id,
            "timestamp": iso(start),
            "cwd": cwd,
        }
        if parent is not None:
            header["parentSession"] = parent
        self.lines = [dump(header)]

    def entry(
        self, type_: str, fields: dict[str, Any], *, under: str | None = None, id_last: bool = False
    ) -> str:
        if under is not None:
            self.leaf = under
        self.clock += 1000
        entry_id = f"{self.prefix}{self.count:07x}"
        self.count += 1
        links = {"id": entry_id, "parentId": self.leaf, "timestamp": iso(self.clock)}
        self.lines.append(
            dump({"type": type_, **fields, **links} if id_last else {"type": type_, **links, **fields})
        )
        self.leaf = entry_id
        return entry_id

    def user(self, text: object, **more: Any) -> str:
        content = [{"type": "text", "text": text}] if isinstance(text, str) else text
        message = {"role": "user", "content": content, "timestamp": self.clock + 1000}
        return self.entry("message", {"message": message}, **more)

    def assistant(
        self, text: str = "Done.", *, total: int = 0, calls: tuple[tuple[str, str], ...] = (), **more: Any
    ) -> str:
        content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
        content += [
            {"type": "toolCall", "id": f"call_{number}", "name": name, "arguments": {"path": path}}
            for number, (name, path) in enumerate(calls)
        ]
        message = {
            "role": "assistant",
            "content": content,
            "provider": "anthropic",
            "model": "claude-sonnet-4-5",
            "usage": {"input": total, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": total},
            "stopReason": "stop",
            "timestamp": self.clock + 1000,
        }
        return self.entry("message", {"message": message}, **more)

    def named(self, name: str | None) -> str:
        return self.entry("session_info", {"name": name} if name is not None else {})

    def archived(self, archived: bool, target: str | None = None) -> str:
        data = {"target": target, "archived": archived, "op": "op-1"}
        return self.entry("custom", {"customType": "leafward.archive", "data": data}, id_last=True)

    def text(self) -> bytes:
        return b"".join(line + b"\n" for line in self.lines)

    def write(self, path: Path, *, mtime: int | None = None) -> Path:
        """Writes the file; `mtime` in milliseconds."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(self.text())
        if mtime is not None:
            os.utime(path, ns=(mtime * 1_000_000, mtime * 1_000_000))
        return path

    def append_to(self, path: Path, lines: int) -> int:
        """Appends the last few lines to a file that holds the ones before; returns their bytes."""
        added = b"".join(line + b"\n" for line in self.lines[-lines:])
        with path.open("ab") as file:
            file.write(added)
        return len(added)


def dump(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")


def file_name(session_id: str) -> str:
    return f"2026-01-05T08-00-00-000Z_{session_id}.jsonl"
