"""The working sets of two entries in three columns: only in A, in both, only in B.

A file touched above the common ancestor counts as in both; the numbers cover the branches alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from leafward.base.composed_text import composed
from leafward.files.file_names import utf16_order
from leafward.files.file_operation import FileOperation
from leafward.files.file_replay.steps import StepOutcome

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.branches.diff.sides import Sides
    from leafward.files.file_replay.steps import ReplayStep
    from leafward.session.entries import EntryIndex


@dataclass(frozen=True, slots=True)
class BranchFileUse:
    """The uses of one file by one branch."""

    path: str
    """Its name at the end of the branch."""
    reads: int
    changes: int
    added: int
    """Lines."""
    removed: int
    failed: int
    """Calls that failed; they count nowhere else."""
    unanswered: int
    last: FileOperation
    """The last thing that changed it, else a read."""
    inferred: bool
    """Whether all of it is inferred from shell commands."""
    entries: tuple[EntryIndex, ...]
    """The entries that used it, in order, without those that only failed."""
    refused: int = 0
    """Changes among the calls that failed."""


class Flag(StrEnum):
    """Noteworthy facts about a file of two branches."""

    EDITED_IN_BOTH = "edited in both"
    READ_IN_A = "read in A"
    """B changed it, and A knows its content before."""
    READ_IN_B = "read in B"
    STALE_A = "stale in A"
    """A read or changed it after B had changed it on disk; A's path does not mention that change."""
    STALE_B = "stale in B"
    VARIANT = "another name differs by case or accents"
    """On some disks both names are one file."""
    UNANSWERED = "no result"
    """Nobody knows whether a change without a result was made."""
    REFUSED = "an edit did not apply"
    """One change of it failed, others succeeded."""

    @property
    def words(self) -> str:
        """The words on screens; the value is the word in documents."""
        return _WORDS.get(self, self.value)


_WORDS = {
    Flag.STALE_A: "A saw B's edit",
    Flag.STALE_B: "B saw A's edit",
    Flag.UNANSWERED: "a change without a result",
    Flag.REFUSED: "an edit failed",
}


@dataclass(frozen=True, slots=True)
class FileDifference:
    """One file of one or both branches."""

    path: str
    """Its name at the common ancestor; for a file created later, its first name."""
    a: BranchFileUse | None
    """Its uses in the branch; None where there are none."""
    b: BranchFileUse | None
    shared: bool
    """Whether it was touched above the common ancestor."""
    flags: tuple[Flag, ...]

    @property
    def changed(self) -> bool:
        """Whether a branch changed it. `SideContents.same` tells whether its contents differ."""
        return any(use is not None and use.changes for use in (self.a, self.b))

    @property
    def names(self) -> tuple[str, ...]:
        """Its path, then the names that the branches gave it."""
        later = (
            use.path for use in (self.a, self.b) if use is not None and use.last is not FileOperation.DELETE
        )
        return tuple(dict.fromkeys((self.path, *later)))

    @property
    def fates(self) -> tuple[str, ...]:
        """Its fate on each side where its contents alone do not tell it: deleted, moved, or changed by commands only."""
        found = []
        for letter, use in (("A", self.a), ("B", self.b)):
            if use is None or not use.changes:
                continue
            if use.last is FileOperation.DELETE:
                found.append(f"deleted in {letter}")
            elif use.path != self.path:
                found.append(f"moved in {letter}")
            elif use.inferred:
                found.append(f"by command in {letter}")
        return tuple(found)


@dataclass(frozen=True, slots=True)
class FileSets:
    """The files of two branches, changed ones first, then by path."""

    only_a: tuple[FileDifference, ...]
    both: tuple[FileDifference, ...]
    only_b: tuple[FileDifference, ...]

    def __len__(self) -> int:
        return len(self.only_a) + len(self.both) + len(self.only_b)


# Looking up a member of an enumeration costs as much here as a part of a step's work.
_OF_FOLDERS = frozenset({FileOperation.SWEEP, FileOperation.STAGE})
_READ, _FAILED, _UNANSWERED = FileOperation.READ, StepOutcome.FAILED, StepOutcome.UNANSWERED


