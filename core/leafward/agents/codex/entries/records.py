"""Lines of a rollout and their roles, told by the first bytes where Codex itself wrote a line; other lines are decoded.

Rules are those of Codex 0.47 to 0.169. The role of a line decides whether it makes an entry, belongs to the reply or result
that is being read, or only repeats another line.
"""

from __future__ import annotations

import re
from enum import IntEnum
from io import BytesIO
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from leafward.agents.storage.lines import bodies_in
from leafward.session.lines.line_decoding import decode_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.session.entries import Body


class Role(IntEnum):
    """The role of a line in a transcript."""

    META = 1
    """`session_meta`."""
    MESSAGE = 2
    """A message of the user's side, whoever wrote it."""
    REPLY = 3
    """A piece of a model's reply: text, reasoning, a call."""
    RESULT = 4
    """The output of a call."""
    ECHO = 5
    """A piece of a reply, repeated for the screen."""
    PROMPT = 6
    """The typed text, repeated."""
    ANSWER = 7
    """The end of a call, repeated: exit code, changed files."""
    COUNT = 8
    """Token counts of the thread."""
    USAGE = 9
    """Token counts of one response."""
    QUIET = 10
    """Adds nothing to other lines."""
    BOOKS = 11
    """Metadata: turns, settings, the world's state."""
    TURN = 12
    """`turn_context`."""
    COMPACTED = 13
    ROLLBACK = 14
    NAME = 15
    INJECTED = 16
    """In the context, but written by neither a user nor the model."""
    UNKNOWN = 17
    COMPLETED = 18
    """`item_completed`: the item decides its role."""
    STARTED = 19
    """The beginning of a turn, before all of its other lines."""
    ASIDE = 20
    """Metadata that may stand anywhere, even within a response."""
    REVIEW = 21
    """A review begins, in a thread of its own, which tells this one its prompt and its counts."""
    REVIEWED = 22


_ITEMS = {
    "message": Role.MESSAGE,
    "reasoning": Role.REPLY,
    "function_call": Role.REPLY,
    "custom_tool_call": Role.REPLY,
    "local_shell_call": Role.REPLY,
    "web_search_call": Role.REPLY,
    "tool_search_call": Role.REPLY,
    "image_generation_call": Role.REPLY,
    "mcp_call": Role.REPLY,
    "function_call_output": Role.RESULT,
    "custom_tool_call_output": Role.RESULT,
    "local_shell_call_output": Role.RESULT,
    "tool_search_output": Role.RESULT,
    "mcp_tool_call_output": Role.RESULT,
    "agent_message": Role.INJECTED,
    "compaction": Role.INJECTED,
    "compaction_summary": Role.INJECTED,
    "compaction_trigger": Role.BOOKS,
    "context_compaction": Role.INJECTED,
    "ghost_snapshot": Role.BOOKS,
    "additional_tools": Role.ASIDE,
    "configuration_update": Role.ASIDE,
}
"""Subtypes of `response_item`."""

_EVENTS = {
    "user_message": Role.PROMPT,
    "agent_message": Role.ECHO,
    "agent_reasoning": Role.ECHO,
    "agent_reasoning_raw_content": Role.ECHO,
    "agent_reasoning_section_break": Role.QUIET,
    "token_count": Role.COUNT,
    "exec_command_end": Role.ANSWER,
    "patch_apply_end": Role.ANSWER,
    "mcp_tool_call_end": Role.ANSWER,
    "dynamic_tool_call_response": Role.ANSWER,
    "view_image_tool_call": Role.ANSWER,
    "web_search_end": Role.QUIET,
    "image_generation_end": Role.QUIET,
    "context_compacted": Role.QUIET,
    "thread_rolled_back": Role.ROLLBACK,
    "thread_name_updated": Role.NAME,
    "task_started": Role.STARTED,
    "turn_started": Role.STARTED,
    "entered_review_mode": Role.REVIEW,
    "exited_review_mode": Role.REVIEWED,
} | dict.fromkeys(
    (
        "task_complete", "turn_complete", "turn_aborted", "turn_diff", "plan_update", "background_event",
        "stream_error", "thread_settings_applied", "thread_goal_updated", "undo_started", "undo_completed", "error", "warning", "deprecation_notice",
        "guardian_assessment", "collab_agent_spawn_begin", "collab_agent_spawn_end",
        "collab_agent_interaction_begin", "collab_agent_interaction_end", "collab_waiting_begin",
        "collab_waiting_end", "collab_close_begin", "collab_close_end", "collab_resume_begin",
        "collab_resume_end"
    ),
    Role.BOOKS,
)  # fmt: skip
"""Subtypes of `event_msg`."""

