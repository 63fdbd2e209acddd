"""What is to be written of a new session: the terms it is made under, and the draft.

A draft is whole and not written: `leafward.branches.fork` writes it. An agent that forks a session of its own copies what it stored,
unchanged up to the cut; one that adopts another agent's session tells in its own form what the model had seen (`past`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.resume import folder_of
from leafward.session.journal.write import Remark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime
    from pathlib import Path

    from leafward.agents.resume import Resume
    from leafward.base.config import Config
    from leafward.session.session import Session

__all__ = ["Draft", "Import", "Remark", "Terms"]


@dataclass(frozen=True, slots=True)
class Terms:
    """Under which terms a draft is made."""

    env: Mapping[str, str]
    config: Config
    now: datetime
    """Aware."""
    injected: str = ""
    """Text that is put in behind what is copied, as a message that nobody typed; empty for none."""
    injected_as: str = "injection"
    """What that text is, in a word: `injection` or `summary`."""
    cwd: str = ""
    """The folder that the new session works in; empty for that of the source."""

    def folder(self, session: Session, title: str) -> str:
        """The folder that a new session works in. Raises Refused where nothing says which; `title` is the agent that needs one."""
        return self.cwd or folder_of(session, title)


class Import(NamedTuple):
    """How a written document becomes a session: by a command of the agent's own."""

    command: Resume
    undo: Resume
    """Takes back what a failed import left."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A new session that is whole and not written."""

    agent: str
    """By name."""
    id: str
    path: Path
    """What names the session once it is there: its file; for an agent with a database that, and the id behind it."""
    file: Path
    """The file that is written; another than `path` only where it has to be imported."""
    content: Callable[[], Iterable[bytes]]
    """The file's content in pieces. Reads the source when it is called; raises Refused."""
    resume: Resume
    """The command that opens it, and the folder to run that in."""
    kept: int
    """Entries of the source, on the path, that it holds."""
    left: int
    """Entries on the path, up to the cut, that it leaves out."""
    remarks: tuple[Remark, ...] = ()
    imported: Import | None = None