@dataclass(slots=True)
class _Tally:
    """The uses of one file, while they are counted."""

    path: str
    reads: int = 0
    changes: int = 0
    added: int = 0
    removed: int = 0
    failed: int = 0
    unanswered: int = 0
    last: FileOperation = FileOperation.READ
    inferred: bool = True
    entries: list[EntryIndex] = field(default_factory=list)
    refused: int = 0

    def take(self, step: ReplayStep, operation: FileOperation) -> None:
        if step.outcome is _FAILED:
            self.failed += 1
            self.refused += operation.changes and not step.inferred
            return
        self.inferred &= step.inferred
        if not self.entries or self.entries[-1] != step.entry:
            self.entries.append(step.entry)
        if operation is not _READ:
            self.unanswered += step.outcome is _UNANSWERED
            self.changes += 1
            self.added += step.added
            self.removed += step.removed
            self.last = operation
        else:
            self.reads += 1


def uses(made: Iterable[ReplayStep]) -> dict[str, BranchFileUse]:
    """The uses of each file by a branch, by the file's name at the beginning of the branch; moved files are followed."""
    counts: dict[str, _Tally] = {}
    first_name: dict[str, str] = {}

    def tally(path: str) -> _Tally:
        name = first_name.get(path, path)
        found = counts.get(name)
        if found is None:
            found = counts[name] = _Tally(path)
        return found

    for step in made:
        if step.operation in _OF_FOLDERS:
            continue
        if step.to is None:
            tally(step.path).take(step, step.operation)
        elif step.operation is FileOperation.COPY:
            tally(step.path).take(step, FileOperation.READ)
            tally(step.to).take(step, FileOperation.WRITE)
        else:
            tally(step.path).take(step, FileOperation.MOVE)
            if step.outcome is StepOutcome.FAILED:
                continue
            folder = step.path + "/"
            for name in [step.path, *(one.path for one in counts.values() if one.path.startswith(folder))]:
                key, there = first_name.pop(name, name), step.to + name[len(step.path) :]
                first_name[there] = key
                if key in counts:
                    counts[key].path = there
    return {
        name: BranchFileUse(
            one.path,
            one.reads,
            one.changes,
            one.added,
            one.removed,
            one.failed,
            one.unanswered,
            one.last,
            one.inferred,
            tuple(one.entries),
            one.refused,
        )
        for name, one in counts.items()
        if one.reads or one.changes
    }


def compare_files(sides: Sides) -> FileSets:
    """The files of two sides. Pure."""
    ours, theirs = uses(sides.a.steps), uses(sides.b.steps)
    before = {use.path for use in uses(sides.shared.steps).values()}
    found = []
    paths = sorted(ours.keys() | theirs.keys() | before, key=utf16_order)
    alike = Counter(map(_bare, paths))
    for path in paths:
        a, b = ours.get(path), theirs.get(path)
        flags = _flags(a, b)
        if alike[_bare(path)] > 1:
            flags = (*flags, Flag.VARIANT)
        found.append(FileDifference(path, a, b, path in before, flags))
    found.sort(key=lambda one: not one.changed)
    return FileSets(
        tuple(one for one in found if one.b is None and not one.shared),
        tuple(one for one in found if one.shared or (one.a is not None and one.b is not None)),
        tuple(one for one in found if one.a is None and not one.shared),
    )


def _bare(path: str) -> str:
    """A name as seen by disks that ignore case and the encoding of accents."""
    return path.lower() if path.isascii() else composed(path).casefold()


def _flags(a: BranchFileUse | None, b: BranchFileUse | None) -> tuple[Flag, ...]:
    found: list[Flag] = []
    if a is not None and b is not None:
        if a.changes and b.changes:
            found.append(Flag.EDITED_IN_BOTH)
        elif b.changes:
            found.append(Flag.READ_IN_A)
        elif a.changes:
            found.append(Flag.READ_IN_B)
        # Entries of a file are in the order in which they were written.
        if b.changes and a.entries[-1] > b.entries[0]:
            found.append(Flag.STALE_A)
        if a.changes and b.entries[-1] > a.entries[0]:
            found.append(Flag.STALE_B)
    if any(use is not None and use.unanswered for use in (a, b)):
        found.append(Flag.UNANSWERED)
    if any(use is not None and use.refused for use in (a, b)):
        found.append(Flag.REFUSED)
    return tuple(found)
