"""The names of the strategies: the only list of them, which the configuration, the command line and the lab offer.

A strategy is a way to compact that an agent is known for; it works on any session. Its rules are in the module of its name
in the room `compaction`. The names are here, because help texts and settings need them before anything heavy is loaded.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self

OWN_STRATEGY = "own"
"""The rules of the agent that a session belongs to."""


class Strategy(StrEnum):
    """Whose rules a plan follows, in the order in which they are offered.

    The value is the name that is typed and stored, and that of the module of `compaction` with its rules.
    """

    agent: str
    """Whose rules they are, as it is written in a sentence."""

    PI = "pi"
    CODEX = "codex", "Codex"
    OPENCODE = "opencode"

    def __new__(cls, name: str, agent: str = "") -> Self:
        """A strategy by its name, with its agent where that is written otherwise."""
        made = str.__new__(cls, name)
        made._value_ = name
        made.agent = agent or name
        return made


STRATEGY_CHOICES = (OWN_STRATEGY, *(one.value for one in Strategy))
"""What may be configured."""


def strategy_of(name: str, agent: str) -> Strategy:
    """The strategy of a name; of `own`, that of an agent, by its name: pi's where it has none here, as Claude Code."""
    if name != OWN_STRATEGY:
        return Strategy(name)
    return own_strategy(agent) or Strategy.PI


def own_strategy(agent: str) -> Strategy | None:
    """The strategy that has the rules of an agent, by its name; None for an agent whose rules are not here, as Claude Code."""
    return next((one for one in Strategy if one.value == agent), None)
