"""The operation log: Leafward's operations on a session, and the agent's on its tree, read from the file itself.

Only lines that can be operations are decoded: those Leafward marked, labels, names, summaries, context edits, and entries
that do not follow the line before them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, NewType

from leafward.base.times import milliseconds
from leafward.session.entries import (
    ARCHIVE_TYPE,
    MARK,
    NO_ENTRY,
    Body,
    Damage,
    EntryId,
    EntryIndex,
    Kind,
    is_own,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.session.session import Session

OperationId = NewType("OperationId", str)
"""An operation's id: that of the entry it wrote, or of the entry that shows the agent's move."""

LEAF_TYPE = "leafward.leaf"
GRAFT_TYPE = "leafward.graft"
EXAM_TYPE = "leafward.exam"
"""Results of an exam that a model sat: not an operation, since nothing of the session changes."""
COPIED = "copied"
"""The field in the mark on a fork's header with the last entry that it copied from its origin."""

SESSION_TARGETS = (None, "", "session")
"""Targets of an operation on archiving that archives the whole session, or brings it back."""

ARCHIVED = "archived"


class Subject(StrEnum):
    """The subject that an operation changes."""

    MOVE = "move"
    LABEL = "label"
    NAME = "name"
    ARCHIVE = "archive"
    FILES = "files"
    """Files of the project, which a restore changes: no line of the session."""


class OperationKind(StrEnum):
    """The kind of an operation in the log."""

    MOVE = "move"
    COMPACT = "compact"
    EDIT = "edit-context"
    GRAFT = "graft"
    MERGE = "merge-summaries"
    SUMMARY_MOVE = "summary-move"
    LABEL = "label"
    NAME = "name"
    ARCHIVE = "archive"
    EXAM = "exam"
    RESTORE = "restore"
    UNDO = "undo"
    REDO = "redo"
    AGENT_MOVE = "agent-move"
    AGENT_LABEL = "agent-label"
    AGENT_NAME = "agent-name"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation.

    Its values are entry ids (a move), texts (label, name) or `archived`; None is the place before everything, or no value.
    """

    op: OperationId
    kind: OperationKind
    subject: Subject
    entry: EntryIndex
    time: str | None
    """Its time, ISO as written."""
    target: EntryId | None
    """The entry labelled or archived, or the target of a move."""
    before: str | None
    """The value that it replaced: the earlier leaf, label, name or state."""
    after: str | None
    """The value that it set."""
    undoes: OperationId | None = None
    root: OperationId = OperationId("")
    """The operation that this undo or redo finally concerns; its own id for every other operation."""
    undone: bool = False
    """Whether its effect is currently undone."""

    @property
    def state(self) -> str:
        """`undone`; for an undo `redone`; empty for an operation in effect."""
        if not self.undone:
            return ""
        return "redone" if self.kind is OperationKind.UNDO else "undone"

    @property
    def agent(self) -> bool:
        """Whether the agent did it, not Leafward."""
        return self.kind in _AGENT_KINDS


_AGENT_KINDS = frozenset({OperationKind.AGENT_MOVE, OperationKind.AGENT_LABEL, OperationKind.AGENT_NAME})
_SUMMARISES = {
    Kind.COMPACTION: OperationKind.COMPACT,
    Kind.BRANCH_SUMMARY: OperationKind.SUMMARY_MOVE,
    Kind.CONTEXT_EDIT: OperationKind.COMPACT,
}
"""The operation for a marked line that moves the place to itself. An edit stands before the compaction it belongs to."""
_AGENT_KIND = {Subject.LABEL: OperationKind.AGENT_LABEL, Subject.NAME: OperationKind.AGENT_NAME}
_NO_PLACE_OF_ITS_OWN = frozenset(
    {Damage.MALFORMED, Damage.NO_ID, Damage.ORPHAN, Damage.CYCLE, Damage.EXTRA_HEADER}
)
"""Damage that makes an entry's parent something else than the agent's decision."""


def operations(session: Session) -> list[Operation]:
    """Every operation of a session in file order, Leafward's and the agent's, without those a fork copied from its origin.

    A line with `undoes` is an undo of the operation it names, or a redo where that one was an undo. An operation counts as
    undone while the last line about it is an undo.
    """
    columns = session.columns
    entries = set(columns.own)
    entries.update(found.start() for found in _SAID.finditer(columns.kind))
    jumped = {entry: (left, reached) for entry, left, reached in _jumps(session)}
    entries.update(jumped)
    state = _Values()
    log: list[Operation] = []
    known: dict[str, Operation] = {}
    last_of: dict[OperationId, Operation] = {}
    copied = _Copied(session)
    for index, body in session.bodies(sorted(entries)):
        if body is None:
            continue
        kind = columns.kind[index]
        line = _Line(index, columns.id(index), kind, body, marks(body))
        # The fork's own operations change the labels, names and archived branches that it copied.
        found = list(_of_line(session, line, jumped.get(index), state))
        for operation in found if not copied.holds(line) else ():
            operation = _placed(operation, known)
            known[operation.op] = operation
            last_of[operation.root] = operation
            log.append(operation)
    return [
        replace(operation, undone=_takes_back(last_of[operation.root]) != _takes_back(operation))
        for operation in log
    ]


class _Copied:
    """The lines that a fork copied: our forks record the last one, and a fork of pi's own is newer than they are."""

    def __init__(self, session: Session) -> None:
        header = session.header
        self._more = session.is_native and isinstance(header.get("parentSession"), str)
        last = marks(header).get(COPIED)
        self._last = session.columns.index(last) if isinstance(last, str) else NO_ENTRY
        self._begun = milliseconds(header.get("timestamp"))

    def holds(self, line: _Line) -> bool:
        """Whether a line is a copied one; lines must be passed in file order."""
        if self._more:
            if self._last >= 0:
                self._more = line.index <= self._last
            else:
                written = milliseconds(line.body.get("timestamp"))
                self._more = written is not None and self._begun is not None and written < self._begun
        return self._more