_EVENTS |= dict.fromkeys(
    (
        "sub_agent_activity", "item_started", "hook_started", "hook_completed", "raw_response_completed",
        "terminal_interaction", "exec_command_begin", "exec_command_output_delta", "exec_approval_request",
        "patch_apply_begin", "patch_apply_updated", "apply_patch_approval_request", "mcp_startup_update",
        "mcp_startup_complete", "mcp_tool_call_begin", "web_search_begin", "image_generation_begin",
        "dynamic_tool_call_request", "request_permissions", "request_user_input", "elicitation_request",
        "elicitation_abandoned", "session_configured", "shutdown_complete", "environment_connected",
        "environment_disconnected", "thread_queue_changed", "auth_recovery_started",
        "auth_recovery_completed", "guardian_warning", "model_reroute", "model_verification",
        "safety_buffering", "turn_moderation_metadata", "agent_message_delta",
        "agent_message_content_delta", "agent_reasoning_delta", "agent_reasoning_raw_content_delta",
        "reasoning_content_delta", "reasoning_raw_content_delta", "plan_delta",
    ),
    Role.ASIDE,
)  # fmt: skip
"""Few of these are ever stored; the version decides which."""

_COMPLETED = {
    "UserMessage": Role.PROMPT,
    "AgentMessage": Role.ECHO,
    "Reasoning": Role.ECHO,
    "CommandExecution": Role.ANSWER,
    "FileChange": Role.ANSWER,
    "McpToolCall": Role.ANSWER,
    "DynamicToolCall": Role.ANSWER,
    "CollabAgentToolCall": Role.ANSWER,
    "ImageView": Role.ANSWER,
    "WebSearch": Role.QUIET,
    "ImageGeneration": Role.QUIET,
    "ContextCompaction": Role.QUIET,
    "Plan": Role.QUIET,
    "SubAgentActivity": Role.QUIET,
    "FunctionCallOutput": Role.QUIET,
    "Sleep": Role.ASIDE,
    "HookPrompt": Role.ASIDE,
    "EnteredReviewMode": Role.REVIEW,
    "ExitedReviewMode": Role.REVIEWED,
}
"""Types of the item in `item_completed`."""

_TYPES = {
    "session_meta": Role.META,
    "turn_context": Role.TURN,
    "compacted": Role.COMPACTED,
    "world_state": Role.BOOKS,
    "token_usage_record": Role.USAGE,
    "inter_agent_communication": Role.BOOKS,
    "inter_agent_communication_metadata": Role.BOOKS,
    "state": Role.BOOKS,
    "dynamic_tools_updated": Role.ASIDE,
    "security_risk_score": Role.ASIDE,
    "realtime_item": Role.ASIDE,
    "retained_context": Role.ASIDE,
    "id_allocation": Role.ASIDE,
}
"""Types of lines whose payload need not be read."""


class RolloutLine(NamedTuple):
    """One line, with the facts from its beginning."""

    role: Role
    ordinal: int | None
    call: str | None
    """The call that a result or an answer belongs to."""
    body: Body | None
    """The decoded line, where decoding was necessary."""


HEAD = re.compile(
    rb'\{"timestamp":"[^"\\]{1,40}",(?:"ordinal":(\d{1,18}),)?"type":"(\w+)","payload":\{(?:"type":"([\w.-]+)")?'
)
KIND = re.compile(
    rb'\{"timestamp":"[^"]{1,40}+(?<!\\)",(?:"ordinal":\d++,)?+"type":"([^"]++","payload":\{(?:"type":"[^"]++")?+)'
    rb'(?:,"thread_id":"[^"]{0,80}+(?<!\\)","turn_id":"[^"]{0,80}+(?<!\\)","item":\{"type":"([^"]++)","id":"([^"\\]{0,200}+)"'
    rb'|(?:,"(?:id|status|phase)":(?:"[^"]{0,200}+(?<!\\)"|null)){0,3}+,(?:"role":"([^"]++)"|"call_id":"([^"\\]{0,200}+)"))?+'
)
"""The beginning of a line in one match, for blocks of lines: a key of `KINDS`; for `item_completed` the type and id of its item;
the role; the call's id. `[^"]` passes strings fastest, and no string ends at a quote behind a backslash: such lines are decoded."""
TURN = re.compile(
    rb'\{"timestamp":"[\w:.+-]{1,40}+",(?:"ordinal":(?:0|[1-9]\d*+),)?+"type":"turn_context","payload":\{'
    rb'(?:"(?:root_)?turn_id":"[\w-]{0,80}+",){0,2}+'
)
"""A turn's context up to the beginning of its values: the rest is often equal from turn to turn."""
SAID_BY = re.compile(rb'(?:,"(?:id|status|phase)":(?:"[^"\\]{0,200}"|null)){0,3},"role":"(\w+)"')
CALL = re.compile(rb'(?:,"(?:id|status)":(?:"[^"\\]{0,200}"|null)){0,2},"call_id":"([^"\\]{0,200})"')
DONE = re.compile(
    rb',"thread_id":"[^"\\]{0,80}","turn_id":"[^"\\]{0,80}","item":\{"type":"(\w+)","id":"([^"\\]{0,200})"'
)
CLOSE = ord("}")

