"""Hooks: programs that an agent runs around a compaction, and the files by which Leafward becomes one of them.

A hook is a command that runs Leafward. It is installed as one text file of the agent's.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from leafward.base.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


class Moment(Enum):
    """The moment at which a hook runs."""

    BEFORE = "before"
    """A compaction begins: the text is made and stored."""
    AFTER = "after"
    """The agent continues behind the compaction: the stored text is returned."""
    RESUMED = "resumed"
    """A session is taken up again, or begins as a fork: what is read of it is kept for its compactions. The agent gets no answer."""
    NOW = "now"
    """The agent waits for the text itself."""
    SUMMARY = "summary"
    """The agent waits for the summary of a compaction."""
    BRANCH = "branch"
    """The agent waits for the summary of the branch that it abandons."""


class HookRequest(NamedTuple):
    """The content of an agent's request to a hook."""

    moment: Moment
    session: str
    """A path of a session."""
    at: str | None = None
    """The entry at which the text is made; None: the leaf."""
    to: str | None = None
    """Of a summary: the first entry that the compaction keeps, or the target of a move."""
    focus: str = ""
    """Words of the user on what the summary should emphasise."""
    compaction: str = ""
    """The agent's name for the compaction, the same before and after it; empty: the only one of the session at the time."""


TRIAL = {"leafward": "trial"}
"""A request that asks a hook for nothing but `TRIED`, to see whether the agent can run it."""
TRIED = "leafward hook runs\n"
"""The answer to that."""


class HookCommand(NamedTuple):
    """A command in an agent's file that runs Leafward."""

    argv: tuple[str, ...]
    """The program and its arguments as the agent starts them."""
    answers: bool
    """Whether the agent reads its output."""


class Runner(NamedTuple):
    """The way for an agent to run Leafward."""

    command: tuple[str, ...]
    log: Path
    """Log for scripts of errors before Leafward ran; one JSON text per line."""


def no_summaries(agent: str) -> Refused:
    """The refusal of Leafward's summaries for an agent that makes its own."""
    return Refused(
        f"{agent} cannot use a summary of Leafward: --summary is for pi; without it the injected context is installed"
    )


class Hooks(Protocol):
    """The hooks of one agent."""

    @property
    def cost(self) -> str:
        """The cost at a compaction, in one line."""
        ...

    @property
    def note(self) -> str:
        """A further step for the user, in one line; empty: none."""
        ...

    @property
    def room(self) -> int | None:
        """UTF-16 units of a text that the agent passes on whole; None: any."""
        ...

    def file(self, env: Mapping[str, str], /) -> Path:
        """The file to change or create."""
        ...

    def installed(self, text: str | None, runner: Runner, summary: bool = False) -> str:
        """The file's text with our part, which replaces an earlier one; `text` None: the file is missing. Raises Refused.

        With `summary` Leafward also makes the agent's summaries.
        """
        ...

    def removed(self, text: str) -> str | None:
        """The text without our part; None where nothing else is left and the file can be deleted. Raises Refused."""
        ...

    def is_in(self, text: str) -> bool:
        """Whether our part is in a text."""
        ...

    def commands(self, text: str) -> list[HookCommand]:
        """The commands of our part of a text, each once; none where they cannot be read."""
        ...

    def makes_summaries(self, text: str) -> bool:
        """Whether our part in a text also makes the agent's summaries."""
        ...

    def request_in(self, payload: Mapping[str, Any], env: Mapping[str, str]) -> HookRequest | None:
        """The request in the agent's message on stdin; None where it needs no answer."""
        ...

    def answer(self, text: str) -> str:
        """The output of a hook that makes the model see a text."""
        ...
