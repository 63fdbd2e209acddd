"""What an agent brings so that a new session can be made: where one may end, and the draft of it.

A draft is whole and not written: `leafward.forking` writes it. An agent that forks a session of its own copies what it stored,
unchanged up to the cut; one that adopts another agent's session tells in its own form what the model had seen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from leafward.context import Context, ContextMessage, context_at, message_body
from leafward.entries import BOOKKEEPING, NO_ENTRY, Body, EntryIndex, Kind, blocks_of, tool_calls
from leafward.foreign import INJECTED
from leafward.journal.write import Remark
from leafward.messages import call_text, message_text, prompt_text

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from leafward.agents.base import Resume
    from leafward.config import Config
    from leafward.session import Session

__all__ = [
    "Cut",
    "Draft",
    "Import",
    "Past",
    "Remark",
    "Terms",
    "Told",
    "after_reply",
    "after_results",
    "cut_at",
    "last_said",
    "open_calls",
]

Rule = Callable[["Session", EntryIndex, bool], "str | None"]
"""Why a new session may not end at an entry, in one line; None where it may. The last argument: whether a prompt follows,
before which it ends."""

_FAR = 400
"""Entries up and down the path among which the nearest legal one is looked for."""
_BESIDE = BOOKKEEPING | {Kind.CUSTOM_MESSAGE, Kind.INJECTED, Kind.SYSTEM, Kind.CONTEXT_EDIT}
"""Kinds that stand beside what is said: they neither end a turn nor go on with one."""
_NOT_SENT = ("aborted", "error")
_CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Ids of calls that every provider takes."""


# --- where a session may end ---


class Cut(NamedTuple):
    """A place where a new session would end."""

    entry: EntryIndex
    """The entry that was asked for."""
    end: EntryIndex
    """The last thing said that the new session holds; -1 for nothing."""
    prompt: EntryIndex
    """The prompt that it ends right before, where that was asked for: its text is offered to be edited. Else -1."""
    rule: str | None
    """Why it cannot end there, in one line; None where it can."""
    nearest: EntryIndex
    """The nearest entry that can be asked for instead; itself where it is legal, -1 where there is none."""

    @property
    def legal(self) -> bool:
        """Whether a session may end there."""
        return self.rule is None


def last_said(session: Session, index: int) -> EntryIndex:
    """The entry at or above one that something was said in: no bookkeeping, and nothing that is only put beside it."""
    parents, kinds = session.columns.parent, session.columns.kind
    while index >= 0 and kinds[index] in _BESIDE:
        index = parents[index]
    return EntryIndex(max(index, NO_ENTRY))


def cut_at(session: Session, entry: EntryIndex, rule: Rule) -> Cut:
    """Where a new session would end that is asked for at an entry.

    At a prompt it ends before it, which is after the reply above; anywhere else after the entry.
    """
    end, prompt = _end_of(session, entry)
    why = _objection(session, end, prompt, rule)
    if why is None:
        return Cut(entry, end, prompt, None, entry)
    return Cut(entry, end, prompt, why, _nearest(session, entry, rule))


def _end_of(session: Session, entry: int) -> tuple[EntryIndex, EntryIndex]:
    if session.columns.kind[entry] == Kind.USER:
        return last_said(session, session.columns.parent[entry]), EntryIndex(entry)
    return last_said(session, entry), NO_ENTRY


def _objection(session: Session, end: EntryIndex, prompt: EntryIndex, rule: Rule) -> str | None:
    if end < 0:
        return "nothing is said before it: that would be a new session"
    if session.columns.kind[end] in (Kind.MALFORMED, Kind.HEADER):
        return "it is damaged"
    return rule(session, end, prompt >= 0)


def _nearest(session: Session, entry: EntryIndex, rule: Rule) -> EntryIndex:
    """Looks up the path and down the way that goes on, a step in each direction at a time, upward first."""
    parents, kinds = session.columns.parent, session.columns.kind
    up, down = parents[entry], entry
    for _ in range(_FAR):
        if up >= 0:
            if kinds[up] not in _BESIDE and _objection(session, *_end_of(session, up), rule) is None:
                return EntryIndex(up)
            up = parents[up]
        if down >= 0:
            down = EntryIndex(_onward(session, down))
            if (
                down >= 0
                and kinds[down] not in _BESIDE
                and _objection(session, *_end_of(session, down), rule) is None
            ):
                return EntryIndex(down)
        if up < 0 and down < 0:
            break
    return NO_ENTRY


