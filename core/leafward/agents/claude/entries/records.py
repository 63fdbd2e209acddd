"""Rows of transcripts: the role of each, told by its type and the beginning of its text."""

from __future__ import annotations

from enum import IntEnum
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from leafward.agents.claude.entries.attachments import WORDS_OF
from leafward.agents.storage.lines import bodies_in
from leafward.base.late_pattern import late
from leafward.session.entries import object_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.session.entries import Body


class Role(IntEnum):
    """The meaning of a row for the tree."""

    BROKEN = 0
    UNKNOWN = 1
    PROMPT = 2
    """Typed by a person, also as a command that asks the model for something."""
    COMMAND = 3
    """Begins a turn without a request in words: a command for the shell, a notice of a task, a helper's orders."""
    INJECTED = 4
    """In the context, written by nobody."""
    ATTACHED = 5
    """In the context, written by nobody, and sent ahead of the messages before it, up to the last reply or result."""
    RESULT = 6
    REPLY = 7
    BOUNDARY = 8
    """A compaction begins."""
    SUMMARY = 9
    QUIET = 10
    """In the chain, but not in the context: progress, hooks, times."""
    BOOKS = 11
    """Outside the chain."""
    TITLE = 12
    REPLACED = 13
    """Results that have another text from here on."""
    CLEARED = 14
    """A microcompaction: results that are cleared from here on."""
    COST = 15
    """The cost of the session so far, where it is higher than before."""
    FURTHER = 16
    """A further row of a reply."""
    QUEUED = 17
    """Typed by a person while Claude Code worked, and sent like `ATTACHED`."""


REPLIES = frozenset({Role.REPLY, Role.FURTHER})

# Other facts about a row.
SIDECHAIN = 1
LINKED = 2
"""The row names a parent, in this file or another."""
NAMED = 4
"""The row has an id."""
GLUED = 8
UNTERMINATED = 16

KEY = 16
"""Bytes of a row's id."""
NO_KEY = bytes(KEY)
NAME = 36
"""Characters of an id in the usual form."""
HASH = 64
"""Characters of the hash of a recorded message."""

CHAINED = frozenset({"user", "assistant", "system", "attachment", "progress"})
"""Types of rows that are linked by `parentUuid`."""

BOOKKEEPING_TYPES = frozenset(
    {
        "summary", "ai-title", "agent-name", "agent-color", "agent-setting", "tag", "last-prompt", "mode", "checkpoint",
        "permission-mode", "queue-operation", "file-history-snapshot", "file-history-delta",
        "attribution-snapshot", "fork-context-ref", "pr-link", "worktree-state", "relocated", "cost-state",
        "tools-used", "derived-from", "data-flow-records", "api-request", "api-request-blob",
        "api-request-shape", "api-request-resumed", "atis-latch", "session-id", "speculation-accept", "task-summary",
        "continued-in", "ended-by-model", "resume-head-vouch", "data-flow-incomplete", "history-suppression", "session-owner",
        "isolation-latch", "memory-mode", "dev-mods", "bridge-session", "frame-link", "observer-ref", "host-row", "repl-mode",
        "hybrid-organization", "artifact-comment-monitor", "artifact-autoreact-ledger",
    }
)  # fmt: skip
"""Types of rows outside the chain that are known to add nothing to the conversation."""

TYPES = CHAINED | BOOKKEEPING_TYPES | {"custom-title", "content-replacement"}

INHERITS = "fork-context-ref"
"""The type of the row ahead of a sub-agent that goes on in its parent's conversation, whose own call it repeats first."""

_BULK = late(rb'\{"type":"(?:api-request-blob|api-request-shape|file-history-snapshot)"')
"""Large rows whose content is not read while reading a transcript, but for the files that a snapshot misses."""
SNAPSHOT = "file-history-snapshot"
_MISSES = (b'"backupFileName"', b"null", b"false")

_CLOSES = ord("}")
_APART = 1 << 10
"""Bytes from one rarest byte to the next from which a check of each pays; four may lie nearer."""


