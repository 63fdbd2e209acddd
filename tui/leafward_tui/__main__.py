"""The command `leafward`: answers `--help`, `--version` and every verb before anything of the screen is loaded."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

from leafward.cli import main as command_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line with the application at hand; returns the exit code."""
    return command_line(argv, open_app=_open_app)


def _open_app(paths: Sequence[Path]) -> int:
    """Opens the application; Textual is imported here.

    It reads the number of colours from the environment once, at import. Afterwards the variable is taken back: an agent
    that is resumed from here inherits nothing of ours.
    """
    from leafward.ahead import scan_ahead
    from leafward_tui.terminal import COLOR_SYSTEM_VARIABLE, color_system

    # Nothing that start-up makes is garbage worth a look; the application collects again once its screen stands.
    gc.disable()
    ahead = scan_ahead(paths[0]) if len(paths) == 1 else None
    colours = color_system(os.environ)
    if colours is not None:
        os.environ[COLOR_SYSTEM_VARIABLE] = colours
    from leafward_tui.app import run

    if colours is not None:
        del os.environ[COLOR_SYSTEM_VARIABLE]
    return run(paths, ahead)


if __name__ == "__main__":
    sys.exit(main())
