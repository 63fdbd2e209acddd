"""A bisection of a session in its order: both ends are tried, then versions between them, each set of files at most once.

A version is the files at the end of a turn (`versions`), laid out over the project as it was before (`base`) and tried in a
folder of its own (`trial`). Versions that give no verdict are skipped, as in `git bisect`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import Refused
from leafward.base.figures import counted
from leafward.base.safe_text import excerpt_line, safe, safe_line
from leafward.base.shown_path import no_project_folder
from leafward.base.times import parse_time
from leafward.files.bisection.base import EmptyBase, FolderBase, GitBase
from leafward.files.bisection.trial import Trial, TrialRun, Verdict
from leafward.files.bisection.versions import FileVersions, points
from leafward.session.headlines.entry_headline import headline

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from leafward.files.bisection.base import ProjectBase
    from leafward.files.bisection.versions import Point, Version
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session

_WORDS = 80
_CANDIDATES = 12
"""Turns that are listed where the verdict stays open."""
_NAMED = 5
"""Files that are named among those with an assumption."""
_LAST_LINES = 8
"""Lines of the command's output at its first failure."""


class TrialCommand(NamedTuple):
    """The command that passes at the good end and fails at the bad one."""

    words: Sequence[str]
    harmless: Collection[tuple[str, ...]]
    """Words that recorded commands begin with which change no files except those that they name."""
    likely: bool = False
    """Whether this is assumed of every recorded command."""
    timeout: float | None = None
    """Seconds that a run may take."""


def bisect_session(
    session: Session,
    ends: tuple[EntryIndex, EntryIndex],
    base: ProjectBase,
    command: TrialCommand,
    named: Callable[[EntryIndex], str],
    tell: Callable[[str], object],
    stop: Callable[[], bool],
) -> tuple[SessionSearch, Bisection]:
    """Finds the turn between a good and a bad entry of a path after which a command fails.

    Returns the search with its steps, and the result. `named` gives the name of an entry for the reader; `tell` receives
    every version that was tried. Raises Refused where an end has another verdict than given or nothing can be tried,
    Cancelled where `stop` turns true.
    """
    every = points(session, *ends)
    versions = FileVersions(
        session, every[-1].entry, base, None if command.likely else command.harmless, stop
    )
    if not versions.paths:
        raise Refused("no call up to the bad entry touches a file of the project")
    with Trial(base, stop) as trial:

        def run(version: Version) -> TrialRun:
            return trial.run(version, command.words, command.timeout)

        search = SessionSearch(session, every, versions, run, named, tell)
        return search, search.find()


@dataclass(frozen=True, slots=True)
class Bisection:
    """Knowledge about the versions from the good one, number 0, to the bad one, the last."""

    good: int
    """The last good version before the change."""
    bad: int
    """The first bad version after it."""

    @property
    def candidates(self) -> range:
        """The versions among which the first bad one is; a single one where it is certain."""
        return range(self.good + 1, self.bad + 1)


def bisect(number: int, verdict_of: Callable[[int], Verdict]) -> Bisection:
    """Finds the first bad one of `number` versions, the first of which is good and the last bad.

    Each version is tried at most once. Those nearest to the middle come first, then those beside them where there is no
    verdict.
    """
    good, bad = 0, number - 1
    unknown: set[int] = set()
    while True:
        left = [one for one in range(good + 1, bad) if one not in unknown]
        if not left:
            return Bisection(good, bad)
        middle = (good + bad) // 2
        at = min(left, key=lambda one: (abs(one - middle), one))
        match verdict_of(at):
            case Verdict.GOOD:
                good = at
            case Verdict.BAD:
                bad = at
            case Verdict.CANNOT_TELL:
                unknown.add(at)


class TriedVersion(NamedTuple):
    """A version that was tried."""

    point: Point
    ran: TrialRun
    doubts: Mapping[str, str]
    """Files whose content is not certain, with the reason."""
    blind: bool
    """Whether one of the reasons is a recorded command that may change any file."""
    unplaced: bool = False
    """Whether one of the reasons is that a file may have existed before the session made it."""


