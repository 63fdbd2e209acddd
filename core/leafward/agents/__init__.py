"""The known agents, by name. All rooms above ask here and know no agent themselves.

Each has a package: where its sessions are, how they are read, resumed, forked and converted. `base` has the protocol of an
agent, `hooks` the one of its hooks, `conversation` what a conversion is made from, `fork_draft` a fork before it is written.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from leafward.agents.base import (
    Agent,
    Candidate,
    Enclosing,
    Excerpt,
    FirstLook,
    Listing,
    Stamp,
    Text,
    Trouble,
)
from leafward.base.errors import NotFound
from leafward.base.regular_files import open_buffered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import BinaryIO

    from leafward.agents.auto_compaction import AutoCompaction
    from leafward.agents.hooks import Hooks
    from leafward.agents.opencode.agent import OpenCode
    from leafward.base.config import Config
    from leafward.files.tool_calls import ToolTable
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


_A = TypeVar("_A", bound=Agent)


def _with_tools(agent: _A) -> _A:
    """The agent, which knows its tool table from now on."""
    agent.tool_table = tools_of(agent.name)
    return agent


@cache
def native() -> Agent:
    """The agent whose format is ours; it opens files that no agent recognises."""
    from leafward.agents.pi.agent import Pi

    return _with_tools(Pi())


@cache
def _codex() -> Agent:
    from leafward.agents.codex.agent import Codex

    return _with_tools(Codex())


@cache
def _claude() -> Agent:
    from leafward.agents.claude.agent import Claude

    return _with_tools(Claude())


@cache
def _opencode() -> OpenCode:
    from leafward.agents.opencode.agent import OpenCode

    return _with_tools(OpenCode())


_LOADERS: Mapping[str, Callable[[], Agent]] = {
    "pi": native,
    "codex": _codex,
    "claude": _claude,
    "opencode": _opencode,
}
"""Loaders by name, so that one agent is loaded without the others."""


_TOOLS = {
    "pi": ("files.tool_calls", "NATIVE_TOOLS"),
    "codex": ("agents.codex.tools", "CODEX_TOOLS"),
    "claude": ("agents.claude.tools", "CLAUDE_TOOLS"),
    "opencode": ("agents.opencode.tools", "OPENCODE_TOOLS"),
}
"""The tool table of each agent: a module and a name in it."""


@cache
def tools_of(name: str) -> ToolTable:
    """The tool table of an agent, which also reads the calls of the others: converted sessions hold them."""
    tables: dict[str, ToolTable] = {
        agent: getattr(import_module(f"leafward.{module}"), table)
        for agent, (module, table) in _TOOLS.items()
    }
    return tables.pop(name).joined(tables.values())


def agent_names() -> tuple[str, ...]:
    """The names of every agent, the native one first; no agent is loaded."""
    return tuple(_LOADERS)


@cache
def all_agents() -> tuple[Agent, ...]:
    """Every agent, the native one first. The others are loaded here, since native files need none of them."""
    return tuple(load() for load in _LOADERS.values())


def _enclosing() -> tuple[Enclosing, ...]:
    """The agents whose files hold many sessions."""
    return (_opencode(),)


def agent_named(name: str) -> Agent:
    """An agent by name. Raises NotFound with the nearest name."""
    return _LOADERS[_known(name)]()


def hooks_of(name: str) -> Hooks:
    """The hooks that an agent runs around a compaction; it waits for them, so only they are loaded. Raises NotFound as above."""
    hooks: Hooks = import_module(f"leafward.agents.{_known(name)}.hooks").HOOKS
    return hooks


def auto_compaction_of(name: str) -> AutoCompaction:
    """The rule by which an agent compacts by itself. Only the rule is loaded. Raises NotFound as above."""
    rule: AutoCompaction = import_module(f"leafward.agents.{_known(name)}.auto_compaction").RULE
    return rule


def _known(name: str) -> str:
    if name not in _LOADERS:
        close = _nearest(name)
        raise NotFound(
            f"no agent {name!r}; known: {', '.join(_LOADERS)}"
            + (f" (did you mean {close}?)" if close else "")
        )
    return name


def _nearest(name: str) -> str | None:
    """The agent whose name is most like an unknown one; None where none is similar."""
    # The worker processes that read parts of a file do not need it.
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, _LOADERS, 1)), None)


def recognised(head: bytes) -> Agent | None:
    """The agent of a file that begins with these bytes; None where no agent recognises it."""
    if native().recognises(head):
        return native()
    return next((agent for agent in all_agents() if agent.recognises(head)), None)


def recognised_in(file: BinaryIO) -> Agent | None:
    """The agent of a file that was just opened; None where no agent recognises it. Raises OSError."""
    head = file.read(_HEAD_SIZE)
    found = recognised(head)
    if found is None and len(head) == _HEAD_SIZE and b"{" in head[:_MARK] and head.count(b"\n") < _ROWS:
        found = recognised(head + file.read(_LONG_HEAD_SIZE))
    return found


def agent_of(path: Path, stores: Callable[[], Iterable[tuple[Agent, Path]]] = tuple) -> Agent:
    """The agent of a session file, by its first bytes, else by its store; the native one where neither tells.

    A store is recognised by its content; `stores` names further ones (`catalog.stores`), and is asked last. Where the first
    bytes do not tell, a whole store may be listed, so call this in workers. For an open session use `agent_behind`.
    """
    try:
        if path.is_file():
            with open_buffered(path) as file:
                if file.read(len(_DATABASE)) == _DATABASE:
                    return _opencode()
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
    load = _LOADERS.get(source.agent_name) if isinstance(source, ForeignFiles) else None
    return load() if load is not None else native()


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
        (found for agent in _enclosing() if (found := agent.within(absolute, trouble)) is not None), None
    )


def excerpt(path: str) -> Excerpt | None:
    """A session in a file that holds many, to be copied; None for any other path. Raises OSError, NotASession."""
    absolute = os.path.abspath(path)
    return next((found for agent in _enclosing() if (found := agent.excerpt(absolute)) is not None), None)


def strays(path: str) -> dict[str, int]:
    """The numbers of messages whose session is missing, in a file that holds many sessions, by the session that they name."""
    return {name: count for agent in _enclosing() for name, count in agent.strays(path).items()}


def names_one(path: Path) -> bool:
    """Whether a path names a single session: a file that holds no others, or a session inside a file that does."""
    inside = within(path)
    return path.is_file() if inside is None else os.path.abspath(path) != inside.folder


def is_there(path: str) -> bool:
    """Whether the file of a session exists, or the file that holds it."""
    return os.path.exists(path) or os.path.isfile(os.path.dirname(path))


def unknown_roots(config: Config) -> list[str]:
    """Names under `[roots]` that belong to no agent, each with the nearest agent's name, ready to be shown."""
    found = []
    keys = [("roots", name) for name in config.roots] + [("extra-roots", name) for name in config.extra_roots]
    for table, name in keys:
        if name not in _LOADERS:
            close = _nearest(name)
            found.append(f"{table}.{name}: no such agent" + (f" (did you mean {close!r}?)" if close else ""))
    return found


__all__ = [
    "Agent",
    "Candidate",
    "Excerpt",
    "FirstLook",
    "Listing",
    "Stamp",
    "Text",
    "Trouble",
    "agent_behind",
    "agent_named",
    "agent_of",
    "all_agents",
    "auto_compaction_of",
    "excerpt",
    "hooks_of",
    "is_there",
    "names_one",
    "native",
    "recognised",
    "recognised_in",
    "strays",
    "tools_of",
    "unknown_roots",
    "within",
]
