"""What an entry says in one line: a word for its kind and the words that matter. Used by every list and tree."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from leafward.base.safe_text import safe_line
from leafward.session.command_text import shown_command
from leafward.session.entries import DAMAGE_TEXT, Body, Damage, Kind, ToolCall, blocks_of, text_of, tool_calls
from leafward.session.messages import edit_targets

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.session.session import Session

LIMIT = 240
"""Code points of a headline; more never fits on a line."""

_PATHS = ("path", "file_path", "filePath")
_COMMANDS = ("command", "cmd")
"""Arguments that may be a list of words."""
_TELLING = (*_PATHS, *_COMMANDS, "pattern", "query", "url", "name")
"""Arguments that say what a call is about, the most telling first."""

_COMMANDS_TRIED = 16
"""Messages of nobody among which the first command is looked for."""
_FAR_UP = 64
"""Entries above a result among which its call is looked for."""


TASK = "task"
"""The word for the prompt that an agent gave its sub-agent: nobody typed it."""


IMAGE = "[image]"
EMPTY = "(empty)"


class Headline(NamedTuple):
    """One line of an entry, safe to show."""

    word: str
    """The kind in at most six letters: `you`, `ai`, a tool's name, `sum`."""
    text: str


_WORDS: dict[int, str] = {
    Kind.USER: "you",
    Kind.ASSISTANT: "ai",
    Kind.TOOL_RESULT: "tool",
    Kind.BASH: "!",
    Kind.CUSTOM_ROLE: "custom",
    Kind.SYSTEM: "sys",
    Kind.COMPACTION: "sum",
    Kind.BRANCH_SUMMARY: "sum",
    Kind.CUSTOM_MESSAGE: "custom",
    Kind.INJECTED: "added",
    Kind.CONTEXT_EDIT: "edit",
    Kind.MODEL_CHANGE: "model",
    Kind.THINKING_CHANGE: "think",
    Kind.CUSTOM: "note",
    Kind.LABEL: "label",
    Kind.SESSION_INFO: "name",
    Kind.USAGE: "usage",
    Kind.MALFORMED: "damage",
    Kind.HEADER: "header",
    Kind.UNKNOWN: "other",
}


def call_words(call: ToolCall) -> str:
    """What a call is about: its path with the lines asked for, its command, its pattern, or its first text argument."""
    arguments: dict[str, Any] = call.arguments
    for key in _TELLING:
        value = arguments.get(key)
        if isinstance(value, list) and key in _COMMANDS:
            value = shown_command(value)
        if isinstance(value, str) and value:
            if key in _PATHS and isinstance(arguments.get("offset"), int):
                first = arguments["offset"]
                last = arguments.get("limit")
                value += f":{first}" + (f"-{first + last - 1}" if isinstance(last, int) else "")
            elif key == "path" and isinstance(arguments.get("pattern"), str):
                value = f"{arguments['pattern']}  {value}"
            return safe_line(value, LIMIT)
    for value in arguments.values():
        if isinstance(value, str) and value:
            return safe_line(value, LIMIT)
    return ""


def shown_only(body: Body) -> str:
    """What stands for a prompt without words: `[image]` where it shows one, else nothing."""
    message = body.get("message")
    blocks = blocks_of(message.get("content")) if isinstance(message, dict) else []
    return IMAGE if any(block.get("type") == "image" for block in blocks) else ""


def call_of(session: Session, index: int, call_id: object) -> ToolCall | None:
    """The call that a tool result answers, looked for on the path above it."""
    parent = session.columns.parent
    kind = session.columns.kind
    above = parent[index]
    for _ in range(_FAR_UP):
        if above < 0:
            return None
        if kind[above] == Kind.ASSISTANT:
            body = session.body(above)
            reply = body.get("message") if body else None
            for call in tool_calls(reply) if isinstance(reply, dict) else []:
                if call.id == call_id:
                    return call
        above = parent[above]
    return None