class Report(NamedTuple):
    """The result of a bisection, in sentences."""

    work: str
    """The number of turns and versions that were tried."""
    result: str
    details: tuple[str, ...]


class SessionSearch:
    """One bisection, reported while it runs."""

    def __init__(
        self,
        session: Session,
        every: Sequence[Point],
        versions: FileVersions,
        run: Callable[[Version], TrialRun],
        named: Callable[[EntryIndex], str],
        tell: Callable[[str], object],
    ) -> None:
        self._session, self._run, self._named, self._tell = session, run, named, tell
        self.versions = versions
        self._ran: dict[tuple[tuple[str, bytes | None], ...], TrialRun] = {}
        self.every = every
        self.steps: list[TriedVersion] = []
        """The steps in the order in which they were tried."""

    def find(self) -> Bisection:
        """Tries both ends, then the versions between. Raises Refused where an end has another verdict than given.

        An end without a verdict counts as the user says, as in `git bisect`.
        """
        for at, verdict in ((len(self.every) - 1, Verdict.BAD), (0, Verdict.GOOD)):
            step = self._tried(at)
            if step.ran.verdict not in (verdict, Verdict.CANNOT_TELL):
                where = self._name(step.point)
                raise Refused(f"the {verdict.value} end, {where}: {_outcome(step)}{_printed(step.ran)}")
        return bisect(len(self.every), lambda at: self._tried(at).ran.verdict)

    def changed(self, found: Bisection) -> list[str]:
        """Files that differ between the last good version and the first bad one, or may differ."""
        old, new = (self.versions.at(self.every[at].entry) for at in (found.good, found.bad))
        unsure = {*old.doubts, *new.doubts}
        return [path for path in self.versions.paths if path in unsure or old.files[path] != new.files[path]]

    def report(self, found: Bisection, command: str, *, likely: bool) -> Report:
        """The result as sentences about a command as the user typed it; `likely` as for the versions."""
        words = excerpt_line(command, _WORDS)
        turns = counted(len(self.every) - 1, "turn")
        tried = sum(step.ran.seconds > 0 for step in self.steps)
        runs = sum(ran.seconds > 0 for ran in self._ran.values())
        base = safe_line(self.versions.base.title)
        if not tried:
            # Then nothing is known of the command, not even that it fails.
            looked = counted(len(self.steps), "version")
            work = f"{looked}, none could be rebuilt, over {base}"
            every = range(len(self.every))
            return Report(work, f"`{words}` was not run:", tuple(self._reasons(every)))
        unknown = len(self.steps) - tried
        # The state before the first turn is a version too: there may be one more of them than turns.
        versions = (
            f"{tried:,} of {counted(len(self.steps), 'version')}" if unknown else counted(tried, "version")
        )
        work = f"{turns}, {versions} tried in {counted(runs, 'run')}"
        work += f", {unknown:,} could not be rebuilt, over {base}" if unknown else f", over {base}"
        assumed = tuple(self._assumed()) if likely else ()
        if len(found.candidates) == 1:
            point = self.every[found.bad]
            condition = ", if no command changed a file that it does not name" if likely else ""
            result = f"{self._name(point)} is the first after which `{words}` fails{condition}"
            return Report(work, result, (*assumed, *self._first_failure(found, point)))
        result = f"one of these {len(found.candidates)} turns is the first after which `{words}` fails:"
        return Report(work, result, (*self._reasons(found.candidates), *assumed))

    def _assumed(self) -> Iterator[str]:
        """Assumptions about the files besides those about commands, where they matter."""
        some = [safe_line(path) for path in self.versions.assumed]
        if some:
            more = f", and {counted(len(some) - _NAMED, 'more file')}" if len(some) > _NAMED else ""
            yield f"assumed to be new in this session: {', '.join(some[:_NAMED])}{more}"

    def _first_failure(self, found: Bisection, point: Point) -> Iterator[str]:
        yield "this turn changed:"
        yield from (f"  {safe_line(path)}" for path in self.changed(found))
        failed = next(step.ran for step in self.steps if step.point == point)
        lines = [safe(line) for line in failed.output.splitlines() if line.strip()]
        if lines:
            yield "the command printed last:"
            yield from (f"  {safe_line(line, 200)}" for line in lines[-_LAST_LINES:])

    def _reasons(self, some: range) -> Iterator[str]:
        """Versions, each with its outcome."""
        known = {step.point: step for step in self.steps}
        for at in some[:_CANDIDATES]:
            step = known.get(self.every[at])
            why = f": {_outcome(step)}" if step is not None else ""
            yield f"  {self._name(self.every[at])}{why}"
        if len(some) > _CANDIDATES:
            yield f"  {len(some) - _CANDIDATES:,} more"

    def _name(self, point: Point) -> str:
        """A turn by its number, its last entry and its first words."""
        if point.prompt < 0:
            return f"the state before the first prompt ({self._named(point.entry)})"
        words = excerpt_line(headline(self._session, point.prompt).text, _WORDS)
        within = "in the middle of " if point.midway else ""
        return f'{within}turn {point.turn:,} ({self._named(point.entry)}) "{words}"'

    @property
    def doubted(self) -> bool:
        """Whether a version has no verdict because a recorded command may have changed its files."""
        return any(step.blind for step in self.steps)

    @property
    def unplaced(self) -> bool:
        """Whether a version has no verdict because the state of its files before the session is not recorded."""
        return any(step.unplaced for step in self.steps)

    def _tried(self, at: int) -> TriedVersion:
        point = self.every[at]
        version = self.versions.at(point.entry)
        if version.doubts:
            path, why = next(iter(version.doubts.items()))
            ran = TrialRun(Verdict.CANNOT_TELL, None, 0.0, "", f"{path}: {why}")
        else:
            files = tuple(version.files.items())
            # Turns between which no file changed are one version.
            found = self._ran.get(files)
            ran = self._ran[files] = found if found is not None else self._run(version)
        step = TriedVersion(point, ran, version.doubts, version.blind, version.unplaced)
        self.steps.append(step)
        if not step.doubts:
            self._tell(f"{self._name(point)}: {_outcome(step)}")
        return step