class RareByteNeedle:
    """A byte string that is searched by its rarest byte, which is not the first: one byte is found ten times faster than several."""

    def __init__(self, whole: bytes, rarest: bytes) -> None:
        self._whole, self._rarest, self._offset = whole, rarest, whole.index(rarest)
        self._ahead = whole[self._offset - 1]
        """The byte ahead of the rarest one: checking it alone saves most comparisons."""

    def first(self, data: bytes, start: int, end: int) -> int:
        """Its first place in a stretch; -1 without one."""
        whole, rarest, offset, ahead = self._whole, self._rarest, self._offset, self._ahead
        at = data.find(rarest, start + offset, end)
        paid = start + offset - 4 * _APART
        while at >= 0:
            if data[at - 1] == ahead and data.startswith(whole, at - offset):
                return at - offset
            paid += _APART
            if at < paid:
                return data.find(whole, at + 1 - offset, end)
            at = data.find(rarest, at + 1, end)
        return -1


TORN = RareByteNeedle(b'{"parentUuid":', b"U")
"""Beginning of rows in the chain; inside a line it shows that a row is glued to the text before it."""
_SEAM = b'}{"type":'
"""Seam between two glued rows outside the chain."""

_TAG = late(r"\s*<([a-z][a-z0-9_-]{1,40})[ >/]")
_ASKING_TAG = "command-message"
"""Beginning of a command that asks the model for something; a command that Claude Code does by itself begins with its name."""
_BEGINS_TURN = frozenset({_ASKING_TAG, "task-notification", "bash-input"})
_INJECTED_TAGS = frozenset(
    {
        "command-name", "command-args", "local-command-stdout", "local-command-stderr", "local-command-caveat",
        "bash-stdout", "bash-stderr", "system-reminder", "user-memory-input", "tick", "channel", "fork-boilerplate",
        "session-start-hook", "user-prompt-submit-hook",
    }
)  # fmt: skip
CAVEAT = "Caveat: The messages below were generated by the user while running local commands"
"""Beginning of the note before commands that Claude Code ran by itself, in versions without a tag around it."""
_COMPACTS = late(r"/compact(?:\s|\Z)")
"""A typed command for a compaction, where it stands as typed: Claude Code runs it, and sends it to no model."""
_UNKNOWN_COMMAND = late(r"Unknown (?:slash command|skill): \S+\Z")
"""Claude Code's own answer to an unknown command (1.0.60 to 2.1.100), in a row that looks like a prompt."""
_FROM_HOOK = late(r"(?:[\w.-]{1,120} operation|(?:Subagent)?Stop hook) feedback:\n- ")
"""The objection of a hook to a call or the end of a turn (1.0.38 to 2.0.14), in a row that looks like a prompt."""
SYNTHETIC = "<synthetic>"
"""The model named in replies that Claude Code itself writes."""
_INTERRUPTED = "[Request interrupted by user"

CHANGED_OUTSIDE = "edited_text_file"
"""The attachment that tells of a file that changed since the agent last saw it, by somebody else or by a command."""
MICROCOMPACTION = "microcompact_boundary"
SILENT_ATTACHMENTS = frozenset({"prompt_snapshot"})
QUEUED_TYPE = "queued_command"


class TranscriptRow(NamedTuple):
    """One row, with the parts that reading needs."""

    role: Role
    body: Body
    parts: int = 1
    """The number of entries that it makes: results of several calls may stand in one row."""
    typed: bool = False
    """Whether the last of them is a prompt, as `typed_beside` finds it."""


def text_in(content: object) -> str:
    """The texts of an Anthropic message's content, joined."""
    if isinstance(content, str):
        return content
    return "\n".join(
        block["text"]
        for block in (content if isinstance(content, list) else ())
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    )


_EDITOR = late(r"(?s)\A(?:\s*<(ide_[a-z_]{1,40})>.*?</\1>)+")
"""Text that an editor puts before a prompt: the open file, the selection."""


