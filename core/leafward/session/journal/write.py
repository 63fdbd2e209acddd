"""The options of a write, and its result."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from leafward.base.times import moment_of
from leafward.session.entries import Body, EntryId
from leafward.session.journal.file_append import append
from leafward.session.journal.lines import Clock, encode_line, utc_now
from leafward.session.journal.lock import PATIENCE, Claim, refuse_if_busy
from leafward.session.journal.open_file import refuse_changed, why_unwritable
from leafward.session.journal.operation_log import LEAF_TYPE, MARKED, OperationId, OperationKind, marks
from leafward.session.lines.line_decoding import CURRENT_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from leafward.session.session import Session

UNWRITABLE = "unwritable"
"""The code of a dry run's remark that the session's file is not writable."""
RECENT = timedelta(minutes=5)
"""A file that changed within this time may be open in a running agent."""


@dataclass(frozen=True, slots=True)
class Writing:
    """The options of a write; the same for every verb."""

    dry_run: bool = False
    """Only report what would be written.

    Refused where the file changed or is claimed. A file that nobody can write to is a remark.
    """
    now: Clock = utc_now
    patience: float = PATIENCE
    """Seconds to wait for the lock."""
    claim: Claim | None = None
    """The claim of the long work that this write concludes."""


@dataclass(frozen=True, slots=True)
class WriteRemark:
    """Something the user should know about a write that happens anyway."""

    code: str
    text: str
    """One line."""


@dataclass(frozen=True, slots=True)
class Write:
    """The result of an operation, or of its dry run."""

    kind: OperationKind
    op: OperationId | None
    """None where everything was as wanted already and nothing was written."""
    entries: tuple[EntryId, ...]
    """The entries appended; none in a dry run."""
    from_leaf: EntryId | None
    """The leaf before; None is before everything."""
    leaf: EntryId | None
    """The leaf afterwards."""
    target: EntryId | None
    """The entry moved to, labelled or archived."""
    undoes: OperationId | None
    """The operation reverted by an undo or redo."""
    remarks: tuple[WriteRemark, ...]
    dry_run: bool
    size: int
    """Bytes appended."""
    backup: Path | None
    """The copy of a version 1 or 2 file from before its migration."""
    recent: bool
    """Whether another program wrote in the last minutes: a running agent sees our line only after reopening."""

    @property
    def changed(self) -> bool:
        """Whether anything was, or would be, written."""
        return self.op is not None


def write(
    session: Session,
    kind: OperationKind,
    lines: Body | Sequence[Body],
    target: int,
    writing: Writing,
    remarks: Iterable[WriteRemark] = (),
) -> Write:
    """Appends the line of an operation, or its lines, and returns the result. Raises Refused.

    Of several lines the last one is the operation's own; they reach the file in one call.
    """
    every = [session.source.stamped(one) for one in ([lines] if isinstance(lines, dict) else lines)]
    line = every[-1]
    noted = marks(line)
    undoes = noted.get("undoes")
    notes = [*remarks, *_remarks_ahead(session, line, dry_run=writing.dry_run)]
    recent = _changed_lately(session, writing.now())
    from_leaf = session.columns.id_at(session.leaf)
    entries: tuple[EntryId, ...] = ()
    leaf: EntryId | None = EntryId(line["id"])
    size, backup = sum(len(encode_line(one)) for one in every), None
    if writing.dry_run:
        refuse_if_busy(session.path, writing.claim)
        refuse_changed(session)
        if why := why_unwritable(session):
            notes.append(WriteRemark(UNWRITABLE, f"the write would fail now: {why}"))
    else:
        done = append(session, every, patience=writing.patience, claim=writing.claim, now=writing.now)
        size, backup = done.size, done.backup
        entries, leaf = tuple(EntryId(one["id"]) for one in every), session.columns.id_at(session.leaf)
        if done.raced:
            notes.append(
                WriteRemark("raced", "another program wrote at the same moment; check where the leaf is now")
            )
    return Write(
        kind,
        OperationId(noted["op"]),
        entries,
        from_leaf,
        leaf,
        session.columns.id_at(target),
        OperationId(undoes) if undoes is not None else None,
        tuple(notes),
        writing.dry_run,
        size,
        backup,
        recent,
    )


def _remarks_ahead(session: Session, line: Body, *, dry_run: bool) -> Iterator[WriteRemark]:
    """Remarks on a write that are known before it: the migration of the file, and a leaf that the agent does not see."""
    if session.version < CURRENT_VERSION:
        old, new = f"of version {session.version}", f"version {CURRENT_VERSION}"
        text = f"the file was {old} and is now {new}; it was copied to a backup"
        if dry_run:
            text = f"the file is {old}: it is copied to a backup and becomes {new}"
        yield WriteRemark("migrates", text)
    if _is_what_if(session, line):
        yield WriteRemark("what-if", _WHAT_IF)


def _is_what_if(session: Session, line: Body) -> bool:
    """Whether a line about to be written moves the place in the sidecar only."""
    if session.is_native or line["type"] in ("label", "session_info"):
        return False
    if line["type"] == "custom":
        if line["customType"] != LEAF_TYPE:
            return False
        place = session.tree.content_at(session.columns.index(line["parentId"] or ""))
        return place != session.tree.content_at(session.own_leaf)
    return True


_WHAT_IF = "preview only: a fork makes it real; the agent itself goes on at its own leaf"


def nothing(session: Session, kind: OperationKind, target: int, writing: Writing) -> Write:
    """The result of an operation that has nothing to change."""
    leaf = session.columns.id_at(session.leaf)
    target_id = session.columns.id_at(target)
    recent = _changed_lately(session, writing.now())
    return Write(kind, None, (), leaf, leaf, target_id, None, (), writing.dry_run, 0, None, recent)


def _changed_lately(session: Session, now: datetime) -> bool:
    """Whether another program than Leafward wrote to the file within the last minutes, or at a time in the future.

    Where the last lines are Leafward's own, the time of the entry before them decides, else that of the file. After a clock
    was set back the age of a later time is unknown. An agent never sees the sidecar of its session, so the question does
    not arise there.
    """
    if not session.is_native:
        return False
    columns = session.columns
    own = set(columns.own)
    at = int(session.leaf)
    while at >= 0:
        mine = at in own
        if not mine and columns.kind[at] in MARKED:
            mine = bool(marks(session.body(at) or {}))
        if not mine:
            break
        at -= 1
    if at == session.leaf:
        # Compared as seconds: a file system may have times outside the calendar.
        return now.timestamp() - session.source.seen.st_mtime < RECENT.total_seconds()
    moment = moment_of(session.entry(at).timestamp) if at >= 0 else None
    return moment is not None and now - moment < RECENT