def base_of(session: Session, named: str | None = None) -> ProjectBase:
    """The base with a name: a folder where one has that name, else a commit; an empty name is an empty folder.

    Without a name, the last commit before the session, else the folder as it is now. Raises Refused; the caller knows the
    alternatives.
    """
    if named == "":
        return EmptyBase()
    here = Path(session.cwd)
    if named is not None and Path(named).is_dir():
        return FolderBase(Path(named))
    if not here.is_dir():
        raise Refused(f"{no_project_folder(session.cwd)}; name a folder")
    if named is not None:
        return GitBase(here, named)
    begun = session.header.get("timestamp")
    before = GitBase.before(here, begun) if isinstance(begun, str) and parse_time(begun) is not None else None
    return before or FolderBase(here, earlier=False)


def _outcome(step: TriedVersion) -> str:
    """The outcome of a version, in words."""
    ran = step.ran
    if ran.verdict is Verdict.CANNOT_TELL:
        more = len(step.doubts) - 1
        files = f", and {counted(more, 'more file')}" if more > 0 else ""
        return f"cannot tell: {safe_line(ran.why, 200)}{files}"
    return "the command passes" if ran.verdict is Verdict.GOOD else f"the command fails with exit {ran.code}"


def _printed(ran: TrialRun) -> str:
    last = next((line for line in reversed(ran.output.splitlines()) if line.strip()), "")
    return f" ({safe_line(last, 120)})" if last else ""
