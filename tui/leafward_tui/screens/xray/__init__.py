"""The X-ray screen."""

from __future__ import annotations

from leafward_tui.screens.xray.parts import Leaving
from leafward_tui.screens.xray.screen import XRayScreen

__all__ = ["Leaving", "XRayScreen"]
