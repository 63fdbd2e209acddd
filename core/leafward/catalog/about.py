"""Facts about sessions that no single card holds: worked out from all cards together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from leafward.catalog import moved_folders
from leafward.catalog.shared_history import counted_once

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leafward.catalog.card import Card, Spent
    from leafward.catalog.listing import Catalogue


@dataclass(frozen=True, slots=True)
class About:
    """The facts, by the path of a session where nothing else is said."""

    spent: Mapping[str, Sequence[Spent]] = field(default_factory=dict)
    """What each used, nothing counted in two of them."""
    expires: Mapping[str, int] = field(default_factory=dict)
    """When its agent will delete it, in milliseconds since 1970, for those it will."""
    written: Mapping[str, int] = field(default_factory=dict)
    """When its file was written to, in milliseconds, where that is later than what it says itself."""
    kept: frozenset[str] = frozenset()
    """Those of which we keep a copy, or which are one."""
    missing: frozenset[str] = frozenset()
    """Folders of projects that are not there."""
    moved: Mapping[str, str] = field(default_factory=dict)
    """For such folders: the folder that a project may have now, by its git remote or its name."""
    excluded: int = 0
    """Sessions that the configuration leaves out."""


NOTHING_KNOWN = About()


def about(catalogue: Catalogue, cards: Sequence[Card], found: Mapping[str, tuple[str, str]]) -> About:
    """Works the facts out for `cards`; `found` is what `parents` gave for them. Looks at every project's folder."""
    expires = {card.path: left for card in cards if (left := catalogue.expires(card)) is not None}
    missing = moved_folders.missing_folders(card.project for card in cards)
    return About(
        counted_once(cards, found, catalogue.spent),
        expires,
        {card.path: time for card in cards if (time := catalogue.written(card)) > card.when},
        catalogue.kept(),
        missing,
        moved_folders.successors(cards, missing),
        catalogue.excluded,
    )
