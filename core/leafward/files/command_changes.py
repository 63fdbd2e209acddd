"""What tools that name a file do not tell of a path's files: that they were moved or removed, or that a command changed them.

A working set holds what tools were asked for, as agents list it; this stands beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.files.file_operation import FileOperation
from leafward.files.file_replay.step_reader import steps
from leafward.files.file_replay.steps import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from leafward.files.file_replay.steps import Step
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session


class Fate(NamedTuple):
    """Where a file went."""

    entry: EntryIndex
    to: str
    """Its new name; empty where it was removed."""


class CommandChanges(NamedTuple):
    """What became of files, by their names as in a working set."""

    fates: dict[str, Fate]
    """Of files that are not there at the end."""
    entries: dict[str, list[EntryIndex]]
    """What commands made, changed or moved there, by the files that are there at the end; the entries in their order."""


def command_changes(
    session: Session, at: int | None = None, stop: Callable[[], bool] = lambda: False
) -> CommandChanges:
    """What became of the files of the path to an entry (the leaf by default). Nothing once `stop` turns true."""
    here = session.leaf if at is None else at
    return _changes(steps(session, session.tree.path(here), stop, counts=False))


def _changes(made: Iterable[Step]) -> CommandChanges:
    found = CommandChanges({}, {})
    names: set[str] = set()
    for step in made:
        if step.outcome is not Outcome.DONE or step.glob:
            continue
        names.add(step.path)
        if step.operation is FileOperation.MOVE and step.to is not None:
            below = f"{step.path}/"
            # A folder takes along what lies in it.
            for name in [
                step.path,
                *(one for one in names if one.startswith(below) and one not in found.fates),
            ]:
                _gone(found, name, Fate(step.entry, step.to + name[len(step.path) :]))
            names.add(step.to)
            _there(found, step, step.to)
        elif step.operation is FileOperation.COPY and step.to is not None:
            names.add(step.to)
            _there(found, step, step.to)
        elif step.operation is FileOperation.DELETE:
            _gone(found, step.path, Fate(step.entry, ""))
        elif step.operation.changes:
            _there(found, step, step.path)
    return found


def _gone(found: CommandChanges, name: str, fate: Fate) -> None:
    found.fates[name] = fate
    found.entries.pop(name, None)


def _there(found: CommandChanges, step: Step, name: str) -> None:
    found.fates.pop(name, None)
    if step.inferred:
        entries = found.entries.setdefault(name, [])
        if step.entry not in entries[-1:]:
            entries.append(step.entry)
