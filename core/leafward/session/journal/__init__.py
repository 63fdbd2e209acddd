"""Writing to a session: append-only operations under a lock, their log with undo and redo, migration, new files."""

from __future__ import annotations

from leafward.session.journal.lines import Clock, encode_line, new_id, utc_now
from leafward.session.journal.lock import busy
from leafward.session.journal.operation_log import (
    Operation,
    OperationId,
    OperationKind,
    Subject,
    archived_branches,
    operations,
    redoable,
    undoable,
)
from leafward.session.journal.session_operations import (
    archive,
    archive_session,
    label,
    move,
    redo,
    rename,
    undo,
)
from leafward.session.journal.targets import landing, refuse_unreachable
from leafward.session.journal.write import Remark, Write, Writing

__all__ = [
    "Clock",
    "Operation",
    "OperationId",
    "OperationKind",
    "Remark",
    "Subject",
    "Write",
    "Writing",
    "archive",
    "archive_session",
    "archived_branches",
    "busy",
    "encode_line",
    "label",
    "landing",
    "move",
    "new_id",
    "operations",
    "redo",
    "redoable",
    "refuse_unreachable",
    "rename",
    "undo",
    "undoable",
    "utc_now",
]
