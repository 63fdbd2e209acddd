"""The X-ray screen."""

from __future__ import annotations

from leafward_tui.xray.parts import Leaving
from leafward_tui.xray.screen import XRayScreen

__all__ = ["Leaving", "XRayScreen"]
