"""The headline of an entry: a word for its kind and its most telling words. Used by every list and tree."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from leafward.base.figures import counted
from leafward.base.late_pattern import late
from leafward.base.safe_text import safe_line
from leafward.base.shown_path import below, shortened
from leafward.session.command_text import shown_command, without_cd
from leafward.session.entries import (
    BOOKKEEPING,
    DAMAGE_TEXT,
    HANDED,
    NO_ENTRY,
    TURN_STARTS,
    TYPED,
    Body,
    Damage,
    Kind,
    ToolCall,
    blocks_of,
    read_usage,
    text_of,
    tool_calls,
)
from leafward.session.headlines.plan_items import item_words
from leafward.session.headlines.plan_words import plan_words
from leafward.session.messages import edit_targets

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.session.session import Session
    from leafward.session.tree.tree import SessionTree

LIMIT = 240
"""Code points of a headline; more never fits on a line."""

_PATHS = ("path", "file_path", "filePath")
_COMMANDS = ("command", "cmd")
"""Arguments that may be a list of words."""
_TELLING = (*_PATHS, *_COMMANDS, "pattern", "query", "url", "name")
"""Arguments that identify a call's subject, the most telling first."""

_PATCH = "*** Begin Patch"
_PATCHED = late(r"(?m)^\*\*\* (?:Add|Update|Delete) File: (.+)$")
"""The files of a patch."""

_LONG_PATH = late(r"(?<![^\s\"'=(])(?:~|\.{1,2})?/?[\w.@+-]+(?:/[\w.@+-]+){2,40}")
"""A path of three names or more in a command."""

_FAR_UP = 64
"""Conversation entries above a result that are searched for its call."""


TASK = "task"
"""The word for a prompt that an agent gave its sub-agent; nobody typed it."""


HEADS = TURN_STARTS | {Kind.COMPACTION, Kind.BRANCH_SUMMARY}
"""Kinds that stand for themselves, and have a row in the picture of a path."""

IMAGE = "[image]"
EMPTY = "(empty)"


class Headline(NamedTuple):
    """One line of an entry, safe to show."""

    word: str
    """The kind in at most six letters: `you`, `ai`, `sum`; or a tool's name."""
    text: str
    path: str = ""
    """The path in `text`; empty where it names none."""

    def within(self, width: int, cells: Callable[[str], int], gap: str = "…") -> str:
        """The text, its path shortened in the middle where it is wider than `width` cells; it may still be too wide."""
        over = cells(self.text) - width
        if over <= 0 or not self.path:
            return self.text
        path = shortened(self.path, cells(self.path) - over, cells, gap)
        return self.text.replace(self.path, path, 1)


