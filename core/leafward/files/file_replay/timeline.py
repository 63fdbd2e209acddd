"""The life of a file: every step that touched it, across all branches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.files.file_replay.replay import related
from leafward.files.file_replay.step_reader import steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.files.file_replay.steps import Step
    from leafward.session.session import Session


def timeline(session: Session, path: str, stop: Callable[[], bool] = lambda: False) -> list[Step]:
    """The steps of a file in the order of writing, failed ones too, under every name it had.

    `path` as `file_names.locate` gives it. Empty once `stop` turns true.
    """
    every = steps(session, range(len(session)), stop)
    names = related(every, {path})
    # Its later names count too.
    for step in every:
        if step.to is not None and step.path in names:
            names.add(step.to)
    return sorted((step for step in every if step.path in names), key=lambda step: (step.entry, step.order))
