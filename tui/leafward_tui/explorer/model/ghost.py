"""The ghost of a move: the rows that a move of the leaf to the cursor would add and drop. Pure."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leafward.session.tree.tree import SessionTree
    from leafward.session.tree.tree_layout import Layout


class PathMembership(Enum):
    """The relation of an entry to the active path, now and after the proposed move."""

    ON = "on"
    """On the path, and would stay on it."""
    OFF = "off"
    """Off the path, and would stay off it."""
    ENTERED = "entered"
    LEFT = "left"


class Ghost(NamedTuple):
    """A proposed leaf."""

    target: int
    """The entry that would become the leaf."""
    stops: Mapping[int, int]
    """Runs that its path does not share with the active one, each with the entry after its last on the path."""
    shared: Mapping[int, int]
    """The active path in the same form."""
    depth: int
    """Entries above the last shared entry of both paths; -1 where they share none."""

    @classmethod
    def of(cls, layout: Layout, target: int) -> Ghost:
        """The ghost of a move to `target`. Its cost grows with the unshared part of the two paths only."""
        tree = layout.tree
        ancestor = tree.joins(layout.path_stop, target)
        entered = tree.below(ancestor, target)
        stops = {tree.run_of(run.start): run.stop for run in entered}
        return cls(target, stops, layout.path_stop, tree.depth(ancestor) if ancestor >= 0 else -1)

    def on_path(self, tree: SessionTree, entry: int) -> bool:
        """Whether an entry would be on the active path."""
        run = tree.run_of(entry)
        if entry < self.shared.get(run, -1):
            return tree.depth(entry) <= self.depth
        return entry < self.stops.get(run, -1)


def standing(now: bool, then: bool) -> PathMembership:
    """The standing of an entry that is on the path `now` and would be `then`."""
    if now:
        return PathMembership.ON if then else PathMembership.LEFT
    return PathMembership.ENTERED if then else PathMembership.OFF
