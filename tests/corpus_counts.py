"""Contents of the stores in the corpora, counted from their raw lines and rows by the rules of each format.

Nothing of Leafward is used: json, sqlite3 and the names of files alone, so that the readers are held against another count.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


class Count(NamedTuple):
    """Contents of a store."""

    sessions: int
    subagents: int
    forks: int
    """Sessions that another one's history was copied into, or that are based on one."""
    branches: int
    compactions: int


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The JSON objects of a file, a line each."""
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line.strip()]


# --- Codex ---


def codex(home: Path) -> Count:
    """Threads are told by the first id in a file's name; a second one names a segment, which a revert begins."""
    threads: dict[str, list[str]] = defaultdict(list)
    segments: dict[str, list[dict[str, Any]]] = {}
    for path in home.rglob("rollout-*.jsonl"):
        thread, *segment = re.findall(_UUID, path.name)
        name = segment[0] if segment else thread
        threads[thread].append(name)
        segments[name] = lines_of(path)

    def compacted(name: str, until: float, seen: set[tuple[str, int]]) -> None:
        """The compactions of a segment before an ordinal, and of all that it is based on."""
        lines = segments[name]
        base = lines[0]["payload"].get("history_base")
        if base is not None:
            compacted(base["thread_id"], base["end_ordinal_exclusive"], seen)
        seen.update(
            (name, number)
            for number, line in enumerate(lines)
            if line["type"] == "compacted" and line.get("ordinal", 0) < until
        )

    subagents = forks = branches = compactions = 0
    for thread, names in threads.items():
        meta = segments[thread][0]["payload"]
        subagents += isinstance(meta.get("source"), dict) and "subagent" in meta["source"]
        forks += meta.get("forked_from_id") is not None
        # A revert begins a segment and leaves the end of an older one; a rollback leaves what it dropped.
        branches += len(names) - 1
        branches += sum(
            line["payload"].get("type") == "thread_rolled_back" for name in names for line in segments[name]
        )
        seen: set[tuple[str, int]] = set()
        for name in names:
            compacted(name, float("inf"), seen)
        compactions += len(seen)
    return Count(len(threads), subagents, forks, branches, compactions)


def codex_tokens(home: Path) -> int:
    """Usage of every response: recorded of each one (0.16x), else the last running total of a file that copies nothing."""
    spent = 0
    for path in home.rglob("rollout-*.jsonl"):
        lines = lines_of(path)
        records = [line["payload"]["usage"] for line in lines if line["type"] == "token_usage_record"]
        counts = [
            line["payload"]["info"]["total_token_usage"]
            for line in lines
            if line["payload"].get("type") == "token_count" and line["payload"].get("info")
        ]
        spent += sum(usage["total_tokens"] for usage in records or counts[-1:])
    return spent


# --- Claude Code ---


def claude(home: Path) -> Count:
    """A file is a session, named by its id; `agent-…` are those of sub-agents. Empty files are none."""
    files = {path: lines_of(path) for path in (home / "projects").rglob("*.jsonl") if path.stat().st_size}
    main = {path: rows for path, rows in files.items() if re.fullmatch(_UUID, path.stem)}
    # Copies keep the ids of their rows: of files that share some, one is the source.
    owners: dict[str, set[Path]] = defaultdict(set)
    for path, rows in main.items():
        for row in rows:
            if isinstance(row.get("uuid"), str):
                owners[row["uuid"]].add(path)
    group = {path: path for path in main}

    def root(path: Path) -> Path:
        while group[path] != path:
            path = group[path]
        return path

    for sharing in owners.values():
        first, *others = sorted(sharing)
        for other in others:
            group[root(other)] = root(first)
    forks = len(main) - len({root(path) for path in main})
    compactions = sum(
        len({row["uuid"] for row in rows if row.get("isCompactSummary")}) for rows in main.values()
    )
    return Count(
        len(main), len(files) - len(main), forks, sum(map(claude_branches, main.values())), compactions
    )


def claude_tokens(home: Path) -> int:
    """Usage of every reply; the rows of one repeat it, and so do copies in other files."""
    replies: dict[str, dict[str, Any]] = {}
    for path in sorted((home / "projects").rglob("*.jsonl")):
        for row in lines_of(path):
            message = row.get("message")
            if row["type"] == "assistant" and isinstance(message, dict) and message.get("usage"):
                replies[message["id"]] = message["usage"]
    parts = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return sum(usage.get(part) or 0 for usage in replies.values() for part in parts)


