"""The base of the catalogue's controllers, and their means."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from leafward_tui.ui.screens.screen_controller import ScreenController

if TYPE_CHECKING:
    from leafward_tui.catalogue.display import CatalogueDisplay
    from leafward_tui.catalogue.state import CatalogueState
    from leafward_tui.ui.screens.screen_controller import Means

CatalogueMeans: TypeAlias = "Means[CatalogueState, CatalogueDisplay]"
CatalogueController = ScreenController["CatalogueState", "CatalogueDisplay"]
