"""The verb `doctor`: checks one session, or everything that Leafward reads and keeps."""

from __future__ import annotations

import os
import tomllib
from collections import Counter
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leafward.agents.installation import installation_problems, installed_files
from leafward.agents.recognition import agent_of, is_there, strays
from leafward.agents.registry import agent_named, all_agents, unknown_roots
from leafward.base import config as settings
from leafward.base import paths
from leafward.base.errors import Refused
from leafward.base.figures import counted, first_few
from leafward.base.regular_files import read_regular
from leafward.base.safe_text import pasted_path, safe_line, shell_word
from leafward.branches.fork import left_imports
from leafward.branches.healing.healing import NO_BEGINNING, healing
from leafward.catalogue.backups import is_kept_in
from leafward.catalogue.exclusions import EXCLUDED, Exclusion
from leafward.catalogue.index import Index
from leafward.catalogue.roots import listings, stores
from leafward.catalogue.trash import without_note
from leafward.cli.hook_log import failures
from leafward.cli.output.page import Page, emit_json, page, say, warning, wrapped
from leafward.cli.output.progress_line import ProgressLine
from leafward.cli.output.written import after
from leafward.cli.selection import opened
from leafward.cli.settings import say_excluded
from leafward.doctor.litter import CopyLimits, clear, litter
from leafward.doctor.problem import Problem
from leafward.doctor.session_problems import check, check_files
from leafward.doctor.store_problems import (
    litter_problems,
    lost_sidecars,
    stray_messages,
    trash_problems,
    waiting_imports,
)
from leafward.session.source import GOES_ON

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.agents.base import Trouble
    from leafward.branches.healing.refused_blocks import HealedDifference
    from leafward.cli.host import CheckApp
    from leafward.session.session import Session

THEMES = "themes"
"""The folder of the user's themes, beside `config.toml`."""
_MOVED = "cwd-missing"
_EMPTY = "empty"
"""Code of a file without a byte, which is no session: in no list, and not among those checked."""
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


@dataclass(frozen=True, slots=True)
class _Report:
    """Results of a check of everything."""

    folders: dict[str, Path]
    stores: dict[str, list[str]]
    installed: dict[str, str]
    """The file of each agent that runs Leafward when the agent compacts."""
    index: Index
    files: list[Path]
    """The session files that were checked."""
    excluded: int
    """Session files that the configuration leaves out."""
    problems: list[Problem]


def _everything(as_json: bool, check_app: CheckApp | None) -> int:
    report = _checked(check_app)
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


def _checked(check_app: CheckApp | None) -> _Report:
    """Checks the configuration, all sessions, and files left behind by Leafward itself."""
    config, found = settings.load()
    problems = [Problem("config", str(problem)) for problem in found]
    problems += [Problem("config", text) for text in unknown_roots(config)]
    if check_app is not None:
        problems += [Problem(code, text) for code, text in check_app(config)]
    else:
        problems += _theme_problems(paths.config_dir() / THEMES)
    trouble: list[Trouble] = []
    listed = list(listings(config, (), os.environ, lambda _path: False, lambda: False, trouble))
    problems += [Problem("unreadable-folder", f"{one.path}: {one.reason}") for one in trouble]
    exclusion = Exclusion(config.exclude, os.environ)
    problems += [
        Problem(_EMPTY, "0 bytes: a session began and nothing was said", offset=0, session=path)
        for listing in listed
        for name in listing.empty
        if not exclusion(path := os.path.join(listing.folder, name))
    ]
    for folder in dict.fromkeys(listing.folder for listing in listed):
        problems += stray_messages(folder, strays(folder))
    index = Index()
    concealed = {path for path, card in index.cards.items() if card.problem == EXCLUDED}
    there = [os.path.join(listing.folder, name) for listing in listed for name in listing.files]
    files = [Path(path) for path in there if not exclusion(path) and path not in concealed]
    problems += _session_problems(files, config)
    problems += trash_problems(without_note())
    problems += waiting_imports(left_imports())
    problems += (Problem("hook", text) for text in (*installation_problems(), *failures()[-_HOOK_FAILURES:]))
    roots = {agent.name: [str(root) for root in agent.roots(config, os.environ)] for agent in all_agents()}
    problems += litter_problems(
        litter([*chain(*roots.values()), *(one.folder for one in listed)], copies=CopyLimits.of(config))
    )
    folders = {
        "config": paths.config_dir(),
        "cache": paths.cache_dir(),
        "data": paths.data_dir(),
        "state": paths.state_dir(),
    }
    return _Report(folders, roots, installed_files(), index, files, len(there) - len(files), problems)


def _session_problems(files: Sequence[Path], config: settings.Config) -> list[Problem]:
    """Problems of sessions, and of sidecars without a session; shows the progress on a terminal."""
    books: set[Path] = set()

    def opened_one(path: Path) -> Session:
        session = agent_of(path, lambda: stores(config, os.environ)).open(path)
        books.add(session.book_path)
        return session

    with ProgressLine() as line:
        show = partial(line.show, "checking sessions", total=len(files))
        problems = list(check_files(sorted(files), opened_one, show))
    return [*problems, *lost_sidecars(books, is_there)]


def clear_litter(dry_run: bool, as_json: bool) -> int:
    """`leafward doctor --clear-litter`."""
    config, _ = settings.load()
    roots = [str(root) for agent in all_agents() for root in agent.roots(config, os.environ)]
    folders = [
        listing.folder for listing in listings(config, (), os.environ, lambda _path: False, lambda: False, [])
    ]
    left = litter([*roots, *folders], copies=CopyLimits.of(config))
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


def _theme_problems(folder: Path) -> Iterator[Problem]:
    """User themes that cannot be parsed; without the application nothing more can be checked."""
    try:
        files = sorted(folder.glob("*.toml"))
    except OSError as error:
        yield Problem("theme", f"{folder}: {error.strerror or error}")
        return
    for file in files:
        try:
            tomllib.loads(read_regular(file).decode("utf-8-sig"))
        except (OSError, ValueError, RecursionError) as error:
            yield Problem("theme", f"{file}: {error}")


def _everything_text(found: _Report, page: Page) -> Iterator[str]:
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
    codes = Counter(problem.code == _EMPTY for problem in problems if problem.session is not None)
    damaged = {problem.session for problem in problems if problem.code != _EMPTY} - {None}
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
