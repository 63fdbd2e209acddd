"""What would heal a session that its agent's provider refuses: a list of changes over the messages of its context.

Pure: messages in, messages and changes out. Nothing is invented: what is missing is said to be missing. The rules are those
that providers answer with an error for (Anthropic's Messages and OpenAI's Responses and Chat Completions, November 2026):
every call right before its results, no result without a call, no id twice, nothing empty, a user's message first, and images
of known types and sizes. The session itself stays; a fork tells the healed messages.
"""

from __future__ import annotations

import base64
import binascii
import struct
from bisect import bisect_right
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from leafward import agents
from leafward.agents.conversation import NO_RESULT, Conversation, ConversationMessage
from leafward.agents.fork import ForkPoint, last_said
from leafward.base.errors import Refused
from leafward.branches.overfull import Fitted, fitted
from leafward.session.entries import NO_ENTRY, EntryIndex, Kind, blocks_of
from leafward.session.messages import BROKEN_OFF, message_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from leafward.agents import Agent
    from leafward.agents.fork import Draft, Terms
    from leafward.base.config import Config
    from leafward.session.entries import Body
    from leafward.session.session import Session

__all__ = ["BEGINNING", "Change", "Healing", "healed", "healing", "new_session"]

BEGINNING = "The beginning of this conversation is missing."
"""What stands first where the first message left is no prompt: no provider takes a conversation that begins with a reply."""
_IMAGE_LIMIT = 5 << 20
"""Bytes of an image as base64 (Anthropic's limit, the lowest)."""
_WIDEST = 8000
"""Pixels of an image on a side (Anthropic's)."""
_PNG_SIZE = slice(16, 24)
"""Where a PNG says its width and height."""
_MAGIC = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/webp": (b"RIFF",),
}


class Change(NamedTuple):
    """One thing that is other than in the session."""

    code: str
    """What it is, in a word that does not change."""
    text: str
    """The same for a person, on one line."""
    entry: EntryIndex = NO_ENTRY
    """Where, in the session; -1 for all of it."""


@dataclass(frozen=True, slots=True)
class Healing:
    """The messages that a new session would tell, and how they differ from those stored."""

    messages: tuple[ConversationMessage, ...]
    changes: tuple[Change, ...]
    left_out: int
    """Pieces of thinking that would provide nothing: only the request that made them can use them. No change by itself."""
    cut: ForkPoint
    obstacle: str = ""
    """Why its context is over the window of its model all the same; empty where it is not."""


def healing(
    session: Session, config: Config | None = None, stop: Callable[[], bool] = lambda: False
) -> Healing:
    """What would heal a session at its leaf. Raises Refused where nothing was said, Cancelled once `stop` turns true.

    With `config`, a context over the window is compacted first.
    """
    end = last_said(session, session.place)
    if end < 0:
        raise Refused("nothing was said in it: there is nothing to heal")
    cut = ForkPoint(session.place, end, NO_ENTRY, None, session.place)
    past = Conversation(session, cut)
    stored = list(past.raw_messages())
    fit = fitted(session, stored, config, stop) if config is not None else Fitted(stored, "", "")
    messages, changes = healed(fit.messages)
    if fit.change:
        changes.insert(0, Change("over-window", fit.change))
    unsigned = [
        Change("unsigned-thinking", "thinking without a signature is left out", index)
        for index in _unsigned(session, cut)
    ]
    changes = sorted([*changes, *unsigned], key=lambda change: change.entry)
    return Healing(tuple(messages), tuple(changes), past.thoughts, cut, fit.obstacle)


def new_session(session: Session, found: Healing, terms: Terms, agent: Agent | None = None) -> Draft:
    """The new session, not written. Raises Refused where it cannot be made."""
    if not found.messages:
        raise Refused("nothing is left of it that a model can be told")
    past = Conversation(session, found.cut, healed=found.messages)
    return (agent or agents.agent_behind(session)).adopt(past, terms)


def healed(stored: Iterable[ConversationMessage]) -> tuple[list[ConversationMessage], list[Change]]:
    """Messages that every provider takes, and what was changed for it; none where nothing had to be."""
    changes: list[Change] = []
    messages = [kept for one in stored if (kept := _without_empty(one, changes)) is not None]
    messages = _paired(messages, changes)
    if messages and messages[0].role != "user":
        first = messages[0]
        changes.append(
            Change(
                "no-beginning", "it begins with a reply: a message that says so is put before it", first.entry
            )
        )
        text: Body = {"type": "text", "text": BEGINNING}
        messages.insert(0, ConversationMessage("user", (text,), first.entry, first.time, typed=True))
    return messages, changes


def _without_empty(one: ConversationMessage, changes: list[Change]) -> ConversationMessage | None:
    """A message without empty and repeated blocks and with images that are taken; None where nothing is left."""
    kept: list[Body] = []
    calls: set[str] = set()
    for block in one.content:
        kind = block.get("type")
        if kind == "text" and not str(block.get("text") or "").strip():
            if one.role != "result":
                changes.append(Change("empty-text", "an empty text is left out", one.entry))
                continue
        elif kind == "image" and (why := _refused_image(block)) is not None:
            changes.append(Change("image", f"an image is replaced by a line: {why}", one.entry))
            kept.append({"type": "text", "text": f"[image left out: {why}]"})
            continue
        elif kind == "toolCall":
            name = str(block.get("id") or "")
            if name in calls:
                changes.append(Change("repeated-call", f"call {name} stands twice in one reply", one.entry))
                continue
            calls.add(name)
        kept.append(block)
    if one.role == "result":
        return one._replace(content=tuple(kept))
    if not kept:
        changes.append(Change("empty-message", "a message without anything in it is left out", one.entry))
        return None
    return one._replace(content=tuple(kept))