HEADS: dict[tuple[bytes, bytes | None], Role] = {
    **{(b"response_item", name.encode()): role for name, role in _ITEMS.items()},
    **{(b"event_msg", name.encode()): role for name, role in _EVENTS.items()},
    (b"event_msg", b"item_completed"): Role.COMPLETED,
    (b"token_usage_record", None): Role.USAGE,
    (b"world_state", None): Role.BOOKS,
    (b"turn_context", None): Role.TURN,
}
KINDS = {
    b'%s","payload":{%s' % (kind, b'"type":"%s"' % sub if sub is not None else b""): role
    for (kind, sub), role in HEADS.items()
}
_TOLD_INSIDE = (Role.COMPLETED, Role.MESSAGE)
"""Roles that the beginning of a line does not distinguish."""
_ALONE = {name.encode(): role for name, role in _TYPES.items()}
_DECODED = (
    Role.META, Role.MESSAGE, Role.PROMPT, Role.COUNT, Role.TURN, Role.COMPACTED, Role.ROLLBACK, Role.INJECTED
)  # fmt: skip
"""Lines whose content is needed."""
_ASSISTANT = b"assistant"
COMPLETED = {name.encode(): role for name, role in _COMPLETED.items()}


def line_at(data: bytes, start: int, end: int) -> RolloutLine | None:
    """The role of the line `data[start:end]` and the facts from its beginning; None where it is not a record."""
    head = HEAD.match(data, start, end)
    if head is None or data[end - 1] != CLOSE:
        body = decode_line(data[start:end])
        return line_of(body) if body is not None else None
    number, kind, sub = head.groups()
    ordinal = int(number) if number is not None else None
    call: str | None = None
    if kind in _ALONE:
        role = _ALONE[kind]
    elif kind == b"event_msg" and sub == b"item_completed":
        done = DONE.match(data, head.end(), end)
        if done is None:
            body = decode_line(data[start:end])
            return line_of(body) if body is not None else None
        role = _COMPLETED.get(done[1].decode("utf-8", "replace"), Role.UNKNOWN)
        call = done[2].decode("utf-8", "replace")
    else:
        role = HEADS.get((kind, sub), Role.UNKNOWN)
        if role is Role.MESSAGE:
            named_role = SAID_BY.match(data, head.end(), end)
            if named_role is not None and named_role[1] == _ASSISTANT:
                return RolloutLine(Role.REPLY, ordinal, None, None)
        elif role in (Role.RESULT, Role.ANSWER):
            named = CALL.match(data, head.end(), end)
            if named is None:
                body = decode_line(data[start:end])
                return line_of(body) if body is not None else None
            call = named[1].decode("utf-8", "replace")
    if role not in _DECODED and role is not Role.UNKNOWN:
        return RolloutLine(role, ordinal, call, None)
    body = decode_line(data[start:end])
    return line_of(body) if body is not None else None


_DESCRIBES = frozenset({"id", "timestamp", "instructions", "git"})
"""All fields in the first line of such a rollout."""


def framed(body: Body) -> Body:
    """A record in Codex's present form: until summer 2025, items and the description ahead of them were lines by themselves."""
    if "payload" in body:
        return body
    kind = body.get("type")
    if isinstance(kind, str) and kind in _ITEMS:
        kind = "response_item"
    elif kind is None and "record_type" in body:
        kind = "state"
    elif {"id", "timestamp"} <= body.keys() <= _DESCRIBES:
        kind = "session_meta"
    else:
        return body
    return {"timestamp": body.get("timestamp"), "type": kind, "payload": body}


