"""The way an agent itself opens a session: its command, the folder to run it in, and names in sessions that are unfit for either."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.base.errors import Refused
from leafward.base.late_pattern import late
from leafward.base.safe_text import safe, shell_line, shell_word
from leafward.base.shown_path import no_project_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leafward.session.session import Session

OWN_PREFIX = "LEAFWARD_"
_TOKENIZERS = "TIKTOKEN_CACHE_DIR"
"""litellm sets it to a folder of its own once a model was asked; we take back at once the value that we set for it."""


@dataclass(frozen=True, slots=True)
class Resume:
    """The command by which an agent itself opens a session."""

    argv: tuple[str, ...]
    cwd: str
    """The folder to run the command in."""
    env_remove: tuple[str, ...]
    """Variables of ours that the agent must not inherit."""
    env_set: tuple[tuple[str, str], ...] = ()
    """Variables that the agent needs: the place of the store, for a session outside its usual one."""

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """`env` for the agent, with the folder to run in as `PWD`."""
        kept = {name: value for name, value in env.items() if name not in self.env_remove}
        return {**kept, **dict(self.env_set), "PWD": self.cwd}

    def program(self, env: Mapping[str, str]) -> str:
        """The full path of the agent's program. Raises Refused where it is not installed."""
        name = self.argv[0]
        found = shutil.which(name, path=self.environment(env).get("PATH"))
        if found is None:
            raise Refused(f"{name} is not installed here, or not on PATH")
        # A relative entry of PATH belongs to our working folder, not to the session's.
        return os.path.abspath(found)

    def command(self) -> str:
        """The command alone, as typed into a shell; safe to show."""
        return shell_line(self.argv)

    def line(self) -> str:
        """The command as typed into a shell, from any folder; one line, safe to show."""
        before = "".join(f"{name}={shell_word(value)} " for name, value in self.env_set)
        # Our variables do not concern an agent, so a shell that has them may keep them.
        unset = [name for name in self.env_remove if not name.startswith(OWN_PREFIX) and name != _TOKENIZERS]
        if unset:
            before = "env " + "".join(f"-u {name} " for name in unset) + before
        there = f"cd -- {shell_word(self.cwd)} && " if os.path.isabs(self.cwd) else ""
        return f"{there}{before}{self.command()}"

    def obstacle(self) -> str | None:
        """Why it cannot be run here now; None where nothing prevents it."""
        there = os.path.isabs(self.cwd) and os.path.isdir(self.cwd)
        return None if there else no_project_folder(self.cwd)

    def ready(self) -> Resume:
        """Itself, right before it is run. Raises Refused where its folder is gone."""
        obstacle = self.obstacle()
        if obstacle is not None:
            raise Refused(obstacle)
        return self


def own_variables(env: Mapping[str, str]) -> tuple[str, ...]:
    """The variables in `env` that are ours, or that requests to a model left there."""
    left = {_TOKENIZERS} if "litellm" in env.get(_TOKENIZERS, "") else set()
    return tuple(sorted(name for name in env if name.startswith(OWN_PREFIX) or name in left))


def folder_of(session: Session, title: str) -> str:
    """The folder that a session belongs to. Raises Refused where it names none; `title` is the agent that needs one."""
    if not session.cwd:
        raise Refused(
            f"{session.path.name} does not say which folder it belongs to, and {title} needs one: begin a new session in a folder (fork --cwd)"
        )
    if not (os.path.isabs(session.cwd) or _ELSEWHERE.match(session.cwd)):
        raise Refused(
            f"{session.path.name} names its folder only relatively ({session.cwd}), and {title} would start in another:"
            " begin a new session in a folder (fork --cwd)"
        )
    return session.cwd


_ELSEWHERE = late(r"[A-Za-z]:[\\/]|\\\\")
"""Beginning of an absolute path of another system: such a folder is missing here, and is reported as any missing one."""


def id_of(session: Session, title: str) -> str:
    """The id by which an agent resumes a session. Raises Refused for one that its command line would misread."""
    name = session.id
    if name.startswith("-"):
        raise Refused(
            f"the id of {session.path.name} begins with a dash, and {title} would take it for an option:"
            " begin a new session from it (fork)"
        )
    if not name or safe(name) != name or "\n" in name:
        raise Refused(
            f"the id of {session.path.name} is not one that {title} makes: begin a new session from it (fork)"
        )
    return name
