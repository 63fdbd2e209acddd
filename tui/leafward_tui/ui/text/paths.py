"""Paths as they are shown."""

from __future__ import annotations

import os

from leafward.base.safe_text import safe_line


def tilde(path: str) -> str:
    """A path made safe, with the home folder as ``~``."""
    home = os.path.expanduser("~")
    shown = safe_line(path)
    return "~" + shown[len(home) :] if home and (shown == home or shown.startswith(home + os.sep)) else shown