def headline(session: Session, index: int) -> Headline:
    """The headline of an entry. One or two bodies are decoded."""
    body = session.body(index)
    kind = Kind(session.columns.kind[index])
    word = _WORDS[kind]
    if body is None or kind is Kind.MALFORMED:
        return Headline(
            "damage", f"malformed  {DAMAGE_TEXT[Damage.MALFORMED]}, at {place_words(session, index)}"
        )
    if body.get("type") == "message":
        message = body.get("message")
        if kind is Kind.USER and isinstance(body.get("typed"), str):
            typed = safe_line(body["typed"], LIMIT) or shown_only(body) or EMPTY
            return Headline(TASK if index == session.source.task else word, typed)
        return _of_message(session, index, kind, word, message if isinstance(message, dict) else {})
    says = body.get("says")
    if kind is Kind.UNKNOWN and isinstance(says, str):
        return Headline("note", safe_line(says, LIMIT))
    return Headline(word, _of_other(session, index, kind, body))


def _of_message(session: Session, index: int, kind: Kind, word: str, message: Body) -> Headline:
    if kind is Kind.BASH:
        return Headline(word, safe_line(str(message.get("command", "")), LIMIT))
    if kind is Kind.TOOL_RESULT:
        call = call_of(session, index, message.get("toolCallId"))
        name = safe_line(str(message.get("toolName") or (call.name if call else word)), LIMIT)
        told = call_words(call) if call else safe_line(text_of(message.get("content")), LIMIT)
        return Headline(name, told)
    if kind is Kind.ASSISTANT:
        text = spoken(text_of(message.get("content")))
        return Headline(word, text) if text else _of_silent_reply(message)
    text = safe_line(text_of(message.get("content"), " "), LIMIT)
    if kind is Kind.SYSTEM:
        text = text or "system prompt"
    if kind is Kind.USER:
        text = text or shown_only({"message": message}) or EMPTY
        word = TASK if index == session.source.task else word
    return Headline(word, text)


def place_words(session: Session, index: int) -> str:
    """Where an entry lies: `byte 1,024`, with the file where that is not the session's own; `row 12` of a database."""
    origin = session.origin(index)
    if origin.is_row:
        return f"row {origin.offset:,}"
    name = origin.path.name
    return f"byte {origin.offset:,}" + ("" if name == session.path.name else f" of {safe_line(name, LIMIT)}")


def title_of(session: Session) -> str | None:
    """What a session is called; where nobody and nothing named it, its first prompt, a fork's own; None where it has none."""
    if session.title:
        return session.title
    kinds = session.columns.kind
    first = kinds.find(Kind.USER, session.inherited)
    first = first if first >= 0 else kinds.find(Kind.USER)
    return headline(session, first).text if first >= 0 else typed_command(session)


def typed_command(session: Session) -> str | None:
    """The first command that somebody typed, where that began a turn; None where no entry says so."""
    kinds = session.columns.kind
    at = -1
    for _ in range(_COMMANDS_TRIED):
        at = kinds.find(Kind.CUSTOM_MESSAGE, at + 1)
        if at < 0:
            break
        typed = (session.body(at) or {}).get("typed")
        if isinstance(typed, str):
            return safe_line(typed, LIMIT)
    return None


