"""Forks made and read back in tests: what a new session holds, and that its source stays as it was."""

from __future__ import annotations

import dataclasses
import hashlib
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leafward.agents.conversation import Conversation
from leafward.agents.fork_draft import ForkPoint, ForkTerms
from leafward.agents.registry import agent_named
from leafward.base.config import Config
from leafward.branches import fork as forking
from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.session.entries import EntryIndex, blocks_of
from leafward.session.messages import message_text

if TYPE_CHECKING:
    from leafward.branches.fork import Fork
    from leafward.session.session import Session

PI_SESSIONS = Path(__file__).parent / "data" / "pi" / "sessions"
NOW = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)


def terms(home: Path, injected: str = "", **env: str) -> ForkTerms:
    """Under which forks are made: stores of agents below a folder."""
    known = {
        "HOME": str(home),
        "CODEX_HOME": str(home / ".codex"),
        "PI_CODING_AGENT_DIR": str(home / ".pi" / "agent"),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
    }
    return ForkTerms({**known, **env}, Config(), NOW, injected)


def at_home(injected: str = "", cwd: str = "", **env: str) -> ForkTerms:
    """Under which forks are made where nothing is set but the home folder."""
    return ForkTerms({"HOME": os.environ["HOME"], **env}, Config(), NOW, injected, cwd=cwd)


def made(session: Session, entry: int, to: str, given: ForkTerms, cwd: Path | None = None) -> Fork:
    """A fork, written. `cwd` takes the place of a folder that is not here."""
    found = forking.fork(session, entry, agent_named(to), given)
    if cwd is not None:
        there = dataclasses.replace(found.draft.resume, cwd=str(cwd))
        found = dataclasses.replace(found, draft=dataclasses.replace(found.draft, resume=there))
    forking.store(session, found.draft)
    return found


def context(session: Session, at: int) -> list[tuple[str, dict[str, Any]]]:
    """Every message of a context, whole; when a system prompt was noted counts for nothing."""
    found = []
    for one in context_at(session, at).messages:
        message = message_body(session, one)
        if one.role == "system":
            message = {key: value for key, value in message.items() if key != "timestamp"}
        found.append((one.role, message))
    return found


def texts(session: Session, at: int) -> list[tuple[str, str]]:
    """The messages of a context as texts."""
    return [(one.role, message_text(message_body(session, one))) for one in context_at(session, at).messages]


def told(session: Session, at: int) -> list[tuple[str, object]]:
    """Messages that an agent has to send of a session converted for it: speaker and content, without what the source's agent put in."""
    cut = ForkPoint(EntryIndex(at), EntryIndex(at), EntryIndex(-1), None, EntryIndex(at))
    return [_plain(message, one.role) for one, message in Conversation(session, cut).messages()]


def sent(session: Session) -> list[tuple[str, object]]:
    """The same of what a file that adopted one sends."""
    found = [_plain(message, role) for role, message in context(session, session.leaf) if role != "system"]
    return [one for one in found if one[1] != ()]


def _plain(message: dict[str, Any], role: str) -> tuple[str, object]:
    if role in ("compactionSummary", "branchSummary"):
        return "user", message["summary"]
    blocks = tuple(
        (block["type"], block.get("text") or block.get("name") or block.get("data"))
        for block in blocks_of(message.get("content"))
    )
    speaker = "user" if role == "custom" else role
    if len(blocks) == 1 and blocks[0][0] == "text":
        return speaker, blocks[0][1]
    return speaker, blocks


def digests(folder: Path) -> dict[str, str]:
    """Every file below a folder, by content."""
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def entries(session: Session, most: int) -> range:
    """Some entries of a session, spread over all of it."""
    return range(0, len(session), max(1, len(session) // most))


def writable_copy(source: Path, target: Path) -> Path:
    """A copy of a folder that can be written to."""
    for path in sorted(source.rglob("*")):
        there = target / path.relative_to(source)
        if path.is_dir():
            there.mkdir(parents=True, exist_ok=True)
        else:
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes(path.read_bytes())
            os.utime(there, ns=(path.stat().st_atime_ns, path.stat().st_mtime_ns))
    return target
