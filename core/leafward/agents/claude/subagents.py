"""The sub-agent that started another one: their transcripts lie side by side in the folder of the session (Claude Code 2.1).

The file beside a sub-agent's transcript holds its depth and the call that started it. That call, and the result that names the
sub-agent, stand in the transcript of the session or sub-agent that started it.
"""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from leafward.agents.claude.file_cache import OfFiles, OfFolders
from leafward.agents.claude.store import AGENT, HELPERS, SUFFIX, stem, transcripts_in
from leafward.agents.storage.lines import pieces_of
from leafward.agents.tool_results import tool_results
from leafward.base.late_pattern import late
from leafward.base.regular_files import open_buffered
from leafward.session.entries import text_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session

_STARTED = late(rb'"agentId"\s*:\s*"([^"\\]{1,80})"')
_CALL = late(rb'"id"\s*:\s*"([^"\\]{1,80})"')
_META = ".meta.json"
_META_AT_MOST = 1 << 16


class _Names(NamedTuple):
    """Names in a transcript."""

    path: str
    agents: frozenset[bytes]
    """Sub-agents: the transcript's own, and those that it started."""
    calls: frozenset[bytes]
    """Calls, and all other ids."""


class Spawners:
    """Finds the sub-agent that started another one; keeps the names in neighbouring transcripts."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._names = OfFiles(lambda path, size: _read(path) if size else None)
        self._folders = OfFolders(self._names_in, clock)

    def spawner(self, path: str) -> str | None:
        """The transcript of the sub-agent that started another one; None where the session did, or nothing tells."""
        folders = _folders(path)
        meta = _meta(path) if folders else {}
        depth = meta.get("spawnDepth")
        if not folders or (isinstance(depth, int) and depth <= 1):
            return None
        others = [one for folder in folders for one in self._folders.of(folder) if one.path != path]
        name = os.fsencode(stem(path).removeprefix(AGENT))
        call = str(meta.get("toolUseId", "")).encode("utf-8", "surrogatepass")
        starters = [one.path for one in others if name in one.agents]
        called = [one.path for one in others if call in one.calls]
        for candidates in (starters, called):
            # A later message to it names it too, and a fork holds the calls of its source.
            found = [one for one in candidates if _may_be_above(one, depth)]
            if len(found) == 1:
                return found[0]
        return None

    def _names_in(self, folder: str) -> list[_Names]:
        """The names in the transcripts of a folder."""
        return [
            found
            for path in transcripts_in(folder, of_subagents=True)
            if (found := self._names.of(path)) is not None
        ]


def spawned(session: Session, since: int, stop: Callable[[], bool]) -> list[tuple[EntryIndex, str]]:
    """The transcripts of sub-agents that calls started: below the folder of the session, or beside its own."""
    path = os.path.abspath(session.path)
    beside = os.path.dirname(path)
    folders = [beside]
    for folder, _, _ in os.walk(os.path.join(beside, stem(path), HELPERS)):
        folders.append(folder)
    there = {
        stem(one).removeprefix(AGENT): one
        for folder in folders
        for one in transcripts_in(folder, of_subagents=True)
        if one != path
    }
    if not there:
        return []
    by_call = {str(_meta(one).get("toolUseId")): one for one in there.values()}
    found: dict[str, EntryIndex] = {}
    for entry, message in tool_results(session, since, stop):
        started = there.get(str(message.get("agentId"))) or by_call.get(text_at(message, "toolCallId"))
        if started is not None:
            # A later message to it names it too.
            found.setdefault(started, entry)
    return [(entry, started) for started, entry in found.items()]


def _read(path: str) -> _Names:
    started: set[bytes] = set()
    called: set[bytes] = set()
    for content in pieces_of(path):
        started.update(_STARTED.findall(content))
        called.update(_CALL.findall(content))
    return _Names(path, frozenset(started), frozenset(called))


def _folders(path: str) -> list[str]:
    """Folders that may hold a sub-agent's starter: its own folder, and those above it up to the folder of all sub-agents."""
    found = [os.path.dirname(path)]
    while os.path.basename(found[-1]) != HELPERS:
        above = os.path.dirname(found[-1])
        if above == found[-1]:
            return []
        found.append(above)
    return found


def _may_be_above(path: str, depth: object) -> bool:
    own = _meta(path).get("spawnDepth")
    return not isinstance(own, int) or not isinstance(depth, int) or own == depth - 1


def _meta(path: str) -> dict[str, Any]:
    """The description beside a sub-agent's transcript; empty where it cannot be read."""
    try:
        with open_buffered(path.removesuffix(SUFFIX) + _META) as file:
            meta = json.loads(file.read(_META_AT_MOST))
    except (OSError, ValueError, RecursionError):
        return {}
    return meta if isinstance(meta, dict) else {}