def _onward(session: Session, index: int) -> int:
    """The child with which the conversation goes on; the one towards the leaf where that lies below. -1 where none does."""
    tree = session.tree
    children = tree.children(index)
    if len(children) <= 1:
        return children[0] if children else -1
    leaf = session.leaf
    return next((child for child in children if tree.is_ancestor(child, leaf)), children[0])


def open_calls(session: Session, end: int) -> int:
    """How many calls of the reply at or right above an entry have no result up to it."""
    columns = session.columns
    answered: set[str] = set()
    while end >= 0:
        kind = columns.kind[end]
        if kind == Kind.TOOL_RESULT:
            answered.add(str(_message(session, end).get("toolCallId")))
        elif kind == Kind.ASSISTANT:
            reply = _message(session, end)
            return len([call for call in calls_of(reply) if call not in answered])
        elif kind not in _BESIDE:
            return 0
        end = columns.parent[end]
    return 0


def calls_of(reply: Body) -> list[str]:
    """The ids of the calls of a reply that results answer: none of one that was broken off, nor what the provider runs itself."""
    if reply.get("stopReason") in _NOT_SENT:
        return []
    hosted = {str(block.get("id")) for block in blocks_of(reply.get("content")) if "hosted" in block}
    return [call.id for call in tool_calls(reply) if call.id not in hosted]


def after_results(session: Session, end: EntryIndex, before_prompt: bool) -> str | None:
    """The rule of agents that also go on inside a turn, once every call has its result (pi, Codex, opencode)."""
    kind = session.columns.kind[end]
    if kind == Kind.USER:
        return None if before_prompt else "a prompt without its reply: the next prompt would follow on it"
    if kind in (Kind.ASSISTANT, Kind.TOOL_RESULT):
        missing = open_calls(session, end)
        if missing:
            calls = "1 tool call has" if missing == 1 else f"{missing} tool calls have"
            return f"{calls} no result here"
    return None


def after_reply(session: Session, end: EntryIndex, before_prompt: bool) -> str | None:
    """The rule of agents that go on after a finished reply only (Claude Code)."""
    kind = session.columns.kind[end]
    if kind == Kind.USER:
        return "a prompt without its reply"
    if kind == Kind.TOOL_RESULT:
        return "inside a turn, which is not finished"
    if kind == Kind.ASSISTANT:
        reply = _message(session, end)
        if tool_calls(reply):
            return "inside a turn: it calls tools"
        said = (block for block in blocks_of(reply.get("content")) if block.get("type") == "text")
        if not any(block.get("text") for block in said):
            return "inside a turn: nothing is said yet"
    return after_results(session, end, before_prompt)


def _message(session: Session, index: int) -> Body:
    message = (session.body(index) or {}).get("message")
    return message if isinstance(message, dict) else {}


# --- what is to be written ---


@dataclass(frozen=True, slots=True)
class Terms:
    """Under which terms a draft is made."""

    env: Mapping[str, str]
    config: Config
    now: datetime
    """Aware."""
    injected: str = ""
    """Text that is put in behind what is copied, as a message that nobody typed; empty for none."""
    injected_as: str = "injection"
    """What that text is, in a word: `injection` or `summary`."""


class Import(NamedTuple):
    """How a written document becomes a session: by a command of the agent's own."""

    command: Resume
    undo: Resume
    """Takes back what a failed import left."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A new session that is whole and not written."""

    agent: str
    """By name."""
    id: str
    path: Path
    """What names the session once it is there: its file; for an agent with a database that, and the id behind it."""
    file: Path
    """The file that is written; another than `path` only where it has to be imported."""
    content: Callable[[], Iterable[bytes]]
    """The file's content in pieces. Reads the source when it is called; raises Refused."""
    resume: Resume
    """The command that opens it, and the folder to run that in."""
    kept: int
    """Entries of the source, on the path, that it holds."""
    left: int
    """Entries on the path, up to the cut, that it leaves out."""
    remarks: tuple[Remark, ...] = ()
    imported: Import | None = None