def typed_in(text: str) -> str | None:
    """The typed part of a prompt that an editor put text before; None for any other prompt."""
    found = _EDITOR.match(text)
    return (text[found.end() :].strip() or None) if found is not None else None


def queued_in(body: Body) -> str | None:
    """A prompt that a person typed while Claude Code worked; None for any other attachment."""
    attachment = body.get("attachment")
    if not isinstance(attachment, dict) or attachment.get("type") != QUEUED_TYPE:
        return None
    origin, text = attachment.get("origin"), text_in(attachment.get("prompt")).strip()
    by_person = not isinstance(origin, dict) or origin.get("kind") in (None, "human")
    return text if by_person and text and not tag_of(text) else None


_SHELL_TAG = "bash-input"


def _inside(text: str, tag: str) -> str:
    """The text within the first tag of a name, without blanks around it; empty where there is none."""
    inside, end, _ = text.partition(f"<{tag}>")[2].partition(f"</{tag}>")
    return inside.strip() if end else ""


def command_in(text: str) -> str | None:
    """The command that a person typed, which the agent writes in parts: `/review the pears`, `! make`; None where it is none."""
    if tag_of(text) == _SHELL_TAG:
        run = _inside(text, _SHELL_TAG)
        return f"! {run}" if run else None
    return request_in(text)


def request_in(text: str) -> str | None:
    """The request of a command that asks the model for something; None for any other text.

    A skill is named without a slash (2.0.20 to 2.0.77). The model calls skills without words, so those with words are a person's.
    """
    if tag_of(text) != _ASKING_TAG:
        return None
    name, words = _inside(text, "command-name"), _inside(text, "command-args")
    if not name or not (words or name.startswith("/")):
        return None
    return f"/{name.removeprefix('/')} {words}".strip()


def message_of(body: Body) -> dict[str, Any]:
    """The message of a row; a string in its place becomes the content, a missing one is empty."""
    message = body.get("message")
    if isinstance(message, dict):
        return message
    return {"content": message} if isinstance(message, str) else {}


def results_in(body: Body) -> list[dict[str, Any]]:
    """The results of calls in a user's row."""
    content = message_of(body).get("content")
    return [
        block
        for block in (content if isinstance(content, list) else ())
        if isinstance(block, dict) and block.get("type") == "tool_result"
    ]


def replacements_in(body: Body) -> list[dict[str, Any]]:
    """The replaced results that a `content-replacement` row names."""
    listed = body.get("replacements")
    return [
        one
        for one in (listed if isinstance(listed, list) else ())
        if isinstance(one, dict) and isinstance(one.get("toolUseId"), str)
    ]


def cleared_in(body: Body) -> list[str]:
    """The calls whose results a microcompaction cleared."""
    metadata = body.get("microcompactMetadata")
    listed = metadata.get("compactedToolIds") if isinstance(metadata, dict) else None
    return [one for one in (listed if isinstance(listed, list) else ()) if isinstance(one, str)]


def misses_files(line: bytes) -> bool:
    """Whether a line may be the snapshot of a prompt with files that were not there."""
    return all(sign in line for sign in _MISSES)


def missing_in(body: Body) -> tuple[bytes, tuple[str, ...]]:
    """The key of the prompt that a snapshot belongs to, and the files that Claude Code tracks and did not find then.

    An update of a snapshot tells of the time ahead of an edit, which the edit itself tells too: it names none here.
    """
    snapshot = body.get("snapshot")
    tracked = snapshot.get("trackedFileBackups") if isinstance(snapshot, dict) else None
    if not isinstance(tracked, dict) or body.get("isSnapshotUpdate") is not False:
        return NO_KEY, ()
    names = (
        name
        for name, backup in tracked.items()
        if isinstance(backup, dict) and backup.get("backupFileName", "") is None
    )
    return key_of(body.get("messageId")), tuple(names)


