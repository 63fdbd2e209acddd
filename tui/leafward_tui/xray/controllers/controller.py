"""The base of the X-ray's controllers, and their means."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from leafward_tui.ui.screens.screen_controller import ScreenController

if TYPE_CHECKING:
    from leafward_tui.ui.screens.screen_controller import Means
    from leafward_tui.xray.display import XRayDisplay
    from leafward_tui.xray.state import XRayState

XRayMeans: TypeAlias = "Means[XRayState, XRayDisplay]"
XRayController = ScreenController["XRayState", "XRayDisplay"]
