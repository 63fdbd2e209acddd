"""The files at the ends of the turns between two entries of a path, rebuilt from the recorded calls over a base.

A version counts only where every file that the path touched is certain there: replayed from the base without a
contradiction, and not touched since by a command that may change any file. Files that no call touched are those of the
base.

Over the project as it is now nothing shows whether a file that the session wrote whole existed before. A run of the command
with and without it would prove nothing, because its content may have been any; so its absence is assumed only where
assumptions are asked for, and reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import Refused
from leafward.base.safe_text import safe_line
from leafward.files.file_operation import FileOperation
from leafward.files.file_replay.calls import Calls
from leafward.files.file_replay.knowledge import KNOWN, FileState
from leafward.files.file_replay.output_folder import unfit_name
from leafward.files.file_replay.remarks import CONTRADICTIONS
from leafward.files.file_replay.replay import Replay
from leafward.files.file_replay.step_reader import steps
from leafward.files.file_replay.steps import StepOutcome
from leafward.files.file_request import NOTICES
from leafward.files.opaque_calls import opaque_calls
from leafward.session.entries import PROMPTS, EntryIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from leafward.files.bisection.base import ProjectBase
    from leafward.files.file_replay.replay import Rebuilt
    from leafward.files.file_replay.steps import ReplayStep
    from leafward.session.session import Session

_TELLING = (FileOperation.READ, FileOperation.WRITE, FileOperation.DELETE)
_MAKING = (FileOperation.WRITE, FileOperation.MOVE, FileOperation.COPY)
"""Operations that leave nothing of the old content."""


class Point(NamedTuple):
    """A place at which a version is rebuilt."""

    entry: EntryIndex
    """The last entry of its turn, or the one that was named."""
    turn: int
    """The turn's number on the path; 0 before the first prompt."""
    prompt: EntryIndex
    """The prompt of the turn; -1 before the first prompt."""
    midway: bool = False
    """Whether its turn goes on after it."""


@dataclass(frozen=True, slots=True)
class Version:
    """The files at a point."""

    files: Mapping[str, bytes | None]
    """Every file that the path touches, up to the bad entry; None where it does not exist."""
    doubts: Mapping[str, str]
    """Files whose content is not certain there, with the reason."""
    blind: bool = False
    """Whether one of the reasons is a recorded command that may change any file."""
    unplaced: bool = False
    """Whether one of the reasons is that a file may have existed before the session made it."""


def points(session: Session, good: EntryIndex, bad: EntryIndex) -> list[Point]:
    """The good entry, the ends of the turns between, and the bad one.

    Raises Refused where one does not lead to the other. Each is a conversation entry: labels and moves that follow it came
    later, and other branches meanwhile.
    """
    spoken = session.tree.content_at
    good, bad = (one if spoken(one) < 0 else EntryIndex(spoken(one)) for one in (good, bad))
    if good == bad:
        raise Refused("the good and the bad entry are the same")
    if not session.tree.is_ancestor(good, bad):
        why = "the bad entry comes before the good one" if session.tree.is_ancestor(bad, good) else ""
        shared = session.tree.common_ancestor(good, bad)
        known = f"; {session.columns.id(shared)} is on both paths" if shared >= 0 else ""
        raise Refused(why or f"the good entry is not on the path to the bad one{known}")
    kinds = session.columns.kind
    found, prompt, turn = [], EntryIndex(-1), 0
    path = [EntryIndex(one) for one in session.tree.path(bad) if one in (good, bad) or spoken(one) == one]
    for at, entry in enumerate(path):
        if kinds[entry] in PROMPTS:
            prompt, turn = entry, turn + 1
        ends = at + 1 == len(path) or kinds[path[at + 1]] in PROMPTS
        if entry == good or (entry > good and ends):
            found.append(Point(entry, turn, prompt, midway=not ends))
    return found


class _Doubt(NamedTuple):
    """A reason why the content of a file is not certain."""

    why: str
    blind: bool = False
    """Whether the reason is a recorded command that may change any file."""
    unplaced: bool = False
    """Whether the reason is that the file may have existed before the session made it."""


class _Course:
    """The files up to an entry and at the end, replayed from their beginnings; a missing file is not known."""

    def __init__(
        self,
        session: Session,
        begun: Mapping[str, str | None],
        made: Sequence[ReplayStep],
        later: Sequence[ReplayStep],
    ) -> None:
        states = {
            path: FileState(text=text, base="base") if text is not None else FileState(absent=True)
            for path, text in begun.items()
        }
        self._begun = begun
        self._then = Replay(session, states, {})
        self._then.go(made)
        self._touched = {name for step in made for name in (step.path, step.to) if name is not None}
        self.end = self._then.branch()
        self.end.go(later)

    def then(self, path: str) -> Rebuilt:
        """A file at the entry: as it was left, or as it was when something first showed it."""
        found = self._then.rebuilt(path)
        if path in self._begun or path in self._touched or found.certainty in KNOWN:
            return found
        return self.end.original(path) or found


