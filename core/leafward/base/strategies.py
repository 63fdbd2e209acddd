"""Names of the strategies: their only list, which the configuration, the command line and the lab offer.

A strategy is a way to compact that an agent is known for; it works on any session. Its rules are in the module of its name
in the room `compaction`. The names are here, because help texts and settings need them before anything heavy is loaded.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self

OWN_STRATEGY = "own"
"""The rules of the agent that a session belongs to."""


class Strategy(StrEnum):
    """The agent whose rules a plan follows, in the order in which they are offered.

    The value is the typed and stored name, and the name of the module of `compaction` with its rules.
    """

    agent: str
    """Name of the agent in sentences."""

    PI = "pi"
    CODEX = "codex", "Codex"
    OPENCODE = "opencode"

    def __new__(cls, name: str, agent: str = "") -> Self:
        """A strategy by its name, with the agent's name where that is written differently."""
        made = str.__new__(cls, name)
        made._value_ = name
        made.agent = agent or name
        return made


STRATEGY_CHOICES = (OWN_STRATEGY, *(one.value for one in Strategy))
"""Values of the setting `strategy`."""


def strategy_of(name: str, agent: str) -> Strategy:
    """The strategy of a name; for `own`, the strategy of the agent: pi's where the agent has none here, as Claude Code."""
    if name != OWN_STRATEGY:
        return Strategy(name)
    return own_strategy(agent) or Strategy.PI


def own_strategy(agent: str) -> Strategy | None:
    """The strategy with the rules of an agent, by the agent's name; None for an agent without rules here, as Claude Code."""
    return next((one for one in Strategy if one.value == agent), None)


def threshold_strategy(name: str, agent: str) -> Strategy | None:
    """The strategy whose plans are compared with the threshold of a session's own agent.

    That is the agent's own strategy. Where it has none, as Claude Code, it is pi's in its place, unless `name` names the rules of
    another agent, which have a threshold of their own.
    """
    return own_strategy(agent) or (None if name in list(Strategy) else Strategy.PI)