_RULE = re.compile(r"(?:```|~~~).*|-{3,}|\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|[ \t]*(?::?-+:?)?")
"""A line of Markdown that says nothing: a fence, the rule of a table, a rule."""
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+")
_STRONG = re.compile(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")


def spoken(text: str) -> str:
    """What an agent said in Markdown, on one safe line: no heading signs, fences, emphasis, frames of tables."""
    lines = []
    for line in text[: 4 * LIMIT + 64].splitlines():
        row = line.strip()
        if _RULE.fullmatch(row):
            continue
        if len(row) > 1 and row[0] == row[-1] == "|":
            line = ", ".join(cell for part in row.split("|") if (cell := part.strip()))
        lines.append(_HEADING.sub("", line, count=1) if _HEADING.match(line) else line)
    return safe_line(_STRONG.sub(r"\1", "\n".join(lines)), LIMIT)


def _of_silent_reply(message: Body) -> Headline:
    calls = tool_calls(message)
    if calls:
        more = f"  and {len(calls) - 1} more" if len(calls) > 1 else ""
        return Headline(safe_line(calls[0].name, LIMIT), call_words(calls[0]) + more)
    reason = message.get("stopReason")
    if reason in ("aborted", "error", "length"):
        told = message.get("errorMessage")
        return Headline(
            "ai", f"({reason})" + (f"  {safe_line(told, LIMIT)}" if isinstance(told, str) else "")
        )
    return Headline("ai", "(no text)")


def _of_other(session: Session, index: int, kind: Kind, body: Body) -> str:
    if kind is Kind.COMPACTION:
        return "compaction"
    if kind is Kind.BRANCH_SUMMARY:
        left = summarised_entries(session, index, body)
        return f"branch summary   of {left:,} entries" if left else "branch summary"
    if kind is Kind.CONTEXT_EDIT:
        names = edit_targets(body)
        verb = "omits" if body.get("replacement") is None else "replaces"
        if len(names) != 1:
            return f"{verb}  {len(names):,} entries"
        target = session.columns.index(names[0])
        if not 0 <= target < index:
            return f"{verb}  an entry that is not here"
        # Never followed: edits may name each other without end.
        if session.columns.kind[target] == Kind.CONTEXT_EDIT:
            return f"{verb}  another edit"
        return f"{verb}  {headline(session, target).text}"
    plain: dict[Kind, Callable[[], str]] = {
        Kind.CUSTOM_MESSAGE: lambda: _of_custom(body),
        Kind.INJECTED: lambda: _of_injected(body),
        Kind.CUSTOM: lambda: str(body.get("customType", "")),
        Kind.MODEL_CHANGE: lambda: f"{body.get('provider', '')}/{body.get('modelId', '')}",
        Kind.THINKING_CHANGE: lambda: str(body.get("thinkingLevel", "")),
        Kind.LABEL: lambda: str(body.get("label") or "removed"),
        Kind.SESSION_INFO: lambda: str(body.get("name") or "removed"),
        Kind.USAGE: lambda: f"{body.get('kind', '')}  {body.get('model', '')}",
        Kind.HEADER: lambda: "a second session header, ignored",
    }
    told = plain[kind]() if kind in plain else str(body.get("type", ""))
    return safe_line(told, LIMIT)


_TAGS = re.compile(r"(?:\s*</?[A-Za-z][\w-]*(?:\s[^<>]{0,80})?>)+\s*")
"""Tags that an agent puts around what it adds."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
"""What a command's output says to a terminal of its colours."""


def _of_custom(body: Body) -> str:
    """A message that is nobody's: its text; where that stands in tags, what it is and the text inside."""
    if isinstance(body.get("typed"), str):
        return str(body["typed"])
    text = text_of(body.get("content"), " ")
    return _of_injected(body) if _TAGS.match(text[:LIMIT]) else text or str(body.get("customType", ""))


def _of_injected(body: Body) -> str:
    """What an agent added to the context: what it is, and how its text begins, without the tags around it."""
    name = (
        str(body.get("customType", ""))
        .partition(".")[2]
        .replace("_", " ")
        .replace(".instructions", " instructions")
    )
    begins = _COLOURS.sub("", text_of(body.get("content"), " ")[: 8 * LIMIT])
    text = _TAGS.sub(" ", safe_line(begins, 2 * LIMIT)).strip()
    return f"{name}: {text}" if name and text else name or text


def summarised_entries(session: Session, index: int, body: Body) -> int:
    """How many entries of the conversation a branch summary stands for; 0 where its `fromId` does not tell."""
    left = session.columns.index(str(body.get("fromId")))
    if left < 0:
        return 0
    tree = session.tree
    ancestor = tree.common_ancestor(left, index)
    return 0 if ancestor in (left, index) else tree.content_in(tree.below(ancestor, left))
