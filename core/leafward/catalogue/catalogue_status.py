"""The status of sessions that no single card holds: worked out from all cards together, and from the disk."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from leafward.catalogue import moved_folders
from leafward.catalogue.usage.shared_history import counted_once

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leafward.catalogue.cards.card import Card, DayUsage
    from leafward.catalogue.listing import Catalogue


@dataclass(frozen=True, slots=True)
class CatalogueStatus:
    """Keyed by the path of a session unless a field says otherwise."""

    spent: Mapping[str, Sequence[DayUsage]] = field(default_factory=dict)
    """Tokens and costs of each session by day; nothing is counted in two sessions."""
    expires: Mapping[str, int] = field(default_factory=dict)
    """Milliseconds since 1970 at which the agent will delete a session, for the sessions that it will delete."""
    written: Mapping[str, int] = field(default_factory=dict)
    """Milliseconds since 1970 at which the file was written, if that is later than the card's own time."""
    kept: frozenset[str] = frozenset()
    """Sessions that we keep a copy of, and sessions that are such a copy."""
    missing: frozenset[str] = frozenset()
    """Project folders that do not exist."""
    moved: Mapping[str, str] = field(default_factory=dict)
    """Missing project folder to the folder that the project may have now, found by its git remote or its name."""
    excluded: int = 0
    """Sessions that the configuration leaves out."""


NOTHING_KNOWN = CatalogueStatus()


def status_of(
    catalogue: Catalogue, cards: Sequence[Card], found: Mapping[str, tuple[str, str]]
) -> CatalogueStatus:
    """The status of the sessions of `cards`; `found` is the result of `parents` for them. Checks every project's folder on disk."""
    expires = {card.path: left for card in cards if (left := catalogue.expires(card)) is not None}
    missing = moved_folders.missing_folders(card.project for card in cards)
    return CatalogueStatus(
        counted_once(cards, found, catalogue.spent),
        expires,
        {card.path: time for card in cards if (time := catalogue.written_at(card)) > card.when},
        catalogue.kept_paths(),
        missing,
        moved_folders.successors(cards, missing),
        catalogue.excluded,
    )
