"""The contents of one file at two entries and at their common ancestor, rebuilt from the recorded calls."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from leafward.files.file_operation import FileOperation
from leafward.files.file_replay.knowledge import KNOWN, Certainty
from leafward.files.file_replay.path_files import EveryBranch, contradicted, proven, resting_on
from leafward.files.file_replay.replay import Replay, related
from leafward.files.file_request import NOTICES
from leafward.files.line_diff import Origin3, split_lines, three_way

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from leafward.branches.diff.file_sets import FileDifference
    from leafward.branches.diff.sides import Sides
    from leafward.files.file_replay.bases import Bases
    from leafward.files.file_replay.replay import Rebuilt


class Merge(StrEnum):
    """Whether the changes of both sides could stand together."""

    CLEAN = "clean"
    """No line is changed by both."""
    SAME = "same"
    """Both sides hold the same text."""
    ONE_SIDE = "one side"
    """Only one of them changed it."""
    CONFLICT = "conflict"
    UNKNOWN = "unknown"
    """A content is not known, so the changes cannot be compared."""


@dataclass(frozen=True, slots=True)
class ContentDifference:
    """One file at the common ancestor and at both entries."""

    path: str
    base: Rebuilt
    """At the ancestor: rebuilt, or seen in a branch before the branch changed it."""
    a: Rebuilt
    b: Rebuilt
    merge: Merge
    conflicts: int
    """Regions that both sides changed in different ways."""

    @property
    def exact(self) -> bool:
        """Whether both entries' contents are known as a whole; a missing file counts as known."""
        return all(one.certainty in KNOWN for one in (self.a, self.b))

    @property
    def obstacle(self) -> str:
        """Why the contents are not shown line by line; empty where they are. Whether they differ is known even then."""
        texts = [one.text or "" for one in (self.a, self.b)]
        if any("\0" in text for text in texts):
            return "binary: not shown line by line"
        if sum(map(len, texts)) > HUGE:
            return f"huge, {sum(map(len, texts)):,} characters: not shown line by line"
        return ""

    def regions(self) -> list[Origin3]:
        """Both against the ancestor. Empty where one of the three is not known."""
        if not self.exact or self.base.certainty not in KNOWN or self.obstacle:
            return []
        return three_way(lines_of(self.base), lines_of(self.a), lines_of(self.b))

    @property
    def sentence(self) -> str:
        """A sentence about both changes together."""
        match self.merge:
            case Merge.SAME:
                return "both sides hold the same text"
            case Merge.ONE_SIDE:
                return "changed on one side only: a merge takes that side"
            case Merge.CLEAN:
                return "no line is changed by both: a merge would be clean"
            case Merge.CONFLICT:
                places = "one place is" if self.conflicts == 1 else f"{self.conflicts} places are"
                return f"{places} changed by both in different ways"
            case _:
                return "part of the contents is not known; the known part is shown"


HUGE = 8_000_000
"""Characters of both texts from which they are not compared line by line."""


def lines_of(file: Rebuilt) -> list[str]:
    """The lines of a known file, each with its newline; none for a file that does not exist."""
    return split_lines(file.text or "")


