"""The state of the catalogue. Each part is written by one controller."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from leafward_tui.catalogue.model.listing import Stock, View

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.catalogue.cards.card import Card
    from leafward.catalogue.listing import Catalogue


@dataclass(slots=True)
class StoreState:
    """The cards; written by `Stores`."""

    catalogue: Catalogue | None = None
    """None before the stored index was read."""
    cards: list[Card] | None = None
    """The cards known; None before the stored index was read."""
    searching: bool = True


@dataclass(slots=True)
class ListState:
    """The view of the list; written by `Arrangement`."""

    stock: Stock = field(default_factory=lambda: Stock(()))
    view: View = field(default_factory=View)
    folded_hits: frozenset[str] = frozenset()
    """Groups folded while a filter holds; the other folds come back when it ends."""
    asked: bool = False
    """Whether a key asked for other lines that are not there yet."""

    @property
    def folded(self) -> frozenset[str]:
        """The groups that are folded now."""
        return self.folded_hits if self.view.text else self.view.folded


@dataclass(slots=True)
class CatalogueState:
    """The whole state."""

    paths: tuple[Path, ...] = ()
    """The paths whose sessions are shown; empty for the stores of every agent."""
    stores: StoreState = field(default_factory=StoreState)
    list: ListState = field(default_factory=ListState)