def claude_branches(rows: list[dict[str, Any]]) -> int:
    """Places that a second prompt of a person, reply (by the id of its message) or compaction goes on from."""
    by_id = {row["uuid"]: row for row in rows if isinstance(row.get("uuid"), str)}
    place = {name: number for number, name in enumerate(by_id)}

    def above(row: dict[str, Any]) -> str | None:
        if row.get("subtype") == "compact_boundary":
            segment = (row.get("compactMetadata") or {}).get("preservedSegment") or {}
            # What is kept before the summary stays where it is; else all came before it. A copy that begins with a
            # compaction has nothing before it.
            kept = segment.get("anchorUuid") == row["uuid"]
            before = segment["tailUuid"] if kept else row.get("logicalParentUuid")
            if before in by_id:
                return before if place[before] < place[row["uuid"]] else None
            # Some name a row that was never written: they follow the row before them.
            earlier = [
                name
                for name, one in by_id.items()
                if place[name] < place[row["uuid"]] and not one.get("isSidechain")
            ]
            return earlier[-1] if earlier else None
        found = row.get("parentUuid")
        return found if isinstance(found, str) else None

    def speaks(row: dict[str, Any]) -> str | None:
        message = row.get("message") or {}
        if row["type"] == "assistant":
            return f"reply {message.get('id')}"
        if row.get("subtype") == "compact_boundary":
            return f"compaction {row['uuid']}"
        content = message.get("content")
        if row["type"] != "user" or row.get("isMeta") or row.get("isCompactSummary"):
            return None
        if isinstance(content, list):
            if any(block.get("type") == "tool_result" for block in content):
                return None
            content = next((block["text"] for block in content if block.get("type") == "text"), "")
        return (
            None
            if str(content).startswith(("<", "[Request interrupted", "Caveat:"))
            else f"prompt {row['uuid']}"
        )

    following: dict[str, set[str]] = defaultdict(set)
    for row in by_id.values():
        name = speaks(row)
        if name is None:
            continue
        at = above(row)
        while at is not None and at in by_id and speaks(by_id[at]) in (None, name):
            at = above(by_id[at])
        if at in by_id:
            said = speaks(by_id[at])
            assert said is not None
            following[said].add(name)
    return sum(len(names) - 1 for names in following.values())


# --- opencode ---


def opencode_files(storage: Path) -> Count:
    """A file for each session, message and part (0.6 to 1.1)."""
    sessions = [json.loads(path.read_bytes()) for path in (storage / "session").rglob("*.json")]
    messages = [json.loads(path.read_bytes()) for path in (storage / "message").rglob("*.json")]
    return Count(
        len(sessions),
        sum("parentID" in session for session in sessions),
        0,
        0,
        sum(map(_is_summary, messages)),
    )


def opencode_database(path: Path) -> Count:
    """Rows by session (1.2 and later); what a revert deleted stands in the events."""
    base = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)
    sessions = base.execute("SELECT id, parent_id, revert, time_created FROM session").fetchall()
    messages = [json.loads(data) for (data,) in base.execute("SELECT data FROM message")]
    first = dict(base.execute("SELECT session_id, MIN(time_created) FROM message GROUP BY session_id"))
    began: dict[int, list[int]] = defaultdict(list)
    for name, parent, _, created in sessions:
        if parent is None and name in first:
            began[first[name]].append(created)
    there = {name for (name,) in base.execute("SELECT id FROM message")}
    cut = {
        session
        for session, data in base.execute(
            "SELECT aggregate_id, data FROM event WHERE type LIKE 'message.removed.%'"
        )
        if json.loads(data)["messageID"] not in there
    }
    base.close()
    return Count(
        len(sessions),
        sum(parent is not None for _, parent, _, _ in sessions),
        sum(len(times) - 1 for times in began.values()),
        sum(revert is not None for _, _, revert, _ in sessions) + len(cut),
        sum(map(_is_summary, messages)),
    )


def opencode_database_tokens(path: Path) -> int:
    """Usage of every reply, those that a revert deleted too; a copy was made at the same millisecond as its source."""
    base = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)
    told = [json.loads(data) for (data,) in base.execute("SELECT data FROM message")]
    told += [
        json.loads(data)["info"]
        for (data,) in base.execute(
            "SELECT data FROM event WHERE type LIKE 'message.updated.%' ORDER BY aggregate_id, seq"
        )
    ]
    base.close()
    return _spent(told)


def opencode_files_tokens(storage: Path) -> int:
    """The same of files."""
    return _spent([json.loads(path.read_bytes()) for path in (storage / "message").rglob("*.json")])


def _spent(messages: list[dict[str, Any]]) -> int:
    replies = {
        message["time"]["created"]: message["tokens"]
        for message in messages
        if message["role"] == "assistant"
    }
    return sum(
        tokens["input"] + tokens["output"] + tokens["cache"]["read"] + tokens["cache"]["write"]
        for tokens in replies.values()
    )


def _is_summary(message: dict[str, Any]) -> bool:
    return message.get("summary") is True and message["role"] == "assistant" and not message.get("error")


# --- files of other projects ---


def broken_lines(path: Path) -> int:
    """Lines that are no JSON object."""
    count = 0
    for line in path.read_bytes().split(b"\n"):
        if line.strip():
            try:
                count += not isinstance(json.loads(line), dict)
            except ValueError:
                count += 1
    return count
