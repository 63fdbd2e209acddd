"""A session's files according to its recorded calls: their contents at an entry and at the end, with doubts.

A content counts as known only where all records agree: the calls of the path, and the calls of all branches in the order in
which they were made.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from leafward.base.cancellation import never
from leafward.base.safe_text import safe_line
from leafward.files.file_operation import FileOperation
from leafward.files.file_replay.knowledge import CALL_BASES, KNOWN, Certainty
from leafward.files.file_replay.remarks import CONTRADICTIONS
from leafward.files.file_replay.replay import Replay
from leafward.files.file_replay.step_reader import steps
from leafward.files.file_replay.steps import StepOutcome
from leafward.files.file_request import BulkCommand
from leafward.files.opaque_calls import opaque_calls
from leafward.files.restoration.permissions import RecordedBits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from leafward.files.file_replay.replay import Rebuilt
    from leafward.files.file_replay.steps import ReplayStep
    from leafward.files.opaque_calls import Opaque
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session

UNKNOWN_ENDS = (
    "unknown whether it ends in a newline",
    "unknown line ends: CRLF or LF",
)


class _Course:
    """The files at an entry, and at the end, by one order of the calls."""

    def __init__(
        self, session: Session, made: Sequence[ReplayStep], at: int, stop: Callable[[], bool]
    ) -> None:
        before = [one for one in made if one.entry <= at]
        self._then = Replay(session, {}, {})
        self._then.go(before, None, stop)
        self._touched = set(self._then.files)
        self._end = self._then.branch()
        later = [one for one in made if one.entry > at]
        self._end.go(later, None, stop)
        self._made, self._later = _by_name(before), _by_name(later)
        self.paths = {*self._then.files, *self._end.files}

    def touches(self, path: str) -> bool:
        """Whether any call told of the file before the entry."""
        return path in self._touched

    def then(self, path: str) -> Rebuilt:
        """A file at the entry: as it was left by then, or as it was seen later before anything changed it."""
        found = self._then.rebuilt(path)
        if found.certainty in KNOWN:
            return found
        return self._end.original(path) or found if not self.touches(path) else found

    def now(self, path: str) -> Rebuilt:
        """A file as it was last left."""
        return self._end.rebuilt(path)

    def doubted(self, path: str) -> bool:
        """Whether it was found changed by others after the entry, so that it may have been different there already."""
        changed = min((one.entry for one in self._later.get(path, ()) if one.operation.changes), default=None)
        before = {entry for entry, _ in self._then.rebuilt(path).remarks}
        return any(
            what in CONTRADICTIONS and entry not in before and (changed is None or entry <= changed)
            for entry, what in self._end.rebuilt(path).remarks
        )

    def blind_since(self, file: Rebuilt, opaque: Sequence[Opaque], at: int) -> Opaque | None:
        """A call that may have changed a file after the last evidence of its content at the entry."""
        names = {file.path, *file.was}
        telling = (FileOperation.READ, FileOperation.WRITE, FileOperation.DELETE)
        if not self.touches(file.path):
            first = self._first_later(names)
            touched_at = first.entry if first is not None else None
            return next(
                (one for one in opaque if at < one.entry and (touched_at is None or one.entry <= touched_at)),
                None,
            )
        seen = max(
            (
                one.entry
                for name in names
                for one in self._made.get(name, ())
                if one.path == name
                and (one.operation in telling or one.by is BulkCommand.MISSED)
                and one.outcome is StepOutcome.DONE
            ),
            default=-1,
        )
        later = self._first_later(names)
        if later is not None and later.operation is FileOperation.READ and later.outcome is StepOutcome.DONE:
            # It shows the known content, see `doubted`.
            seen = later.entry
        return next((one for one in opaque if seen <= one.entry <= at), None)

    def _first_later(self, names: Iterable[str]) -> ReplayStep | None:
        """The first call after the entry that is about a file with one of these names."""
        found = [self._later[name][0] for name in names if name in self._later]
        return min(found, key=lambda one: one.entry, default=None)


def _by_name(made: Iterable[ReplayStep]) -> dict[str, list[ReplayStep]]:
    """Calls by the files that they name, each list in their order."""
    found: dict[str, list[ReplayStep]] = {}
    for one in made:
        for name in {one.path, one.to}:
            if name is not None:
                found.setdefault(name, []).append(one)
    return found


class RecordedFiles:
    """A session's files by its calls: in the order of the session file, and along the path alone."""

    def __init__(self, session: Session, at: EntryIndex, stop: Callable[[], bool] = never) -> None:
        every = steps(session, range(len(session)), stop, sweeps=True)
        self._at = at
        self.bits = RecordedBits(session, at)
        self._opaque = opaque_calls(session, range(len(session)))
        self.every = _Course(session, every, at, stop)
        path = session.tree.path(at)
        end = session.leaf
        line = session.tree.path(end) if end >= 0 and session.tree.is_ancestor(at, end) else path
        on_line = set(line)
        self.branched = any(one.entry not in on_line for one in every)
        self.line = (
            _Course(session, steps(session, line, stop, sweeps=True), at, stop)
            if self.branched
            else self.every
        )
        self.leaf = (
            self.line
            if not self.branched or line is not path
            else _Course(session, steps(session, session.tree.path(end), stop, sweeps=True), end, stop)
        )
        self.paths = self.every.paths | self.line.paths

    def then(self, path: str) -> tuple[Rebuilt, str]:
        """A file at the entry, and the reason why that is not certain; empty where it is."""
        file, doubt = self._judged(path)
        return file, doubt or _unsure(file)

    def doubt(self, file: Rebuilt) -> str:
        """The reason why a content that the calls of the path give may not have been the one on disk; empty where there is none.

        Nothing is said of a content that is not known, or that rests on more than these calls.
        """
        by_calls = file.base in CALL_BASES and not file.every_branch
        return self._judged(file.path)[1] if by_calls and file.certainty in KNOWN else ""

    def _judged(self, path: str) -> tuple[Rebuilt, str]:
        """A file at the entry, and the reason why another content may have been there; empty where there is none."""
        found = self.every.then(path)
        on_path = self.line.then(path) if self.branched else found
        if self.branched and not self.line.touches(path) and on_path.certainty not in KNOWN:
            if self.every.touches(path):
                return on_path, "only another branch touched it"
            on_path = found
        if on_path.certainty not in KNOWN:
            why = next((remark.value for _, remark in reversed(on_path.remarks)), "not read as a whole")
            return on_path, f"{on_path.certainty.value}: {why}"
        if (found.certainty, found.text) != (on_path.certainty, on_path.text):
            return on_path, "another branch left it differently"
        if self.every.doubted(path):
            return on_path, "changed outside the session"
        blind = self.every.blind_since(found, self._opaque, self._at)
        if blind is None:
            return on_path, ""
        return on_path, f"may have been changed by `{safe_line(blind.name, 40)}`"

    def left(self, path: str) -> list[Rebuilt]:
        """The contents that the session last left, as far as they are known."""
        found = (self.every.now(path), self.leaf.now(path))
        return [one for one in found if one.certainty in KNOWN and _unsure(one) in ("", *UNKNOWN_ENDS)]


