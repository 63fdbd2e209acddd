"""What an agent reads at start and runs around a compaction, and what of it Leafward may put there.

A hook is given by a command, words that lead to Leafward. What is installed is one text file of the agent's.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Moment(Enum):
    """When a hook runs."""

    BEFORE = "before"
    """A compaction begins: the text is made and kept."""
    AFTER = "after"
    """The agent goes on behind the compaction: what was kept is given."""
    NOW = "now"
    """The agent waits for the text itself."""
    SUMMARY = "summary"
    """It waits for the summary of a compaction."""
    BRANCH = "branch"
    """It waits for the summary of a branch that it leaves."""


class HookRequest(NamedTuple):
    """What an agent told a hook."""

    moment: Moment
    session: str
    """A path of a session."""
    at: str | None = None
    """The entry that the text is made at; None: the leaf."""
    to: str | None = None
    """Of a summary: the first entry that the compaction keeps, or the one that a move goes to."""
    focus: str = ""
    """What the user wants the summary to look at."""


class Runner(NamedTuple):
    """How an agent runs Leafward."""

    command: tuple[str, ...]
    log: Path
    """Where a script notes what failed before Leafward ran; one JSON text a line."""


class Hooks(Protocol):
    """The hooks of one agent."""

    @property
    def cost(self) -> str:
        """What it costs at a compaction, in one line."""
        ...

    @property
    def note(self) -> str:
        """What the user has to do besides, in one line; empty: nothing."""
        ...

    @property
    def room(self) -> int | None:
        """UTF-16 units of a text that the agent still passes on whole; None: any."""
        ...

    def file(self, env: Mapping[str, str]) -> Path:
        """The file that is changed or made."""
        ...

    def installed(self, text: str | None, runner: Runner, summary: bool = False) -> str:
        """The file's text with our part, in place of one that was there; None: there is no file. Raises Refused.

        With `summary` Leafward makes the agent's summaries as well.
        """
        ...

    def removed(self, text: str) -> str | None:
        """The text without our part; None where nothing else is left and the file can go. Raises Refused."""
        ...

    def is_in(self, text: str) -> bool:
        """Whether our part is in a text."""
        ...

    def heard(self, payload: Mapping[str, Any], env: Mapping[str, str]) -> HookRequest | None:
        """What the agent says on stdin; None where that is nothing to answer."""
        ...

    def answer(self, text: str) -> str:
        """What a hook prints so that the model sees a text."""
        ...
