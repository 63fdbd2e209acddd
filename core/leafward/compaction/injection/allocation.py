"""Allocates a budget to the blocks. Deterministic, and exact to the code point, marker lines included.

Pinned items are reserved first. Items of the first tier follow in one fixed order, each cut to no less than its floor, and the
longest beginning of that order that fits is taken: a larger budget never drops one of them. The remaining room first makes cut
items longer and then goes to the lower tiers, where an item that does not fit is skipped and the next one tried. Nothing of a
lower tier is shown while something of the first one is missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.compaction.injection.merge import omitted_line
from leafward.compaction.injection.plain_text import FLOOR, cut
from leafward.compaction.injection.values import Tier

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from leafward.compaction.injection.merge import Bullet, InjectedBlock

Place = tuple[int, int]
"""Index of a block, and of a bullet in it."""


class Allocation:
    """The texts of the bullets that are shown, and their sizes."""

    def __init__(self, blocks: Sequence[InjectedBlock], envelope: int, budget: int) -> None:
        self.blocks = blocks
        self.budget = budget
        self.size = envelope
        """Code points of the current text."""
        self.shown: dict[Place, str] = {}
        self._counts = [0] * len(blocks)
        self._sizes = [0] * len(blocks)
        self._costs = [0] * len(blocks)

    def omitted(self, block: int) -> int:
        """Number of a block's items that the cap or the budget leaves out; text of ours does not count."""
        there = self.blocks[block]
        missing = sum(
            not bullet.filler and not bullet.marker and (block, place) not in self.shown
            for place, bullet in enumerate(there.bullets)
        )
        return there.capped + missing

    def _cost(self, block: int, count: int, size: int, missing: int) -> int:
        """Code points of a section with so many bullets of a total size: blank line, heading, bullets, the counting line."""
        if not count:
            return 0
        there = self.blocks[block]
        cost = 1 + 1 + len(f"## {there.section.title}") + size
        alone = any(bullet.marker for bullet in there.bullets)
        return cost + (1 + len(omitted_line(missing, there.section)) if missing and not alone else 0)

    def put(self, place: Place, text: str) -> bool:
        """Shows a bullet with a text, replacing its earlier one, if the budget has room; returns whether it has."""
        block, number = place
        bullet = self.blocks[block].bullets[number]
        before = self.shown.get(place)
        counts = not bullet.filler and not bullet.marker and before is None
        size = (
            self._sizes[block]
            + line_size(bullet, text)
            - (line_size(bullet, before) if before is not None else 0)
        )
        count = self._counts[block] + (before is None)
        cost = self._cost(block, count, size, self.omitted(block) - counts)
        total = self.size - self._costs[block] + cost
        if total > self.budget:
            return False
        self._place(place, text, count, size, cost, total)
        return True

    def force(self, place: Place, text: str) -> None:
        """Shows a bullet even if the budget has no room."""
        budget, self.budget = self.budget, 1 << 60
        self.put(place, text)
        self.budget = budget

    def drop(self, place: Place) -> str:
        """Removes a shown bullet and returns its text."""
        block, number = place
        bullet = self.blocks[block].bullets[number]
        text = self.shown.pop(place)
        self._counts[block] -= 1
        self._sizes[block] -= line_size(bullet, text)
        cost = self._cost(block, self._counts[block], self._sizes[block], self.omitted(block))
        self.size += cost - self._costs[block]
        self._costs[block] = cost
        return text

    def _place(self, place: Place, text: str, count: int, size: int, cost: int, total: int) -> None:
        block = place[0]
        self.shown[place] = text
        self._counts[block], self._sizes[block], self._costs[block], self.size = count, size, cost, total


def line_size(bullet: Bullet, text: str) -> int:
    """Code points of a bullet's line, its newline and dash included."""
    return 1 + len(text) + (0 if bullet.marker else 2)


def smallest(bullet: Bullet) -> str:
    """The shortest text that a bullet may be cut to."""
    return bullet.text if bullet.whole else cut(bullet.text, FLOOR)


