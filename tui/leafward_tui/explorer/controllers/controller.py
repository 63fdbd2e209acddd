"""The base of the explorer's controllers, and their means."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from leafward_tui.ui.screens.screen_controller import ScreenController

if TYPE_CHECKING:
    from leafward_tui.explorer.panes import ExplorerPanes
    from leafward_tui.explorer.state import ExplorerState
    from leafward_tui.ui.screens.screen_controller import Means

ExplorerMeans: TypeAlias = "Means[ExplorerState, ExplorerPanes]"
ExplorerController = ScreenController["ExplorerState", "ExplorerPanes"]
