"""A card without reading the file whole: from its two ends, or from what was appended."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents import FirstLook
from leafward.base.regular_files import open_regular
from leafward.catalog.card import FORK, Card, Details, Mark, Reading, parse_time
from leafward.catalog.card_fields import (
    MESSAGES,
    TouchedFiles,
    agent_of,
    archived_by,
    brief,
    card_title,
    excerpt,
    model_of,
    name_of,
    parent_of,
    problem_card,
    seal_of,
    spoken_at,
)
from leafward.catalog.spending import Meter
from leafward.session.abridged_lines import BOM
from leafward.session.entries import BOOKKEEPING, PROMPTS, Kind, is_own
from leafward.session.entry_headline import IMAGE, shown_only
from leafward.session.line_decoding import decode_line, kind_of, version_of
from leafward.session.messages import messages_of, trusted_usage
from leafward.session.session_title import title_or_none
from leafward.session.tokens import message_tokens

if TYPE_CHECKING:
    from leafward.agents import Candidate
    from leafward.session.entries import Body

PEEK_SIZE = 8 << 10
"""Bytes read at each end of a file for a first answer."""

READ_ON_LIMIT = 1 << 20
"""Bytes appended up to which a file is read on; more is read whole."""

_NAMING = b"session_info"
"""In every line that names a session."""

_ESTIMATE_CHANGES = frozenset({Kind.COMPACTION, Kind.CONTEXT_EDIT, Kind.SYSTEM})
"""Kinds after which a context is not simply longer by what follows."""


def peek(candidate: Candidate) -> Card:
    """A first answer from the two ends of a file: what stands there, and no counts. Always `partial`, never raises."""
    try:
        return _peek(candidate)
    except OSError as error:
        problem = f"cannot read: {error.strerror or error}"
    except Exception as error:
        problem = f"cannot be made sense of: {type(error).__name__}: {error}"
    return problem_card(candidate, problem)._replace(partial=True)


def _peek(candidate: Candidate) -> Card:
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
        if b'"role":"user"' in line:
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
    """The name that a session was given last, and when somebody spoke last; as much as the end of its file says."""
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


def _glimpsed(seen: FirstLook, agent: str, candidate: Candidate, shown: str = "") -> Card:
    """A card of what a session says of itself at its ends; `shown` stands for prompts without words."""
    prompt = brief(seen.prompt)
    return Card(
        path=candidate.path,
        agent=agent,
        id=seen.id,
        name=seen.name,
        title=card_title(seen.name or title_or_none(seen.title), prompt, shown),
        prompt=prompt,
        project=seen.project,
        created=seen.created,
        modified=seen.modified or seen.created or candidate.mtime_ns // 1_000_000,
        entries=None,
        messages=None,
        turns=None,
        branches=None,
        compactions=None,
        tokens=None,
        model=None,
        parent=seen.parent,
        relation=seen.relation,
        archived=seen.archived,
        damage=0,
        problem=None,
        size=candidate.size,
        version=0,
        origin=0,
        partial=True,
    )


def _ends(candidate: Candidate) -> tuple[bytes, bytes]:
    """The first bytes of a file, and the whole lines among its last ones; a small file is its own end."""
    with open_regular(candidate.path) as file:
        head = file.read(PEEK_SIZE)
        if candidate.size <= PEEK_SIZE:
            return head, head
        file.seek(max(0, candidate.size - PEEK_SIZE))
        return head, file.read(PEEK_SIZE).partition(b"\n")[2]


def read_on(reading: Reading, candidate: Candidate) -> Reading | None:
    """The reading of a file that has only grown, from what was appended; None where it has to be read whole.

    That is so where the old bytes changed, the new entries do not continue the last one in a row, or they change how the
    context before them counts.
    """
    try:
        return _read_on(reading, candidate)
    except Exception:
        # A short cut only: whatever was appended, of any type and shape, reading the file whole says what is wrong with it.
        return None


def _read_on(reading: Reading, candidate: Candidate) -> Reading | None:
    # Its decoder takes longer to load than anything else here.
    from leafward.catalog.replies import Replies

    card, details, mark, known = reading
    if mark is None or not card.entries or not mark.end < candidate.size <= mark.end + READ_ON_LIMIT:
        return None
    appended = _appended(candidate, mark)
    if appended is None:
        return None
    values = card._asdict()
    shown = IMAGE if card.title == IMAGE else ""
    last_id, leaves, at_tip = mark.last_id, mark.leaves, mark.at_tip
    last_prompt, last_reply = details.last_prompt, details.last_reply
    spoken = 0
    taken = Replies(Meter(card.created or 0, known), TouchedFiles(card.project, details))
    lines, seal = appended
    for line in lines.split(b"\n"):
        if not line.strip():
            continue
        body = decode_line(line)
        kind = kind_of(body) if body is not None else Kind.MALFORMED
        if body is None or kind in _ESTIMATE_CHANGES or kind in (Kind.HEADER, Kind.UNKNOWN):
            return None
        if body.get("parentId") != last_id or not isinstance(body.get("id"), str) or not body["id"]:
            return None
        if kind is Kind.USER and not card.turns:
            return None  # the first prompt: by it copies are found
        last_id = body["id"]
        taken.add_body(body)
        values["entries"] += not is_own(body)
        values["messages"] += kind in MESSAGES
        values["turns"] += kind in PROMPTS
        spoken = max(spoken, spoken_at(body))
        if (
            kind is Kind.ASSISTANT
            and values["estimated"]
            and trusted_usage(body.get("message") or {}) is not None
        ):
            if spoken_at(body) < card.modified:
                return None  # whether its usage can be believed, what stands above it says
            values["estimated"] = False
        if kind not in BOOKKEEPING:
            leaves += not at_tip
            at_tip = True
            values["tokens"] = _grown(values["tokens"], body, kind)
        if kind is Kind.SESSION_INFO:
            values["name"] = name_of(body)
        elif kind is Kind.USER:
            text = excerpt(body)
            values["prompt"] = values["prompt"] or text
            last_prompt, last_reply = (text, "") if text else (last_prompt, last_reply)
            shown = shown or shown_only(body)
        elif kind is Kind.ASSISTANT:
            last_reply = excerpt(body) or last_reply
        if kind in (Kind.ASSISTANT, Kind.MODEL_CHANGE):
            values["model"] = model_of(body)
        archived = archived_by(body) if kind is Kind.CUSTOM else None
        values["archived"] = values["archived"] if archived is None else archived
    if spoken:
        values["modified"] = max(spoken, card.modified if card.messages else 0)
    elif not card.messages and card.created is None:
        return None
    if card.name is not None and values["name"] is None and not values["prompt"]:
        return None
    values.update(
        title=card_title(values["name"], values["prompt"], shown),
        branches=leaves - at_tip,
        size=candidate.size,
        partial=False,
    )
    taken.settle()
    files = taken.files
    end = mark.end + len(lines)
    return Reading(
        Card(**values),
        Details(tuple(files.changed), tuple(files.read), last_prompt, last_reply),
        Mark(end, mark.inode, seal, last_id, leaves, at_tip),
        taken.meter.days(),
    )


def _appended(candidate: Candidate, mark: Mark) -> tuple[bytes, str] | None:
    """The whole lines behind a mark and the seal at their end; None where what lies before it is not what was read."""
    with open_regular(candidate.path) as file:
        if os.fstat(file.fileno()).st_ino != mark.inode or seal_of(file, mark.end) != mark.seal:
            return None
        file.seek(mark.end)
        lines = file.read(READ_ON_LIMIT)
        return (lines, seal_of(file, mark.end + len(lines))) if lines.endswith(b"\n") else None


def _grown(tokens: int, body: Body, kind: Kind) -> int:
    """The size of a context after one more entry."""
    message = body.get("message")
    usage = trusted_usage(message) if kind is Kind.ASSISTANT and isinstance(message, dict) else None
    if usage is not None:
        return usage.total
    return tokens + sum(message_tokens(message) for message in messages_of(body, kind))
