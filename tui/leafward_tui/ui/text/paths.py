"""Paths as they are shown, and the folder that relative ones start from."""

from __future__ import annotations

import os

from rich.cells import cell_len

from leafward.base.safe_text import safe_line
from leafward.base.shown_path import project_name
from leafward_tui.ui.text.cells import fit_path


def working_folder() -> str:
    """The folder that the application runs in; empty where it is gone, as an agent's worktree may be by now."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def tilde(path: str) -> str:
    """A path made safe, with the home folder as `~`."""
    home = os.path.expanduser("~")
    shown = safe_line(path)
    return "~" + shown[len(home) :] if home and (shown == home or shown.startswith(home + os.sep)) else shown


def fit_project(folder: str, width: int, gap: str) -> str:
    """A project's folder in at most `width` cells; a worktree that has no room for its path has its project's name before its own."""
    shown, name = tilde(folder), project_name(folder, width)
    if "/" in name and cell_len(shown) > width:
        return fit_path(f"{gap}/{name}", width, gap=gap)
    return fit_path(shown, width, gap=gap)
