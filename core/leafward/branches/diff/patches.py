"""The changes of a branch as a patch that `git apply` accepts, and unified diffs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from leafward.branches.diff.contents import lines_of
from leafward.files.file_names import utf16_order
from leafward.files.file_operation import FileOperation
from leafward.files.file_replay.knowledge import KNOWN, Certainty
from leafward.files.file_replay.output_folder import unfit_name
from leafward.files.file_replay.path_files import proven, resting_on
from leafward.files.file_replay.replay import Replay
from leafward.files.file_replay.steps import StepOutcome
from leafward.files.line_diff import DiffBlock, compare_lines, split_lines
from leafward.files.restoration.project_folder import FileKind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from leafward.branches.diff.sides import Side, Sides
    from leafward.files.file_replay.bases import Bases
    from leafward.files.file_replay.replay import Rebuilt
    from leafward.files.file_replay.steps import ReplayStep
    from leafward.files.restoration.plan import RestoredFile


@dataclass(frozen=True, slots=True)
class Patch:
    """The changes of a branch since the common ancestor, as `git apply` accepts them."""

    text: str
    files: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    """Files that changed but whose contents are not known as a whole, with the reason."""
    ends_unknown: tuple[str, ...] = ()
    """Files whose line ends were not recorded: the patch uses newlines."""
    taken_as_new: tuple[str, ...] = ()
    """Names that were written, moved or copied to and do not appear before: `git apply` refuses where such a file exists."""


def patch_of(
    sides: Sides,
    side: Side,
    stop: Callable[[], bool] = lambda: False,
    bases: Bases | None = None,
    wanted: Callable[[str], bool] = lambda _name: True,
) -> Patch:
    """The changes of one side against the common ancestor, name by name: a move is a deletion and a new file.

    `bases` as in `SideContents`. Only files with `wanted` names are in it, or listed as left out.
    """
    shared = Replay(sides.session, {}, {})
    shared.go(sides.shared.steps, None, stop)
    branch = shared.branch()
    branch.go(side.steps, None, stop)
    made = [
        one
        for one in side.steps
        if one.operation.changes and (one.outcome is not StepOutcome.FAILED or one.inferred)
    ]
    names = {name for one in made for name in (one.path, one.to) if name is not None}
    # A folder that was moved or removed is not a file.
    names |= {path for path in branch.files if any(path.startswith(f"{name}/") for name in names)}
    names -= {path.rpartition("/")[0] for path in branch.files}
    arrived = _arrived(side.steps)
    pairs = _pairs(shared, branch, names, arrived)
    if bases is not None:
        pairs |= _based_pairs(sides, side, pairs, arrived, bases, stop)
    reasons = {name: why for name, pair in pairs.items() if (why := _unpatchable(*pair))}
    # A file is not deleted where the other end of its move is left out.
    for step in made:
        if step.operation is FileOperation.MOVE and step.to is not None:
            for name, other in ((step.path, step.to), (step.to, step.path)):
                if name in pairs and other in reasons:
                    reasons.setdefault(name, f"it was moved from or to {other}, which is left out")
    parts, done = [], []
    for name in sorted(filter(wanted, pairs.keys() - reasons.keys()), key=utf16_order):
        text = "".join(_file_patch(*pairs[name]))
        if text:
            parts.append(text)
            done.append(name)
    left_out = tuple((name, reasons[name]) for name in sorted(filter(wanted, reasons), key=utf16_order))
    new = tuple(name for name in done if pairs[name][0].base == _TAKEN_AS_NEW)
    unsure = tuple(name for name in done if not all(one.ends for one in pairs[name]))
    return Patch("".join(parts), tuple(done), left_out, unsure, new)


_Pairs = dict[str, "tuple[Rebuilt, Rebuilt]"]
"""Files at the ancestor and at the entry, by name."""


_TAKEN_AS_NEW = "assumed to be new"


def _arrived(made: Iterable[ReplayStep]) -> set[str]:
    """Names that first appear in a branch as the target of a write, move or copy."""
    known: set[str] = set()
    arrived: set[str] = set()
    for step in made:
        if step.to is not None and step.to not in known:
            arrived.add(step.to)
        elif step.operation is FileOperation.WRITE and not step.inferred and step.path not in known:
            arrived.add(step.path)
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
    sides: Sides, side: Side, pairs: _Pairs, arrived: Collection[str], bases: Bases, stop: Callable[[], bool]
) -> _Pairs:
    """Files that are not completely known, rebuilt from contents of the workspace to which every step applies.

    The names that one content had are known together or not at all: a step under one of them proves it.
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
    for one, when in ((base, "at the common ancestor"), (now, "at the entry")):
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
"""Equal lines around a change, as git shows them."""


def _file_patch(base: Rebuilt, now: Rebuilt) -> Iterator[str]:
    """One file in the format of `git diff`."""
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
    """A path as git writes it: in quotes where a character needs an escape."""
    if path.isascii() and path.isprintable() and '"' not in path and "\\" not in path:
        return path
    signs = {'"': '\\"', "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
    raw = path.encode("utf-8", "surrogateescape")
    return (
        '"'
        + "".join(signs.get(chr(one)) or (chr(one) if 32 <= one < 127 else f"\\{one:03o}") for one in raw)
        + '"'
    )


def _file_diff(path: str, before: bytes | None, after: bytes | None) -> list[str]:
    """Lines of a unified diff of one file, None for a missing side; a single line where its bytes are not text."""
    head = [
        "--- /dev/null" if before is None else f"--- {_quoted(f'a/{path}')}",
        "+++ /dev/null" if after is None else f"+++ {_quoted(f'b/{path}')}",
    ]
    try:
        old, new = (split_lines((one or b"").decode("utf-8")) for one in (before, after))
    except UnicodeDecodeError:
        return [*head, "the bytes on disk are no text"]
    return [*head, *"".join(unified(old, new)).removesuffix("\n").split("\n")]


def restore_diff(change: RestoredFile) -> list[str]:
    """Lines of the diff from the file on disk to its content at the entry; none where that is not known."""
    if change.after is None:
        return []
    before = change.before.data if change.before.presence in (FileKind.FILE, FileKind.LINK) else None
    after = change.after.data if change.after.presence is FileKind.FILE else None
    return _file_diff(change.path, before, after)


def unified(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Hunks of a unified diff, each line with its newline."""
    group: list[DiffBlock] = []
    for block in [*compare_lines(old, new), None]:
        ends = block is None or (block.same and block.old_to - block.old_from > 2 * _CONTEXT)
        if not ends:
            if block is not None:
                group.append(block)
            continue
        if any(not one.same for one in group):
            if block is not None:
                group.append(block)
            yield from _hunk(old, new, group)
        group = [block] if block is not None else []


def _hunk(old: Sequence[str], new: Sequence[str], group: list[DiffBlock]) -> Iterator[str]:
    first, last = group[0], group[-1]
    if first.same:
        cut = max(0, first.old_to - first.old_from - _CONTEXT)
        group[0] = DiffBlock(True, first.old_from + cut, first.old_to, first.new_from + cut, first.new_to)
    if last.same:
        cut = max(0, last.old_to - last.old_from - _CONTEXT)
        group[-1] = DiffBlock(True, last.old_from, last.old_to - cut, last.new_from, last.new_to - cut)
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
