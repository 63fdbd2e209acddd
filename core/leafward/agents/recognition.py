"""Tells whose a session file is: by its first bytes, else by the store in which it lies."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents.registry import agent_named, agent_names, all_agents, enclosing, native
from leafward.base.regular_files import open_buffered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import BinaryIO

    from leafward.agents.base import Agent, Excerpt, Listing, Trouble
    from leafward.session.session import Session

_HEAD_SIZE = 4096
"""Bytes that are enough to recognise a session file."""

_LONG_HEAD_SIZE = 1 << 20
"""Bytes to read where the first rows are longer: the type of a row may stand behind all of its content."""

_ROWS = 4
"""First rows that are checked."""

_MARK = 16
"""Bytes within which the first row begins, behind a byte order mark and blanks."""

_DEEPEST = 8
"""Most folders between a session file and its store."""

_DATABASE = b"SQLite format 3\0"


def recognised(head: bytes) -> Agent | None:
    """The agent of a file that begins with these bytes; None where no agent recognises it."""
    # One after the other, since loading an agent takes longer than recognising its file.
    return next((agent for agent in map(agent_named, agent_names()) if agent.recognises(head)), None)


def recognised_in(file: BinaryIO) -> Agent | None:
    """The agent of a file that was just opened; None where no agent recognises it. Raises OSError."""
    head = file.read(_HEAD_SIZE)
    found = recognised(head)
    if found is None and len(head) == _HEAD_SIZE and b"{" in head[:_MARK] and head.count(b"\n") < _ROWS:
        found = recognised(head + file.read(_LONG_HEAD_SIZE))
    return found


def agent_of(path: Path, stores: Callable[[], Iterable[tuple[Agent, Path]]] = tuple) -> Agent:
    """The agent of a session file, by its first bytes, else by its store; the native one where neither tells.

    A store is recognised by its content; `stores` names further ones (`catalogue.roots.stores`), and is asked last. Where the first
    bytes do not tell, a whole store may be listed, so call this in workers. For an open session use `agent_behind`.
    """
    try:
        if path.is_file():
            with open_buffered(path) as file:
                if file.read(len(_DATABASE)) == _DATABASE:
                    return agent_named("opencode")
                file.seek(0)
                found = recognised_in(file)
            return found or _holder(path) or _owner(path, stores()) or native()
    except OSError:
        return native()
    inside = within(path)
    return agent_named(inside.agent) if inside is not None else native()


def agent_behind(session: Session) -> Agent:
    """The agent of an open session: it is already known, so nothing is read."""
    from leafward.session.foreign import ForeignFiles

    source = session.source
    if isinstance(source, ForeignFiles) and source.agent_name in agent_names():
        return agent_named(source.agent_name)
    return native()


def _holder(path: Path) -> Agent | None:
    """The agent in whose store a file lies as a session: the file's first line may be damaged."""
    absolute = os.path.abspath(path)
    for folder in islice(Path(absolute).parents, _DEEPEST):
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        for agent in all_agents():
            if agent.holds(str(folder), names):
                return agent if _lists(agent, folder, absolute) else None
    return None


def _owner(path: Path, stores: Iterable[tuple[Agent, Path]]) -> Agent | None:
    """The first agent that lists a file in one of these stores."""
    absolute = os.path.abspath(path)
    return next(
        (
            agent
            for agent, root in stores
            if Path(absolute).is_relative_to(root) and _lists(agent, root, absolute)
        ),
        None,
    )


def _lists(agent: Agent, store: Path, absolute: str) -> bool:
    parent, name = os.path.split(absolute)
    listings = agent.discover((store,), lambda: False, [])
    return any(name in listing.files for listing in listings if listing.folder == parent)


def within(path: Path | str, trouble: list[Trouble] | None = None) -> Listing | None:
    """The sessions in a file that holds many, or the session that a path into such a file names; None for any other path.

    Sessions that no path can name are added to `trouble`.
    """
    absolute = os.path.abspath(path)
    return next(
        (found for agent in enclosing() if (found := agent.within(absolute, trouble)) is not None), None
    )


def excerpt(path: str) -> Excerpt | None:
    """A session in a file that holds many, to be copied; None for any other path. Raises OSError, NotASession."""
    absolute = os.path.abspath(path)
    return next((found for agent in enclosing() if (found := agent.excerpt(absolute)) is not None), None)


def strays(path: str) -> dict[str, int]:
    """The numbers of messages whose session is missing, in a file that holds many sessions, by the session that they name."""
    return {name: count for agent in enclosing() for name, count in agent.strays(path).items()}


def names_one(path: Path) -> bool:
    """Whether a path names a single session: a file that holds no others, or a session inside a file that does."""
    inside = within(path)
    return path.is_file() if inside is None else os.path.abspath(path) != inside.folder


def is_there(path: str) -> bool:
    """Whether the file of a session exists, or the file that holds it."""
    return os.path.exists(path) or os.path.isfile(os.path.dirname(path))