class SideContents:
    """Rebuilds files of two sides on request. The steps of the sides are used as they are.

    An agent that goes back to an earlier turn leaves the files as they are, so that a branch may have worked on files that
    another one left. Where a branch alone contradicts its own results, the calls of all branches are replayed in the order
    in which they were written. Where a content is still not known, a content among `bases` is taken for the file's beginning,
    if everything that both branches did applies to it and all such contents lead to the same result.
    """

    def __init__(
        self, sides: Sides, stop: Callable[[], bool] = lambda: False, bases: Bases | None = None
    ) -> None:
        self._sides = sides
        self._stop = stop
        self._bases = bases
        self.swept = any(
            one.operation is FileOperation.SWEEP and one.by not in NOTICES
            for side in (sides.a, sides.b)
            for one in side.steps
        )
        """Whether commands may have changed files that they do not name."""
        self._every = EveryBranch(sides.session, max(sides.a.entry, sides.b.entry), stop)

    def of(self, file: FileDifference) -> ContentDifference:
        """One file at the ancestor and at both entries."""
        ((base, a, b),) = self._rebuilt([file])
        merge, conflicts = _merge(base, a, b)
        return ContentDifference(file.path, base, a, b, merge, conflicts)

    def same(self, files: Sequence[FileDifference]) -> list[bool | None]:
        """Whether both entries hold the same content, for each file; None where one of the two is not known.

        All files are replayed in one pass. A file that no branch changed counts as the same without a look at its content,
        unless a command that does not name it may have changed it.
        """
        looked_at = [file for file in files if file.changed or self.swept]
        made = iter(self._rebuilt(looked_at) if looked_at else ())
        found: list[bool | None] = []
        for file in files:
            if not file.changed and not self.swept:
                found.append(True)
                continue
            base, a, b = next(made)
            same = is_same(a, b)
            idle = not file.changed and base.remarks == a.remarks == b.remarks
            found.append(True if idle and same is None else same)
        return found

    def _rebuilt(self, files: Sequence[FileDifference]) -> Iterator[tuple[Rebuilt, Rebuilt, Rebuilt]]:
        """Each file at the ancestor and at both entries."""
        made = [*self._sides.shared.steps, *self._sides.a.steps, *self._sides.b.steps]
        names = related(made, {name for file in files for name in _names(file)})
        shared = Replay(self._sides.session, {}, {})
        shared.go(self._sides.shared.steps, names, self._stop)
        branches = shared.branch(), shared.branch()
        for branch, side in zip(branches, (self._sides.a, self._sides.b), strict=True):
            branch.go(side.steps, names, self._stop)
        for file in files:
            own = names if len(files) == 1 else related(made, _names(file))
            yield self._three(file, shared, branches, own)

    def _three(
        self, file: FileDifference, shared: Replay, branches: tuple[Replay, Replay], names: Collection[str]
    ) -> tuple[Rebuilt, Rebuilt, Rebuilt]:
        base = shared.rebuilt(file.path)
        above = len(base.remarks)
        found = []
        for side, use, branch in zip((self._sides.a, self._sides.b), (file.a, file.b), branches, strict=True):
            name = use.path if use is not None else file.path
            now = branch.rebuilt(name)
            if use is not None and now.certainty not in KNOWN and contradicted(now):
                now = self._every.rebuilt(name, names, side.entry) or now
            found.append(now)
            if base.certainty not in KNOWN:
                base = branch.original(file.path) or base
        # A side that never touched it has the ancestor's content, as soon as that is known.
        a, b = (
            base if use is None and len(one.remarks) <= above and one.certainty not in KNOWN else one
            for one, use in zip(found, (file.a, file.b), strict=True)
        )
        if self._bases is not None and any(one.certainty not in KNOWN for one in (base, a, b)):
            return self._based(file, (a, b), names) or (base, a, b)
        return base, a, b

    def _based(
        self, file: FileDifference, found: Sequence[Rebuilt], names: Collection[str]
    ) -> tuple[Rebuilt, Rebuilt, Rebuilt] | None:
        """The file at all three entries, from one content of the workspace to which every step applies; None where none is."""
        origin = next((one.was[0] for one in found if one.was), file.path)
        made: list[tuple[Rebuilt, Rebuilt, Rebuilt]] = []
        for base in self._bases(origin) if self._bases is not None else ():
            shared = resting_on(self._sides.session, origin, base)
            shared.go(self._sides.shared.steps, names, self._stop)
            ends = []
            for side, use in ((self._sides.a, file.a), (self._sides.b, file.b)):
                branch = shared.branch()
                branch.go(side.steps, names, self._stop)
                ends.append(branch.rebuilt(use.path if use is not None else file.path))
            three = (shared.rebuilt(file.path), ends[0], ends[1])
            if proven(three):
                made.append(three)
        texts = {tuple((one.certainty, one.text) for one in three) for three in made}
        return made[0] if len(texts) == 1 else None


def _names(file: FileDifference) -> set[str]:
    return {file.path, *(use.path for use in (file.a, file.b) if use is not None)}


def _alike(a: Rebuilt, b: Rebuilt) -> bool | None:
    if a.certainty not in KNOWN or b.certainty not in KNOWN:
        return None
    return (a.certainty, a.text) == (b.certainty, b.text)


def is_same(a: Rebuilt, b: Rebuilt) -> bool | None:
    """Whether two contents are known and equal under one name; None where one is not known."""
    if not (alike := _alike(a, b)):
        return alike
    return a.path == b.path or a.certainty is Certainty.ABSENT


def differs(file: FileDifference, same: bool | None) -> bool | None:
    """Whether the contents of a file differ: a changed file counts as different until its contents are known to be equal.

    None for a file that no branch changed but that a command which does not name it may have changed.
    """
    return None if same is None and not file.changed else not same


def _merge(base: Rebuilt, a: Rebuilt, b: Rebuilt) -> tuple[Merge, int]:
    alike = _alike(a, b)
    if alike:
        return Merge.SAME, 0
    if alike is None or base.certainty not in KNOWN:
        return Merge.UNKNOWN, 0
    if any((one.certainty, one.text) == (base.certainty, base.text) for one in (a, b)):
        return Merge.ONE_SIDE, 0
    texts = [one.text or "" for one in (base, a, b)]
    if any("\0" in text for text in texts):
        # No part of such a file can be taken alone.
        return Merge.CONFLICT, 1
    if sum(map(len, texts)) > HUGE:
        return Merge.UNKNOWN, 0
    regions = three_way(lines_of(base), lines_of(a), lines_of(b))
    conflicts = sum(region.kind == "conflict" for region in regions)
    return (Merge.CONFLICT, conflicts) if conflicts else (Merge.CLEAN, 0)
