"""References from one entry of a session to another, and tool calls and results: which lead nowhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.base.safe_text import safe_line
from leafward.session.entries import (
    SUBAGENT,
    Body,
    EntryIndex,
    Kind,
    blocks_of,
    tool_calls,
)
from leafward.session.messages import KNOWN_BLOCKS, did_run, edit_targets, message_in
from leafward.session.transcript import unknown_records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.session.session import Session


from leafward.doctor.problem import Problem


class References:
    """Every reference from one entry to another, gathered in one pass over the bodies."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.broken: list[int] = []
        self.targets: list[tuple[int, str, object]] = []
        """The entry, the kind of the reference (`label`, `edit`, `kept`) and the id that it names."""
        self.calls: dict[int, dict[str, str]] = {}
        """Calls of each reply that pi would send again: the tool by call id."""
        self.dropped: set[int] = set()
        """Replies that failed or were stopped: pi leaves them out, so their calls need no result."""
        self.results: dict[int, tuple[str, str]] = {}
        """The call id and tool of each result."""
        self.unknown: dict[str, int] = {}
        """How often types occur that no pi writes that is known; readers of other agents tell of theirs themselves."""
        self.first_unknown = -1

    def read(self) -> None:
        """Decodes every line."""
        session = self.session
        kinds = session.columns.kind
        for index, body in session.bodies(range(len(session))):
            kind = Kind(kinds[index])
            if body is None:
                if kind is not Kind.MALFORMED:
                    self.broken.append(index)
                continue
            self._note(index, kind, body)

    def _note(self, index: int, kind: Kind, body: Body) -> None:
        if self.session.is_native:
            self._note_unknown(index, kind, body)
        if kind is Kind.LABEL:
            self.targets.append((index, "label", body.get("targetId")))
        elif kind is Kind.CONTEXT_EDIT:
            self.targets += [(index, "edit", name) for name in edit_targets(body)]
        elif kind is Kind.COMPACTION and body.get("firstKeptEntryId") is not None:
            self.targets.append((index, "kept", body["firstKeptEntryId"]))
        message = body.get("message")
        if not isinstance(message, dict):
            return
        if kind is Kind.ASSISTANT:
            if not did_run(message):
                self.dropped.add(index)
            else:
                blocks = blocks_of(message.get("content"))
                hosted = {str(block.get("id", "")) for block in blocks if block.get("hosted")}
                calls = {call.id: call.name for call in tool_calls(message) if call.id not in hosted}
                if calls:
                    self.calls[index] = calls
        elif kind is Kind.TOOL_RESULT:
            self.results[index] = (str(message.get("toolCallId")), str(message.get("toolName") or "a tool"))

    def _note_unknown(self, index: int, kind: Kind, body: Body) -> None:
        message = message_in(body)
        types = [block.get("type") for block in blocks_of(message.get("content"))]
        names = [f"block {type_}" for type_ in types if type_ not in KNOWN_BLOCKS]
        if kind is Kind.UNKNOWN:
            names = [
                f"role {message.get('role')}" if body.get("type") == "message" else str(body.get("type"))
            ]
        for name in (safe_line(name, 60) for name in names):
            self.unknown[name] = self.unknown.get(name, 0) + 1
        if names and self.first_unknown < 0:
            self.first_unknown = index

    def unknown_types(self) -> Iterator[Problem]:
        """One remark for all entries, roles and blocks of unknown types."""
        if self.unknown:
            columns, first = self.session.columns, EntryIndex(self.first_unknown)
            note = unknown_records(self.unknown, first, self.session.path, columns.start[first])
            yield Problem(note.code, note.text, columns.id(first), note.offset)

    def problems(self) -> Iterator[Problem]:
        """References that lead nowhere or to a wrong entry."""
        columns, tree = self.session.columns, self.session.tree
        for index, role, name in self.targets:
            target = columns.index(name) if isinstance(name, str) else EntryIndex(-1)
            key = safe_line(str(name), 60)
            code = text = ""
            if target < 0:
                code = {"label": "label-target", "edit": "edit-target", "kept": "first-kept-missing"}[role]
                text = {
                    "label": f"labels {key}, which is not in the file",
                    "edit": f"edits {key}, which is not in the file",
                    "kept": f"keeps from {key} on, which is not in the file: nothing from before it is kept",
                }[role]
            elif role == "edit" and not tree.is_ancestor(target, index):
                code, text = "edit-off-path", f"edits {key}, which is not on its own path: it has no effect"
            elif role == "kept" and not tree.is_ancestor(target, index):
                code = "first-kept-off-path"
                text = f"keeps from {key} on, which is not on its own path: nothing from before it is kept"
            elif role == "kept" and columns.kind[target] == Kind.TOOL_RESULT:
                code = "first-kept-result"
                text = f"keeps from {key} on, a tool result whose call is summarised away"
            if code:
                yield Problem(code, text, columns.id(EntryIndex(index)), columns.start[index])


