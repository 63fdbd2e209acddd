"""The parts of rows that reading needs, as declared shapes: no other part becomes an object, and all of a row is checked.

A row that does not fit its shape, since it is of another kind or broken, is decoded whole. A test compares both ways.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Struct, field
from msgspec.json import Decoder

from leafward.agents.claude.entries.records import (
    CHANGED_OUTSIDE,
    QUEUED_TYPE,
    SILENT_ATTACHMENTS,
    SYNTHETIC,
    Role,
    role_of_text,
    tag_of,
)

if TYPE_CHECKING:
    from leafward.session.entries import Body

# Plain numbers: a member of an enumeration costs several times as much to hash or to add.
_RESULT, _REPLY = int(Role.RESULT), int(Role.REPLY)
_QUIET, _INJECTED, _ATTACHED = int(Role.QUIET), int(Role.INJECTED), int(Role.ATTACHED)
_LOOKED_INTO = frozenset({CHANGED_OUTSIDE, QUEUED_TYPE})
"""Attachments whose fields tell more than that there is one."""
UNTOLD = -1
"""The role of a row that has to be decoded whole."""

_FACTS = (
    "isSidechain", "cwd", "sessionId", "version", "gitBranch", "agentId", "forkedFrom", "requestSessionId"
)  # fmt: skip
_BOUNDARIES = frozenset({"compact_boundary", "microcompact_boundary"})


class _Block(Struct, gc=False):
    type: str | None = None


class _Message(Struct, gc=False):
    id: Any = None
    model: Any = None
    content: list[_Block] | str | None = None


class _Attachment(Struct, gc=False):
    type: str | None = None


class _Rendered(Struct, gc=False):
    content: str | None = None


class _Origin(Struct, gc=False):
    kind: Any = None


class ChainRow(Struct, gc=False, rename="camel"):
    """A row of the chain."""

    parent_uuid: str | None = None
    is_sidechain: Any = None
    attachment: _Attachment | None = None
    message: _Message | None = None
    type: str | None = None
    uuid: str | None = None
    rendered: list[_Rendered] | None = None
    subtype: Any = None
    content: Any = None
    is_meta: Any = None
    is_visible_in_transcript_only: Any = None
    text_not_typed: Any = None
    origin: _Origin | None = None
    is_compact_summary: Any = None
    is_synthetic: Any = None
    sent_as_uuid: Any = None
    cwd: Any = UNSET
    session_id: Any = UNSET
    version: Any = UNSET
    git_branch: Any = UNSET
    agent_id: Any = UNSET
    forked_from: Any = UNSET
    request_session_id: Any = UNSET


class OutsideRow(Struct, gc=False, rename="camel"):
    """A row outside the chain."""

    type: str | None = None
    last_prompt: Any = None
    leaf_uuid: Any = None
    explicit: Any = None
    id: Any = None
    hash: Any = None
    total_cost: Any = field(default=None, name="totalCostUSD")
    uuid: None = None
    """A row that names its parent does not fit."""
    parent_uuid: None = None
    is_sidechain: None = None


chain_row = Decoder(ChainRow).decode
"""A line as a row of the chain. Raises ValueError or RecursionError where it does not fit."""
outside_row = Decoder(OutsideRow).decode
"""A line as a row outside the chain. Raises ValueError or RecursionError where it does not fit."""


facts_in = attrgetter(
    "cwd", "session_id", "version", "git_branch", "agent_id", "forked_from", "request_session_id"
)
"""Facts about the session in a row of the chain."""


def role_of(row: ChainRow) -> int:
    """The role of a row of the chain, as `records.row_of` gives it; `UNTOLD` where that needs more than is declared here."""
    kind = row.type
    if kind == "assistant":
        message = row.message
        if message is None or type(message.id) is not str or not message.id:
            return UNTOLD
        return _REPLY if message.model != SYNTHETIC else UNTOLD
    if kind == "user":
        return _user(row)
    if kind == "attachment":
        attachment, rendered = row.attachment, row.rendered
        if attachment is None or attachment.type is None or attachment.type in _LOOKED_INTO:
            return UNTOLD
        if attachment.type in SILENT_ATTACHMENTS:
            return _QUIET
        return _ATTACHED if rendered and rendered[0].content else UNTOLD
    if kind == "system":
        if row.subtype == "local_command" and type(row.content) is str:
            return _INJECTED
        return UNTOLD if type(row.subtype) is not str or row.subtype in _BOUNDARIES else _QUIET
    return _QUIET if kind == "progress" else UNTOLD


def _user(row: ChainRow) -> int:
    message, origin = row.message, row.origin
    if message is None or message.content is None or row.sent_as_uuid is not None:
        return UNTOLD
    content = message.content
    if isinstance(content, list):
        # Several blocks make several entries.
        return _RESULT if len(content) == 1 and content[0].type == "tool_result" else UNTOLD
    if row.is_compact_summary is True or row.is_synthetic is True:
        return UNTOLD
    by_person = row.text_not_typed is not True and (
        origin is None or origin.kind is None or origin.kind == "human"
    )
    is_meta = row.is_meta is True or row.is_visible_in_transcript_only is True
    role = role_of_text(content, is_meta=is_meta, by_person=by_person)
    # A prompt that was typed as a command is remembered by its words.
    return int(role) if role is not Role.PROMPT or not tag_of(content) else UNTOLD


def body_of(row: ChainRow) -> Body:
    """The declared parts of a row, in the form of a decoded row."""
    said = zip(_FACTS, (row.is_sidechain, *facts_in(row)), strict=True)
    return {key: value for key, value in said if value is not UNSET}
