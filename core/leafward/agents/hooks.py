"""What an agent reads at start and runs around a compaction, and what of it Leafward may put there.

A hook is given by a command, words that lead to Leafward. What is installed is one text file of the agent's.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


class Moment(Enum):
    """When a hook runs."""

    BEFORE = "before"
    """A compaction begins: the text is made and kept."""
    AFTER = "after"
    """The agent goes on behind the compaction: what was kept is given."""
    NOW = "now"
    """The agent waits for the text itself."""


class Heard(NamedTuple):
    """What an agent told a hook."""

    moment: Moment
    session: str
    """A path of a session."""
    at: str | None = None
    """The entry that the text is made at; None: the leaf."""


class Hooks(Protocol):
    """The hooks of one agent."""

    cost: str
    """What it costs at a compaction, in one line."""

    def file(self, env: Mapping[str, str]) -> Path:
        """The file that is changed or made."""
        ...

    def installed(self, text: str | None, command: Sequence[str]) -> str:
        """The file's text with our part, in place of one that was there; None: there is no file. Raises Refused."""
        ...

    def removed(self, text: str) -> str | None:
        """The text without our part; None where nothing else is left and the file can go. Raises Refused."""
        ...

    def is_in(self, text: str) -> bool:
        """Whether our part is in a text."""
        ...

    def heard(self, told: Mapping[str, Any], env: Mapping[str, str]) -> Heard | None:
        """What the agent says on stdin; None where that is nothing to answer."""
        ...

    def answer(self, text: str) -> str:
        """What a hook prints so that the model sees a text."""
        ...
