"""The base of the lab's controllers, and their means."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from leafward_tui.ui.screens.screen_controller import ScreenController

if TYPE_CHECKING:
    from leafward_tui.lab.display import LabDisplay
    from leafward_tui.lab.state import LabState
    from leafward_tui.ui.screens.screen_controller import Means

LabMeans: TypeAlias = "Means[LabState, LabDisplay]"
LabController = ScreenController["LabState", "LabDisplay"]