MARKED = bytes((Kind.LABEL, Kind.SESSION_INFO, Kind.COMPACTION, Kind.BRANCH_SUMMARY, Kind.CONTEXT_EDIT))
"""Kinds that Leafward marks when it writes them."""
_SAID = re.compile(b"[" + re.escape(MARKED) + b"]")


def _takes_back(operation: Operation) -> bool:
    return operation.kind is OperationKind.UNDO


def _placed(operation: Operation, known: dict[str, Operation]) -> Operation:
    """An operation with a unique id, and with its kind and root where it reverts an earlier one."""
    op = operation.op
    if op in known:
        op = OperationId(f"{op}.{operation.subject}")
    while op in known:
        op = OperationId(f"{op}.{operation.entry}")
    undone = known.get(operation.undoes or "")
    if undone is None or undone.subject is not operation.subject:
        return replace(operation, op=op, undoes=None, root=op)
    kind = OperationKind.REDO if _takes_back(undone) else OperationKind.UNDO
    return replace(operation, op=op, kind=kind, root=undone.root)


def _jumps(session: Session) -> Iterator[tuple[EntryIndex, EntryIndex, EntryIndex]]:
    """Entries that do not follow the line before them: the entry, the place left and the place gone to.

    Places are conversation entries (-1 is before everything); an entry below other bookkeeping of the same place has not
    moved. Lines of Leafward's leaf moves are included, except those in a sidecar. Nothing is decoded.
    """
    tree, columns = session.tree, session.columns
    passed: dict[int, int] = {}
    for start in tree.starts:
        parent = columns.parent[start]
        if start == 0 or parent == start - 1 or columns.damage.get(start) in _NO_PLACE_OF_ITS_OWN:
            continue
        if session.is_kept(start):
            continue
        left, reached = tree.content_at(_line_before(session, start, passed)), tree.content_at(parent)
        if left != reached:
            yield EntryIndex(start), left, reached


