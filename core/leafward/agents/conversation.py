"""A session up to a cut, for an agent that did not write it: the model's context there, message by message."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.figures import counted
from leafward.context.message_columns import ContextMessage, message_body
from leafward.context.model_context import Context, context_at
from leafward.session.entries import Body, EntryIndex, Kind, blocks_of, tool_calls
from leafward.session.journal.write import WriteRemark
from leafward.session.lines.abridged_lines import is_cut
from leafward.session.messages import call_text, message_text, prompt_text, written_at
from leafward.session.transcript import DOCUMENT, OF_AGENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.agents.fork_draft import ForkPoint
    from leafward.session.session import Session

_CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""Ids of calls that every provider accepts."""


class ConversationMessage(NamedTuple):
    """One message of a context, in no agent's form."""

    role: str
    """`user`, `assistant` or `result`."""
    content: tuple[Body, ...]
    """Blocks as in pi's files: `text` and `image`; in a reply `text` and `toolCall`."""
    entry: EntryIndex
    """Its source."""
    time: int
    """Milliseconds since 1970."""
    call: str = ""
    """Of a result: the call that it answers."""
    tool: str = ""
    failed: bool = False
    provider: str = ""
    """Of a reply: its provider; empty where that is not known."""
    model: str = ""
    stop: str = ""
    typed: bool = False
    """Of a user's message: whether a person wrote it, and not a summary, a command or an extension."""
    usage: Body | None = None
    """Of a reply in a healed session: its recorded counts, where everything that was sent for it stands unchanged before it."""


NO_RESULT = "No result is recorded for this call."
"""The result of a call that was never answered: no provider accepts a call without one."""

_BEFORE_SUMMARY = {
    "compactionSummary": "Summary of the conversation up to here:",
    "branchSummary": "Summary of work on another branch of this conversation:",
}


