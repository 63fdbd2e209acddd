"""The vocabulary of a session: entry kinds, message blocks, usage.

Kinds are one byte each, so that a session of a million entries keeps them in one `bytearray`. Names of types, roles and
fields are those of pi's version 3 files.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, NewType

from leafward.base.figures import finite

if TYPE_CHECKING:
    from collections.abc import Callable

EntryId = NewType("EntryId", str)
"""An entry's id as it stands in the file (8 hex digits as a rule)."""

EntryIndex = NewType("EntryIndex", int)
"""An entry's place in file order, from 0; the header is not counted."""

NO_ENTRY = EntryIndex(-1)
"""The parent of a root, and the leaf of an empty session."""

Body = dict[str, Any]
"""A decoded line. Unknown fields are kept."""


PUT_IN = "injected"
"""The field of a translated entry that its agent inserted by itself; in its message, the name of the insertion."""


LISTED = "todos"
"""The field of such an entry, and of its message, with the list that an agent keeps of its own work."""


TYPED = "typed"
"""The field of a translated entry, and of its message, with the text a person typed where the agent put more around it."""


CALL_FOLDERS = "callFolders"
"""The field of a translated reply with the folders in which its calls ran, by their ids, where that was not the session's."""


HANDED = "handed"
"""The field of a translated prompt by which another agent handed a task over: nobody typed it."""


FORK = "fork"
"""The relation of a session to the one that it goes on from, as headers and cards have it."""
SUBAGENT = "subagent"
"""The relation of a sub-agent's session to the one that started it."""
INFERRED = "inferred"
"""The relation of a session to one that it begins like; no file says that it came from there."""


class Kind(IntEnum):
    """The kind of an entry, as far as its first bytes tell: its type and, for a message, the role."""

    MALFORMED = 0
    UNKNOWN = 1
    HEADER = 2
    USER = 3
    ASSISTANT = 4
    TOOL_RESULT = 5
    BASH = 6
    CUSTOM_ROLE = 7
    SYSTEM = 8
    COMPACTION = 9
    BRANCH_SUMMARY = 10
    CUSTOM_MESSAGE = 11
    CONTEXT_EDIT = 12
    MODEL_CHANGE = 13
    THINKING_CHANGE = 14
    CUSTOM = 15
    LABEL = 16
    SESSION_INFO = 17
    USAGE = 18
    INJECTED = 19
    """A `custom_message` that begins no turn: context that another agent adds around the conversation."""


MESSAGE_ROLES: dict[str, Kind] = {
    "user": Kind.USER,
    "assistant": Kind.ASSISTANT,
    "toolResult": Kind.TOOL_RESULT,
    "bashExecution": Kind.BASH,
    "custom": Kind.CUSTOM_ROLE,
    "hookMessage": Kind.CUSTOM_ROLE,
    "system": Kind.SYSTEM,
}
"""Role of a `message` entry to kind. `hookMessage` is version 2's name of `custom`."""

ENTRY_TYPES: dict[str, Kind] = {
    "compaction": Kind.COMPACTION,
    "branch_summary": Kind.BRANCH_SUMMARY,
    "custom_message": Kind.CUSTOM_MESSAGE,
    "context_edit": Kind.CONTEXT_EDIT,
    "model_change": Kind.MODEL_CHANGE,
    "thinking_level_change": Kind.THINKING_CHANGE,
    "custom": Kind.CUSTOM,
    "label": Kind.LABEL,
    "session_info": Kind.SESSION_INFO,
    "usage": Kind.USAGE,
    "session": Kind.HEADER,
}
"""Type of every other entry to kind."""

NATIVE_TYPE: dict[Kind, str] = {kind: name for name, kind in ENTRY_TYPES.items()} | dict.fromkeys(
    MESSAGE_ROLES.values(), "message"
)
NATIVE_TYPE[Kind.MALFORMED] = "malformed"
NATIVE_TYPE[Kind.INJECTED] = "custom_message"

NATIVE_ROLE: dict[int, str] = {kind: role for role, kind in MESSAGE_ROLES.items() if role != "hookMessage"}

