"""The life of a file: every step that touched it, across all branches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.files.file_operation import FileOperation
from leafward.files.file_replay.replay import related
from leafward.files.file_replay.step_reader import steps
from leafward.files.file_replay.steps import ReplayStep, StepOutcome
from leafward.files.file_request import BulkCommand
from leafward.files.working_set import gone_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session


def timeline(session: Session, path: str, stop: Callable[[], bool] = lambda: False) -> list[ReplayStep]:
    """The steps of a file in the order of writing, failed ones too, under every name it had, and where it was found gone.

    `path` as `file_names.locate` gives it. Empty once `stop` turns true.
    """
    every = steps(session, range(len(session)), stop)
    names = related(every, {path})
    # Its later names count too.
    for step in every:
        if step.to is not None and step.path in names:
            names.add(step.to)
    found = [step for step in every if step.path in names]
    changed: dict[str, list[EntryIndex]] = {}
    for step in found:
        if step.operation.changes and step.outcome is StepOutcome.DONE:
            changed.setdefault(step.to or step.path, []).append(step.entry)
    found += [
        ReplayStep(
            entry,
            entry,
            "",
            0,
            FileOperation.DELETE,
            name,
            StepOutcome.DONE,
            True,
            0,
            0,
            None,
            by=BulkCommand.MISSED,
        )
        for name, entry in gone_at(session, changed)
    ]
    return sorted(found, key=lambda step: (step.entry, step.order))
