"""The contents of one file at two nodes and at their common ancestor, rebuilt from the recorded calls."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from leafward.diff.lines import Block, Origin3, compare_lines, split_lines, three_way
from leafward.files import utf16_order
from leafward.rebuilding import (
    KNOWN,
    Certainty,
    Deed,
    EveryBranch,
    Outcome,
    Replay,
    contradicted,
    proven,
    related,
    resting_on,
    unfit_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from leafward.diff.file_sets import FileDifference
    from leafward.diff.sides import Side, Sides
    from leafward.rebuilding import Bases, Rebuilt, Step


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
    """A content is not known, so nothing is said."""


@dataclass(frozen=True, slots=True)
class ContentDifference:
    """One file at the common ancestor and at both nodes."""

    path: str
    base: Rebuilt
    """At the ancestor: rebuilt, or seen in a branch before that changed it."""
    a: Rebuilt
    b: Rebuilt
    merge: Merge
    conflicts: int
    """Regions that both sides changed in different ways."""

    @property
    def exact(self) -> bool:
        """Whether both nodes' contents are known as a whole; a file that is not there is known."""
        return all(one.certainty in KNOWN for one in (self.a, self.b))

    @property
    def obstacle(self) -> str:
        """Why the contents are not shown line by line; empty where they are. Whether they differ is known nevertheless."""
        texts = [one.text or "" for one in (self.a, self.b)]
        if any("\0" in text for text in texts):
            return "binary: not shown line by line"
        if sum(map(len, texts)) > HUGE:
            return f"huge, {sum(map(len, texts)):,} characters: not shown line by line"
        return ""

    def blocks(self) -> list[Block]:
        """A's lines against B's. Empty where one of them is not known, or has an `obstacle`."""
        if not self.exact or self.obstacle:
            return []
        return compare_lines(lines_of(self.a), lines_of(self.b))

    def regions(self) -> list[Origin3]:
        """Both against the ancestor. Empty where one of the three is not known."""
        if not self.exact or self.base.certainty not in KNOWN or self.obstacle:
            return []
        return three_way(lines_of(self.base), lines_of(self.a), lines_of(self.b))

    @property
    def sentence(self) -> str:
        """What is to be said of both changes together."""
        match self.merge:
            case Merge.SAME:
                return "both sides hold the same text"
            case Merge.ONE_SIDE:
                return "only one side changed it: a merge takes that one"
            case Merge.CLEAN:
                return "no line is changed by both: a merge would be clean"
            case Merge.CONFLICT:
                places = "one place is" if self.conflicts == 1 else f"{self.conflicts} places are"
                return f"{places} changed by both in different ways"
            case _:
                return "not all of the contents are known: see what each side rests on"


HUGE = 8_000_000
"""Characters of both texts from which they are not compared line by line."""


def lines_of(file: Rebuilt) -> list[str]:
    """The lines of a file that is known, each with its newline; none of one that is not there."""
    return split_lines(file.text or "")


class Contents:
    """Rebuilds files of two sides when they are asked for. The steps of the sides are used as they are.

    An agent that goes back to an earlier turn leaves the files as they are, so that a branch may have worked on what
    another one left. Where a branch by itself contradicts what its results show, the calls of all branches are replayed
    in the order in which they were written. Where a content is still not known, a content among `bases` is what the file
    began with, if all that both branches did to it applies, and all such contents come to the same.
    """

    def __init__(
        self, sides: Sides, stop: Callable[[], bool] = lambda: False, bases: Bases | None = None
    ) -> None:
        self._sides = sides
        self._stop = stop
        self._bases = bases
        self._every = EveryBranch(sides.session, max(sides.a.node, sides.b.node), stop)

    def of(self, file: FileDifference) -> ContentDifference:
        """One file at the ancestor and at both nodes."""
        names = {file.path, *(use.path for use in (file.a, file.b) if use is not None)}
        names |= related([*self._sides.shared.steps, *self._sides.a.steps, *self._sides.b.steps], names)
        shared = Replay(self._sides.session, {}, {})
        shared.go(self._sides.shared.steps, names, self._stop)
        base = shared.rebuilt(file.path)
        above = len(base.remarks)
        found = []
        for side, use in ((self._sides.a, file.a), (self._sides.b, file.b)):
            branch = shared.branch()
            branch.go(side.steps, names, self._stop)
            name = use.path if use is not None else file.path
            made = branch.rebuilt(name)
            if use is not None and made.certainty not in KNOWN and contradicted(made):
                made = self._every.rebuilt(name, names, side.node) or made
            found.append(made)
            if base.certainty not in KNOWN:
                base = branch.original(file.path) or base
        # A side that never touched it has what the ancestor has, as soon as that is known.
        a, b = (
            one if use is not None or len(one.remarks) > above else _as_base(base, one)
            for one, use in zip(found, (file.a, file.b), strict=True)
        )
        if self._bases is not None and any(one.certainty not in KNOWN for one in (base, a, b)):
            base, a, b = self._based(file, (a, b), names) or (base, a, b)
        merge, conflicts = _merge(base, a, b)
        return ContentDifference(file.path, base, a, b, merge, conflicts)

    def _based(
        self, file: FileDifference, found: Sequence[Rebuilt], names: Collection[str]
    ) -> tuple[Rebuilt, Rebuilt, Rebuilt] | None:
        """The file at all three nodes from one content of the workspace on which everything applies; None where none is."""
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


