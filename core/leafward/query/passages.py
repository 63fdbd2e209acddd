"""The texts of an entry by the parts that a search distinguishes: prompts, replies, calls, results, summaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.files.tool_calls import file_calls
from leafward.session.entries import PROMPTS, TYPED, Body, Kind, ToolCall, blocks_of, text_of, tool_calls
from leafward.session.messages import nested_calls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.files.tool_calls import ToolTable
    from leafward.session.session import Session


class Passage(NamedTuple):
    """One text of an entry."""

    part: str
    """One of `vocabulary.PARTS`."""
    text: str
    tool: str = ""
    """The tool of the call or of the result."""
    failed: bool = False
    paths: tuple[str, ...] = ()
    """Files that the call reads or changes, as the agent wrote them; only filled in on request."""


KINDS = {
    "summary": (Kind.COMPACTION, Kind.BRANCH_SUMMARY),
    "prompt": tuple(sorted(PROMPTS)),
    "reply": (Kind.ASSISTANT,),
    "thinking": (Kind.ASSISTANT,),
    "call": (Kind.ASSISTANT, Kind.BASH, Kind.TOOL_RESULT),
    "result": (Kind.TOOL_RESULT, Kind.BASH),
    "name": (Kind.LABEL, Kind.SESSION_INFO),
    "injected": (Kind.CUSTOM_MESSAGE, Kind.INJECTED, Kind.CUSTOM_ROLE),
    "system": (Kind.SYSTEM, Kind.COMPACTION),
}
"""The kinds of entries that may hold each part."""

_SHELL = "bash"


def passages(body: Body, kind: Kind, table: ToolTable, *, with_paths: bool = False) -> Iterator[Passage]:
    """The texts of an entry. Strings stay as stored and are joined by newlines, never by words of ours."""
    if kind in KINDS["summary"]:
        yield Passage("summary", _text(body.get("summary")))
        # Codex inserts its instructions again after a compaction.
        if kind is Kind.COMPACTION and isinstance(system := body.get("systemMessage"), dict):
            yield _of_system(system)
    elif kind in KINDS["name"]:
        yield Passage("name", _text(body.get("label") or body.get("name")))
    elif kind in (Kind.CUSTOM_MESSAGE, Kind.INJECTED):
        yield Passage("injected", _as_typed(body, text_of(body.get("content"))))
    elif isinstance(message := body.get("message"), dict):
        if kind is Kind.USER:
            yield Passage("prompt", _as_typed(body, text_of(message.get("content"))))
        else:
            yield from _of_message(message, kind, table, with_paths)


def _as_typed(body: Body, text: str) -> str:
    """A text, preceded by the typed text where an agent stores that in parts: its tags would split a phrase."""
    typed = _text(body.get(TYPED))
    return f"{typed}\n{text}" if typed else text


def title_passage(session: Session, first: int) -> Passage | None:
    """The title of a session; None where an entry holds it, or where the first prompt from `first` on begins with it."""
    kinds = session.columns.kind
    title = session.title if kinds and kinds.find(Kind.SESSION_INFO) < 0 else None
    if not title:
        return None
    prompt = kinds.find(Kind.USER, first)
    message = (session.body(prompt) or {}).get("message") if prompt >= 0 else None
    text = text_of(message.get("content")) if isinstance(message, dict) else ""
    return None if " ".join(text.split()).startswith(title) else Passage("name", title)


def _of_message(message: Body, kind: Kind, table: ToolTable, with_paths: bool) -> Iterator[Passage]:
    content = message.get("content")
    if kind is Kind.ASSISTANT:
        yield from _of_reply(message, table, with_paths)
    elif kind is Kind.TOOL_RESULT:
        nested = nested_calls(message)
        yield Passage(
            "result",
            text_of(content),
            _text(message.get("toolName")),
            _failed(message),
            _paths(nested, table, with_paths),
        )
    elif kind is Kind.BASH:
        yield Passage("call", _text(message.get("command")), _SHELL)
        yield Passage("result", _text(message.get("output")), _SHELL, _failed(message))
    elif kind is Kind.SYSTEM:
        yield _of_system(message)
    else:
        yield Passage("injected", text_of(content))


def _of_system(message: Body) -> Passage:
    sections = message.get("sections")
    texts = map(_text, sections.values()) if isinstance(sections, dict) else ()
    return Passage("system", "\n".join(filter(None, [text_of(message.get("content")), *texts])))


def _failed(message: Body) -> bool:
    code = message.get("exitCode")
    return message.get("isError") is True or (isinstance(code, int) and code != 0)


def _of_reply(message: Body, table: ToolTable, with_paths: bool) -> Iterator[Passage]:
    failed = message.get("stopReason") == "error"
    text = text_of(message.get("content"))
    trouble = _text(message.get("errorMessage"))
    for block in blocks_of(message.get("content")):
        if block.get("type") == "thinking":
            yield Passage("thinking", _text(block.get("thinking")))
    if text or failed:
        yield Passage("reply", f"{text}\n{trouble}" if text and trouble else text or trouble, "", failed)
    for call in tool_calls(message):
        yield Passage("call", _written(call), call.name, False, _paths([call], table, with_paths))


def _paths(calls: list[ToolCall], table: ToolTable, searched: bool) -> tuple[str, ...]:
    return tuple(made.path for call in calls for made in file_calls(call, table)) if searched else ()


def _written(call: ToolCall) -> str:
    """The texts in a call, a line for each: the tool's name, then the texts in its arguments, however deep."""
    found = [call.name]
    waiting: list[object] = [call.arguments]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict):
            waiting += reversed(value.values())
        elif isinstance(value, list):
            waiting += reversed(value)
        elif isinstance(value, int) and not isinstance(value, bool):
            found.append(str(value))
    return "\n".join(found)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