def with_folders(then: dict[str, tuple[Rebuilt, str]]) -> dict[str, tuple[Rebuilt, str]]:
    """The files; a doubtful one is absent if its path is a folder of a certain one, or lies below a certain one."""
    there = {path for path, (file, doubt) in then.items() if file.certainty is Certainty.EXACT and not doubt}
    folders = {path[:at] for path in there for at, sign in enumerate(path) if sign == "/"}

    def cannot_be(path: str) -> bool:
        above = (path[:at] for at, sign in enumerate(path) if sign == "/")
        return path in folders or any(one in there for one in above)

    return {
        path: (replace(file, certainty=Certainty.ABSENT, text=None, base=""), "")
        if doubt and cannot_be(path)
        else (file, doubt)
        for path, (file, doubt) in then.items()
    }


def _unsure(file: Rebuilt) -> str:
    """The reason why the bytes of a known text are not certain; empty where they are."""
    if file.text is None:
        return ""
    if "\ufffd" in file.text and file.base != "write":
        return "shown with replaced characters"
    try:
        file.text.encode("utf-8")
    except UnicodeEncodeError:
        return "its text is not valid Unicode"
    if not file.newline:
        return UNKNOWN_ENDS[0]
    return "" if file.ends else UNKNOWN_ENDS[1]