@dataclass(slots=True)
class Conversation:
    """A session up to a cut: the model's context there."""

    session: Session
    cut: ForkPoint
    healed: tuple[ConversationMessage, ...] | None = None
    """The healed messages, in place of the messages of the context."""
    _context: Context | None = None
    left_out: int = 0
    """After `portable_messages`: messages of the context that were left out because each agent brings its own: system prompt,
    instructions, environment."""
    broken_off: int = 0
    """After `messages`: replies that were aborted or failed; left out."""
    broken_words: int = 0
    """Those of them that hold text or calls."""
    unsent: int = 0
    """After `messages`: other messages that the session shows and no model receives; left out too."""
    empty: int = 0
    """After `portable_messages`: messages without content for another provider, such as thinking alone."""
    orphans: int = 0
    """After `portable_messages`: results without a call, which no provider accepts; left out too."""
    thoughts: int = 0
    """After `portable_messages`: pieces of reasoning left out, since they are signed or encrypted for their own provider."""
    documents: int = 0
    """After `portable_messages`: documents carried over by name only, since their content is in the form of one provider."""
    shortened: int = 0
    """After `portable_messages`: messages from lines that are too large to be read whole, cut to their beginning."""
    moved: int = 0
    """After `messages`: messages that stood between a call and its result, and were moved behind the result."""
    invented: int = 0
    """After `portable_messages`: calls that were never answered and got a result that says so."""

    @property
    def context(self) -> Context:
        """The context at the cut."""
        if self._context is None:
            self._context = context_at(self.session, self.cut.tip(self.session))
        return self._context

    def opening(self, limit: int = 200) -> str:
        """The beginning of the first prompt that a person typed, on one line."""
        kinds = self.session.columns.kind
        for run in self.session.tree.path_runs(self.cut.end):
            at = kinds.find(Kind.USER, run.start, run.stop)
            if at >= 0:
                return " ".join(prompt_text(self.session.body(at) or {}).split())[:limit]
        return ""

    def portable_messages(self) -> Iterator[ConversationMessage]:
        """The messages, in the order in which the model received them, one in memory at a time.

        Every call is followed by its result. Messages that another agent adds by itself are left out and counted.
        """
        if self.healed is not None:
            yield from self.healed
            return
        self.orphans = self.invented = 0
        waiting: dict[str, str] = {}
        names = _CallNames()
        last: ConversationMessage | None = None
        for one in self._one_by_one(blank=False):
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

    def raw_messages(self) -> Iterator[ConversationMessage]:
        """The messages as they were stored, including results without calls, calls without results, repeated ids and empty texts."""
        return self._one_by_one(blank=True)

    def _one_by_one(self, *, blank: bool) -> Iterator[ConversationMessage]:
        stamp = 0
        speechless = 0
        for outline, message in self.messages(blank=blank):
            time = message.get("timestamp")
            if not isinstance(time, (int, float)) or isinstance(time, bool):
                time = written_at(self.session.body(outline.entry) or {})
            stamp = int(time) if time is not None else stamp
            one = _portable(message, outline.role, outline.entry, stamp)
            if one is not None:
                yield one
            else:
                speechless += 1
        self.empty += speechless

    def _unanswered(
        self, waiting: dict[str, str], last: ConversationMessage
    ) -> Iterator[ConversationMessage]:
        for call, tool in waiting.items():
            self.invented += 1
            nothing: Body = {"type": "text", "text": NO_RESULT}
            yield ConversationMessage("result", (nothing,), last.entry, last.time, call, tool, failed=True)
        waiting.clear()

    def messages(self, *, blank: bool = False) -> Iterator[tuple[ContextMessage, Body]]:
        """The messages in the form of pi's files, with edits applied, without those that only the source's agent adds.

        Counts them as `portable_messages` does. Replies that are never sent are left out; opencode sends what a reply said
        before it was aborted. Messages between calls and their results are moved behind the results: no provider accepts anything
        between them. Empty texts of a reply are included with `blank` only: agents store them, and no provider accepts them.
        """
        self.moved = 0
        waiting: set[str] = set()
        meanwhile: list[tuple[ContextMessage, Body]] = []
        for outline, message in self._told(blank=blank):
            if waiting and outline.role == "custom":
                meanwhile.append((outline, message))
                self.moved += 1
                continue
            if outline.role == "toolResult":
                waiting.discard(str(message.get("toolCallId")))
                yield outline, message
                if waiting:
                    continue
            yield from meanwhile
            meanwhile.clear()
            if outline.role == "toolResult":
                continue
            calls = tool_calls(message) if outline.role == "assistant" else ()
            waiting = {call.id for call in calls}
            yield outline, message
        yield from meanwhile

    def _told(self, *, blank: bool) -> Iterator[tuple[ContextMessage, Body]]:
        """The messages in the order of the context."""
        self.left_out = self.thoughts = self.documents = self.shortened = 0
        self.broken_off = self.broken_words = self.unsent = self.empty = 0
        every = self.context.messages
        for position in range(len(every)):
            outline = every[position]
            if not outline.sent:
                if outline.role == "assistant":
                    self._count_broken(message_body(self.session, outline))
                else:
                    self.unsent += 1
                continue
            if is_own(self.session, outline.kind, outline.entry) or outline.role == "system":
                self.left_out += 1
                continue
            message = message_body(self.session, outline)
            if outline.role == "assistant":
                self.thoughts += sum(
                    1 for block in blocks_of(message.get("content")) if block.get("type") == "thinking"
                )
                content = portable_blocks(message, blank=blank)
                if not content:
                    self.empty += 1
                    continue
                message = {**message, "content": content}
            self.documents += sum(1 for block in blocks_of(message.get("content")) if DOCUMENT in block)
            self.shortened += _is_shortened(message)
            yield outline, message

    def _count_broken(self, reply: Body) -> None:
        self.broken_off += 1
        self.broken_words += bool(portable_blocks(reply))

    @property
    def left(self) -> int:
        """After `portable_messages`: messages of the context that were left out, for any reason."""
        return self.left_out + self.broken_off + self.unsent + self.empty + self.orphans

    def remarks(self, *, unsent: bool = True) -> list[WriteRemark]:
        """Remarks on content that `portable_messages` or `messages` left out or made up; `unsent`: also on unsent messages."""
        found: list[WriteRemark] = []
        if self.healed is not None:
            return found
        if self.left_out:
            text = f"instructions and reminders of its agent left out ({counted(self.left_out, 'message')})"
            found.append(WriteRemark("instructions-left", text))
        if unsent and self.broken_off:
            text = (
                f"{counted(self.broken_off, 'aborted or failed reply', 'aborted or failed replies')} left out"
            )
            if self.broken_words:
                text += f", {self.broken_words:,} of them with text or tool calls"
            found.append(WriteRemark("broken-replies-left", text))
        if unsent and self.unsent:
            text = f"{counted(self.unsent, 'message')} left out that no model receives"
            found.append(WriteRemark("unsent-left", text))
        if self.thoughts:
            text = f"{counted(self.thoughts, 'piece')} of thinking left out: only its own provider can use it"
            found.append(WriteRemark("reasoning-left", text))
        if self.documents:
            found.append(WriteRemark("documents-left", documents_left(self.documents)))
        if self.shortened:
            text = f"only the beginning of {counted(self.shortened, 'message')}: a line of the source is too large to be read whole"
            found.append(WriteRemark("texts-cut", text))
        if self.orphans:
            text = f"{counted(self.orphans, 'result')} without a call left out"
            found.append(WriteRemark("orphan-results", text))
        if self.invented:
            text = f"{counted(self.invented, 'call')} without a result got one that says so"
            found.append(WriteRemark("open-calls", text))
        return found


