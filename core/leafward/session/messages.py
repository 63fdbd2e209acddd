"""The messages that an entry contributes to a context, edited or not, and their plain text.

The rules are pi 1.5.2's; the text around a summary is pi's own wording and is not repeated here.
"""

from __future__ import annotations

import re
from enum import StrEnum

from leafward.base.late_pattern import late
from leafward.base.times import milliseconds
from leafward.session.entries import (
    LISTED,
    PUT_IN,
    TYPED,
    Body,
    Kind,
    ToolCall,
    Usage,
    blocks_of,
    read_usage,
    text_at,
    text_of,
    tool_calls,
)
from leafward.session.tokens import SUMMARY_TOKENS, stored_size

EDIT_TARGETS = "targetIds"
"""The field of another agent's translated context edit that names several entries instead of one."""

PROJECTION = "projection"
"""The field of another agent's translated compaction with the entries that are kept beside its summary.

It holds two lists of ids, `before` and `after` the summary. Without it pi's rule applies.
"""

NEVER_SENT = "neverSent"
"""The field of another agent's translated message that is shown and sent to no model."""

MAY_HAVE_RUN = "mayHaveRun"
"""The field of a translated result of a call that was stopped at its work: what it was to change may be changed."""

UNSTORED_FILES = "unstoredFiles"
"""The field of a translated compaction whose agent inserts files again after it and does not store them."""

SUMMARY_BASIS = "summaryBasis"
"""The field of a translated compaction with the basis of its encrypted summary's size: a `SummaryBasis`."""


class SummaryBasis(StrEnum):
    """The basis of the size of an encrypted summary."""

    LENGTH = "length"
    COUNT = "count"
    UNKNOWN = "unknown"


ENCRYPTED_NOTE = "[The summary is encrypted"
"""The beginning of the line that stands for an encrypted summary. It is ours: no fact is taken from it."""

SUMMARY_BASIS_TEXT = {
    SummaryBasis.LENGTH: "estimated from its length",
    SummaryBasis.COUNT: "from the agent's count after the compaction",
    SummaryBasis.UNKNOWN: "size unknown",
}

BROKEN_OFF = ("aborted", "error")
"""Stop reasons of replies that are not sent again; an agent's reader tells which of them the agent sends anyway."""

_EDITABLE = frozenset({"user", "assistant", "toolResult", "custom"})


def message_in(body: Body) -> Body:
    """The message of a `message` entry, else an empty object."""
    message = body.get("message")
    return message if isinstance(message, dict) else {}


def messages_of(body: Body, kind: Kind) -> list[Body]:
    """The messages of one entry, before edits; null contents are made empty (pi 1.5.2)."""
    if body.get("type") == "message":
        message = body.get("message")
        if not isinstance(message, dict):
            return []
        if message.get("content") is None and kind in (
            Kind.SYSTEM,
            Kind.USER,
            Kind.ASSISTANT,
            Kind.TOOL_RESULT,
        ):
            message = {**message, "content": "" if kind is Kind.SYSTEM else []}
        if kind is Kind.USER and isinstance(body.get(TYPED), str):
            message = {**message, TYPED: body[TYPED]}
        return [message]
    if kind in (Kind.CUSTOM_MESSAGE, Kind.INJECTED):
        content = body.get("content")
        put_in: Body = {
            "role": "custom",
            "content": [] if content is None else content,
            "display": body.get("display"),
        }
        if body.get(PUT_IN) or kind is Kind.INJECTED:
            put_in[PUT_IN] = str(body.get("customType") or "")
        if body.get(NEVER_SENT) is True:
            put_in[NEVER_SENT] = True
        if isinstance(body.get(LISTED), list):
            put_in[LISTED] = body[LISTED]
        if isinstance(body.get(TYPED), str):
            put_in[TYPED] = body[TYPED]
        return [put_in]
    if kind is Kind.BRANCH_SUMMARY and body.get("summary"):
        return [{"role": "branchSummary", "summary": body["summary"]}]
    if kind is Kind.COMPACTION:
        summary: Body = {"role": "compactionSummary", "summary": body.get("summary")}
        size = encrypted_tokens(body)
        if size is not None:
            summary[SUMMARY_TOKENS] = size
        system = body.get("systemMessage")
        return [system, summary] if isinstance(system, dict) else [summary]
    return []


