"""A first look at a thread: the beginning and the end of its first file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from leafward.agents.base import FirstLook
from leafward.agents.codex.chain import meta_of, with_folder
from leafward.agents.codex.description import relation_of
from leafward.agents.codex.entries.items import is_injected, item_text, prompt_of, typed_in
from leafward.agents.codex.entries.records import Role, framed, line_of, payload_of
from leafward.agents.codex.entries.tasks import task_of
from leafward.agents.codex.first_program import ENDING
from leafward.agents.codex.rollout import head_of
from leafward.agents.codex.store import COLD, segment_of, stem
from leafward.base.regular_files import open_regular
from leafward.base.times import milliseconds
from leafward.session.entries import SUBAGENT
from leafward.session.lines.line_decoding import decode_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leafward.agents.base import SessionCandidate
    from leafward.session.entries import Body

HEAD = 128 << 10
"""Bytes read: description and instructions ahead of the first prompt take some eighty thousand (0.14x)."""
_TAIL = 4 << 10


def remote_of(path: str) -> str | None:
    """The git remote in the description of a thread; None where it names none, or cannot be read."""
    try:
        meta = meta_of(head_of(path, HEAD).partition(b"\n")[0])
    except OSError:
        return None
    git = meta.get("git")
    remote = git.get("repository_url") if isinstance(git, dict) else None
    return remote if isinstance(remote, str) and remote else None


def first_look(candidate: SessionCandidate, names: Mapping[str, str]) -> FirstLook | None:
    """Facts from a first look at a rollout; None where it does not begin with a record. Raises OSError."""
    head = head_of(candidate.path, HEAD)
    lines = head.split(b"\n")
    meta = with_folder(meta_of(lines[0]), head)
    segment = segment_of(candidate.path, candidate.stamp)
    thread = segment.thread or str(meta.get("id") or stem(candidate.path))
    prompt = unsure = ""
    own = meta.get("subagent_history_start_ordinal")
    first = decode_line(lines[0])
    if first is None and len(lines) > 1:
        return None
    for line in lines[1:]:
        body = decode_line(line) if b"user" in line or b"NEW_TASK" in line else None
        if body is None or _is_inherited(body, own):
            continue
        body = framed(body)
        role, payload = line_of(body).role, payload_of(body)
        if role is Role.PROMPT:
            prompt = prompt_of(payload) or ""
        elif role is Role.MESSAGE and payload.get("role") == "user":
            text = item_text(payload)
            injected = is_injected(payload, text)
            prompt = text if injected is False else ""
            if injected is None:
                # An event behind it declares it typed, but the desktop application writes none (0.147).
                unsure = unsure or text
        elif role is Role.INJECTED:
            prompt = task_of(payload) or ""
        if prompt:
            prompt = typed_in(prompt) or prompt
            break
    prompt = prompt or typed_in(unsure) or unsure
    parent, relation = relation_of(meta)
    if not prompt and relation == SUBAGENT:
        # Its task stands behind the inherited conversation, however long that is.
        prompt = str(meta.get("agent_path") or "").rpartition("/")[2]
    created = milliseconds(meta.get("timestamp")) or milliseconds((first or {}).get("timestamp"))
    cwd = meta.get("cwd")
    return FirstLook(
        id=thread,
        name=names.get(thread),
        prompt=prompt,
        project=cwd if isinstance(cwd, str) else "",
        created=created,
        modified=_last_time(candidate.path) or created,
        parent=parent,
        relation=relation,
        archived=segment.archived,
    )


def _is_inherited(body: Body, own: object) -> bool:
    """Whether a sub-agent got a record from its parent (0.153 and later): `own` is the number of its first own record."""
    number = body.get("ordinal")
    return isinstance(own, int) and isinstance(number, int) and number < own


def _last_time(path: str) -> int | None:
    """The time of the last whole line."""
    if path.endswith((COLD, ENDING)):
        return None
    with open_regular(path) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _TAIL))
        for line in reversed(file.read(_TAIL).split(b"\n")):
            body = decode_line(line) if line else None
            if body is not None:
                return milliseconds(body.get("timestamp"))
    return None
