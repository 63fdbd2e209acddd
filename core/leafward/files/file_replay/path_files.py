"""The files at the end of a path, from every available source.

First from the calls of the path. Where these contradict the results, from the calls of all branches: an agent that goes
back to an earlier turn leaves the files unchanged, so a branch may have worked on the state that another one left. Last
from a content of the workspace, if one is given to which all changes of the path apply.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from leafward.base.cancellation import never
from leafward.files.file_replay.knowledge import KNOWN, FileState
from leafward.files.file_replay.remarks import CONTRADICTIONS
from leafward.files.file_replay.replay import Replay, related
from leafward.files.file_replay.step_reader import steps

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from leafward.files.file_replay.bases import Bases, FileBase
    from leafward.files.file_replay.replay import Rebuilt
    from leafward.files.file_replay.steps import ReplayStep
    from leafward.session.session import Session


def contradicted(file: Rebuilt) -> bool:
    """Whether results show another content than the calls of the path leave."""
    return any(what in CONTRADICTIONS for _, what in file.remarks)


class EveryBranch:
    """Files as the calls of all branches left them, in the order of writing. Decoded on first use."""

    def __init__(self, session: Session, last: int, stop: Callable[[], bool]) -> None:
        self._session = session
        self._last = last
        """The deepest entry that is requested."""
        self._stop = stop
        self._steps: list[ReplayStep] | None = None

    def rebuilt(self, path: str, names: Collection[str], entry: int) -> Rebuilt | None:
        """A file as it was when `entry` was written; None where it is not known either.

        `names` are all names that its content was moved or copied under.
        """
        if self._steps is None:
            self._steps = steps(self._session, range(self._last + 1), self._stop, sweeps=True)
        replay = Replay(self._session, {}, {})
        replay.go([one for one in self._steps if one.entry <= entry], names, self._stop)
        made = replay.rebuilt(path)
        return dataclasses.replace(made, every_branch=True) if made.certainty in KNOWN else None


def resting_on(session: Session, origin: str, base: FileBase) -> Replay:
    """A replay that starts with a content for one file."""
    return Replay(session, {origin: FileState(text=base.text, base=base.name)}, {})


def proven(made: Iterable[Rebuilt]) -> bool:
    """Whether all changes to files fit the content that their replay began with, and some of them prove it."""
    made = list(made)
    return all(one.certainty in KNOWN and not one.remarks for one in made) and any(one.proofs for one in made)


class PathFiles:
    """The files at an entry."""

    def __init__(
        self, session: Session, at: int, bases: Bases | None = None, stop: Callable[[], bool] = never
    ) -> None:
        self._session = session
        self._at = at
        self._bases = bases
        self._stop = stop
        self.steps = steps(session, session.tree.path(at), stop, sweeps=True)
        """The files by the calls of the path."""
        self._replay = Replay(session, {}, {})
        self._replay.go(self.steps, None, stop)
        self._every = EveryBranch(session, at, stop)

    @property
    def paths(self) -> Collection[str]:
        """Files that the path touched."""
        return self._replay.files

    def files(self) -> list[Rebuilt]:
        """The files that the path changed, and the wholly known ones that it only read, by path."""
        changed = {step.to or step.path for step in self.steps if step.operation.changes}
        known = map(self.rebuilt, sorted(self.paths))
        return [one for one in known if one.path in changed or one.text is not None]

    def rebuilt(self, path: str) -> Rebuilt:
        """One file; its `base` names the source of its content."""
        made = self._replay.rebuilt(path)
        if made.certainty in KNOWN:
            return made
        names = related(self.steps, {path})
        if contradicted(made):
            found = self._every.rebuilt(path, names, self._at)
            if found is not None:
                return found
        return self._based(path, made, names) or made

    def _based(self, path: str, made: Rebuilt, names: Collection[str]) -> Rebuilt | None:
        origin = made.was[0] if made.was else path
        found: list[Rebuilt] = []
        for base in self._bases(origin) if self._bases is not None else ():
            replay = resting_on(self._session, origin, base)
            replay.go(self.steps, names, self._stop)
            one = replay.rebuilt(path)
            if proven([one]):
                found.append(one)
        return found[0] if len({(one.certainty, one.text) for one in found}) == 1 else None