@dataclass(slots=True)
class _Open:
    """The calls of a reply, and those of them that still wait for their result at the present place of a path."""

    reply: int
    number: int
    calls: set[str]


def _unmatched(session: Session, references: References) -> tuple[dict[int, set[str]], list[int]]:
    """Calls without a result by their reply, and results without a call; each call is followed down every path below its reply."""
    tree, columns = session.tree, session.columns
    kinds = columns.kind
    above: list[tuple[int, _Open | None, list[tuple[_Open, str]]]] = []
    """Of each run of entries above: its last entry, what waits there, and the calls that have their result in it."""
    failed: dict[int, set[str]] = {}
    after_dropped: set[int] = set()
    stray: list[int] = []

    def note_failed(waiting: _Open | None) -> None:
        if waiting is not None and waiting.calls:
            missing = failed.setdefault(waiting.reply, set())
            if len(missing) < waiting.number:
                missing.update(waiting.calls)

    for run in tree.preorder:
        start, stop = tree.bounds(run)
        parent = columns.parent[start]
        while above and above[-1][0] != parent:
            # On another branch these calls still wait.
            for waiting, call in above.pop()[2]:
                waiting.calls.add(call)
        current = above[-1][1] if above else None
        answered: list[tuple[_Open, str]] = []
        lenient = parent in after_dropped
        for index in range(start, stop):
            kind = kinds[index]
            if kind == Kind.TOOL_RESULT:
                call, _ = references.results.get(index, ("", ""))
                if current is not None and call in current.calls:
                    current.calls.remove(call)
                    answered.append((current, call))
                elif not lenient:
                    stray.append(index)
            elif kind in (Kind.ASSISTANT, Kind.USER):
                note_failed(current)
                calls = references.calls.get(index)
                current = _Open(index, len(calls), set(calls)) if calls else None
                lenient = index in references.dropped
        if not tree.content_children(run):
            note_failed(current)
        if lenient:
            after_dropped.add(stop - 1)
        above.append((stop - 1, current, answered))
    return failed, stray


def unanswered(session: Session, references: References) -> Iterator[Problem]:
    """Calls without a result and results without a call."""
    columns = session.columns
    failed, stray = _unmatched(session, references)
    # The context that a sub-agent inherits ends with the call that started it; the parent holds that call's result.
    given = session.inherited if session.header.get("relation") == SUBAGENT else 0
    for index, missing in failed.items():
        if index < given:
            continue
        names = ", ".join(
            sorted({safe_line(references.calls[index][call], 60) or "a tool" for call in missing})
        )
        text = f"calls {names} without a result"
        yield Problem("dangling-call", text, columns.id(EntryIndex(index)), columns.start[index])
    for index in stray:
        tool = safe_line(references.results.get(index, ("", "a tool"))[1], 60)
        text = f"a result of {tool} without a call above it"
        yield Problem("dangling-result", text, columns.id(EntryIndex(index)), columns.start[index])
