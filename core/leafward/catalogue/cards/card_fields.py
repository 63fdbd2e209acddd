"""Fields of a card, read from single lines and bytes of a session file."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, BinaryIO

from leafward.agents.recognition import recognised_in
from leafward.agents.registry import agent_named, native
from leafward.base.regular_files import open_regular
from leafward.base.safe_text import excerpt_line
from leafward.base.times import parse_time
from leafward.catalogue.cards.card import EXCERPT, NO_MESSAGES, Card, Details
from leafward.session.entries import ARCHIVE_TYPE, FORK, MESSAGE_ROLES
from leafward.session.headlines.entry_headline import spoken
from leafward.session.headlines.session_title import title_or_none
from leafward.session.messages import prompt_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.agents.base import Agent, SessionCandidate
    from leafward.session.entries import Body

FILES_KEPT = 64
"""Number of names kept of changed files, and of read files."""

MESSAGES = frozenset(MESSAGE_ROLES.values())
"""Kinds that pi counts as messages."""

LATEST = 8_640_000_000_000_000
"""The latest date of JavaScript, in milliseconds since 1970."""
_HEAD_SEALED = 64
_TAIL_SEALED = 256


def excerpt(body: Body | None) -> str:
    """The text of a message on one line, safe and cut, without Markdown signs in a reply; empty if there is no text."""
    if body is None:
        return ""
    text, message = prompt_text(body), body.get("message")
    if text and isinstance(message, dict) and message.get("role") == "assistant":
        text = spoken(text)
    return brief(text)


def brief(text: str) -> str:
    """A text on one safe line of at most `EXCERPT` characters; a longer text ends with an ellipsis."""
    return excerpt_line(text, EXCERPT)


def spoken_at(body: Body | None) -> int:
    """Time of a message of the user or the model, in milliseconds: its own time, else the entry's; 0 for other entries."""
    message = body.get("message") if body is not None and body.get("type") == "message" else None
    if (
        not isinstance(message, dict)
        or message.get("role") not in ("user", "assistant")
        or "content" not in message
    ):
        return 0
    own = time_in(message)
    return own if own is not None else parse_time((body or {}).get("timestamp")) or 0


def time_in(message: Body) -> int | None:
    """The time recorded in a message, in milliseconds since 1970; None if it is no date."""
    own = message.get("timestamp")
    return (
        int(own) if isinstance(own, (int, float)) and not isinstance(own, bool) and 0 < own < LATEST else None
    )


def model_of(body: Body | None) -> str | None:
    """The model named by a reply or a change of model."""
    body = body or {}
    message = body.get("message")
    found = message.get("model") if isinstance(message, dict) else body.get("modelId")
    return found if isinstance(found, str) else None


def name_of(body: Body) -> str | None:
    """The name given by a `session_info` line; None if the line removes the name."""
    name = body.get("name")
    return name.strip() or None if isinstance(name, str) else None


def archived_by(body: Body | None) -> bool | None:
    """Whether a line archives the whole session (True) or brings it back (False); None if it does neither."""
    if body is None or body.get("customType") != ARCHIVE_TYPE:
        return None
    data = body.get("data")
    if not isinstance(data, dict) or data.get("target") not in (None, "session"):
        return None
    return data.get("archived") is True


def parent_of(header: Body) -> str | None:
    """The file that the session was made from, according to its header."""
    found = header.get("parentSession")
    return found if isinstance(found, str) and found else None


def relation_of(header: Body) -> str | None:
    """Relation of a session to its parent: the one in its header, else a fork; None without a parent."""
    found = header.get("relation")
    if isinstance(found, str):
        return found
    return FORK if parent_of(header) else None


def card_title(name: str | None, prompt: str, shown: str) -> str:
    """Title of a session: its name, else its first prompt, else `shown`, the mark of prompts without text."""
    return (brief(name) if name else "") or prompt or shown or NO_MESSAGES


def title_in(header: Body) -> str | None:
    """Title that another agent gave a session that the user did not name."""
    return title_or_none(header.get("title"))


def agent_of(candidate: SessionCandidate) -> Agent:
    """The agent of a file, by the store that it lies in, else by its first bytes. Raises OSError."""
    if candidate.agent:
        return agent_named(candidate.agent)
    with open_regular(candidate.path) as file:
        return recognised_in(file) or native()


def problem_card(candidate: SessionCandidate, problem: str) -> Card:
    """The card of a file that is no session or cannot be read."""
    name = candidate.path.replace("\\", "/").rpartition("/")[2]
    return Card(
        path=candidate.path,
        agent=candidate.agent or native().name,
        id=name.rpartition(".")[0] or name,
        name=None,
        title=brief(name),
        prompt="",
        project="",
        created=None,
        modified=candidate.mtime_ns // 1_000_000,
        entries=0,
        messages=0,
        turns=0,
        branches=0,
        compactions=0,
        problem=brief(problem),
        size=candidate.size,
    )


def seal_of(file: BinaryIO, end: int) -> str:
    """Digest of a file's first bytes and of the last bytes before `end`; it stays the same if the file only grows."""
    file.seek(0)
    digest = blake2b(file.read(_HEAD_SEALED), digest_size=8)
    start = max(0, end - _TAIL_SEALED)
    file.seek(start)
    digest.update(file.read(end - start))
    return digest.hexdigest()


class TouchedFiles:
    """The files changed last and read last, taken from the calls that name them."""

    def __init__(self, project: str, known: Details | None = None) -> None:
        folder = project.rstrip("/\\")
        self._inside: tuple[str, ...] = (f"{folder}/", f"{folder}\\") if folder else ()
        self.changed: dict[str, None] = dict.fromkeys(known.changed if known else ())
        self.read: dict[str, None] = dict.fromkeys(known.read if known else ())

    def take(self, touches: Iterable[tuple[str, bool]]) -> None:
        """Adds files in order, each with whether it was changed."""
        inside = self._inside
        for path, changed in touches:
            if not path.isprintable():
                continue
            if path.startswith(inside):
                path = path[len(inside[0]) :]
            if changed:
                self.read.pop(path, None)
            elif path in self.changed:
                continue
            names = self.changed if changed else self.read
            names.pop(path, None)
            names[path] = None
            if len(names) > FILES_KEPT:
                del names[next(iter(names))]
