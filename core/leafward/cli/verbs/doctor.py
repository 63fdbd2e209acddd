"""The verb `doctor`: checks one session, or everything that Leafward reads and keeps."""

from __future__ import annotations

import os
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

from leafward.agents.registry import agent_named
from leafward.base import config as settings
from leafward.base.errors import Refused
from leafward.base.figures import counted, first_few
from leafward.base.safe_text import pasted_path, safe_line, shell_word
from leafward.branches.healing.healing import NO_BEGINNING, healing
from leafward.catalogue.backups import is_kept_in
from leafward.cli.hook_log import failures
from leafward.cli.output.page import Page, emit_json, page, say, warning, wrapped
from leafward.cli.output.progress_line import ProgressLine
from leafward.cli.output.written import after
from leafward.cli.selection import opened
from leafward.cli.settings import say_excluded
from leafward.doctor.checkup import EMPTY, checkup, left_behind
from leafward.doctor.litter import clear
from leafward.doctor.problem import Problem
from leafward.doctor.session_problems import check
from leafward.session.source import GOES_ON

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.branches.healing.refused_blocks import HealedDifference
    from leafward.cli.host import CheckApp
    from leafward.doctor.checkup import Checkup
    from leafward.session.session import Session

_MOVED = "cwd-missing"
_LITTER = "litter"
_LITTER_SHOWN = 5
"""Most pieces of litter that the text output names."""
_HOOK_FAILURES = 3
"""Number of failures of hooks that are shown, the last ones."""


def doctor(selector: str | None, as_json: bool, check_app: CheckApp | None = None) -> int:
    """`leafward doctor`; `check_app` checks what only the application understands: its keymap and its themes."""
    return _one(selector, as_json) if selector is not None else _everything(as_json, check_app)


def _one(selector: str, as_json: bool) -> int:
    with opened(selector) as session:
        problems = check(session)
        changes = _healing(session)
        if as_json:
            emit_json(
                {
                    "session": str(session.path),
                    "problems": [_json(problem) for problem in problems],
                    "heal": [
                        {"code": one.code, "entry": session.columns.id_at(one.entry), "text": one.text}
                        for one in changes
                    ],
                }
            )
        else:
            if problems or not changes:
                say(_lines(problems, page()))
            if changes:
                counts = Counter(one.code for one in changes)
                what = ", ".join(f"{number:,} {code}" for code, number in counts.items())
                but = "" if problems else "no damage, but "
                says = f"{but}its agent or the provider may reject parts of it ({what})"
                say(wrapped(says, page(), below=""))
                say(
                    page().style(
                        f"leafward heal {shell_word(selector)} --dry-run  shows the changes", "faint"
                    )
                )
    return 0


def _healing(session: Session) -> tuple[HealedDifference, ...]:
    """The changes that would heal a session; none if it has no messages.

    A sub-agent that goes on in the conversation of another session is sent with that one's beginning.
    """
    begun = any(note.code == GOES_ON for note in session.source.notes)
    try:
        changes = healing(session, settings.load()[0]).changes
    except Refused:
        return ()
    return tuple(one for one in changes if not (begun and one.code == NO_BEGINNING))


def _json(problem: Problem) -> dict[str, Any]:
    found: dict[str, Any] = {
        "code": problem.code,
        "entry": problem.entry,
        "offset": problem.offset,
        "text": problem.text,
    }
    return found if problem.session is None else {"session": problem.session, **found}


def _lines(problems: Sequence[Problem], page: Page) -> Iterator[str]:
    if not problems:
        yield "nothing wrong"
        return
    width = max(len(problem.code) for problem in problems)
    for problem in problems:
        where = [safe_line(problem.entry, 40)] if problem.entry is not None else []
        if problem.offset is not None:
            where.append(f"byte {problem.offset:,}")
        place = f"  ({', '.join(where)})" if where else ""
        *lines, last = warning(f"{problem.code:<{width}}  {safe_line(problem.text)}{place}", page)
        if place and last.endswith(place):
            last = last.removesuffix(place) + page.style(place, "faint")
        yield from (*lines, last)


def _everything(as_json: bool, check_app: CheckApp | None) -> int:
    config, unfit = settings.load()
    app_problems = check_app(config) if check_app is not None else None
    with ProgressLine() as line:
        show = partial(line.show, "checking sessions")
        report = checkup(config, unfit, app_problems, failures()[-_HOOK_FAILURES:], show)
    if as_json:
        index = report.index
        emit_json(
            {
                "sessions": len(report.files),
                "excluded": report.excluded,
                "index": {"path": str(index.path), "sessions": len(index.cards), "rejected": index.rejected},
                "problems": [_json(problem) for problem in report.problems],
                "folders": {name: str(folder) for name, folder in report.folders.items()},
                "installed": report.installed,
                "stores": report.stores,
            }
        )
        return 0
    say(_everything_text(report, page()))
    say_excluded(report.excluded)
    return 0


