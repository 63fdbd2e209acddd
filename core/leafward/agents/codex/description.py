"""The description of a thread: the header of a transcript, and the thread's source."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leafward.base.times import written_time
from leafward.session.entries import FORK, INFERRED, SUBAGENT

if TYPE_CHECKING:
    from leafward.agents.codex.chain import Thread
    from leafward.session.entries import Body

TWIN = INFERRED
"""Relation of a file to another one of the same name by which Codex knows the thread."""
OURS = "leafward"
"""Our field in the description of a converted thread: `forkedFrom` is the path of its source."""


_VERSION = re.compile(r"0\.([0-9]{2,4})\.")
_NEWEST = 9999


def minor_version(meta: dict[str, Any]) -> int:
    """The second number of the version of Codex that began a file: 116 of 0.116.0. Files of ours or without a version count as new."""
    version = meta.get("cli_version")
    known = _VERSION.match(version) if isinstance(version, str) and OURS not in meta else None
    return int(known[1]) if known is not None else _NEWEST


def described(thread: Thread, meta: dict[str, Any]) -> Body:
    """The description of a thread, as a native header."""
    thread_id = meta.get("id")
    header: Body = {
        "type": "session",
        "id": thread.id
        or (thread_id if isinstance(thread_id, str) else Path(thread.live.path).name.partition(".")[0]),
        "timestamp": written_time(meta.get("timestamp")),
        "cwd": meta.get("cwd") if isinstance(meta.get("cwd"), str) else "",
        "archived": thread.live.archived,
    }
    if thread.name:
        header["name"] = thread.name
    if thread.title:
        header["title"] = thread.title
    for key, name in (
        ("cli_version", "agentVersion"),
        ("model_provider", "provider"),
        ("history_mode", "historyMode"),
        ("git", "git"),
    ):
        if meta.get(key) is not None:
            header[name] = meta[key]
    if thread.original is not None:
        header["parentSession"], header["relation"] = thread.original.path, TWIN
        return header
    parent, relation = relation_of(meta, thread.spawner)
    if parent is not None:
        above = thread.source(parent.lower())
        header["parentSession"] = above.path if above is not None else parent
        header["relation"] = relation
    elif relation is not None:
        header["relation"] = relation
    return header


def relation_of(meta: dict[str, Any], spawner: str | None = None) -> tuple[str | None, str | None]:
    """The thread that one was made from, and the relation: `subagent` or `fork`."""
    source = meta.get("source")
    spawned = source.get("subagent") if isinstance(source, dict) else None
    link = spawned.get("thread_spawn") if isinstance(spawned, dict) else None
    named = (
        meta.get("parent_thread_id")
        or (link.get("parent_thread_id") if isinstance(link, dict) else None)
        or spawner
    )
    if isinstance(named, str) and named:
        return named, SUBAGENT
    if spawned is not None or meta.get("thread_source") == SUBAGENT:
        return None, SUBAGENT
    ours = meta.get(OURS)
    forked = meta.get("forked_from_id") or (ours.get("forkedFrom") if isinstance(ours, dict) else None)
    return (forked, FORK) if isinstance(forked, str) and forked else (None, None)
