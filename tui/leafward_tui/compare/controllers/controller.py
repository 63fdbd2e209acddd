"""The base of Compare's controllers, and their means."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from leafward_tui.ui.screens.screen_controller import ScreenController

if TYPE_CHECKING:
    from leafward_tui.compare.display import CompareDisplay
    from leafward_tui.compare.state import CompareState
    from leafward_tui.ui.screens.screen_controller import Means

CompareMeans: TypeAlias = "Means[CompareState, CompareDisplay]"
CompareController = ScreenController["CompareState", "CompareDisplay"]