def clear_litter(dry_run: bool, as_json: bool) -> int:
    """`leafward doctor --clear-litter`."""
    left = left_behind(settings.load()[0])
    found = left if dry_run else list(clear(left))
    gone, stays = ([one for one in found if bool(one.stays) is kept] for kept in (False, True))
    removed = counted(len(gone), "file was", "files were") if gone and not dry_run else ""
    with after(f"{removed} removed: {first_few([str(one.path) for one in gone], 3)}" if removed else ""):
        if as_json:
            emit_json(
                {
                    "cleared": [{"path": str(one.path), "bytes": one.size} for one in gone],
                    "left": [
                        {"path": str(one.path), "bytes": one.size, "reason": one.stays} for one in stays
                    ],
                    "dry_run": dry_run,
                    "diagnostics": [],
                }
            )
            return 0
        verb = "would remove" if dry_run else "removed"
        say(f"{verb} {pasted_path(str(one.path))}, {counted(one.size, 'byte')}" for one in gone)
        say(f"stays: {pasted_path(str(one.path))}: {one.stays}" for one in stays)
        if not found:
            say("nothing to clear: no interrupted write left files")
    return 0


def _everything_text(found: Checkup, page: Page) -> Iterator[str]:
    for agent, roots in found.stores.items():
        for root in roots:
            missing = "" if os.path.isdir(root) else "  (not there)"
            yield f"{safe_line(agent):<8} {safe_line(root)}{missing}"
    for name, folder in found.folders.items():
        missing = "" if folder.is_dir() else "  (not there yet)"
        yield f"{name:<8} {safe_line(str(folder))}{missing}"
    for agent, file in found.installed.items():
        yield f"{'hook':<8} {safe_line(file)}  (in the compactions of {agent_named(agent).title})"
    yield ""
    of_sessions: dict[str, list[Problem]] = {}
    others = [problem for problem in found.problems if problem.session is None]
    for problem in found.problems:
        if problem.session is not None:
            of_sessions.setdefault(problem.session, []).append(problem)
    if others:
        yield from _lines(_first_litter(others), page)
        yield ""
    # Many sessions of a missing folder share one line.
    alone = {
        path: one[0].text for path, one in of_sessions.items() if [each.code for each in one] == [_MOVED]
    }
    together = {text: number for text, number in Counter(alone.values()).items() if number > 1}
    for path, problems in of_sessions.items():
        if alone.get(path) not in together:
            yield page.style(safe_line(path), "bold")
            yield from (f"  {line}" for line in _lines(problems, page))
    for text, number in together.items():
        about = page.style(f"  ({number:,} sessions, nothing else is wrong in them)", "faint")
        yield f"{page.style('!', 'warn')} {_MOVED}  {safe_line(text)}{about}"
    kept = is_kept_in()
    yield _result(found.problems, len(found.files), sum(kept(str(file)) for file in found.files))


def _first_litter(problems: Sequence[Problem]) -> list[Problem]:
    """The problems with the first of the litter alone, and the number of the rest: one command removes all of it."""
    shown, litter = [], 0
    for problem in problems:
        litter += problem.code == _LITTER
        if problem.code != _LITTER or litter <= _LITTER_SHOWN:
            shown.append(problem)
    if litter > _LITTER_SHOWN:
        shown.append(Problem(_LITTER, f"{litter - _LITTER_SHOWN:,} more; --json lists all"))
    return shown


def _result(problems: Sequence[Problem], sessions: int, kept: int) -> str:
    """Numbers of sessions checked and problems found, each counted once: in sessions, as empty files, and elsewhere."""
    codes = Counter(problem.code == EMPTY for problem in problems if problem.session is not None)
    damaged = {problem.session for problem in problems if problem.code != EMPTY} - {None}
    text = "no session to check"
    if sessions:
        found = f"{counted(codes[False], 'problem')} in {len(damaged):,} of them"
        copies = f" ({counted(kept, 'kept copy', 'kept copies')} among them)" if kept else ""
        text = (
            f"{counted(sessions, 'session')} checked{copies}, {found if damaged else 'nothing wrong in any'}"
        )
    besides = [counted(codes[True], "empty file")] if codes[True] else []
    if others := len(problems) - codes.total():
        besides.append(f"{counted(others, 'problem')} outside sessions")
    return "; ".join([text, *besides])