def _line_before(session: Session, index: int, passed: dict[int, int]) -> EntryIndex:
    """The leaf when an entry was appended: the last line before it that is an entry; -1 where there is none.

    An agent ignores the sidecar of its session. `passed` keeps what was walked over, for the next line.
    """
    kinds = session.columns.kind
    at = index - 1
    while at >= 0 and (kinds[at] in (Kind.MALFORMED, Kind.HEADER) or session.is_kept(at)):
        at = passed.get(at, at - 1)
    passed[index - 1] = at
    return EntryIndex(at)


class _Values:
    """Labels, name and archived branches at one point of reading the file."""

    def __init__(self) -> None:
        self.labels: dict[EntryId, str] = {}
        self.name: str | None = None
        self.archived: set[EntryId] = set()
        self.cut_short: set[str] = set()
        """Compactions whose edits are in the file and whose own line is missing."""
        self.passed: dict[int, int] = {}
        """Of lines that are no leaf, the one to go on with upwards."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A decoded line that may hold operations."""

    index: EntryIndex
    id: EntryId
    kind: int
    body: Body
    data: Body
    """Leafward's note on it."""

    @property
    def op(self) -> str | None:
        """The operation's id where Leafward wrote the line."""
        return _text(self.data.get("op"))

    def own(self, subject: Subject, target: str | None, before: str | None, after: str | None) -> Operation:
        """The operation that this line made: Leafward's, or the agent's where the line has no mark of ours."""
        if self.op is None and subject in _AGENT_KIND:
            return self.agents(subject, target, before, after)
        made = self.agents(subject, target, before, after)
        undoes = _text(self.data.get("undoes"))
        return replace(
            made,
            op=OperationId(self.op or self.id),
            kind=OperationKind(subject.value),
            undoes=OperationId(undoes) if undoes is not None else None,
        )

    def agents(
        self, subject: Subject, target: str | None, before: str | None, after: str | None
    ) -> Operation:
        """The agent's operation that this line made."""
        return Operation(
            OperationId(self.id),
            _AGENT_KIND.get(subject, OperationKind.AGENT_MOVE),
            subject,
            self.index,
            _text(self.body.get("timestamp")),
            EntryId(target) if target is not None else None,
            before,
            after,
        )


def _of_line(
    session: Session, line: _Line, jump: tuple[EntryIndex, EntryIndex] | None, state: _Values
) -> Iterator[Operation]:
    """The operations of one line: none, one, or a jump and the line's own."""
    columns, body, data = session.columns, line.body, line.data
    own_type = body.get("customType") if line.kind == Kind.CUSTOM else None
    if own_type in (LEAF_TYPE, GRAFT_TYPE):
        parent = session.columns.id_at(columns.parent[line.index])
        before = _text(data.get("from"))
        nowhere = before is None and "from" in data and data["from"] is None
        if not nowhere and (before is None or columns.index(before) < 0):
            before = session.columns.id_at(_line_before(session, line.index, state.passed))
        made = line.own(Subject.MOVE, parent, before, parent)
        yield replace(made, kind=OperationKind.GRAFT) if own_type == GRAFT_TYPE else made
        return
    if line.op is not None and line.kind in _SUMMARISES:
        if line.kind == Kind.CONTEXT_EDIT and line.op != line.id:
            # The line is a part of the next operation. Where a write stopped in between, it is one of its own.
            if columns.index(line.op) >= 0 or line.op in state.cut_short:
                return
            state.cut_short.add(line.op)
        yield _summarised(session, line, state)
        return
    if jump is not None and (line.op is None or line.kind in _APPENDED_AT_THE_LEAF):
        left, reached = session.columns.id_at(jump[0]), session.columns.id_at(jump[1])
        yield line.agents(Subject.MOVE, reached, left, reached)
    if line.kind == Kind.LABEL:
        target = EntryId(_text(body.get("targetId")) or "")
        label = _text(body.get("label")) or None
        yield line.own(Subject.LABEL, target, state.labels.get(target), label)
        state.labels.pop(target, None)
        if label is not None:
            state.labels[target] = label
    elif line.kind == Kind.SESSION_INFO:
        name = (_text(body.get("name")) or "").strip() or None
        yield line.own(Subject.NAME, None, state.name, name)
        state.name = name
    elif own_type == ARCHIVE_TYPE:
        target = EntryId(_text(data.get("target")) or "")
        was, becomes = target in state.archived, data.get("archived") is True
        yield line.own(Subject.ARCHIVE, target, ARCHIVED if was else None, ARCHIVED if becomes else None)
        (state.archived.add if becomes else state.archived.discard)(target)


