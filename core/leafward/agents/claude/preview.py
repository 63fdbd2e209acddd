"""A first look at a transcript, from its two ends."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from leafward.agents.base import FirstLook
from leafward.agents.claude.entries.records import (
    Role,
    command_in,
    message_of,
    request_in,
    row_of,
    text_in,
    typed_in,
)
from leafward.agents.claude.entries.session_details import SessionDetails
from leafward.agents.claude.store import place_of, stem
from leafward.agents.storage.lines import unmarked
from leafward.base.regular_files import open_regular
from leafward.base.times import milliseconds
from leafward.session.entries import FORK, SUBAGENT
from leafward.session.lines.line_decoding import decode_line
from leafward.session.messages import is_bare

if TYPE_CHECKING:
    from leafward.agents.base import SessionCandidate

HEAD = 48 << 10
"""Bytes read at the beginning: the attachments of a first prompt alone take half of it."""
_TAIL = 8 << 10
"""Bytes read at the end: titles are written again and again."""


def first_look(candidate: SessionCandidate) -> FirstLook | None:
    """Facts from a first look at a transcript; None where it does not begin with a row. Raises OSError."""
    with open_regular(candidate.path) as file:
        head = unmarked(file.read(HEAD))
        size = file.seek(0, os.SEEK_END)
        tail = b""
        if size > HEAD:
            file.seek(max(HEAD, size - _TAIL))
            tail = file.read(_TAIL).partition(b"\n")[2]
    facts, prompt, modified = SessionDetails(), "", None
    command: str | None = None
    for line in (*head.split(b"\n"), *tail.split(b"\n")):
        body = decode_line(line) if line else None
        if body is None:
            continue
        row = row_of(body)
        facts.note(body, row.role)
        if row.role is Role.PROMPT and not prompt:
            prompt = text_in(message_of(body).get("content")).strip()
            prompt = request_in(prompt) or typed_in(prompt) or prompt
            if is_bare(prompt):
                # A command without words tells less than the prompt behind it.
                command, prompt = command or prompt, ""
        if row.role is Role.COMMAND and not prompt:
            command = command or command_in(text_in(message_of(body).get("content")))
        if row.role in (Role.PROMPT, Role.REPLY):
            modified = milliseconds(body.get("timestamp")) or modified
    prompt = prompt or command or ""
    if facts.created is None and not facts.ids and not prompt:
        return None if decode_line(head.partition(b"\n")[0]) is None else FirstLook(stem(candidate.path))
    place = place_of(candidate.path)
    parent, relation = facts.source, FORK if facts.source else None
    if place.helper:
        other_id = next((one for one in facts.ids if one != place.id), None)
        beside = os.path.join(place.project, f"{other_id}.jsonl") if other_id else None
        parent, relation = place.parent or beside, SUBAGENT
    created = milliseconds(facts.created)
    return FirstLook(
        id=place.id or next(iter(facts.ids), "") or stem(candidate.path),
        name=facts.title or facts.agent_name,
        prompt=prompt,
        title=facts.ai_title or (None if prompt else facts.last_prompt),
        project=next(iter(facts.folders), ""),
        created=created,
        modified=modified or created,
        parent=parent,
        relation=relation,
    )