_WORDS: dict[int, str] = {
    Kind.USER: "you",
    Kind.ASSISTANT: "ai",
    Kind.TOOL_RESULT: "tool",
    Kind.BASH: "!",
    Kind.CUSTOM_ROLE: "extension",
    Kind.SYSTEM: "sys",
    Kind.COMPACTION: "sum",
    Kind.BRANCH_SUMMARY: "sum",
    Kind.CUSTOM_MESSAGE: "extension",
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
    """The subject of a call, for copying: its path or command unchanged, else its headline."""
    key, value = _subject(call.arguments)
    if key in _PATHS:
        return safe_line(value + _lines_read(call.arguments), LIMIT)
    return safe_line(value, LIMIT) if key in _COMMANDS else call_headline(call).text


def call_headline(call: ToolCall, cwd: str = "") -> Headline:
    """A call in one line: its tool and its subject.

    The subject is its path, relative to the folder `cwd` where it lies inside, with the lines asked for; its command
    without the `cd` before it; its pattern; the files of a patch; the progress of a list of tasks; or its first argument.
    """
    arguments = call.arguments
    name = safe_line(call.name, LIMIT)
    key, value = _subject(arguments)
    if key in _PATHS:
        path = safe_line(below(value, cwd), LIMIT)
        pattern = arguments.get("pattern")
        if key == "path" and isinstance(pattern, str):
            return (
                _about_path(name, path, before=f"{pattern} in ")
                if path != "."
                else Headline(name, safe_line(pattern, LIMIT))
            )
        return _about_path(name, path, behind=_lines_read(arguments))
    if key in _COMMANDS:
        value = _from_folder(without_cd(value), cwd)
    elif not key:
        value = plan_words(call) or _first(arguments)
    patched = _PATCHED.findall(value) if _PATCH in value[:LIMIT] else []
    if patched:
        return _about_path(name, safe_line(below(patched[0], cwd), LIMIT), behind=_more(len(patched)))
    return Headline(name, text := safe_line(value, LIMIT), _longest_path(text) if key in _COMMANDS else "")


def _from_folder(command: str, cwd: str) -> str:
    """A command whose paths in the folder `cwd` are relative to it."""
    start = cwd.rstrip("/\\")
    if not start or start not in command:
        return command
    return _inside(start).sub("", command)


@lru_cache(maxsize=16)
def _inside(folder: str) -> re.Pattern[str]:
    """A folder at the beginning of a path, with the separator behind it."""
    return re.compile(rf"(?<![^\s\"'=(]){re.escape(folder)}[/\\](?=[^\s\"';|&)])")


def _longest_path(command: str) -> str:
    """The longest path with folders in a command; empty where it has none."""
    return max(_LONG_PATH.findall(command), key=len, default="")


def _subject(arguments: dict[str, Any]) -> tuple[str, str]:
    """The most telling argument, and its text; two empty texts where none is telling."""
    for key in _TELLING:
        value = arguments.get(key)
        if isinstance(value, list) and key in _COMMANDS:
            value = shown_command(value)
        if isinstance(value, str) and value:
            return key, value
    return "", ""


def _about_path(name: str, path: str, *, before: str = "", behind: str = "") -> Headline:
    return Headline(name, safe_line(f"{before}{path}{behind}", LIMIT), path)


def _lines_read(arguments: dict[str, Any]) -> str:
    """The lines that a call asks for, as its path shows them."""
    first, lines = arguments.get("offset"), arguments.get("limit")
    if not isinstance(first, int):
        return ""
    return f":{first}" + (f"-{first + lines - 1}" if isinstance(lines, int) else "")


def _first(arguments: dict[str, Any]) -> str:
    """The first argument that is a text, else the first that is a number, with its name."""
    for value in arguments.values():
        if isinstance(value, str) and value:
            return value
    numbers = (f"{key} {value}" for key, value in arguments.items() if isinstance(value, int | float))
    return next(numbers, "")


def _more(count: int) -> str:
    return f"  and {count - 1} more" if count > 1 else ""


def shown_only(body: Body) -> str:
    """The substitute for a prompt without words: `[image]` where it shows one, else empty."""
    message = body.get("message")
    blocks = blocks_of(message.get("content")) if isinstance(message, dict) else []
    return IMAGE if any(block.get("type") == "image" for block in blocks) else ""


def call_of(session: Session, index: int, call_id: object) -> ToolCall | None:
    """The call that a tool result answers, searched on the path above it."""
    if not isinstance(call_id, str):
        return None
    kind = session.columns.kind
    replies = (at for at in session.columns.said_above(index, _FAR_UP) if kind[at] == Kind.ASSISTANT)
    return next((call for at in replies if (call := _calls_of(session, at).get(call_id))), None)


_CALLS: WeakKeyDictionary[SessionTree, dict[int, dict[str, ToolCall]]] = WeakKeyDictionary()
"""The calls of the replies asked for last, by id. A session that was read on, or again, has another tree."""


def _calls_of(session: Session, reply: int) -> dict[str, ToolCall]:
    """The calls of a reply by their ids, decoded once: it may have thousands of results."""
    known = _CALLS.setdefault(session.tree, {})
    found = known.get(reply)
    if found is None:
        message = (session.body(reply) or {}).get("message")
        calls = tool_calls(message) if isinstance(message, dict) else []
        if len(known) >= _FAR_UP:
            known.clear()
        # Of several with one id the first is meant.
        found = known[reply] = {call.id: call for call in reversed(calls)}
    return found


def is_task(session: Session, index: int, body: Body) -> bool:
    """Whether a prompt is a task that another agent gave this one: the first of a sub-agent, or one of which its record says so."""
    return index == session.source.task or body.get(HANDED) is True


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
        if kind is Kind.USER and isinstance(body.get(TYPED), str):
            typed = safe_line(body[TYPED], LIMIT) or shown_only(body) or EMPTY
            return Headline(TASK if is_task(session, index, body) else word, typed)
        return _of_message(session, index, kind, word, message if isinstance(message, dict) else {})
    if kind is Kind.CUSTOM_MESSAGE and isinstance(body.get(TYPED), str):
        word = _WORDS[Kind.USER]
    elif index in session.source.side_lines:
        word = TASK
    says = body.get("says")
    if kind is Kind.UNKNOWN and isinstance(says, str):
        return Headline("note", safe_line(says, LIMIT))
    return Headline(word, _of_other(session, index, kind, body))


def row_text(session: Session, index: int) -> str:
    """The text of a headline as a row of the tree shows it; a `!` precedes a command that the user ran."""
    text = headline(session, index).text
    return f"! {text}" if session.columns.kind[index] == Kind.BASH else text


def turn_entry(session: Session, index: int, above: int = NO_ENTRY) -> int:
    """The entry whose headline identifies an entry: itself where it is one of `HEADS`, else the beginning of its turn.

    A turn that began at or before `above` belongs to other branches as well: then it is the first conversation entry below
    `above`. On a path without a turn it is the entry itself. Nothing is decoded.
    """
    kind, tree = session.columns.kind, session.tree
    if index < 0 or kind[index] in HEADS:
        return index
    start = next(
        (
            at
            for run in tree.runs_upwards(index)
            if (at := max(kind.rfind(head, run.start, run.stop) for head in TURN_STARTS)) >= 0
        ),
        index,
    )
    if above >= 0 and tree.is_ancestor(start, above):
        own = (at for run in tree.below(above, index) for at in range(run.start, run.stop))
        return next((at for at in own if kind[at] not in BOOKKEEPING), start)
    return start


def _of_message(session: Session, index: int, kind: Kind, word: str, message: Body) -> Headline:
    if kind is Kind.BASH:
        return Headline(word, safe_line(str(message.get("command", "")), LIMIT))
    if kind is Kind.TOOL_RESULT:
        call = call_of(session, index, message.get("toolCallId"))
        name = safe_line(str(message.get("toolName") or (call.name if call else word)), LIMIT)
        if call is None:
            return Headline(name, safe_line(text_of(message.get("content")), LIMIT))
        return _with_item(session, index, call)._replace(word=name)
    if kind is Kind.ASSISTANT:
        text = spoken(text_of(message.get("content")))
        return Headline(word, text) if text else _of_silent_reply(session, index, message)
    text = safe_line(text_of(message.get("content"), " "), LIMIT)
    if kind is Kind.SYSTEM:
        text = f"system prompt: {text}" if text else "system prompt"
    if kind is Kind.USER:
        text = text or shown_only({"message": message}) or EMPTY
        word = TASK if is_task(session, index, {}) else word
    return Headline(word, text)


def place_words(session: Session, index: int) -> str:
    """The place of an entry: `byte 1,024`, with the file where that is not the session's own; `row 12` of a database."""
    origin = session.origin(index)
    if origin.is_row:
        return f"row {origin.offset:,}"
    name = origin.path.name
    return f"byte {origin.offset:,}" + ("" if name == session.path.name else f" of {safe_line(name, LIMIT)}")


_RULE = late(r"(?:```|~~~).*|-{3,}|\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|[ \t]*(?::?-+:?)?")
"""A line of Markdown without words: a fence, the rule of a table, a rule."""
_RULE_SIGNS = "`~-|:"
"""The first characters of such a line."""
_HEADING = late(r"[ \t]*#{1,6}[ \t]+")
_STRONG = late(r"\*\*(?=\S)(.+?)(?<=\S)\*\*")


def spoken(text: str) -> str:
    """An agent's Markdown on one safe line, without heading signs, fences, emphasis and table frames."""
    lines = []
    for line in text[: 4 * LIMIT + 64].splitlines():
        row = line.strip()
        # Comparing one character is far cheaper than an expression, and most lines begin with none of these.
        sign = row[:1]
        if sign and sign in _RULE_SIGNS and _RULE.fullmatch(row):
            continue
        if sign == "|" and len(row) > 1 and row[-1] == "|":
            line = ", ".join(cell for part in row.split("|") if (cell := part.strip()))
        lines.append(_HEADING.sub("", line, count=1) if "#" in line and _HEADING.match(line) else line)
    said = "\n".join(lines)
    return safe_line(_STRONG.sub(r"\1", said) if "**" in said else said, LIMIT)


def _with_item(session: Session, index: int, call: ToolCall) -> Headline:
    """The headline of a call, with the words of the item that the call names only by its id."""
    found, words = call_headline(call, session.cwd), item_words(session, index, call)
    return found._replace(text=safe_line(f"{found.text}: {words}", LIMIT)) if words else found


def _of_silent_reply(session: Session, index: int, message: Body) -> Headline:
    calls = tool_calls(message)
    if calls:
        first = _with_item(session, index, calls[0])
        return first._replace(text=first.text + _more(len(calls)))
    reason = message.get("stopReason")
    if reason in ("aborted", "error", "length"):
        error = message.get("errorMessage")
        return Headline(
            "ai", f"({reason})" + (f"  {safe_line(error, LIMIT)}" if isinstance(error, str) else "")
        )
    return Headline("ai", "(no text)")


def _of_other(session: Session, index: int, kind: Kind, body: Body) -> str:
    if kind is Kind.COMPACTION:
        return "compaction"
    if kind is Kind.BRANCH_SUMMARY:
        left = summarised_messages(session, index, body)
        return f"branch summary   of {counted(left, 'message')}" if left else "branch summary"
    if kind is Kind.CONTEXT_EDIT:
        names = edit_targets(body)
        verb = "omits" if body.get("replacement") is None else "replaces"
        if len(names) != 1:
            return f"{verb}  {len(names):,} entries"
        target = session.columns.index(names[0])
        if not 0 <= target < index:
            return f"{verb}  an entry that is not here"
        # The target is not followed further: edits may name each other without end.
        if session.columns.kind[target] == Kind.CONTEXT_EDIT:
            return f"{verb}  another edit"
        return f"{verb}  {headline(session, target).text}"
    plain: dict[Kind, Callable[[], str]] = {
        Kind.CUSTOM_MESSAGE: lambda: _of_custom(body),
        Kind.INJECTED: lambda: _of_injected(body),
        Kind.CUSTOM: lambda: _of_record(session, index, body),
        Kind.MODEL_CHANGE: lambda: f"{body.get('provider', '')}/{body.get('modelId', '')}",
        Kind.THINKING_CHANGE: lambda: str(body.get("thinkingLevel", "")),
        Kind.LABEL: lambda: str(body.get("label") or "removed"),
        Kind.SESSION_INFO: lambda: str(body.get("name") or "removed"),
        Kind.USAGE: lambda: _of_usage(body),
        Kind.HEADER: lambda: "a second session header, ignored",
    }
    text = plain[kind]() if kind in plain else str(body.get("type", ""))
    return safe_line(text, LIMIT)


def _of_record(session: Session, index: int, body: Body) -> str:
    """A record that is no message; one of another agent without words for it by its name, as words."""
    name = str(body.get("customType", ""))
    if not (session.is_native or session.is_kept(index)):
        name = _as_words(name.rpartition(".")[2])
    return str(body.get("says") or name)


def _as_words(name: str) -> str:
    """A name in the spelling of identifiers: `file-history-snapshot`, `turn_duration`."""
    return name.replace("_", " ").replace("-", " ")


_TAGS = late(r"(?:\s*</?[A-Za-z][\w-]*(?:\s[^<>]{0,80})?>)+\s*")
"""Tags that an agent puts around the context it adds."""
_SUMMARY = late(r"<summary>([^<]+)</summary>")
_NAMED_WITHIN = 80
"""Code points at the beginning of an added text that may repeat its name."""
_COLOURS = late(r"\x1b\[[0-9;]*m")
"""Colour codes in a command's output."""


def _of_custom(body: Body) -> str:
    """The text of a custom message; where that stands in tags, its name and the text inside."""
    if isinstance(body.get(TYPED), str):
        return str(body[TYPED])
    text = text_of(body.get("content"), " ")
    return _of_injected(body) if _TAGS.match(text[:LIMIT]) else text or str(body.get("customType", ""))


def injected_name(body: Body) -> str:
    """The name of the context that an agent added: `instructions`, `date`; empty where the entry has none."""
    if isinstance(body.get("says"), str):
        return str(body["says"])
    named = str(body.get("customType", "")).partition(".")[2]
    return _as_words(named).replace(".instructions", " instructions")


def _of_injected(body: Body) -> str:
    """Context that an agent added: its name and the beginning of its text, without the tags around it."""
    name = injected_name(body)
    begins = _COLOURS.sub("", text_of(body.get("content"), " ")[: 8 * LIMIT])
    # The notice of a task begins with ids and a file; its summary says what happened.
    summary = _SUMMARY.search(begins) if name == "task notification" else None
    text = _TAGS.sub(" ", safe_line(summary[1] if summary is not None else begins, 2 * LIMIT)).strip()
    # The words of a hook begin with its own name, and with the kind of its output behind that.
    text = text.removeprefix("# ")
    said = name in text[:_NAMED_WITHIN] if " " in name else text.startswith(name)
    return f"{name}: {text}" if name and text and not said else text or name


def _of_usage(body: Body) -> str:
    """Usage beside the conversation: its purpose, the model and the tokens."""
    usage = read_usage(body.get("usage"))
    told = [str(body[key]) for key in ("kind", "model") if body.get(key)]
    return ", ".join([*told, f"{usage.total:,} tokens"] if usage is not None and usage.total else told)


def summarised_messages(session: Session, index: int, body: Body) -> int:
    """The number of messages that a branch summary replaces, summaries among them; 0 where its `fromId` does not tell."""
    left = session.columns.index(str(body.get("fromId")))
    if left < 0:
        return 0
    tree = session.tree
    ancestor = tree.common_ancestor(left, index)
    return 0 if ancestor in (left, index) else tree.content_in(tree.below(ancestor, left))