def allocate(blocks: Sequence[InjectedBlock], envelope: int, budget: int) -> Allocation | None:
    """The bullets to show; None if the pinned ones do not fit."""
    queues = _queues(blocks)
    allocation = Allocation(blocks, envelope, budget)
    for place in queues[Tier.PINNED]:
        allocation.force(place, _bullet(blocks, place).text)
    whole = _first_tier(allocation, queues[Tier.FIRST])
    if allocation.size > budget:
        return None
    _lengthen(allocation, queues[Tier.FIRST])
    if whole:
        _lower_tiers(allocation, queues)
    return allocation


def _bullet(blocks: Sequence[InjectedBlock], place: Place) -> Bullet:
    return blocks[place[0]].bullets[place[1]]


def _queues(blocks: Sequence[InjectedBlock]) -> dict[Tier, list[Place]]:
    """The bullets of each tier in the order of allocation: the best of each section first."""
    queues: dict[Tier, list[tuple[int, int, float, int]]] = {tier: [] for tier in Tier}
    for number, block in enumerate(blocks):
        order = sorted(range(len(block.bullets)), key=lambda place: (block.bullets[place].rank, place))
        seen: set[Tier] = set()
        for place in order:
            bullet = block.bullets[place]
            queues[bullet.tier].append((bullet.tier in seen, number, bullet.rank, place))
            seen.add(bullet.tier)
    return {
        tier: [(number, place) for _, number, _, place in sorted(queue)] for tier, queue in queues.items()
    }


def _first_tier(allocation: Allocation, queue: list[Place]) -> bool:
    """Takes the longest beginning of the queue that fits; returns whether that is the whole queue.

    Every length is tried: a longer beginning may cost less than a shorter one, because a complete section needs no line that counts
    missing items.
    """
    blocks = allocation.blocks
    trial = Allocation(blocks, 0, allocation.budget)
    start = allocation.size
    for place, text in allocation.shown.items():
        trial.force(place, text)
    offset = start - trial.size
    fitting = 0
    for count, place in enumerate(queue, 1):
        trial.force(place, smallest(_bullet(blocks, place)))
        if trial.size + offset <= allocation.budget:
            fitting = count
    for place in queue[:fitting]:
        allocation.force(place, smallest(_bullet(blocks, place)))
    return fitting == len(queue)


def _lengthen(allocation: Allocation, queue: Iterable[Place]) -> None:
    """Restores the cut parts of bullets as far as there is room."""
    for place in queue:
        text = allocation.shown.get(place)
        bullet = _bullet(allocation.blocks, place)
        if text is None or text == bullet.text or allocation.put(place, bullet.text):
            continue
        longer = cut(bullet.text, len(text) + allocation.budget - allocation.size)
        if len(longer) > len(text):
            allocation.put(place, longer)


def _lower_tiers(allocation: Allocation, queues: dict[Tier, list[Place]]) -> None:
    while True:
        for tier in (Tier.SECOND, Tier.LAST):
            for place in queues[tier]:
                if place not in allocation.shown:
                    allocation.put(place, smallest(_bullet(allocation.blocks, place)))
            _lengthen(allocation, queues[tier])
        displaced = _displaced(allocation, queues)
        if displaced is None:
            return
        place, other = displaced
        text = smallest(_bullet(allocation.blocks, place))
        dropped = [(last, allocation.drop(last)) for last in queues[Tier.LAST] if last in allocation.shown]
        if not allocation.put(place, text):
            # A section that was complete now counts missing items, which may take more room than the dropped bullets had.
            for last, shown in dropped:
                if last != other:
                    allocation.force(last, shown)
            allocation.force(place, text)


def _displaced(allocation: Allocation, queues: dict[Tier, list[Place]]) -> tuple[Place, Place] | None:
    """A bullet of the second tier that would fit in the place of one of the last tier, and that one.

    This happens if a section became complete after the bullet was skipped: the line that counts missing items is no longer needed
    and frees room.
    """
    missing = [place for place in queues[Tier.SECOND] if place not in allocation.shown]
    last = [place for place in queues[Tier.LAST] if place in allocation.shown] if missing else []
    for other in last:
        text = allocation.drop(other)
        for place in missing:
            if allocation.put(place, smallest(_bullet(allocation.blocks, place))):
                allocation.drop(place)
                allocation.force(other, text)
                return place, other
        allocation.force(other, text)
    return None
