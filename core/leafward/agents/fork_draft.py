"""A new session before it is written: the place where it may end, the terms of its making, and the draft.

Each agent has its own rule for places; the rule that several share is here. A draft is complete and not yet written:
`leafward.branches.fork` writes it. An agent that forks its own session copies the stored content unchanged up to the cut; one that
adopts another agent's session converts the model's context to its own format (`conversation`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.resume import folder_of
from leafward.base.figures import counted
from leafward.context.sizes import broken_off_in
from leafward.session.entries import BOOKKEEPING, NO_ENTRY, Body, EntryIndex, Kind, blocks_of, tool_calls
from leafward.session.messages import NEVER_SENT, message_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from pathlib import Path

    from leafward.agents.resume import Resume
    from leafward.base.config import Config
    from leafward.session.journal.write import WriteRemark
    from leafward.session.session import Session


Rule = Callable[["Session", EntryIndex, bool], "str | None"]
"""Why a new session may not end at an entry, in one line; None where it may. The last argument tells whether it ends right before
a prompt."""

_FAR = 400
"""Entries up and down the path that are searched for the nearest legal one."""
_BESIDE = BOOKKEEPING | {Kind.CUSTOM_MESSAGE, Kind.INJECTED, Kind.SYSTEM, Kind.CONTEXT_EDIT}
"""Kinds beside the messages: they neither end nor continue a turn."""


class ForkPoint(NamedTuple):
    """A place where a new session would end."""

    entry: EntryIndex
    """The requested entry."""
    end: EntryIndex
    """The last message that the new session holds; -1 for none."""
    prompt: EntryIndex
    """The prompt right before which it ends, where a prompt was requested: its text is offered for editing. Otherwise -1."""
    rule: str | None
    """Why it cannot end there, in one line; None where it can."""
    nearest: EntryIndex
    """The nearest legal entry; the requested one where it is legal, -1 where there is none."""

    def tip(self, session: Session) -> int:
        """The last entry that counts: it includes entries beside the last message, such as an edit of the context."""
        return session.columns.parent[self.prompt] if self.prompt >= 0 else self.entry

    @property
    def legal(self) -> bool:
        """Whether a session may end there."""
        return self.rule is None


def last_said(session: Session, index: int) -> EntryIndex:
    """The message at or above an entry: neither metadata nor an entry that only stands beside a message."""
    parents, kinds = session.columns.parent, session.columns.kind
    while index >= 0 and kinds[index] in _BESIDE:
        index = parents[index]
    return EntryIndex(max(index, NO_ENTRY))


def cut_at(session: Session, entry: EntryIndex, rule: Rule) -> ForkPoint:
    """The point at which a new session would end for a request at an entry.

    For a prompt it ends before the prompt, which is after the reply above; for any other entry after that entry.
    """
    end, prompt = _end_of(session, entry)
    why = _objection(session, end, prompt, rule)
    if why is None:
        return ForkPoint(entry, end, prompt, None, entry)
    return ForkPoint(entry, end, prompt, why, _nearest(session, entry, rule))


def _end_of(session: Session, entry: int) -> tuple[EntryIndex, EntryIndex]:
    if entry >= 0 and session.columns.kind[entry] == Kind.USER:
        return last_said(session, session.columns.parent[entry]), EntryIndex(entry)
    return last_said(session, entry), NO_ENTRY


def _objection(session: Session, end: EntryIndex, prompt: EntryIndex, rule: Rule) -> str | None:
    if end < 0:
        return "nothing comes before it: the session would be empty"
    if session.columns.kind[end] in (Kind.MALFORMED, Kind.HEADER):
        return "it is damaged"
    return rule(session, end, prompt >= 0)


def _nearest(session: Session, entry: EntryIndex, rule: Rule) -> EntryIndex:
    """Searches up and down the path, alternating step by step, upward first."""
    if entry < 0:
        return NO_ENTRY
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
    """The child with which the conversation continues: the one towards the leaf where that lies below. -1 without one."""
    tree = session.tree
    children = tree.children(index)
    if len(children) <= 1:
        return children[0] if children else -1
    leaf = session.leaf
    return next((child for child in children if tree.is_ancestor(child, leaf)), children[0])


def open_calls(session: Session, end: int) -> int:
    """The number of calls of the reply at or right above an entry that have no result up to the entry."""
    columns = session.columns
    answered: set[str] = set()
    while end >= 0:
        kind = columns.kind[end]
        if kind == Kind.TOOL_RESULT:
            answered.add(str(message_in(session.body(end) or {}).get("toolCallId")))
        elif kind == Kind.ASSISTANT:
            reply = message_in(session.body(end) or {})
            return len([call for call in _calls_of(session, reply) if call not in answered])
        elif kind not in _BESIDE:
            return 0
        end = columns.parent[end]
    return 0


def _calls_of(session: Session, reply: Body) -> list[str]:
    """The ids of a reply's calls that results answer: none for a reply that is never sent, and no calls that the provider itself runs."""
    if reply.get("stopReason") in broken_off_in(session) or reply.get(NEVER_SENT) is True:
        return []
    hosted = {str(block.get("id")) for block in blocks_of(reply.get("content")) if "hosted" in block}
    return [call.id for call in tool_calls(reply) if call.id not in hosted]


def after_results(session: Session, end: EntryIndex, before_prompt: bool) -> str | None:
    """The rule of agents that also continue inside a turn, once every call has its result (pi, Codex, opencode)."""
    kind = session.columns.kind[end]
    if kind == Kind.USER:
        return None if before_prompt else "a prompt without its reply: your next prompt would follow it"
    if kind in (Kind.ASSISTANT, Kind.TOOL_RESULT):
        missing = open_calls(session, end)
        if missing:
            calls = counted(missing, "tool call has", "tool calls have")
            return f"{calls} no result here"
    return None


@dataclass(frozen=True, slots=True)
class ForkTerms:
    """The terms under which a draft is made."""

    env: Mapping[str, str]
    config: Config
    now: datetime
    """With a time zone."""
    injected: str = ""
    """Text to add behind the copied content, as a message that nobody typed; empty for none."""
    injected_as: str = "injection"
    """The kind of that text: `injection` or `summary`."""
    cwd: str = ""
    """The working folder of the new session; empty for the source's."""

    def folder(self, session: Session, title: str) -> str:
        """The working folder of a new session. Raises Refused where none is known; `title` is the agent that needs one."""
        return self.cwd or folder_of(session, title)


class Import(NamedTuple):
    """The import of a written document as a session, by a command of the agent."""

    command: Resume
    undo: Resume
    """Removes the leftovers of a failed import."""


@dataclass(frozen=True, slots=True)
class ForkDraft:
    """A new session worked out whole, not yet written."""

    agent: str
    """Its name."""
    id: str
    path: Path
    """The path that names the finished session: its file; for an agent with a database, the database followed by the id."""
    file: Path
    """The file to write; it differs from `path` only where it has to be imported."""
    content: Callable[[], Iterable[bytes]]
    """The file's content in pieces. A call reads the source; raises Refused."""
    resume: Resume
    """The command that opens it, and the folder to run that in."""
    kept: int
    """Entries of the source's path that it holds; of a conversion: messages."""
    left: int
    """Entries of the path up to the cut that it leaves out."""
    remarks: tuple[WriteRemark, ...] = ()
    converted: bool = False
    """Whether it holds converted messages, and no copies of stored entries."""
    earlier: int = 0
    """Of a conversion: messages from before a compaction that it holds beside the context."""
    imported: Import | None = None