def _as_base(base: Rebuilt, untouched: Rebuilt) -> Rebuilt:
    return base if untouched.certainty not in KNOWN else untouched


def _merge(base: Rebuilt, a: Rebuilt, b: Rebuilt) -> tuple[Merge, int]:
    known = [one.certainty in KNOWN for one in (base, a, b)]
    if not known[1] or not known[2]:
        return Merge.UNKNOWN, 0
    if (a.certainty, a.text) == (b.certainty, b.text):
        return Merge.SAME, 0
    if not known[0]:
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


@dataclass(frozen=True, slots=True)
class Patch:
    """What a branch changed since the common ancestor, as `git apply` takes it."""

    text: str
    files: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    """Files that changed but whose contents are not known as a whole, with the reason."""
    taken_as_new: tuple[str, ...] = ()
    """Names that something was moved or copied to and that nothing told of before: `git apply` refuses where a file lies there."""


def patch_of(
    sides: Sides, side: Side, stop: Callable[[], bool] = lambda: False, bases: Bases | None = None
) -> Patch:
    """The changes of one side against the common ancestor, name by name: a file that was moved goes here and comes there.

    `bases` as in `Contents`.
    """
    shared = Replay(sides.session, {}, {})
    shared.go(sides.shared.steps, None, stop)
    branch = shared.branch()
    branch.go(side.steps, None, stop)
    made = [
        one for one in side.steps if one.deed.changes and (one.outcome is not Outcome.FAILED or one.inferred)
    ]
    names = {name for one in made for name in (one.path, one.to) if name is not None}
    # A folder that was moved or removed is no file.
    names |= {path for path in branch.files if any(path.startswith(f"{name}/") for name in names)}
    names -= {path.rpartition("/")[0] for path in branch.files}
    arrived = _arrived(side.steps)
    pairs = _pairs(shared, branch, names, arrived)
    if bases is not None:
        pairs |= _based_pairs(sides, side, pairs, arrived, bases, stop)
    reasons = {name: why for name, pair in pairs.items() if (why := _unpatchable(*pair))}
    # A file is not taken away where the other end of its move is left out.
    for step in made:
        if step.deed is Deed.MOVE and step.to is not None:
            for name, other in ((step.path, step.to), (step.to, step.path)):
                if name in pairs and other in reasons:
                    reasons.setdefault(name, f"{other} is left out, with which it was exchanged")
    parts, done = [], []
    for name in sorted(pairs.keys() - reasons.keys(), key=utf16_order):
        text = "".join(_file_patch(*pairs[name]))
        if text:
            parts.append(text)
            done.append(name)
    left_out = tuple(sorted(reasons.items(), key=lambda one: utf16_order(one[0])))
    new = tuple(name for name in done if pairs[name][0].base == _TAKEN_AS_NEW)
    return Patch("".join(parts), tuple(done), left_out, new)


_Pairs = dict[str, "tuple[Rebuilt, Rebuilt]"]
"""Files at the ancestor and at the node, by name."""


_TAKEN_AS_NEW = "taken to be new"


def _arrived(made: Iterable[Step]) -> set[str]:
    """Names of which the first that a branch tells is that something was moved or copied there."""
    known: set[str] = set()
    arrived: set[str] = set()
    for step in made:
        if step.to is not None and step.to not in known:
            arrived.add(step.to)
        known |= {step.path} if step.to is None else {step.path, step.to}
    return arrived


def _pairs(shared: Replay, branch: Replay, names: Collection[str], arrived: Collection[str]) -> _Pairs:
    found: _Pairs = {}
    for name in names:
        base = shared.rebuilt(name)
        if base.certainty not in KNOWN:
            base = branch.original(name) or base
        if base.certainty is Certainty.UNKNOWN and name in arrived and not base.reads and not base.changes:
            base = replace(base, certainty=Certainty.ABSENT, base=_TAKEN_AS_NEW)
        found[name] = base, branch.rebuilt(name)
    return found