class FileVersions:
    """The versions of one path. Everything is decoded once; a version replays the decoded steps.

    Commands that begin with the words of one of `harmless` change no files except those that they name; None: no command
    changes others.
    """

    def __init__(
        self,
        session: Session,
        bad: EntryIndex,
        base: ProjectBase,
        harmless: Collection[tuple[str, ...]] | None = (),
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._session = session
        path = [EntryIndex(one) for one in session.tree.path(bad)]
        self._made = steps(session, path, stop, sweeps=True)
        on_path = set(path)
        beside = [EntryIndex(one) for one in range(bad) if one not in on_path]
        changing = steps(session, beside, stop, sweeps=harmless is not None) if beside else []
        self._beside = [one for one in changing if _may_change(one)]
        self._opaque = opaque_calls(session, range(bad + 1), harmless) if harmless is not None else []
        touched = Replay(session, {}, {})
        touched.go(self._made, None, stop)
        self.paths = sorted(path for path in touched.files if _may_be_written(path))
        self._begun = {path: base.text(path) for path in self.paths} if base.earlier else {}
        self._made_here = set() if base.earlier else _made_by_session(session, self._made, self.paths)
        self.assumed: tuple[str, ...] = ()
        """Files that are assumed not to have existed before the session made them."""
        if harmless is None:
            self.assumed = tuple(sorted(self._made_here))
            self._begun.update(dict.fromkeys(self.assumed))
        self.base = base

    def at(self, entry: EntryIndex) -> Version:
        """The files at an entry of the path."""
        made = [one for one in self._made if one.entry <= entry]
        later = [one for one in self._made if one.entry > entry]
        # Where the base does not fit a file, only its first calls show its state before the session.
        courses = [
            _Course(self._session, begun, made, later)
            for begun in ([self._begun, {}] if self._begun else [{}])
        ]
        files: dict[str, bytes | None] = {}
        doubts: dict[str, _Doubt] = {}
        for path in self.paths:
            found = [
                (one, self._doubt(one, entry, course, made, later))
                for course in courses
                for one in [course.then(path)]
            ]
            one, doubt = next((pair for pair in found if pair[1] is None), found[0])
            if doubt is not None:
                doubts[path] = doubt
            else:
                files[path] = one.text.encode("utf-8") if one.text is not None else None
        blind = any(doubt.blind for doubt in doubts.values())
        unplaced = any(doubt.unplaced for doubt in doubts.values())
        return Version(files, {path: doubt.why for path, doubt in doubts.items()}, blind, unplaced)

    def _unknown(self, one: Rebuilt) -> _Doubt | None:
        """The reason why the bytes of a rebuilt file are not known; None where they are."""
        if one.certainty not in KNOWN:
            remarks = [remark.value for _, remark in one.remarks]
            if not remarks and one.path in self._made_here:
                return _Doubt("whether it was there before the session made it is not known", unplaced=True)
            return _Doubt(
                f"{one.certainty.value}: {remarks[-1] if remarks else 'no call shows what it was before'}"
            )
        if one.text is not None and (not one.newline or not one.ends):
            return _Doubt("whether it ends in a newline, or its lines in CRLF (Windows) or LF, is not known")
        if one.text is not None:
            try:
                one.text.encode("utf-8")
            except UnicodeEncodeError:
                return _Doubt("its text is not valid Unicode")
        return None

    def _doubt(
        self,
        one: Rebuilt,
        entry: EntryIndex,
        course: _Course,
        made: Sequence[ReplayStep],
        later: Sequence[ReplayStep],
    ) -> _Doubt | None:
        """The reason why the content of a file at an entry is not certain; None where it is."""
        unknown = self._unknown(one)
        if unknown is not None:
            return unknown
        names = {one.path, *one.was}
        following = next((step for step in later if names & {step.path, step.to}), None)
        shown = (
            following is not None
            and following.operation is FileOperation.READ
            and following.outcome is StepOutcome.DONE
        )
        before = {at for at, _ in one.remarks}
        changed = following.entry if following is not None else EntryIndex(-1)
        # A content that is seen after the entry is that at the entry, if nothing changed the file in between.
        for at, remark in course.end.rebuilt(one.path).remarks:
            if at not in before and remark in CONTRADICTIONS and at <= changed:
                return _Doubt("a later call finds it changed by something that is not recorded")
        seen = max(
            (
                step.entry
                for step in made
                if step.path in names and step.operation in _TELLING and step.outcome is StepOutcome.DONE
            ),
            default=-1,
        )
        if shown and following is not None:
            seen = following.entry
        blind = next((call for call in self._opaque if seen <= call.entry <= entry), None)
        if blind is not None:
            name = safe_line(blind.name, 40)
            return _Doubt(f"`{name}` ran after it was last seen, and may have changed it", blind=True)
        beside = next(
            (step for step in self._beside if seen < step.entry <= entry and _touches(step, names)), None
        )
        return _Doubt("another branch may have changed it meanwhile") if beside is not None else None


def _may_be_written(path: str) -> bool:
    """Whether a file lies in the project, git's own files excluded."""
    parts = path.split("/")
    return not unfit_name(path) and "\\" not in path and not {"", ".", "..", ".git"} & set(parts)


def _made_by_session(session: Session, made: Sequence[ReplayStep], paths: Collection[str]) -> set[str]:
    """Files that their first call may have made: written whole, moved or copied to, or touched."""
    first: dict[str, bool] = {}
    calls = Calls(session)
    for step in made:
        if step.outcome is StepOutcome.FAILED or step.operation in (FileOperation.SWEEP, FileOperation.STAGE):
            continue
        if step.to is not None:
            first.setdefault(step.path, False)
        name = step.path if step.to is None else step.to
        if name not in first:
            one = calls.request_of(step) if step.operation is FileOperation.APPEND else None
            makes = step.operation in _MAKING or (one is not None and one.text == "")
            first[name] = makes and not step.glob
    return {path for path in paths if first.get(path)}


def _may_change(step: ReplayStep) -> bool:
    return (
        step.operation.changes or step.operation is FileOperation.SWEEP
    ) and step.outcome is not StepOutcome.FAILED


def _touches(step: ReplayStep, names: Collection[str]) -> bool:
    anything = step.operation is FileOperation.SWEEP and step.by not in NOTICES
    return anything or step.glob or bool({step.path, step.to} & set(names))
