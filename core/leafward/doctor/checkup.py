"""A check of everything: the configuration, all sessions, and what Leafward keeps or left behind itself."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents.installation import installation_problems, installed_files
from leafward.agents.recognition import agent_of, is_there, strays
from leafward.agents.registry import all_agents, unknown_roots
from leafward.base import paths
from leafward.base.regular_files import read_regular
from leafward.branches.fork import left_imports
from leafward.catalogue.exclusions import EXCLUDED, Exclusion
from leafward.catalogue.index import Index
from leafward.catalogue.roots import listings, stores
from leafward.catalogue.trash import without_note
from leafward.doctor.litter import CopyLimits, litter
from leafward.doctor.problem import Problem
from leafward.doctor.session_problems import check_files
from leafward.doctor.store_problems import (
    litter_problems,
    lost_sidecars,
    stray_messages,
    trash_problems,
    waiting_imports,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from leafward.agents.base import Listing, Trouble
    from leafward.base.config import Config
    from leafward.doctor.litter import Litter
    from leafward.session.session import Session

THEMES = "themes"
"""The folder of the user's themes, beside `config.toml`."""
EMPTY = "empty"
"""Code of a file without a byte, which is no session: in no list, and not among those checked."""


@dataclass(frozen=True, slots=True)
class Checkup:
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


def checkup(
    config: Config,
    unfit: Iterable[object],
    app_problems: Iterable[tuple[str, str]] | None,
    hook_failures: Iterable[str],
    progress: Callable[[int, int], object],
) -> Checkup:
    """Checks everything; `progress` gets the number of checked sessions, and their total.

    `unfit` is what the configuration has wrong, `app_problems` what the application has to say of its part; None without it.
    """
    problems = [Problem("config", str(problem)) for problem in unfit]
    problems += [Problem("config", text) for text in unknown_roots(config)]
    if app_problems is not None:
        problems += [Problem(code, text) for code, text in app_problems]
    else:
        problems += _theme_problems(paths.config_dir() / THEMES)
    trouble: list[Trouble] = []
    listed = _listed(config, trouble)
    problems += [Problem("unreadable-folder", f"{one.path}: {one.reason}") for one in trouble]
    exclusion = Exclusion(config.exclude, os.environ)
    problems += [
        Problem(EMPTY, "0 bytes: a session began and nothing was said", offset=0, session=path)
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
    problems += _session_problems(files, config, lambda done: progress(done, len(files)))
    problems += trash_problems(without_note())
    problems += waiting_imports(left_imports())
    problems += (Problem("hook", text) for text in (*installation_problems(), *hook_failures))
    problems += litter_problems(_left_behind(config, listed))
    folders = {
        "config": paths.config_dir(),
        "cache": paths.cache_dir(),
        "data": paths.data_dir(),
        "state": paths.state_dir(),
    }
    return Checkup(
        folders, _roots(config), installed_files(), index, files, len(there) - len(files), problems
    )


def left_behind(config: Config) -> list[Litter]:
    """The litter in all stores and in Leafward's own folders."""
    return _left_behind(config, _listed(config, []))


def _left_behind(config: Config, listed: Iterable[Listing]) -> list[Litter]:
    folders = [*chain(*_roots(config).values()), *(one.folder for one in listed)]
    return litter(folders, copies=CopyLimits.of(config))


def _listed(config: Config, trouble: list[Trouble]) -> list[Listing]:
    return list(listings(config, (), os.environ, lambda _path: False, lambda: False, trouble))


def _roots(config: Config) -> dict[str, list[str]]:
    return {agent.name: [str(root) for root in agent.roots(config, os.environ)] for agent in all_agents()}


def _session_problems(
    files: Sequence[Path], config: Config, progress: Callable[[int], object]
) -> list[Problem]:
    """Problems of sessions, and of sidecars without a session."""
    books: set[Path] = set()

    def opened(path: Path) -> Session:
        session = agent_of(path, lambda: stores(config, os.environ)).open(path)
        books.add(session.book_path)
        return session

    problems = list(check_files(sorted(files), opened, progress))
    return [*problems, *lost_sidecars(books, is_there)]


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