BOOKKEEPING = frozenset({
    Kind.MALFORMED, Kind.HEADER, Kind.MODEL_CHANGE, Kind.THINKING_CHANGE, Kind.CUSTOM, Kind.LABEL,
    Kind.SESSION_INFO, Kind.USAGE
})  # fmt: skip
"""Kinds outside the conversation: alone they make no leaf, no branch and no branch point."""

BOOKKEEPING_BYTES = bytes(sorted(BOOKKEEPING))
SILENT_BYTES = BOOKKEEPING_BYTES + bytes([Kind.CONTEXT_EDIT, Kind.SYSTEM, Kind.COMPACTION])
"""Kinds without text of their own for a branch summary to tell: a compaction repeats what others said."""

TURN_STARTS = frozenset({Kind.USER, Kind.BASH, Kind.CUSTOM_ROLE, Kind.CUSTOM_MESSAGE})
"""Kinds that begin a turn (pi 1.5.2; the two summary kinds stand for themselves)."""
PROMPTS = frozenset({Kind.USER, Kind.BASH})
"""The user's own prompts and commands: turns are counted and numbered by them everywhere. Injected context is nobody's."""
PROMPT_BYTES = bytes(sorted(PROMPTS))

DAMAGED = frozenset({Kind.MALFORMED, Kind.HEADER})
"""Kinds of lines that are not entries: damage, shown in its place in the file, in every density."""
SUMMARIES = frozenset({Kind.COMPACTION, Kind.BRANCH_SUMMARY})
"""Kinds that hold a summary: they describe the context, not the conversation."""
CONTEXT_CHANGES = frozenset({Kind.COMPACTION, Kind.CONTEXT_EDIT})
"""Kinds that change how the model reads the entries above: an earlier count says nothing about later requests."""


class Damage(IntEnum):
    """The damage of an entry; the text of each is in `DAMAGE_TEXT`."""

    MALFORMED = 1
    NO_ID = 2
    DUPLICATE_ID = 3
    ORPHAN = 4
    CYCLE = 5
    EXTRA_HEADER = 6
    UNTERMINATED = 7
    GLUED = 8
    MISSING_BASE = 9
    OVERSIZE = 10


DAMAGE_CODE: dict[Damage, str] = {
    Damage.MALFORMED: "malformed",
    Damage.NO_ID: "no-id",
    Damage.DUPLICATE_ID: "duplicate-id",
    Damage.ORPHAN: "orphan",
    Damage.CYCLE: "cycle",
    Damage.EXTRA_HEADER: "extra-header",
    Damage.UNTERMINATED: "unterminated",
    Damage.GLUED: "glued",
    Damage.MISSING_BASE: "missing-base",
    Damage.OVERSIZE: "oversize",
}

DAMAGE_TEXT: dict[Damage, str] = {
    Damage.MALFORMED: "the line is not a JSON object",
    Damage.NO_ID: "the entry has no id",
    Damage.DUPLICATE_ID: "another entry has the same id; the last one counts",
    Damage.ORPHAN: "the parent is not in this file",
    Damage.CYCLE: "its parents form a circle; cut here",
    Damage.EXTRA_HEADER: "a second session header, ignored",
    Damage.UNTERMINATED: "the last line has no newline yet",
    Damage.GLUED: "it is on one line with another record",
    Damage.MISSING_BASE: "what came before is in a file that is not here",
    Damage.OVERSIZE: "the line is larger than 32 MB: long texts in it are not read whole",
}


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and cost of one model reply, as the provider reported them."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    total: int = 0
    """`totalTokens`, or the sum of the four where an old file lacks it."""
    cost: float = 0.0
    """US dollars."""
    priced: bool = field(default=False, compare=False)
    """Whether the file records a cost, even 0."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.total + other.total,
            self.cost + other.cost,
            self.priced or other.priced,
        )


OWN_TYPES = "leafward."
"""The beginning of the `customType` of an entry in which Leafward notes what it did."""
ARCHIVE_TYPE = "leafward.archive"
"""Type of a `custom` entry whose `data` holds `target`, `archived` and `op`; with no target, or `session`, it means the whole
session. The last one counts."""
MARK = "leafward"
"""The field of every other line that Leafward wrote (a label, a name, a summary, an edit), which pi ignores.
In the header of a sidecar it names the session whose entries the file joins.
"""
NAMING = frozenset({Kind.LABEL, Kind.SESSION_INFO})
"""Kinds that name something. Agents write them too: Leafward's have its mark."""


