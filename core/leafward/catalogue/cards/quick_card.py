"""Makes a card from the two ends of a file, without reading the rest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents.base import FirstLook
from leafward.base.regular_files import open_regular
from leafward.base.times import parse_time
from leafward.catalogue.cards.card import NOT_READ, Card
from leafward.catalogue.cards.card_fields import (
    agent_of,
    brief,
    card_title,
    excerpt,
    name_of,
    parent_of,
    problem_card,
    spoken_at,
)
from leafward.session.entries import FORK, Kind
from leafward.session.headlines.entry_headline import shown_only
from leafward.session.headlines.session_title import title_or_none
from leafward.session.lines.abridged_lines import BOM
from leafward.session.lines.line_decoding import decode_line, kind_of, version_of

if TYPE_CHECKING:
    from leafward.agents.base import SessionCandidate

PEEK_SIZE = 8 << 10
"""Bytes read at each end of a file for a first look."""

_NAMING = b"session_info"
"""Bytes that every line that names a session contains."""


def peek(candidate: SessionCandidate) -> Card:
    """A first look at the two ends of a file; it has no counts. Always `partial`, never raises."""
    try:
        return _peek(candidate)
    except OSError as error:
        problem = f"cannot read: {error.strerror or error}"
    except Exception as error:
        problem = f"cannot be understood: {type(error).__name__}: {error}"
    return problem_card(candidate, problem)._replace(partial=True)


def _peek(candidate: SessionCandidate) -> Card:
    agent = agent_of(candidate)
    seen = agent.peek(candidate)
    if seen is not None:
        return _glimpsed(seen, agent.name, candidate)
    head, tail = _ends(candidate)
    lines = head.removeprefix(BOM).split(b"\n")
    header = decode_line(lines[0]) or {}
    if header.get("type") != "session":
        header = {}
    prompt, shown = "", ""
    for line in lines[1:]:
        if b'"user"' in line:
            body = decode_line(line)
            if prompt := excerpt(body):
                break
            shown = shown or shown_only(body or {})
    name, modified = _last_said(tail)
    created = parse_time(header.get("timestamp"))
    session_id, project = header.get("id"), header.get("cwd")
    parent = parent_of(header)
    found = FirstLook(
        id=session_id if isinstance(session_id, str) else Path(candidate.path).stem,
        name=name,
        prompt=prompt,
        project=project if isinstance(project, str) else "",
        created=created,
        modified=modified or candidate.mtime_ns // 1_000_000,
        parent=parent,
        relation=FORK if parent else None,
    )
    return _glimpsed(found, agent.name, candidate, shown)._replace(
        version=version_of(header) if header else 0
    )


def _last_said(tail: bytes) -> tuple[str | None, int]:
    """The session's latest name and the time of its last message, as far as the end of its file holds them."""
    name, named, modified = None, _NAMING not in tail, 0
    for line in reversed(tail.split(b"\n")):
        if modified and (named or _NAMING not in line):
            continue
        body = decode_line(line) if line else None
        if body is None:
            continue
        modified = modified or spoken_at(body)
        if not named and kind_of(body) is Kind.SESSION_INFO:
            name, named = name_of(body), True
    return name, modified


def _glimpsed(seen: FirstLook, agent: str, candidate: SessionCandidate, shown: str = "") -> Card:
    """A card made from the facts at the ends of a session; `shown` stands for prompts without text."""
    prompt = brief(seen.prompt)
    return Card(
        path=candidate.path,
        agent=agent,
        id=seen.id,
        name=seen.name,
        title=card_title(seen.name or title_or_none(seen.title), prompt, shown or NOT_READ),
        prompt=prompt,
        project=seen.project,
        created=seen.created,
        modified=seen.modified or seen.created or candidate.mtime_ns // 1_000_000,
        parent=seen.parent,
        relation=seen.relation,
        archived=seen.archived,
        size=candidate.size,
        partial=True,
    )


def _ends(candidate: SessionCandidate) -> tuple[bytes, bytes]:
    """The first bytes of a file and the whole lines among its last bytes; for a small file, both are the whole file."""
    with open_regular(candidate.path) as file:
        head = file.read(PEEK_SIZE)
        if candidate.size <= PEEK_SIZE:
            return head, head
        file.seek(max(0, candidate.size - PEEK_SIZE))
        return head, file.read(PEEK_SIZE).partition(b"\n")[2]