def _paired(messages: list[ConversationMessage], changes: list[Change]) -> list[ConversationMessage]:
    """Every call right before its results, every result behind its call, no id twice."""
    made: list[ConversationMessage] = []
    places = _Places(messages)
    seen: dict[str, object] = {}
    """By id: the arguments of the call that had it first."""
    for position, one in enumerate(messages):
        if one.role == "result":
            if position not in places.used:
                again = one.call in seen
                why = "answers a call that has its result" if again else "has no call"
                code = "repeated-result" if again else "orphan-result"
                changes.append(Change(code, f"a result that {why} is left out", one.entry))
            continue
        if one.role != "assistant":
            made.append(one)
            continue
        blocks: list[Body] = []
        results: list[ConversationMessage] = []
        for block in one.content:
            if block.get("type") != "toolCall":
                blocks.append(block)
                continue
            given, tool = str(block.get("id") or ""), str(block.get("name") or "")
            found = places.result(given, position)
            name = given
            if given in seen or not given:
                if found is None and seen.get(given) == block.get("arguments"):
                    changes.append(Change("repeated-call", f"call {given} was made before", one.entry))
                    continue
                name = _fresh(given, seen)
                changes.append(
                    Change("repeated-id", f"call {given} has the id of another: {name}", one.entry)
                )
            seen[name] = block.get("arguments")
            blocks.append({**block, "id": name})
            if found is None:
                changes.append(Change("open-call", f"call {given} has no result: one says so", one.entry))
                nothing: Body = {"type": "text", "text": NO_RESULT}
                results.append(
                    ConversationMessage("result", (nothing,), one.entry, one.time, name, tool, failed=True)
                )
                continue
            result = messages[found]
            if any(between.role != "result" for between in messages[position + 1 : found]):
                changes.append(
                    Change(
                        "late-result",
                        f"the result of call {given} stood further down: it follows now",
                        result.entry,
                    )
                )
            results.append(result._replace(call=name))
        if blocks:
            made += [one._replace(content=tuple(blocks)), *results]
    return made


def _fresh(given: str, seen: Mapping[str, object]) -> str:
    number = 2
    while (name := f"{given or 'call'}_{number}") in seen:
        number += 1
    return name


class _Places:
    """Where calls and results stand, and which results were taken."""

    def __init__(self, messages: Sequence[ConversationMessage]) -> None:
        self.used: set[int] = set()
        self._results: dict[str, deque[int]] = {}
        self._replies: dict[str, list[int]] = {}
        for position, one in enumerate(messages):
            if one.role == "result":
                self._results.setdefault(one.call, deque()).append(position)
            elif one.role == "assistant":
                for name in _calls(one):
                    self._replies.setdefault(name, []).append(position)

    def result(self, name: str, after: int) -> int | None:
        """The first result of a call behind a reply and before the next one with a call of that id; taken from now on."""
        waiting = self._results.get(name)
        while waiting and waiting[0] < after:
            waiting.popleft()
        replies = self._replies.get(name, [])
        at = bisect_right(replies, after)
        if not waiting or (at < len(replies) and waiting[0] > replies[at]):
            return None
        self.used.add(waiting[0])
        return waiting.popleft()


def _calls(reply: ConversationMessage) -> Iterator[str]:
    for block in reply.content:
        if block.get("type") == "toolCall":
            yield str(block.get("id") or "")


def _refused_image(block: Body) -> str | None:
    """Why a provider refuses an image; None where it takes it."""
    kind, data = str(block.get("mimeType") or ""), str(block.get("data") or "")
    if kind not in _MAGIC:
        return f"type {kind or 'not known'}"
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return "its data are broken"
    if not content:
        return "it has no data"
    if len(data) > _IMAGE_LIMIT:
        return f"{len(data) / (1 << 20):.1f} MiB as base64, more than {_IMAGE_LIMIT >> 20}"
    if not content.startswith(_MAGIC[kind]):
        return f"it is no {kind.partition('/')[2]}"
    if kind == "image/png" and len(content) >= _PNG_SIZE.stop:
        sides = struct.unpack(">II", content[_PNG_SIZE])
        if max(sides) > _WIDEST:
            return f"{sides[0]:,} by {sides[1]:,} pixels, more than {_WIDEST:,}"
    return None


def _unsigned(session: Session, cut: ForkPoint) -> Iterator[EntryIndex]:
    """Replies of the path with thinking that its provider does not know again."""
    kinds = session.columns.kind
    for index in session.tree.path(cut.end):
        if kinds[index] != Kind.ASSISTANT:
            continue
        message = message_in(session.body(index) or {})
        if message.get("stopReason") in BROKEN_OFF:
            continue
        if any(block.get("unsigned") for block in blocks_of(message.get("content"))):
            yield EntryIndex(index)
