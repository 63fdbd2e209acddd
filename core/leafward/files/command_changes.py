"""What tools that name a file do not tell of a path's files: that they were moved or removed, or that a command changed them.

A working set holds what tools were asked for, as agents list it; this stands beside it.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from leafward.files.file_operation import FileOperation
from leafward.files.file_replay.step_reader import steps
from leafward.files.file_replay.steps import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from leafward.files.file_replay.steps import Step
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session


_BEHIND_SLASH = chr(ord("/") + 1)


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
    session: Session, entries: Iterable[int], stop: Callable[[], bool] = lambda: False
) -> CommandChanges:
    """What became of the files that entries of one path name, in their order. Nothing once `stop` turns true."""
    return _changes(steps(session, entries, stop, counts=False))


def _changes(made: Iterable[Step]) -> CommandChanges:
    found = CommandChanges({}, {})
    names = _Names()
    for step in made:
        if step.outcome is not Outcome.DONE or step.glob:
            continue
        if step.operation is FileOperation.MOVE and step.to is not None:
            # A folder takes along what lies in it.
            for name in names.take(step.path):
                to = step.to + name[len(step.path) :]
                _gone(found, name, Fate(step.entry, to))
                names.add(to)
                _there(found, step, to)
        elif step.operation is FileOperation.DELETE:
            names.discard(step.path)
            _gone(found, step.path, Fate(step.entry, ""))
        else:
            name = step.path if step.to is None else step.to
            names.add(name)
            if step.operation.changes:
                _there(found, step, name)
    return CommandChanges(_ends(found.fates), found.entries)


def _ends(fates: dict[str, Fate]) -> dict[str, Fate]:
    """Where files went in the end: what was moved once more, or removed since, is not where it was moved to first."""
    ends: dict[str, Fate] = {}
    for name in reversed(fates):
        fate = fates[name]
        ends[name] = ends.get(fate.to, fate)
    return {name: ends[name] for name in fates}


class _Names:
    """The files that are there, in order, so that those of a folder stand together."""

    def __init__(self) -> None:
        self._names: list[str] = []

    def add(self, name: str) -> None:
        at = bisect_left(self._names, name)
        if self._names[at : at + 1] != [name]:
            self._names.insert(at, name)

    def discard(self, name: str) -> None:
        at = bisect_left(self._names, name)
        if self._names[at : at + 1] == [name]:
            del self._names[at]

    def take(self, name: str) -> list[str]:
        """Takes out the names of all files in a folder, or else of the file that has that name."""
        first, behind = (bisect_left(self._names, name + sign) for sign in ("/", _BEHIND_SLASH))
        below = self._names[first:behind]
        del self._names[first:behind]
        self.discard(name)
        return below or [name]


def _gone(found: CommandChanges, name: str, fate: Fate) -> None:
    found.fates.pop(name, None)
    found.fates[name] = fate
    found.entries.pop(name, None)


def _there(found: CommandChanges, step: Step, name: str) -> None:
    found.fates.pop(name, None)
    if step.inferred:
        entries = found.entries.setdefault(name, [])
        if step.entry not in entries[-1:]:
            entries.append(step.entry)