# --- what was said, for an agent that did not write it ---


class Told(NamedTuple):
    """One message of a context, in no agent's form."""

    role: str
    """`user`, `assistant` or `result`."""
    content: tuple[Body, ...]
    """Blocks as in pi's files: `text` and `image`; of a reply `text` and `toolCall`."""
    entry: EntryIndex
    """Where it comes from."""
    time: int
    """Milliseconds since 1970."""
    call: str = ""
    """Of a result: the call that it answers."""
    tool: str = ""
    failed: bool = False
    provider: str = ""
    """Of a reply: who gave it; empty where that is not known."""
    model: str = ""
    stop: str = ""
    typed: bool = False
    """Of a user's message: whether a person wrote it, rather than a summary, a command's output or an extension."""


NO_RESULT = "No result is recorded for this call."
"""What stands for the result of a call that was never answered: no provider takes a call without one."""

_BEFORE_SUMMARY = {
    "compactionSummary": "Summary of the conversation up to here:",
    "branchSummary": "Summary of work on another branch of this conversation:",
}


@dataclass(slots=True)
class Past:
    """What a session was up to a cut: the context that the model had there."""

    session: Session
    cut: Cut
    _context: Context | None = None
    left_out: int = 0
    """After `told`: messages of the context that were left out, because each agent brings its own: system prompt,
    instructions, environment."""
    orphans: int = 0
    """After `told`: results without a call, which no provider takes; left out as well."""
    thoughts: int = 0
    """After `told`: pieces of reasoning left out: they are signed or encrypted for the provider that made them."""
    invented: int = 0
    """After `told`: calls that were never answered, and got a result that says so."""

    @property
    def context(self) -> Context:
        """The context at the cut."""
        if self._context is None:
            self._context = context_at(self.session, self.cut.end)
        return self._context

    def opening(self, limit: int = 200) -> str:
        """The beginning of the first prompt that a person typed, on one line."""
        kinds = self.session.columns.kind
        for run in self.session.tree.path_runs(self.cut.end):
            at = kinds.find(Kind.USER, run.start, run.stop)
            if at >= 0:
                return " ".join(prompt_text(self.session.body(at) or {}).split())[:limit]
        return ""

    def told(self) -> Iterator[Told]:
        """The messages, in the order the model received them, one in memory at a time.

        Every call is followed by its result. What another agent puts in by itself is left out, and counted.
        """
        self.orphans = self.invented = 0
        waiting: dict[str, str] = {}
        names = _CallNames()
        last: Told | None = None
        stamp = 0
        for said, message in self.messages():
            given = message.get("timestamp")
            stamp = int(given) if isinstance(given, (int, float)) and not isinstance(given, bool) else stamp
            one = _told(message, said.role, said.entry, stamp)
            if one is None:
                continue
            if one.role == "result":
                one = one._replace(call=names.latest(one.call))
                if one.call not in waiting:
                    self.orphans += 1
                    continue
                del waiting[one.call]
            elif waiting and last is not None:
                yield from self._unanswered(waiting, last)
            if one.role == "assistant":
                one = one._replace(content=tuple(names.renamed(block) for block in one.content))
                waiting = {
                    str(block.get("id")): str(block.get("name", ""))
                    for block in one.content
                    if block.get("type") == "toolCall"
                }
            last = one
            yield one
        if waiting and last is not None:
            yield from self._unanswered(waiting, last)

    def _unanswered(self, waiting: dict[str, str], last: Told) -> Iterator[Told]:
        for call, tool in waiting.items():
            self.invented += 1
            nothing: Body = {"type": "text", "text": NO_RESULT}
            yield Told("result", (nothing,), last.entry, last.time, call, tool, failed=True)
        waiting.clear()

    def messages(self) -> Iterator[tuple[ContextMessage, Body]]:
        """The messages as pi's files hold them, edits applied, without those that only the source's agent puts in.

        Counts those as `told` does. Of replies that were broken off nothing is sent, and nothing comes.
        """
        self.left_out = self.thoughts = 0
        every = self.context.messages
        for position in range(len(every)):
            said = every[position]
            if not said.sent:
                continue
            if is_own(self.session, said.kind, said.entry) or said.role == "system":
                self.left_out += 1
                continue
            message = message_body(self.session, said)
            if said.role == "assistant":
                if message.get("stopReason") in _NOT_SENT:
                    continue
                self.thoughts += sum(
                    1 for block in blocks_of(message.get("content")) if block.get("type") == "thinking"
                )
                content = told_blocks(message)
                if not content:
                    continue
                message = {**message, "content": content}
            yield said, message

    def remarks(self) -> list[Remark]:
        """What `told` or `messages` left out or made up, once they ran."""
        found = []
        if self.left_out:
            text = (
                f"{_count(self.left_out, 'message')} left out that the other agent put in itself (system prompt,"
                " instructions, environment): each brings its own"
            )
            found.append(Remark("instructions-left", text))
        if self.thoughts:
            text = f"{_count(self.thoughts, 'piece')} of reasoning left out: only the provider that made it can use it"
            found.append(Remark("reasoning-left", text))
        if self.orphans:
            text = f"{_count(self.orphans, 'result')} without a call left out"
            found.append(Remark("orphan-results", text))
        if self.invented:
            text = f"{_count(self.invented, 'call')} without a result got one that says so"
            found.append(Remark("open-calls", text))
        return found


