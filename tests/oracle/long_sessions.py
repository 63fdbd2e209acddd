"""Sessions of real agents made long: what stands in them is put before them again and again, with ids of its own.

Each session was compacted by its agent, which therefore sends nothing of what is put before it.
"""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

from leafward.agents.recognition import agent_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_UUID = re.compile(r"[0-9a-f]{8}(?=-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")
_CALL = re.compile(r'(?<=")((?:toolu|msg|call|fc|chatcmpl|req)_?[\w-]*)(?=")')


def entries_in(path: Path) -> int:
    """How many entries Leafward finds."""
    with closing(agent_of(path).open(path)) as session:
        return len(session)


def lengthened(path: Path, entries: int) -> int:
    """Lengthens a file of pi, Codex or Claude Code to at least so many entries; returns how many it has."""
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    there = entries_in(path)
    _write(path, rows, 1)
    _write(path, rows, -(-entries // (entries_in(path) - there)))
    return entries_in(path)


def _write(path: Path, rows: list[dict[str, Any]], copies: int) -> None:
    if "payload" in rows[0]:
        made = [rows[0], *_of_codex(rows[1:], copies)]
        made = [{**row, "ordinal": at} if "ordinal" in row else row for at, row in enumerate(made)]
    elif rows[0].get("type") == "session":
        made = [rows[0], *_chained(rows[1:], copies, "id", "parentId", lambda _, number: f"{number:08x}")]
    else:
        made = [*_chained(rows, copies, "uuid", "parentUuid", _other_uuid)]
    with path.open("w") as file:
        file.writelines(json.dumps(row, separators=(",", ":")) + "\n" for row in made)


def _other_uuid(name: str, number: int) -> str:
    return _UUID.sub(f"{number:08x}", name)


def _with_other_calls(text: str, again: int) -> str:
    """A row with ids of calls and replies of its own."""
    return _CALL.sub(lambda found: f"{found[1]}x{again}", text)


def _before_compaction(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    marks = ("compaction", "compacted")
    ends = (
        at
        for at, row in enumerate(rows)
        if row.get("type") in marks or row.get("subtype") == "compact_boundary"
    )
    return rows[: next(ends)]


def _chained(
    rows: list[dict[str, Any]], copies: int, name: str, above: str, other: Callable[[str, int], str]
) -> Iterator[dict[str, Any]]:
    """Copies of the rows before the compaction, each on the one before it, then the rows."""
    bulk = [row for row in _before_compaction(rows) if name in row]
    tip: str | None = None
    number = 0
    for again in range(copies):
        names: dict[str, str] = {}
        for row in bulk:
            number += 1
            names[row[name]] = other(row[name], number)
            made = json.loads(_with_other_calls(json.dumps(row), again))
            made[name] = names[row[name]]
            made[above] = names.get(row[above], tip)
            yield made
        tip = names[bulk[-1][name]]
    first = True
    for row in rows:
        if first and name in row:
            row, first = {**row, above: tip}, False
        yield row


def _of_codex(rows: list[dict[str, Any]], copies: int) -> Iterator[dict[str, Any]]:
    bulk = [json.dumps(row) for row in _before_compaction(rows)]
    for again in range(copies):
        for text in bulk:
            yield json.loads(_with_other_calls(text, again))
    yield from rows


def lengthened_rows(database: Path, session: str, entries: int) -> int:
    """The same with a session in opencode's database."""
    path = database / session
    there = entries_in(path)
    _insert(database, session, 0, 1)
    _insert(database, session, 1, -(-entries // (entries_in(path) - there)))
    return entries_in(path)


def _insert(database: Path, session: str, begin: int, end: int) -> None:
    with closing(sqlite3.connect(database)) as base, base:
        base.execute("PRAGMA synchronous = OFF")
        own = "session_id = ? AND time_created BETWEEN ? AND ?"
        ((first, at),) = base.execute(
            "SELECT min(message.time_created), part.time_created FROM message JOIN part USING (session_id)"
            " WHERE session_id = ? AND json_extract(part.data, '$.type') = 'compaction'"
            " AND message.id NOT LIKE 'msg_0000%'",
            (session,),
        ).fetchall()
        for table in ("message", "part"):
            names = [row[1] for row in base.execute(f"PRAGMA table_info({table})")]
            rows = base.execute(
                f"SELECT {', '.join(names)} FROM {table} WHERE {own}", (session, first, at - 1)
            ).fetchall()
            base.executemany(
                f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})",
                (
                    tuple(
                        _moved(name, value, again, -(again + 1) * (at - first + 1))
                        for name, value in zip(names, row, strict=True)
                    )
                    for again in range(begin, end)
                    for row in rows
                ),
            )


_NAME = re.compile(r"\b(msg|prt)_[0-9a-f]{8}")


def _moved(column: str, value: object, again: int, shift: int) -> object:
    if column in ("time_created", "time_updated") and isinstance(value, int):
        return value + shift
    if isinstance(value, str):
        # A later copy stands further up, and so has the smaller ids.
        return _NAME.sub(lambda found: f"{found[1]}_0000{0xFFFF - again:04x}", value)
    return value