def is_own(body: Body) -> bool:
    """Whether an entry is a note of Leafward's: a `custom` one of ours, a label or a name that it wrote.

    Notes are not entries of the session, and no figure counts them. Entries that Leafward adds to the conversation are not
    notes: summaries, compactions, context edits and grafted turns count.
    """
    if body.get("type") == "custom":
        return str(body.get("customType")).startswith(OWN_TYPES)
    return body.get("type") in ("label", "session_info") and isinstance(body.get(MARK), dict)


MOST_TOKENS = 10**12
"""The count from which a usage is invalid: no request comes near it, and sums have to fit into 64 bits."""


def _whole(value: object) -> int:
    found = value if type(value) is int else int(finite(value) or 0)
    return found if 0 <= found < MOST_TOKENS else 0


def read_usage(raw: object) -> Usage | None:
    """A `usage` object as a value, None where there is none."""
    if not isinstance(raw, dict):
        return None
    sent, output = _whole(raw.get("input")), _whole(raw.get("output"))
    read, written = _whole(raw.get("cacheRead")), _whole(raw.get("cacheWrite"))
    total = _whole(raw.get("totalTokens")) or sent + output + read + written
    cost = raw.get("cost")
    recorded = cost.get("total") if isinstance(cost, dict) else None
    priced = isinstance(recorded, (int, float)) and not isinstance(recorded, bool)
    return Usage(sent, output, read, written, total, finite(recorded) or 0.0, priced)


class ToolCall(NamedTuple):
    """One call that an assistant message makes."""

    id: str
    name: str
    arguments: dict[str, Any]
    folder: str = ""
    """The folder in which it ran, where that was not the session's."""


_call: Callable[[tuple[object, ...]], ToolCall] = partial(tuple.__new__, ToolCall)
"""A constructor without a Python frame, for tens of thousands of calls."""


def blocks_of(content: object) -> list[dict[str, Any]]:
    """Message content as a list of blocks: a string is one text block, null is none, junk is left out."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if isinstance(content, list):
        return [block for block in content if isinstance(block, dict)]
    return []


def text_at(body: Body, name: str) -> str:
    """The text in a field; empty for anything else."""
    found = body.get(name)
    return found if isinstance(found, str) else ""


def object_at(body: Body, name: str) -> dict[str, Any]:
    """The object in a field; empty for anything else."""
    found = body.get(name)
    return found if isinstance(found, dict) else {}


def text_of(content: object, separator: str = "\n") -> str:
    """The text blocks of a content, joined."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    if len(content) == 1 and isinstance(content[0], dict) and content[0].get("type") == "text":
        # Most messages hold only this.
        text = content[0].get("text")
        return text if isinstance(text, str) else ""
    return separator.join(
        block["text"]
        for block in content
        if isinstance(block, dict) and block.get("type") == "text" and isinstance(block.get("text"), str)
    )


def calls_in(content: object) -> list[ToolCall]:
    """The calls among the blocks of a reply, in order."""
    if not isinstance(content, list):
        return []
    return [
        _call(
            (
                str(block.get("id", "")),
                str(block.get("name", "")),
                arguments if isinstance(arguments := block.get("arguments"), dict) else {},
                "",
            )
        )
        for block in content
        if isinstance(block, dict) and block.get("type") == "toolCall"
    ]


def tool_calls(message: Body) -> list[ToolCall]:
    """The calls of an assistant message, in order."""
    found, folders = calls_in(message.get("content")), message.get(CALL_FOLDERS)
    if isinstance(folders, dict):
        return [call._replace(folder=str(folders.get(call.id, ""))) for call in found]
    return found