def is_bulk(line: bytes) -> bool:
    """Whether a line is a row that need not be decoded: it ends like one, and no other row begins in it."""
    return (
        _BULK.match(line) is not None
        and line[-1] == _CLOSES
        and _SEAM not in line
        and TORN.first(line, 0, len(line)) < 0
        and b"\0" not in line
        and not misses_files(line)
    )


def row_of(body: Body) -> TranscriptRow:
    """The role of a decoded row, with its body."""
    kind = body.get("type")
    if not isinstance(kind, str) or kind not in CHAINED:
        return TranscriptRow(*_outside(kind, body))
    if kind == "assistant":
        return TranscriptRow(Role.REPLY if "message" in body else Role.UNKNOWN, body)
    if kind == "attachment":
        return TranscriptRow(_attached(body), body)
    if kind == "user":
        return _user(body)
    if kind == "progress":
        return TranscriptRow(Role.QUIET, body)
    sub = body.get("subtype")
    if sub == "compact_boundary":
        return TranscriptRow(Role.BOUNDARY, body)
    if sub == MICROCOMPACTION:
        cleared = len(cleared_in(body))
        return TranscriptRow(Role.CLEARED, body, cleared) if cleared else TranscriptRow(Role.QUIET, body)
    if sub == "local_command" and isinstance(body.get("content"), str):
        return TranscriptRow(Role.INJECTED, body)
    return TranscriptRow(Role.QUIET, body)


def _outside(kind: object, body: Body) -> tuple[Role, Body, int]:
    if kind == "custom-title":
        return Role.TITLE, body, 1
    if kind == "content-replacement":
        count = len(replacements_in(body))
        return (Role.REPLACED, body, count) if count else (Role.BOOKS, body, 1)
    if isinstance(kind, str) and kind in BOOKKEEPING_TYPES:
        return Role.BOOKS, body, 1
    message = body.get("message")
    if kind is None and isinstance(message, dict) and isinstance(message.get("usage"), dict):
        # The remains of a transcript in tools that only count tokens.
        return Role.REPLY, body, 1
    return Role.UNKNOWN, body, 1


def _user(body: Body) -> TranscriptRow:
    if "message" not in body:
        return TranscriptRow(Role.UNKNOWN, body)
    results = len(results_in(body))
    if results:
        typed = bool(typed_beside(body))
        return TranscriptRow(Role.RESULT, body, results + typed, typed)
    content = message_of(body).get("content")
    is_summary = body.get("isCompactSummary") is True or _is_unmarked_summary(body, content)
    return TranscriptRow(Role.SUMMARY if is_summary else _role_of(body, text_in(content)), body)


def _is_unmarked_summary(body: Body, content: object) -> bool:
    """Whether a row is a summary without its mark, as 1.0 copied it into a new file (in lists), or as `stream-json` prints it."""
    opening = "This session is being continued from a previous conversation"
    is_first = body.get("parentUuid") is None and str(body.get("version")).startswith("1.0.")
    unmarked = body.get("isSynthetic") is True or (is_first and isinstance(content, list))
    return unmarked and text_in(content).startswith(opening)


def typed_beside(body: Body) -> list[dict[str, Any]]:
    """The blocks of a prompt beside the results of calls: a person typed it while they ran (2.1.33); empty where there is none."""
    content = message_of(body).get("content")
    found: list[dict[str, Any]] = []
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and block.get("type") in ("text", "image"):
            text = text_in([block]).strip()
            if (text and _role_of(body, text) is Role.PROMPT) or (found and block["type"] == "image"):
                found.append(block)
    return found


def _role_of(body: Body, text: str) -> Role:
    """The role of a text in a user's row."""
    origin = body.get("origin")
    return role_of_text(
        text,
        is_meta=body.get("isMeta") is True or body.get("isVisibleInTranscriptOnly") is True,
        by_person=body.get("textNotTyped") is not True
        and (not isinstance(origin, dict) or origin.get("kind") in (None, "human")),
    )


