"""The user's operations on a session: move the leaf, label, name, archive, undo, redo. Each is one appended line."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.base.errors import NotFound, Refused
from leafward.base.figures import first_few
from leafward.base.times import iso_stamp
from leafward.session.entries import ARCHIVE_TYPE, MARK, NO_ENTRY, Body, EntryId, EntryIndex
from leafward.session.journal.lines import new_id
from leafward.session.journal.open_file import refuse_changed
from leafward.session.journal.operation_log import (
    ARCHIVED,
    LEAF_TYPE,
    SESSION_TARGETS,
    Operation,
    OperationKind,
    Subject,
    archived_branches,
    latest_about,
    operations,
    redoable,
    session_archived,
    undoable,
)
from leafward.session.journal.targets import landing, refuse_unnamable, refuse_unreachable
from leafward.session.journal.write import Write, Writing, nothing, write
from leafward.session.sidecar import AFTER

if TYPE_CHECKING:
    from leafward.session.session import Session

_LINE_BREAKS = re.compile(r"[\r\n]+")
_DEFAULT = Writing()


def move(session: Session, target: int, writing: Writing = _DEFAULT) -> Write:
    """Moves the leaf to an entry; to -1, before everything.

    Appends an entry that pi ignores except for its place: its parent is the target, so the conversation continues there.
    Writes nothing where the leaf is on the target already, or only bookkeeping lies between. Raises Refused for a target
    that nothing can follow, and where the file is not writable.
    """
    refuse_changed(session)
    refuse_unreachable(session, target)
    tree, here = session.tree, session.leaf
    if target == here or (
        tree.is_ancestor(target, here) and tree.content_at(target) == tree.content_at(here)
    ):
        return nothing(session, OperationKind.MOVE, target, writing)
    line = _Draft(session, writing).leaf(session.columns.id_at(target))
    return write(session, OperationKind.MOVE, line, target, writing, landing(session, target))


def label(session: Session, target: int, text: str, writing: Writing = _DEFAULT) -> Write:
    """Labels an entry, on one line; an empty text clears the label. The place stays. Raises Refused."""
    refuse_changed(session)
    refuse_unnamable(session, target)
    text = one_line(text)
    if session.labels.get(EntryIndex(target), "") == text:
        return nothing(session, OperationKind.LABEL, target, writing)
    line = _Draft(session, writing).label(session.columns.id_at(target), text)
    return write(session, OperationKind.LABEL, line, target, writing)


def rename(session: Session, name: str, writing: Writing = _DEFAULT) -> Write:
    """Names the session, on one line; an empty name clears it. The place stays. Raises Refused."""
    refuse_changed(session)
    name = one_line(name)
    if (session.name or "") == name:
        return nothing(session, OperationKind.NAME, NO_ENTRY, writing)
    return write(session, OperationKind.NAME, _Draft(session, writing).name(name), NO_ENTRY, writing)


def archive(session: Session, branch: int, archived: bool = True, writing: Writing = _DEFAULT) -> Write:
    """Archives a branch, named by its first entry, or restores it. The place stays. Raises Refused."""
    refuse_changed(session)
    refuse_unnamable(session, branch)
    if (branch in archived_branches(session)) is archived:
        return nothing(session, OperationKind.ARCHIVE, branch, writing)
    line = _Draft(session, writing).archive(session.columns.id_at(branch), archived)
    return write(session, OperationKind.ARCHIVE, line, branch, writing)


def archive_session(session: Session, archived: bool = True, writing: Writing = _DEFAULT) -> Write:
    """Archives the whole session, or restores it: lists leave it out, the file stays. Raises Refused."""
    refuse_changed(session)
    if session_archived(session) is archived:
        return nothing(session, OperationKind.ARCHIVE, NO_ENTRY, writing)
    return write(
        session, OperationKind.ARCHIVE, _Draft(session, writing).archive(None, archived), NO_ENTRY, writing
    )


def undo(session: Session, op: str | None = None, writing: Writing = _DEFAULT) -> Write:
    """Reverts Leafward's latest operation that is not undone; or the one with an id or unique prefix, the agent's too.

    The inverse sets the value from before the operation (label, name, archive state, whatever was set since), or moves back
    to the leaf in the operation's `from`. So undoing a move is only another move: entries that the agent appended meanwhile
    stay in the file as a branch, and a redo leads back to its end. For an operation that was redone it goes back to the
    leaf from before that redo. For a preview move away from another agent's place it leads to that agent's current place.
    Raises NotFound for a name that fits none or several; Refused where there is nothing to undo, or it is undone.
    """
    refuse_changed(session)
    log = operations(session)
    chosen = undoable(log) if op is None else _named(log, op)
    if chosen is None:
        by_agent = any(one.agent and not one.undone for one in log)
        raise Refused(
            "nothing of Leafward's to undo; the log lists the agent's own" if by_agent else "nothing to undo"
        )
    if chosen.undone:
        raise Refused(f"{chosen.op} is undone already")
    return _take_back(session, latest_about(log, chosen), OperationKind.UNDO, writing)


def redo(session: Session, writing: Writing = _DEFAULT) -> Write:
    """Reverts the latest undo: restores the values from before it, and moves the leaf back to its place then.

    A new operation of Leafward's leaves nothing to redo; lines that the agent wrote do not matter. Raises Refused where
    there is nothing to redo.
    """
    refuse_changed(session)
    undone = redoable(operations(session))
    if undone is None:
        raise Refused("nothing to redo")
    return _take_back(session, undone, OperationKind.REDO, writing)


def _named(log: list[Operation], op: str) -> Operation:
    close = [one for one in log if one.op == op] or [one for one in log if op and one.op.startswith(op)]
    if not close:
        raise NotFound(f"no operation {op!r}; `leafward log` lists them")
    if len(close) > 1:
        raise NotFound(f"several operations start with {op!r}: {first_few([one.op for one in close], 3)}")
    found = close[0]
    if found.root != found.op:
        raise Refused(f"{found.op} only undoes another operation; name that one, {found.root}")
    return found


def _take_back(session: Session, done: Operation, kind: OperationKind, writing: Writing) -> Write:
    """Appends the line that restores the value from before `done`."""
    draft = _Draft(session, writing, done.op)
    before = done.before
    if done.subject is Subject.MOVE:
        place = session.columns.index(before) if before is not None else NO_ENTRY
        if before is not None and place < 0:
            raise Refused(f"the entry {before}, where {done.op} came from, is not in the file")
        place = _returned_to(session, done.entry, place)
        refuse_unreachable(session, place)
        return write(
            session, kind, draft.leaf(session.columns.id_at(place)), place, writing, landing(session, place)
        )
    if done.subject is Subject.NAME:
        return write(session, kind, draft.name(before or ""), NO_ENTRY, writing)
    if done.subject is Subject.ARCHIVE and done.target in SESSION_TARGETS:
        return write(session, kind, draft.archive(None, before == ARCHIVED), NO_ENTRY, writing)
    target = session.columns.index(done.target or "")
    refuse_unnamable(session, target)
    if done.subject is Subject.LABEL:
        return write(session, kind, draft.label(done.target, before or ""), target, writing)
    return write(session, kind, draft.archive(done.target, before == ARCHIVED), target, writing)


def _returned_to(session: Session, line: int, before: EntryIndex) -> EntryIndex:
    """The target of reverting a move: the leaf before it, or the agent's current place where it left the agent's."""
    if not session.is_kept(line):
        return before
    after = (session.body(line) or {}).get(AFTER)
    place = session.tree.content_at(before)
    if not isinstance(after, dict) or after.get("place", "") != session.columns.id_at(place):
        return before
    return before if place == session.tree.content_at(session.own_leaf) else session.own_leaf


@dataclass(frozen=True, slots=True)
class _Draft:
    """The line of an operation, with its keys in pi's order. Its entry's id is the operation's."""

    session: Session
    writing: Writing
    undoes: str | None = None

    def leaf(self, target: EntryId | None) -> Body:
        return self._custom(
            LEAF_TYPE, {"from": self.session.columns.id_at(self.session.leaf), "target": target}, target
        )

    def archive(self, target: EntryId | None, archived: bool) -> Body:
        data: Body = {"target": target, "archived": archived}
        return self._custom(ARCHIVE_TYPE, data, self.session.columns.id_at(self.session.leaf))

    def label(self, target: EntryId | None, text: str) -> Body:
        return self._at_leaf("label", {"targetId": target} | ({"label": text} if text else {}))

    def name(self, name: str) -> Body:
        return self._at_leaf("session_info", {"name": name})

    def _custom(self, custom_type: str, data: Body, parent: EntryId | None) -> Body:
        entry = new_id(self.session.columns)
        place: Body = {"id": entry, "parentId": parent, "timestamp": iso_stamp(self.writing.now())}
        return {"type": "custom", "customType": custom_type, "data": data | self._mark(entry)} | place

    def _at_leaf(self, type_: str, fields: Body) -> Body:
        entry = new_id(self.session.columns)
        parent = self.session.columns.id_at(self.session.leaf)
        place: Body = {"id": entry, "parentId": parent, "timestamp": iso_stamp(self.writing.now())}
        return {"type": type_} | place | fields | {MARK: self._mark(entry)}

    def _mark(self, entry: EntryId) -> Body:
        return {"op": entry} | ({"undoes": self.undoes} if self.undoes is not None else {})


def one_line(text: str) -> str:
    """A label or a name as it is stored."""
    return _LINE_BREAKS.sub(" ", text).strip()
