"""The fates of the facts of a compaction, by the entries that state them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from leafward.summaries.fates.report import Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.summaries.fates.report import Fate, Survival


@dataclass(frozen=True, slots=True)
class Fates:
    """The fates of the facts of a compaction, by the last entry that states each in the strongest voice."""

    by_entry: dict[int, tuple[Fate, ...]] = field(default_factory=dict)
    lost: tuple[Fate, ...] = ()
    """The lost facts, the heaviest first."""
    unreadable: bool = False
    """Whether the summary is encrypted: facts called lost may stand in it."""

    @classmethod
    def of(cls, survival: Survival) -> Fates:
        """The fates of a report."""
        by_entry: dict[int, list[Fate]] = {}
        for fate in survival.fates:
            by_entry.setdefault(fate.fact.entry, []).append(fate)
        lost = sorted(
            (fate for fate in survival.fates if fate.status is Status.LOST),
            key=lambda fate: (-fate.fact.weight, fate.fact.entry, fate.fact.key),
        )
        return cls(
            {entry: tuple(fates) for entry, fates in by_entry.items()}, tuple(lost), survival.unreadable
        )

    def at(self, entries: Iterable[int]) -> list[Fate]:
        """The fates of the facts whose source is one of some entries."""
        return [fate for entry in dict.fromkeys(entries) for fate in self.by_entry.get(entry, ())]

    def lost_at(self, entries: Iterable[int]) -> list[Fate]:
        """The lost facts of some entries, the heaviest first."""
        lost = [fate for fate in self.at(entries) if fate.status is Status.LOST]
        return sorted(lost, key=lambda fate: (-fate.fact.weight, fate.fact.key))
