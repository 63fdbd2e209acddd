"""The verb `bisect`: the turn after which a command fails, found by running it on the rebuilt files in a temporary folder."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from leafward.base.errors import Refused
from leafward.base.safe_text import safe, safe_line
from leafward.base.times import parse_time
from leafward.cli.facts import id_of
from leafward.cli.model_request import cancellable
from leafward.cli.output import emit_json, note, page, plural, say
from leafward.cli.selection import opened
from leafward.files.bisection import (
    Bisection,
    FileVersions,
    FolderBase,
    GitBase,
    Ran,
    Trial,
    Verdict,
    bisect,
    points,
)
from leafward.session import journal
from leafward.session.headline import headline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from leafward.cli.branch_options import BisectOptions
    from leafward.cli.output import Page
    from leafward.files.bisection import Point, Version
    from leafward.files.bisection.base import ProjectBase
    from leafward.session.session import Session

_WORDS = 80
_CANDIDATES = 12
"""Turns that are listed where it cannot be told."""
_LAST_LINES = 8
"""Of what the command printed where it failed first."""


class _Step(NamedTuple):
    """A version that was looked at."""

    point: Point
    ran: Ran
    doubts: Mapping[str, str]


class _Search:
    """One bisection, told while it goes on."""

    def __init__(
        self,
        session: Session,
        every: Sequence[Point],
        versions: FileVersions,
        run: Callable[[Version], Ran],
        tell: Callable[[str], object],
        *,
        likely: bool,
    ) -> None:
        self.likely = likely
        self._session, self._versions, self._run, self._tell = session, versions, run, tell
        self._ran: dict[tuple[tuple[str, bytes | None], ...], Ran] = {}
        self.every = every
        self.steps: list[_Step] = []

    def find(self) -> Bisection:
        """Tries both ends, then what lies between. Raises Refused where an end is not what it was said to be.

        An end that cannot be told is what the user says of it, as with `git bisect`.
        """
        for at, wanted in ((len(self.every) - 1, Verdict.BAD), (0, Verdict.GOOD)):
            step = self._tried(at)
            if step.ran.verdict not in (wanted, Verdict.CANNOT_TELL):
                entry = id_of(self._session, step.point.entry)
                raise Refused(f"{wanted.value} entry {entry}: {_outcome(step)}{_printed(step.ran)}")
        return bisect(len(self.every), lambda at: self._tried(at).ran.verdict)

    def _tried(self, at: int) -> _Step:
        point = self.every[at]
        version = self._versions.at(point.entry)
        if version.doubts:
            path, why = next(iter(version.doubts.items()))
            ran = Ran(Verdict.CANNOT_TELL, None, 0.0, "", f"{path}: {why}")
        else:
            files = tuple(version.files.items())
            # Turns between which no file changed are one version.
            found = self._ran.get(files)
            ran = self._ran[files] = found if found is not None else self._run(version)
        step = _Step(point, ran, version.doubts)
        self.steps.append(step)
        if not step.doubts:
            self._tell(f"{_turn(self._session, point)}: {_outcome(step)}")
        return step


def run_bisect(selector: str, command: Sequence[str], options: BisectOptions, as_json: bool) -> int:
    """`leafward bisect`."""
    harmless = [tuple(command), *(tuple(shlex.split(one)) for one in options.harmless)]
    if not all(harmless):
        raise click.UsageError("--harmless names a program")
    with opened(selector) as session, cancellable() as stop:
        every = points(session, session.find(options.good), session.find(options.bad))
        base = _base_of(session, options.base)
        versions = FileVersions(session, every[-1].entry, base, None if options.likely else harmless, stop)
        if not versions.paths:
            raise Refused("no call up to the bad entry touches a file of the project")
        with Trial(base, stop) as trial:
            search = _Search(
                session,
                every,
                versions,
                lambda one: trial.run(one, command, options.timeout),
                _teller(as_json),
                likely=options.likely,
            )
            found = search.find()
        written = _labelled(session, every, found, options.label) if options.label is not None else None
        if as_json:
            emit_json(_document(session, search, found, versions, command, written))
        else:
            say(_text(session, search, found, versions, command, page()))
            if written is not None:
                note(f"labelled {safe_line(written)}; `leafward undo` takes that back")
    return 0 if len(found.candidates) == 1 else 1


def _base_of(session: Session, named: str | None) -> ProjectBase:
    """A folder where one has that name, else a commit. Where nothing is named the last commit before the session, else the folder as it is now."""
    here = Path(session.cwd)
    if named is not None and Path(named).is_dir():
        return FolderBase(Path(named))
    if not here.is_dir():
        raise Refused(
            f"{safe_line(session.cwd)}, the session's folder, is not there; name a folder with --base"
        )
    if named is not None:
        return GitBase(here, named)
    begun = session.header.get("timestamp")
    before = GitBase.before(here, begun) if isinstance(begun, str) and parse_time(begun) is not None else None
    return before or FolderBase(here, earlier=False)


def _labelled(session: Session, every: Sequence[Point], found: Bisection, text: str) -> str | None:
    """Labels the turn that was found; None where there is more than one."""
    point = every[found.bad]
    if len(found.candidates) > 1 or point.prompt < 0:
        return None
    journal.label(session, point.prompt, text)
    return id_of(session, point.prompt)


def _teller(as_json: bool) -> Callable[[str], object]:
    if as_json and not sys.stderr.isatty():
        return lambda _text: None
    return note


def _turn(session: Session, point: Point) -> str:
    words = (
        safe_line(headline(session, point.prompt).text, _WORDS)
        if point.prompt >= 0
        else "before the first prompt"
    )
    return f"turn {point.turn:,} ({id_of(session, point.entry)}) {words}"


def _outcome(step: _Step) -> str:
    ran = step.ran
    if ran.verdict is Verdict.CANNOT_TELL:
        more = len(step.doubts) - 1
        return f"cannot tell: {safe_line(ran.why, 200)}" + (
            f", and {plural(more, 'more file')}" if more > 0 else ""
        )
    return "the command passes" if ran.verdict is Verdict.GOOD else f"the command fails with {ran.code}"


def _printed(ran: Ran) -> str:
    last = next((line for line in reversed(ran.output.splitlines()) if line.strip()), "")
    return f" ({safe_line(last, 120)})" if last else ""


def _changed(versions: FileVersions, before: Point, after: Point) -> list[str]:
    """Files that differ between two versions, or may."""
    old, new = versions.at(before.entry), versions.at(after.entry)
    unsure = {*old.doubts, *new.doubts}
    return [path for path in versions.paths if path in unsure or old.files[path] != new.files[path]]


def _text(
    session: Session,
    search: _Search,
    found: Bisection,
    versions: FileVersions,
    command: Sequence[str],
    here: Page,
) -> Iterator[str]:
    every, words = search.every, safe_line(shlex.join(command), _WORDS)
    runs = sum(step.ran.seconds > 0 for step in search.steps)
    yield f"{plural(len(every) - 1, 'turn')} over {safe_line(versions.base)}, {plural(len(search.steps), 'version')} looked at, {plural(runs, 'run')}"
    if len(found.candidates) == 1:
        point = every[found.bad]
        likely = ", if no command changed a file that it does not name" if search.likely else ""
        yield here.style(f"`{words}` fails since {_turn(session, point)}{likely}", "bold")
        yield "it changed:"
        yield from (f"  {safe_line(path)}" for path in _changed(versions, every[found.good], point))
        failed = next(step.ran for step in search.steps if step.point == point)
        lines = [safe(line) for line in failed.output.splitlines() if line.strip()]
        if lines:
            yield "the command printed last:"
            yield from (f"  {safe_line(line, 200)}" for line in lines[-_LAST_LINES:])
        return
    yield here.style(f"cannot tell since which of {len(found.candidates)} turns `{words}` fails:", "bold")
    known = {step.point: step for step in search.steps}
    for at in found.candidates[:_CANDIDATES]:
        step = known.get(every[at])
        why = f": {_outcome(step)}" if step is not None else ""
        yield f"  {_turn(session, every[at])}{why}"
    if len(found.candidates) > _CANDIDATES:
        yield f"  {len(found.candidates) - _CANDIDATES:,} more"
    if any(step.doubts for step in search.steps) and not search.likely:
        yield "--harmless PROGRAM says that a command changes no file, --likely that none does but those that it names"


def _document(
    session: Session,
    search: _Search,
    found: Bisection,
    versions: FileVersions,
    command: Sequence[str],
    labelled: str | None,
) -> dict[str, Any]:
    every = search.every

    def turn(point: Point) -> dict[str, Any]:
        said = headline(session, point.prompt).text if point.prompt >= 0 else None
        return {
            "entry": id_of(session, point.entry),
            "turn": point.turn,
            "prompt": id_of(session, point.prompt) if point.prompt >= 0 else None,
            "headline": said,
        }

    certain = len(found.candidates) == 1
    return {
        "good": id_of(session, every[0].entry),
        "bad": id_of(session, every[-1].entry),
        "base": versions.base,
        "command": list(command),
        "likely": search.likely,
        "first_bad": turn(every[found.bad])
        | {"files": _changed(versions, every[found.good], every[found.bad])}
        if certain
        else None,
        "candidates": [turn(every[at]) for at in found.candidates],
        "steps": [
            {
                **turn(step.point),
                "outcome": step.ran.verdict.value,
                "code": step.ran.code,
                "seconds": round(step.ran.seconds, 3),
                "reason": step.ran.why or None,
                "doubts": [{"path": path, "reason": why} for path, why in list(step.doubts.items())],
                "output": step.ran.output,
            }
            for step in search.steps
        ],
        "labelled": labelled,
        "diagnostics": [],
    }
