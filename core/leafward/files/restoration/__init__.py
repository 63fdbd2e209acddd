"""Restoring files in the project to their state at an entry: the planned changes, writing them with copies, and the undo."""

from __future__ import annotations

from leafward.files.restoration.plan import Action, FileChange, RestorePlan, is_read_only, plan_restore
from leafward.files.restoration.project_folder import Presence
from leafward.files.restoration.record import Record, interrupted, last_left
from leafward.files.restoration.undo_step import (
    StepBack,
    TakenBack,
    as_operations,
    restores_of,
    step_back,
    take_back,
)
from leafward.files.restoration.write import last_entry, move_with_files, project_of, restore, undo

__all__ = [
    "Action",
    "FileChange",
    "Presence",
    "Record",
    "RestorePlan",
    "StepBack",
    "TakenBack",
    "as_operations",
    "interrupted",
    "is_read_only",
    "last_entry",
    "last_left",
    "move_with_files",
    "plan_restore",
    "project_of",
    "restore",
    "restores_of",
    "step_back",
    "take_back",
    "undo",
]
