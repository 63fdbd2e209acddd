"""Changes to a path's files that its file tools do not show: files that commands moved, removed or changed.

A working set holds the files of tool calls, as agents list them; this adds to it.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from leafward.files.file_operation import FileOperation
from leafward.files.file_replay.step_reader import steps
from leafward.files.file_replay.steps import StepOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from leafward.files.file_replay.steps import ReplayStep
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session


_BEHIND_SLASH = chr(ord("/") + 1)


class FileDestination(NamedTuple):
    """The destination of a file."""

    entry: EntryIndex
    to: str
    """The new name; empty where the file was removed."""


class CommandChanges(NamedTuple):
    """The fates of files, by their names as in a working set."""

    fates: dict[str, FileDestination]
    """The fates of files that do not exist at the end."""
    entries: dict[str, list[EntryIndex]]
    """Entries with commands that made, changed or moved a file, in order, by the files that exist at the end."""


def command_changes(
    session: Session, entries: Iterable[int], stop: Callable[[], bool] = lambda: False
) -> CommandChanges:
    """The fates of the files that entries of one path name, in their order. Empty once `stop` turns true."""
    return _changes(steps(session, entries, stop, counts=False))


def _changes(made: Iterable[ReplayStep]) -> CommandChanges:
    found = CommandChanges({}, {})
    names = _Names()
    for step in made:
        if step.outcome is not StepOutcome.DONE or step.glob:
            continue
        if step.operation is FileOperation.MOVE and step.to is not None:
            # Moving or removing a folder includes its files.
            for name in names.take(step.path):
                to = step.to + name[len(step.path) :]
                _gone(found, name, FileDestination(step.entry, to))
                names.add(to)
                _there(found, step, to)
        elif step.operation is FileOperation.DELETE:
            names.discard(step.path)
            _gone(found, step.path, FileDestination(step.entry, ""))
        else:
            name = step.path if step.to is None else step.to
            names.add(name)
            if step.operation.changes:
                _there(found, step, name)
    return CommandChanges(_ends(found.fates), found.entries)


def _ends(fates: dict[str, FileDestination]) -> dict[str, FileDestination]:
    """The final destinations of files: a file that was moved again, or removed later, is not at its first destination."""
    ends: dict[str, FileDestination] = {}
    for name in reversed(fates):
        fate = fates[name]
        ends[name] = ends.get(fate.to, fate)
    return {name: ends[name] for name in fates}


class _Names:
    """The existing files, in order, so that those of a folder are adjacent."""

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
        """Removes and returns the names of all files in a folder, or else the file with that name."""
        first, behind = (bisect_left(self._names, name + sign) for sign in ("/", _BEHIND_SLASH))
        below = self._names[first:behind]
        del self._names[first:behind]
        self.discard(name)
        return below or [name]


def _gone(found: CommandChanges, name: str, fate: FileDestination) -> None:
    found.fates.pop(name, None)
    found.fates[name] = fate
    found.entries.pop(name, None)


def _there(found: CommandChanges, step: ReplayStep, name: str) -> None:
    found.fates.pop(name, None)
    if step.inferred:
        entries = found.entries.setdefault(name, [])
        if step.entry not in entries[-1:]:
            entries.append(step.entry)