def summary_words(compaction: Body) -> str:
    """The stored text of a compaction's entry; without the first line of an encrypted summary, which is ours."""
    text = text_at(compaction, "summary")
    return text.partition("\n")[2].lstrip("\n") if compaction.get("encrypted") is True else text


def leaves_files_unstored(body: Body) -> bool:
    """Whether the agent that made a compaction inserts files again after it and stores nothing of them."""
    return body.get(UNSTORED_FILES) is True


def encrypted_tokens(body: Body) -> int | None:
    """The tokens of a compaction's summary that only the provider can read; None where anybody can read it."""
    return stored_size(body) if body.get("encrypted") is True and SUMMARY_BASIS in body else None


def summary_basis(body: Body) -> SummaryBasis | None:
    """The basis of the size of an encrypted summary; None where the summary is readable."""
    found = body.get(SUMMARY_BASIS) if encrypted_tokens(body) is not None else None
    return SummaryBasis(found) if isinstance(found, str) and found in set(SummaryBasis) else None


def edit_targets(body: Body) -> list[str]:
    """The targets of a context edit: one in pi's files; another agent may have pruned several at once."""
    listed = body.get(EDIT_TARGETS)
    if isinstance(listed, list):
        return [str(name) for name in listed]
    return [str(body.get("targetId"))]


def edit_message(message: Body, replacement: object) -> Body | None:
    """A message after a context edit; None where the edit removes it."""
    if replacement is None:
        return None
    role = message.get("role")
    if not isinstance(role, str) or role not in _EDITABLE or not isinstance(replacement, dict):
        return message
    content = replacement.get("content")
    if isinstance(content, str) and role in ("assistant", "toolResult"):
        content = [{"type": "text", "text": content}]
    return {**message, "content": content}


def trusted_usage(message: Body) -> Usage | None:
    """A reply's usage where it is meaningful: not aborted, no error, not all zero (pi 1.5.2)."""
    if message.get("stopReason") in BROKEN_OFF:
        return None
    usage = read_usage(message.get("usage"))
    return usage if usage is not None and usage.total > 0 else None


KNOWN_BLOCKS = ("text", "thinking", "image", "toolCall")
"""Types of blocks in pi's messages; a tuple, as a type in a file may be of any kind."""


def message_text(message: Body) -> str:
    """A message as plain text: its text, thinking, calls and results. Images are described."""
    role = message.get("role")
    if role in ("branchSummary", "compactionSummary"):
        return str(message.get("summary") or "")
    if role == "bashExecution":
        return f"$ {message.get('command', '')}\n{message.get('output', '')}"
    parts: list[str] = []
    for block in blocks_of(message.get("content")):
        kind = block.get("type")
        if kind == "text":
            parts.append(str(block.get("text", "")))
        elif kind == "thinking":
            parts.append(str(block.get("thinking", "")))
        elif kind == "toolCall":
            parts.append(call_text(block))
        elif kind == "image":
            parts.append(image_text(block))
    if role == "system":
        sections = message.get("sections")
        if isinstance(sections, dict):
            parts.extend(str(text) for text in sections.values() if text)
    return "\n".join(parts)


def call_text(block: Body) -> str:
    """A tool call on one line: its name, then each argument."""
    arguments = block.get("arguments")
    listed = (
        ", ".join(f"{key}={value}" for key, value in arguments.items()) if isinstance(arguments, dict) else ""
    )
    return f"{block.get('name', '')}({listed})"


def image_text(block: Body) -> str:
    """An image described: its type and its size in bytes."""
    data = block.get("data")
    size = decoded_size(data) if isinstance(data, str) else 0
    return f"[image {block.get('mimeType', 'of unknown type')}, {size:,} bytes]"


def decoded_size(data: str) -> int:
    """Bytes that a base64 text stands for."""
    return len(data) * 3 // 4 - data[-2:].count("=")


