"""The command `leafward`: answers `--help`, `--version` and every verb before anything of the screen is loaded."""

from __future__ import annotations

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
    """Opens the application; Textual is imported here."""
    from leafward_tui.app import run

    return run(paths)


if __name__ == "__main__":
    sys.exit(main())
