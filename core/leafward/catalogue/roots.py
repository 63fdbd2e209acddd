"""The places in which sessions are looked for: the agents' own stores, or the folders and files named."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents.base import Listing, Stamp, Trouble
from leafward.agents.recognition import recognised_in, within
from leafward.agents.registry import all_agents
from leafward.base.paths import is_draft
from leafward.base.regular_files import open_regular
from leafward.catalogue.backups import kept_root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from leafward.agents.base import Agent
    from leafward.base.config import Config

_SUFFIXES = (".jsonl", ".jsonl.zst")
_NOT_ENTERED = frozenset({".git", "node_modules", "__pycache__"})


def scope(config: Config, paths: Sequence[Path], env: Mapping[str, str]) -> tuple[str, ...]:
    """The folders and files that a listing covers: those named, else the roots of every agent."""
    if paths:
        return tuple(os.path.abspath(os.path.expanduser(path)) for path in paths)
    return tuple(str(root) for agent in all_agents() for root in _searched(agent, config, env))


def _roots(agent: Agent, config: Config, env: Mapping[str, str]) -> tuple[Path, ...]:
    """An agent's own folders, its configured extra folders, and the folder of our copies of its sessions."""
    return (*_searched(agent, config, env), kept_root(agent.name))


def stores(config: Config, env: Mapping[str, str]) -> list[tuple[Agent, Path]]:
    """Every folder in which sessions are looked for if none is named, with the agent that it belongs to."""
    return [(agent, root) for agent in all_agents() for root in _roots(agent, config, env)]


def _searched(agent: Agent, config: Config, env: Mapping[str, str]) -> tuple[Path, ...]:
    roots = agent.roots(config, env)
    extra = config.extra_roots.get(agent.name)
    return roots if extra is None else (*roots, *agent.roots(config._replace(roots={agent.name: extra}), env))


def listings(
    config: Config,
    paths: Sequence[Path],
    env: Mapping[str, str],
    known: Callable[[str], bool],
    stop: Callable[[], bool],
    trouble: list[Trouble],
) -> Iterator[Listing]:
    """Every file that may be a session, folder by folder, each once. In the agents' stores no file is opened.

    Under named folders, files with other endings count if they begin like a session; `known` tells which of them did before
    and need no look. A file that is named itself always counts. Folders that cannot be listed are added to `trouble`.
    """
    if not paths:
        for agent in all_agents():
            try:
                yield from agent.discover(_roots(agent, config, env), stop, trouble)
            except Exception as error:
                # One broken store must not keep the others from being listed.
                trouble.append(Trouble(agent.title, f"cannot be searched: {type(error).__name__}: {error}"))
        return
    found: dict[str, Listing] = {}
    for listing in _named(paths, known, stop, trouble):
        merged = found.setdefault(listing.folder, listing)
        merged.files.update(listing.files)
    for agent in all_agents():
        agent.gather(found)
    yield from (listing for listing in found.values() if listing.files)


def _named(
    paths: Sequence[Path], known: Callable[[str], bool], stop: Callable[[], bool], trouble: list[Trouble]
) -> Iterator[Listing]:
    for argument in paths:
        path = os.path.abspath(os.path.expanduser(argument))
        inside = within(path, trouble)
        if inside is not None:
            yield inside
            continue
        try:
            found = os.stat(path)
        except OSError as error:
            trouble.append(Trouble(path, error.strerror or str(error)))
            continue
        if stat.S_ISDIR(found.st_mode):
            yield from _below(path, known, stop, trouble)
        elif stat.S_ISREG(found.st_mode):
            folder, name = os.path.split(path)
            yield Listing(folder, {name: _stamp(found)}, "")
        else:
            trouble.append(Trouble(path, "neither a file nor a folder"))


def _below(
    root: str, known: Callable[[str], bool], stop: Callable[[], bool], trouble: list[Trouble]
) -> Iterator[Listing]:
    """Sessions anywhere under a folder; the agent lists its own store. Linked folders are not entered, linked files are listed."""
    folders = [root]
    while folders and not stop():
        folder = folders.pop()
        files: dict[str, Stamp] = {}
        below: list[str] = []
        names: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    names.append(entry.name)
                    try:
                        if entry.is_dir(follow_symlinks=False):
                            if entry.name not in _NOT_ENTERED:
                                below.append(entry.path)
                        elif entry.is_file() and (
                            entry.name.endswith(_SUFFIXES)
                            or (
                                not is_draft(entry.name)
                                and (known(entry.path) or _begins_like_one(entry.path))
                            )
                        ):
                            files[entry.name] = _stamp(entry.stat())
                    except OSError as error:
                        trouble.append(Trouble(entry.path, error.strerror or str(error)))
        except OSError as error:
            trouble.append(Trouble(folder, error.strerror or str(error)))
        holder = next((agent for agent in all_agents() if agent.holds(folder, names)), None)
        if holder is not None:
            yield from holder.discover((Path(folder),), stop, trouble)
            continue
        folders += below
        if files:
            yield Listing(folder, files, "")


def _stamp(found: os.stat_result) -> Stamp:
    return [found.st_size, found.st_mtime_ns, found.st_ino]


def _begins_like_one(path: str) -> bool:
    try:
        with open_regular(path) as file:
            return recognised_in(file) is not None
    except OSError:
        return False
