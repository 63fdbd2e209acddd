"""The ghost of a move: which rows would be entered and which left if the leaf went where the cursor is. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leafward.tree import SessionTree


class Standing(Enum):
    """How an entry stands to the active path, now and after the proposed move."""

    ON = "on"
    """On the path, and would stay on it."""
    OFF = "off"
    """Off the path, and would stay off it."""
    ENTERED = "entered"
    LEFT = "left"


@dataclass(frozen=True, slots=True)
class Ghost:
    """A proposed leaf."""

    target: int
    """The entry that would become the leaf."""
    stops: dict[int, int]
    """Runs on its path, each with the entry behind its last on the path."""

    @classmethod
    def of(cls, tree: SessionTree, target: int) -> Ghost:
        """The ghost of a move to `target`."""
        return cls(target, {tree.run_of(run.start): run.stop for run in tree.path_runs(target)})

    def on_path(self, tree: SessionTree, entry: int) -> bool:
        """Whether an entry would be on the active path."""
        return entry < self.stops.get(tree.run_of(entry), -1)


def standing(now: bool, then: bool) -> Standing:
    """The standing of an entry that is on the path now and would be on it then."""
    if now:
        return Standing.ON if then else Standing.LEFT
    return Standing.ENTERED if then else Standing.OFF