def is_own(session: Session, kind: Kind, entry: int) -> bool:
    """Whether an entry is what the source's agent puts in by itself, and another brings its own of: instructions, environment."""
    if kind is Kind.INJECTED:
        return True
    return kind is Kind.CUSTOM_MESSAGE and bool((session.body(entry) or {}).get(INJECTED))


def told_blocks(reply: Body) -> list[Body]:
    """The blocks of a reply that another provider can take."""
    return [kept for block in blocks_of(reply.get("content")) if (kept := _kept(block)) is not None]


def _kept(block: Body) -> Body | None:
    """A block of a reply for another provider: a call that the first one ran itself as text, reasoning not at all."""
    kind = block.get("type")
    if kind == "toolCall" and "hosted" in block:
        return {"type": "text", "text": call_text(block)}
    return block if kind in ("text", "toolCall") else None


def _count(number: int, word: str) -> str:
    return f"1 {word}" if number == 1 else f"{number:,} {word}s"


class _CallNames:
    """Ids of calls that every provider takes, none of them twice: the source's own wherever they are like that."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._now: dict[str, str] = {}

    def renamed(self, block: Body) -> Body:
        """A block of a reply; a call with the id that it goes by."""
        if block.get("type") != "toolCall":
            return block
        given = str(block.get("id", ""))
        name = given
        if name in self._seen or _CALL_ID.fullmatch(name) is None:
            name = f"call_{len(self._seen):06d}"
            while name in self._seen:
                name += "_"
        self._seen.add(name)
        self._now[given] = name
        return {**block, "id": name}

    def latest(self, given: str) -> str:
        """The id that the last call of a source's id goes by."""
        return self._now.get(given, given)


def _told(message: Body, role: str, entry: EntryIndex, stamp: int) -> Told | None:
    if role == "assistant":
        return Told(
            "assistant",
            tuple(blocks_of(message.get("content"))),
            entry,
            stamp,
            provider=str(message.get("provider") or ""),
            model=str(message.get("model") or ""),
            stop=str(message.get("stopReason") or ""),
        )
    if role == "toolResult":
        return Told(
            "result",
            _seen(message),
            entry,
            stamp,
            call=str(message.get("toolCallId") or ""),
            tool=str(message.get("toolName") or ""),
            failed=bool(message.get("isError")),
        )
    before = _BEFORE_SUMMARY.get(role)
    if before is not None:
        text = f"{before}\n\n{message.get('summary') or ''}"
        return Told("user", ({"type": "text", "text": text},), entry, stamp)
    if role == "bashExecution":
        return Told("user", ({"type": "text", "text": message_text(message)},), entry, stamp)
    content = _seen(message)
    return Told("user", content, entry, stamp, typed=role == "user") if content else None


def _seen(message: Body) -> tuple[Body, ...]:
    """Text and images of a message."""
    return tuple(
        block for block in blocks_of(message.get("content")) if block.get("type") in ("text", "image")
    )
