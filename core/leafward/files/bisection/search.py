"""The search between a version that is good and one that is bad, as `git bisect` does it: what cannot be told is stepped over."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Verdict(StrEnum):
    """What became of a version."""

    GOOD = "good"
    BAD = "bad"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True, slots=True)
class Bisection:
    """What is known of the versions from the good one, number 0, to the bad one, the last."""

    good: int
    """The last version before the change that is good."""
    bad: int
    """The first one behind it that is bad."""

    @property
    def candidates(self) -> range:
        """The versions of which one is the first bad one; a single one where that is certain."""
        return range(self.good + 1, self.bad + 1)


def bisect(number: int, verdict_of: Callable[[int], Verdict]) -> Bisection:
    """Finds the first bad one of `number` versions, the first of which is good and the last bad.

    Each version is tried at most once. Those nearest to the middle come first, then those beside them where it cannot be told.
    """
    good, bad = 0, number - 1
    unknown: set[int] = set()
    while True:
        left = [one for one in range(good + 1, bad) if one not in unknown]
        if not left:
            return Bisection(good, bad)
        middle = (good + bad) // 2
        at = min(left, key=lambda one: (abs(one - middle), one))
        match verdict_of(at):
            case Verdict.GOOD:
                good = at
            case Verdict.BAD:
                bad = at
            case Verdict.CANNOT_TELL:
                unknown.add(at)