def role_of_text(text: str, *, is_meta: bool, by_person: bool) -> Role:
    """The role of a user's row, by its text."""
    tag = tag_of(text)
    if tag in _BEGINS_TURN:
        asks = tag == _ASKING_TAG and by_person and not is_meta
        return Role.PROMPT if asks and request_in(text) is not None else Role.COMMAND
    if is_meta or tag in _INJECTED_TAGS:
        return Role.INJECTED
    if text.startswith((CAVEAT, _INTERRUPTED)) or _UNKNOWN_COMMAND.match(text) or _FROM_HOOK.match(text):
        return Role.INJECTED
    if not by_person:
        return Role.COMMAND
    return Role.COMMAND if _COMPACTS.match(text) else Role.PROMPT


def tag_of(text: str) -> str:
    """The tag a text begins with; empty where it begins with none."""
    found = _TAG.match(text)
    return found[1] if found is not None else ""


def _attached(body: Body) -> Role:
    attachment = object_at(body, "attachment")
    if str(attachment.get("type")) in SILENT_ATTACHMENTS:
        return Role.QUIET
    if not attachment_text(body):
        return Role.QUIET
    return Role.ATTACHED if queued_in(body) is None else Role.QUEUED


_TEXT_FIELDS = (
    "text", "content", "prompt", "context", "message", "snippet", "planContent", "blockingError", "skills", "memories"
)  # fmt: skip
_LISTED = 200


def attachment_text(body: Body) -> str:
    """The text of an attachment in the context: the stored text, else the text of its fields (before 2.1.3xx)."""
    rendered = body.get("rendered")
    if isinstance(rendered, list):
        return "\n".join(filter(None, (_rendered(one) for one in rendered)))
    attachment = object_at(body, "attachment")
    words_of = WORDS_OF.get(str(attachment.get("type")))
    if words_of is not None:
        return words_of(attachment)
    if picture_in(attachment) is not None:
        return _plain(attachment.get("filename"))
    for name in _TEXT_FIELDS:
        text = _plain(attachment.get(name))
        if text:
            return text
    return ""


def picture_in(attachment: Body) -> Body | None:
    """The image file that an attachment shows (`@picture.png`), as a block of a message; its rendered text is never stored."""
    content = attachment.get("content")
    file = content.get("file") if isinstance(content, dict) and content.get("type") == "image" else None
    if not isinstance(file, dict):
        return None
    return {"type": "image", "source": {"data": file.get("base64"), "media_type": file.get("type")}}


def orders_in(body: Body) -> object:
    """The order that a reply gives to a sub-agent."""
    content = message_of(body).get("content")
    calls = (
        [one.get("input") for one in content if isinstance(one, dict)] if isinstance(content, list) else []
    )
    return next((call["prompt"] for call in calls if isinstance(call, dict) and "prompt" in call), None)


def _rendered(one: object) -> str:
    content = one.get("content") if isinstance(one, dict) else one
    return text_in(content)


def _plain(value: object) -> str:
    """Text in a field of an attachment: a string, blocks, a file, or values by name."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return text_in(value) or "\n".join(
            filter(None, (_plain(one) for one in value[:_LISTED] if isinstance(one, (str, dict))))
        )
    if isinstance(value, dict):
        file = value.get("file")
        if isinstance(file, dict):
            return _plain(file.get("content"))
        return "\n".join(f"{name}: {text}" for name, text in value.items() if isinstance(text, str))
    return ""


def key_of(name: object) -> bytes:
    """A row's id as sixteen bytes; zeros for a missing id, for a value that is not text, and for the nil UUID."""
    if not isinstance(name, str) or not name:
        return NO_KEY
    if len(name) == 36:
        try:
            found = bytes.fromhex(name.replace("-", ""))
        except ValueError:
            found = b""
        if len(found) == 16:
            return found
    return blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest()


BEGINS = late(rb'\{"(?:parentUuid|type|uuid|sessionId|isSidechain|logicalParentUuid|agentId)":')
"""The beginning of a row, for `lines.seams`."""


def rows_in(region: bytes) -> Iterator[Body]:
    """The readable rows in a stretch of a file, in order."""
    return bodies_in(region, BEGINS)