def usage_of(body: Body) -> Usage | None:
    """The usage of an entry: a reply's, a tool's, a summary's, or a `usage` entry's own (pi 1.5.2)."""
    if body.get("type") == "message":
        message = body.get("message")
        return read_usage(message.get("usage")) if isinstance(message, dict) else None
    return read_usage(body.get("usage"))


_PLAUSIBLE = 946_684_800_000
"""The year 2000 in milliseconds since 1970: an earlier time is invalid."""


def as_typed(message: Body) -> Body:
    """A message as its speaker meant it: text typed after a command, or while the agent worked, is the person's.

    Text that an editor put around it is left out. A message that nobody typed, and a command for the shell, stays
    unchanged.
    """
    typed = message.get(TYPED)
    if not isinstance(typed, str) or (role := message.get("role")) not in ("user", "custom"):
        return message
    words = _COMMAND.sub("", typed, count=1)
    if role == "custom" and not words.strip():
        return message
    pictures = [block for block in blocks_of(message.get("content")) if block.get("type") != "text"]
    return {"role": "user", "content": [{"type": "text", "text": words}, *pictures]}


def command_in(message: Body) -> str:
    """The command before the text that a person typed (`/review`); empty where there is none."""
    typed = message.get(TYPED)
    found = _NAMED.match(typed) if message.get("role") == "user" and isinstance(typed, str) else None
    return found[0] if found is not None else ""


def is_bare(typed: str) -> bool:
    """Whether a typed text is a command without words."""
    return typed.startswith("/") and not _COMMAND.sub("", typed, count=1).strip()


def is_bare_command(body: Body) -> bool:
    """Whether a prompt is only a command without words, or the beginning of one that the agent did not know."""
    typed = body.get(TYPED)
    return is_bare(typed if isinstance(typed, str) else prompt_text(body).strip())


def shell_command(body: Body) -> str:
    """The shell command that a person typed after a `!`, in a message without a role of its own for it; else empty."""
    typed = body.get(TYPED)
    return typed if isinstance(typed, str) and typed.startswith("!") else ""


def is_users_call(reply: Body, typed: str) -> bool:
    """Whether a reply is not a model's: it holds the shell command that the user typed before it, as opencode stores one."""
    return typed.startswith("!") and any(
        f"! {value}" == typed for call in tool_calls(reply) for value in call.arguments.values()
    )


_COMMAND = re.compile(r"\A(?:/[^\s/]+(?:\s+|\Z)|!.*)", re.DOTALL)
"""The name of a command before its words, or a command for the shell."""
_NAMED = late(r"/[^\s/]{1,80}(?=\s|\Z)")


def written_at(body: Body) -> int | None:
    """The time of an entry, in milliseconds since 1970; None where it has none.

    The lines of a migrated or copied file have the time of that; a message keeps its own.
    """
    message = body.get("message")
    own = milliseconds(message.get("timestamp")) if isinstance(message, dict) else None
    return own if own is not None and own >= _PLAUSIBLE else milliseconds(body.get("timestamp"))


def prompt_text(body: Body) -> str:
    """The text of a user's entry as it would be offered for editing: the typed text, where an editor put more around it."""
    typed = body.get(TYPED)
    if isinstance(typed, str):
        return typed
    message = body.get("message")
    content = message.get("content") if isinstance(message, dict) else body.get("content")
    return text_of(content)


def nested_calls(message: Body) -> list[ToolCall]:
    """The calls that a tool made while it ran and that did not fail (pi 1.5.2 records them on the tool's result)."""
    record = message.get("nestedCalls")
    calls = record.get("calls") if isinstance(record, dict) else None
    found = []
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict) and call.get("status") != "error":
            arguments = call.get("arguments")
            found.append(
                ToolCall(
                    str(call.get("id", "")),
                    str(call.get("name", "")),
                    arguments if isinstance(arguments, dict) else {},
                )
            )
    return found


def did_run(reply: Body) -> bool:
    """Whether the calls of a reply were run: those of a reply that was aborted or ended in an error were not (pi 1.5.2)."""
    return reply.get("stopReason") not in BROKEN_OFF