def line_of(body: Body) -> RolloutLine:
    """The role of a decoded line, with its facts."""
    body = framed(body)
    kind, payload = body.get("type"), body.get("payload")
    number = body.get("ordinal")
    ordinal = number if isinstance(number, int) else None
    if not isinstance(payload, dict):
        return RolloutLine(Role.UNKNOWN, ordinal, None, body)
    sub = payload.get("type")
    call = payload.get("call_id")
    role = _TYPES.get(kind, Role.UNKNOWN) if isinstance(kind, str) else Role.UNKNOWN
    if kind == "response_item":
        role = _ITEMS.get(sub, Role.UNKNOWN) if isinstance(sub, str) else Role.UNKNOWN
        if sub is None and isinstance(payload.get("role"), str):
            role = Role.MESSAGE
        if role is Role.MESSAGE and payload.get("role") == "assistant":
            role = Role.REPLY
    elif kind == "event_msg" and isinstance(sub, str):
        role = _EVENTS.get(sub, Role.UNKNOWN)
        item = payload.get("item")
        if sub == "item_completed" and isinstance(item, dict):
            role = _COMPLETED.get(str(item.get("type")), Role.UNKNOWN)
            call = item.get("id")
    return RolloutLine(role, ordinal, call if isinstance(call, str) else None, body)


BEGINNING = b'{"timestamp":"'
"""The beginning of a record. Inside a string its quotes would be escaped, so a second one in a line is another record."""
BEGINS = re.compile(re.escape(BEGINNING))
"""`BEGINNING` as a pattern, for `lines.seams`."""
_AT_ONCE = 128
"""Lines at a time: more of them leave the processor's cache."""


def headed(data: bytes, stop: int) -> Iterator[tuple[Iterator[tuple[bytes, re.Match[bytes] | None]], bool]]:
    """The whole lines before `stop` in groups: each line with the beginning of its record, and whether no line holds a second one.

    Where one may, `find` tells for each line.
    """
    kind_of = KIND.match
    lines = BytesIO(data if len(data) == stop else data[:stop])
    begin = 0
    while some := list(islice(lines, _AT_ONCE)):
        heads = [kind_of(line) for line in some]
        end = lines.tell()
        # Counted for many lines at once: a search in each of them takes a third longer.
        apart = None not in heads and data.count(BEGINNING, begin, end) == len(some)
        begin = end
        yield zip(some, heads, strict=True), apart


def is_glued(data: bytes, start: int, end: int) -> bool:
    """Whether a line is a record, or the beginning of one, with another record behind it."""
    return data.find(BEGINNING, start + 1, end) >= 0 and decode_line(data[start:end]) is None


def name_of(body: Body) -> str:
    """The full type of a record: its type, the type of its payload, and the type of a completed item."""
    payload = payload_of(body)
    kind, sub, item = body.get("type"), payload.get("type"), payload.get("item")
    if sub == "item_completed" and isinstance(item, dict):
        sub = f"{sub} {item.get('type')}"
    return str(kind) if sub is None else f"{kind} {sub}"


def records(region: bytes) -> Iterator[Body]:
    """The readable records in a stretch of a rollout, in order."""
    return map(framed, bodies_in(region, BEGINS))


THOUGHTS = frozenset({b"reasoning", b"agent_reasoning", b"agent_reasoning_raw_content", b"Reasoning"})
"""Subtypes, and types of completed items, that hold the model's thinking."""


def records_of(
    region: bytes, roles: frozenset[Role], but: frozenset[bytes] = frozenset()
) -> Iterator[tuple[Role, Body]]:
    """The records of some roles in a stretch of a rollout, in order, without those of types in `but`.

    A record with another role in its first bytes is not decoded; where these tell nothing, types in `but` may be included.
    """
    for line in region.split(b"\n"):
        head = HEAD.match(line)
        # Inside a string the quotes of a beginning would be escaped: a second beginning belongs to another record.
        if head is not None and line.find(BEGINNING, 1) < 0:
            _, kind, sub = head.groups()
            role = HEADS.get((kind, sub))
            if role is Role.COMPLETED and (done := DONE.match(line, head.end())) is not None:
                role, sub = COMPLETED.get(done[1]), done[1]
            elif role is Role.MESSAGE and (said_by := SAID_BY.match(line, head.end())) is not None:
                role = Role.REPLY if said_by[1] == _ASSISTANT else role
            if role is not None and role not in _TOLD_INSIDE:
                if role not in roles or sub in but:
                    continue
                body = decode_line(line)
                if body is not None:
                    yield role, body
                    continue
        for record in records(line):
            role = line_of(record).role
            if role in roles:
                yield role, record


def payload_of(body: Body) -> dict[str, Any]:
    """The payload of a record; empty without one."""
    payload = body.get("payload")
    return payload if isinstance(payload, dict) else {}


def as_object(text: object) -> dict[str, Any] | None:
    """JSON in a string as an object; None for anything else."""
    if isinstance(text, dict):
        return text
    if not isinstance(text, str) or not text.lstrip().startswith("{"):
        return None
    return decode_line(text.encode("utf-8", "surrogatepass"))