COUNTS_LEFT = WriteRemark(
    "counts-left", "token counts and costs stay with the source; the new session counts its own"
)
"""For a conversion whose content does not tell the size of its messages."""
COUNTS_COPIED = WriteRemark(
    "inherited-usage", "token counts that are copied with the entries are those of the source"
)


def _is_shortened(message: Body) -> bool:
    """Whether a text of a message, or an argument of a call, is only its beginning."""
    for block in (message, *blocks_of(message.get("content"))):
        given = block.get("arguments")
        if any(map(is_cut, (*block.values(), *(given.values() if isinstance(given, dict) else ())))):
            return True
    return False


def is_own(session: Session, kind: Kind, entry: int) -> bool:
    """Whether an entry is one that the source's agent adds itself, as every agent does: instructions, environment."""
    if kind not in (Kind.INJECTED, Kind.CUSTOM_MESSAGE):
        return False
    return bool((session.body(entry) or {}).get(OF_AGENT))


def portable_blocks(reply: Body, *, blank: bool = False) -> list[Body]:
    """The blocks of a reply that another provider accepts; with `blank` also empty texts, which none accepts."""
    every = (_kept(block) for block in blocks_of(reply.get("content")))
    return [kept for kept in every if kept is not None and (blank or _says_something(kept))]


def _kept(block: Body) -> Body | None:
    """A block of a reply for another provider: a hosted call as text, reasoning not at all."""
    kind = block.get("type")
    if kind == "toolCall" and "hosted" in block:
        return {"type": "text", "text": call_text(block)}
    return block if kind in ("text", "toolCall") else None


def _says_something(block: Body) -> bool:
    return block.get("type") == "toolCall" or bool(str(block.get("text") or "").strip())


def documents_left(number: int) -> str:
    """The remark that documents are carried over by name only."""
    return f"{counted(number, 'document')} converted to the name only: attach again what is still needed"


class _CallNames:
    """Unique ids of calls that every provider accepts: the source's own where they qualify."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._now: dict[str, str] = {}

    def renamed(self, block: Body) -> Body:
        """A block of a reply; a call gets its new id."""
        if block.get("type") != "toolCall":
            return block
        call_id = str(block.get("id", ""))
        name = call_id
        if name in self._seen or _CALL_ID.fullmatch(name) is None:
            name = f"call_{len(self._seen):06d}"
            while name in self._seen:
                name += "_"
        self._seen.add(name)
        self._now[call_id] = name
        return {**block, "id": name}

    def latest(self, call_id: str) -> str:
        """The new id of the last call with a source's id."""
        return self._now.get(call_id, call_id)


def _portable(message: Body, role: str, entry: EntryIndex, stamp: int) -> ConversationMessage | None:
    if role == "assistant":
        return ConversationMessage(
            "assistant",
            tuple(blocks_of(message.get("content"))),
            entry,
            stamp,
            provider=str(message.get("provider") or ""),
            model=str(message.get("model") or ""),
            stop=str(message.get("stopReason") or ""),
        )
    if role == "toolResult":
        return ConversationMessage(
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
        return ConversationMessage("user", ({"type": "text", "text": text},), entry, stamp)
    if role == "bashExecution":
        return ConversationMessage("user", ({"type": "text", "text": message_text(message)},), entry, stamp)
    content = _seen(message)
    return ConversationMessage("user", content, entry, stamp, typed=role == "user") if content else None


def _seen(message: Body) -> tuple[Body, ...]:
    """Text and images of a message."""
    return tuple(
        block for block in blocks_of(message.get("content")) if block.get("type") in ("text", "image")
    )
