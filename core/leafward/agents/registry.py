"""The known agents, by name; one is loaded without the others."""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from leafward.agents.base import Agent, Enclosing
from leafward.base.errors import NotFound
from leafward.base.regular_files import read_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from leafward.agents.auto_compaction import AutoCompaction
    from leafward.agents.hooks.hook import Hooks
    from leafward.agents.opencode.agent import OpenCode
    from leafward.base.config import Config
    from leafward.files.tool_calls import ToolTable
    from leafward.session.session import Session


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


def agent_name(session: Session) -> str:
    """The name of an open session's agent; no agent is loaded."""
    from leafward.session.foreign import ForeignFiles

    source = session.source
    return source.agent_name if isinstance(source, ForeignFiles) else agent_names()[0]


@cache
def all_agents() -> tuple[Agent, ...]:
    """Every agent, the native one first. The others are loaded here, since native files need none of them."""
    return tuple(load() for load in _LOADERS.values())


def enclosing() -> tuple[Enclosing, ...]:
    """The agents whose files are databases that hold many sessions."""
    return (_opencode(),)


def agent_named(name: str) -> Agent:
    """An agent by name. Raises NotFound with the nearest name."""
    return _LOADERS[known_name(name)]()


def hooks_of(name: str) -> Hooks:
    """The hooks that an agent runs around a compaction; it waits for them, so only they are loaded. Raises NotFound as above."""
    hooks: Hooks = import_module(f"leafward.agents.{known_name(name)}.hooks").HOOKS
    return hooks


def hindrance_of(name: str, folder: Path) -> str:
    """The reason why an agent runs no hooks in a project's folder, as far as its files and our environment tell, in one line.

    Empty: nothing. Raises NotFound as above.
    """
    found: str = import_module(f"leafward.agents.{known_name(name)}.hindrance").hindrance(os.environ, folder)
    return found


def is_installed(name: str) -> bool:
    """Whether an agent's file holds Leafward's part now. Raises NotFound as above."""
    hooks = hooks_of(name)
    try:
        return hooks.is_in(read_regular(hooks.file(os.environ)).decode())
    except (OSError, UnicodeDecodeError):
        return False


def auto_compaction_of(name: str) -> AutoCompaction:
    """The rule by which an agent compacts by itself. Only the rule is loaded. Raises NotFound as above."""
    rule: AutoCompaction = import_module(f"leafward.agents.{known_name(name)}.auto_compaction").RULE
    return rule


def known_name(name: str) -> str:
    """The name of an agent as it was typed; no agent is loaded. Raises NotFound with the nearest name."""
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


def unknown_roots(config: Config) -> list[str]:
    """Names under `[roots]` that belong to no agent, each with the nearest agent's name, ready to be shown."""
    found = []
    keys = [("roots", name) for name in config.roots] + [("extra-roots", name) for name in config.extra_roots]
    for table, name in keys:
        if name not in _LOADERS:
            close = _nearest(name)
            found.append(f"{table}.{name}: no such agent" + (f" (did you mean {close!r}?)" if close else ""))
    return found