def _based_pairs(
    sides: Sides,
    side: Side,
    pairs: _Pairs,
    arrived: Collection[str],
    bases: Bases,
    stop: Callable[[], bool],
) -> _Pairs:
    """Files of which not all is known, from contents of the workspace on which everything applies.

    Names that one content went by are known together or not at all: what was done to it under one of them proves it.
    """
    groups: dict[str, list[str]] = {}
    for name, (_, now) in pairs.items():
        groups.setdefault(now.was[0] if now.was else name, []).append(name)
    found: _Pairs = {}
    for origin, names in groups.items():
        if all(one.certainty in KNOWN for name in names for one in pairs[name]):
            continue
        fitting: list[_Pairs] = []
        for base in bases(origin):
            shared = resting_on(sides.session, origin, base)
            shared.go(sides.shared.steps, names, stop)
            branch = shared.branch()
            branch.go(side.steps, names, stop)
            made = _pairs(shared, branch, names, arrived)
            if proven(one for pair in made.values() for one in pair):
                fitting.append(made)
        texts = {tuple((one.certainty, one.text) for name in names for one in made[name]) for made in fitting}
        if len(texts) == 1:
            found |= fitting[0]
    return found


def _unpatchable(base: Rebuilt, now: Rebuilt) -> str:
    for one, when in ((base, "at the common ancestor"), (now, "at the node")):
        if one.certainty not in KNOWN:
            why = next((remark.value for _, remark in reversed(one.remarks)), "never read as a whole")
            return f"{one.certainty.value} {when}: {why}"
        if not one.newline:
            return f"whether it ends in a newline is not known {when}"
        if unfit := unfit_name(one.path):
            return unfit
        if "\0" in (one.text or ""):
            return "it is binary"
    return ""


_CONTEXT = 3


def _file_patch(base: Rebuilt, now: Rebuilt) -> Iterator[str]:
    """One file in the form of `git diff`."""
    if base.certainty is Certainty.ABSENT and now.certainty is Certainty.ABSENT:
        return
    old, new = lines_of(base), lines_of(now)
    if old == new and base.certainty is now.certainty:
        return
    yield f"diff --git {_quoted('a/' + base.path)} {_quoted('b/' + now.path)}\n"
    if base.certainty is Certainty.ABSENT:
        yield "new file mode 100644\n"
    elif now.certainty is Certainty.ABSENT:
        yield "deleted file mode 100644\n"
    if old != new:
        yield f"--- {'/dev/null' if base.certainty is Certainty.ABSENT else _quoted('a/' + base.path)}\n"
        yield f"+++ {'/dev/null' if now.certainty is Certainty.ABSENT else _quoted('b/' + now.path)}\n"
        yield from unified(old, new)


def _quoted(path: str) -> str:
    """A path as git writes it: in quotes where a sign needs an escape."""
    if path.isascii() and path.isprintable() and '"' not in path and "\\" not in path:
        return path
    signs = {'"': '\\"', "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
    raw = path.encode("utf-8", "surrogateescape")
    return (
        '"'
        + "".join(signs.get(chr(one)) or (chr(one) if 32 <= one < 127 else f"\\{one:03o}") for one in raw)
        + '"'
    )


def unified(old: list[str], new: list[str], context: int = _CONTEXT) -> Iterator[str]:
    """Hunks of a unified diff, each line with its newline."""
    group: list[Block] = []
    for block in [*compare_lines(old, new), None]:
        ends = block is None or (block.same and block.old_to - block.old_from > 2 * context)
        if not ends:
            if block is not None:
                group.append(block)
            continue
        if any(not one.same for one in group):
            if block is not None:
                group.append(block)
            yield from _hunk(old, new, group, context)
        group = [block] if block is not None else []


def _hunk(old: list[str], new: list[str], group: list[Block], context: int) -> Iterator[str]:
    first, last = group[0], group[-1]
    if first.same:
        cut = max(0, first.old_to - first.old_from - context)
        group[0] = Block(True, first.old_from + cut, first.old_to, first.new_from + cut, first.new_to)
    if last.same:
        cut = max(0, last.old_to - last.old_from - context)
        group[-1] = Block(True, last.old_from, last.old_to - cut, last.new_from, last.new_to - cut)
    begin, end = group[0], group[-1]
    yield f"@@ -{_extent(begin.old_from, end.old_to)} +{_extent(begin.new_from, end.new_to)} @@\n"
    for block in group:
        if block.same:
            yield from (_line(" ", line) for line in old[block.old_from : block.old_to])
        else:
            yield from (_line("-", line) for line in old[block.old_from : block.old_to])
            yield from (_line("+", line) for line in new[block.new_from : block.new_to])


def _extent(begin: int, end: int) -> str:
    size = end - begin
    start = begin + 1 if size else begin
    return f"{start}" if size == 1 else f"{start},{size}"


def _line(sign: str, line: str) -> str:
    return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"
