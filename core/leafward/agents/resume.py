"""How an agent itself opens a session: its command, the folder to run it in, and what a session names that is not fit for either."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.base.errors import Refused
from leafward.base.safe_text import safe, shell_line, shell_word
from leafward.base.shown_path import no_project_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leafward.session.session import Session

OWN_PREFIX = "LEAFWARD_"
_TOKENIZERS = "TIKTOKEN_CACHE_DIR"
"""Set by litellm, to a folder of its own, once a model was asked; what we set for it ourselves is taken back at once."""


@dataclass(frozen=True, slots=True)
class Resume:
    """How the agent itself opens a session."""

    argv: tuple[str, ...]
    cwd: str
    """The folder to run it in."""
    env_remove: tuple[str, ...]
    """Variables of ours that it must not inherit."""
    env_set: tuple[tuple[str, str], ...] = ()
    """Variables that it needs: where its store is, for a session that does not lie in its usual one."""

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """`env` as it is handed over, with the folder it is run in as `PWD`."""
        kept = {name: value for name, value in env.items() if name not in self.env_remove}
        return {**kept, **dict(self.env_set), "PWD": self.cwd}

    def program(self, env: Mapping[str, str]) -> str:
        """Where the agent is, in full. Raises Refused where it is not installed."""
        name = self.argv[0]
        found = shutil.which(name, path=self.environment(env).get("PATH"))
        if found is None:
            raise Refused(f"{name} is not installed here, or not on PATH")
        # A relative entry of PATH is meant where we are, not in the folder that the session names.
        return os.path.abspath(found)

    def command(self) -> str:
        """The command alone, as it is typed into a shell; safe to show."""
        return shell_line(self.argv)

    def line(self) -> str:
        """The command as it is typed into a shell, from any folder; one line, safe to show."""
        before = "".join(f"{name}={shell_word(value)} " for name, value in self.env_set)
        # Ours are no agent's business, so a shell that has them may keep them.
        unset = [name for name in self.env_remove if not name.startswith(OWN_PREFIX) and name != _TOKENIZERS]
        if unset:
            before = "env " + "".join(f"-u {name} " for name in unset) + before
        there = f"cd -- {shell_word(self.cwd)} && " if os.path.isabs(self.cwd) else ""
        return f"{there}{before}{self.command()}"

    def obstacle(self) -> str | None:
        """Why it cannot be run here as things stand; None where nothing is in the way."""
        there = os.path.isabs(self.cwd) and os.path.isdir(self.cwd)
        return None if there else no_project_folder(self.cwd)

    def ready(self) -> Resume:
        """Itself, before it is run. Raises Refused where its folder is gone."""
        obstacle = self.obstacle()
        if obstacle is not None:
            raise Refused(obstacle)
        return self


def own_variables(env: Mapping[str, str]) -> tuple[str, ...]:
    """The variables in `env` that are ours, or that asking a model left there."""
    left = {_TOKENIZERS} if "litellm" in env.get(_TOKENIZERS, "") else set()
    return tuple(sorted(name for name in env if name.startswith(OWN_PREFIX) or name in left))


def folder_of(session: Session, title: str) -> str:
    """The folder that a session belongs to. Raises Refused where it names none; `title` is the agent that needs one."""
    if not session.cwd:
        raise Refused(f"{session.path.name} does not say which folder it belongs to; {title} needs one")
    if not (os.path.isabs(session.cwd) or _ELSEWHERE.match(session.cwd)):
        raise Refused(
            f"{session.path.name} names its folder only relatively ({session.cwd}), and {title} would start in another:"
            " begin a new session in one that you name (fork --cwd)"
        )
    return session.cwd


_ELSEWHERE = re.compile(r"[A-Za-z]:[\\/]|\\\\")
"""How a whole path of another system begins: such a folder is not here, which is said as of any that is gone."""


def id_of(session: Session, title: str) -> str:
    """The id by which an agent resumes a session. Raises Refused for one that its command line would take for something else."""
    name = session.id
    if name.startswith("-"):
        raise Refused(
            f"the id of {session.path.name} begins with a dash, and {title} would take it for an option:"
            " begin a new session from it (fork)"
        )
    if not name or safe(name) != name or "\n" in name:
        raise Refused(
            f"the id of {session.path.name} is none that {title} gives: begin a new session from it (fork)"
        )
    return name