def _summarised(session: Session, line: _Line, state: _Values) -> Operation:
    """A compaction or a move with a summary: the place before it, and its own line as the place after it."""
    before = _text(line.data.get("from"))
    nowhere = before is None and "from" in line.data and line.data["from"] is None
    if not nowhere and (before is None or session.columns.index(before) < 0):
        before = session.columns.id_at(_line_before(session, line.index, state.passed))
    parent = session.columns.id_at(session.columns.parent[line.index])
    made = line.own(Subject.MOVE, parent, before, line.id)
    kind = _SUMMARISES[Kind(line.kind)]
    if line.kind == Kind.CONTEXT_EDIT and line.op == line.id:
        kind = OperationKind.EDIT
    elif line.data.get("merged"):
        kind = OperationKind.MERGE
    return replace(made, kind=kind)


_APPENDED_AT_THE_LEAF = frozenset({Kind.LABEL, Kind.SESSION_INFO, Kind.CUSTOM})
"""Kinds that Leafward writes at the leaf: a jump there means that another program wrote at the same moment."""


def marks(body: Body) -> Body:
    """Leafward's note on a line: the data of an entry of ours, the extra field of any other; empty on another's line."""
    noted = body.get(MARK)
    if body.get("type") == "custom":
        noted = body.get("data") if is_own(body) else None
    return noted if isinstance(noted, dict) else {}


def edits_in(session: Session, operation: Operation) -> int:
    """The number of context edits that an operation appended."""
    columns = session.columns
    at = columns.index(operation.op)
    number = 0
    while at >= 0 and columns.kind[at] == Kind.CONTEXT_EDIT:
        if marks(session.body(at) or {}).get("op", columns.id(at)) != operation.op:
            break
        number += 1
        at = EntryIndex(columns.parent[at])
    return number


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def session_archived(session: Session) -> bool:
    """Whether Leafward archived the whole session: the last line about it counts."""
    for index in reversed(session.columns.own):
        body = session.body(index)
        data = body.get("data") if body is not None and body.get("customType") == ARCHIVE_TYPE else None
        if isinstance(data, dict) and data.get("target") in SESSION_TARGETS:
            return data.get("archived") is True
    return False


def archived_branches(session: Session) -> frozenset[EntryIndex]:
    """First entries of the archived branches: for each, the last line about it counts."""
    columns = session.columns
    archived: dict[EntryIndex, bool] = {}
    for _, body in session.bodies(columns.own):
        if body is not None and body.get("customType") == ARCHIVE_TYPE:
            data = marks(body)
            archived[columns.index(_text(data.get("target")) or "")] = data.get("archived") is True
    return frozenset(index for index, hidden in archived.items() if hidden and index != NO_ENTRY)


def undoable(log: list[Operation]) -> Operation | None:
    """The operation that an undo without an id reverts: Leafward's latest one that is not undone."""
    own = (operation for operation in reversed(log) if operation.root == operation.op and not operation.agent)
    return next((operation for operation in own if not operation.undone), None)


def redoable(log: list[Operation]) -> Operation | None:
    """The undo that a redo reverts: the latest one, unless a newer operation of Leafward's exists."""
    for operation in reversed(log):
        if operation.root == operation.op and not operation.agent:
            return None
        if (
            operation.kind is OperationKind.UNDO
            and not operation.undone
            and latest_about(log, operation) is operation
        ):
            return operation
    return None


def latest_about(log: list[Operation], operation: Operation) -> Operation:
    """The last operation about the same one: itself, or its latest undo or redo."""
    return next(other for other in reversed(log) if other.root == operation.root)
