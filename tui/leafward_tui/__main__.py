"""The command `leafward`: answers `--help`, `--version` and every verb before any module of the screen is loaded."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING

from leafward.cli.start import command_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from leafward.base.config import Config


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command line with the application at hand; returns the exit code."""
    return command_line(argv, open_app=_open_app, check_app=_check_app)


def _check_app(config: Config) -> Iterable[tuple[str, str]]:
    """Problems that the application would report at its start; for `leafward doctor`."""
    from leafward_tui.app.checks import check

    return check(config)


def _open_app(paths: Sequence[Path]) -> int:
    """Opens the application; Textual is imported here.

    Textual reads its variables once, at import. Afterwards ours are removed: an agent that is resumed from here
    inherits none of them.
    """
    from leafward.session.lines.prefetch import scan_ahead
    from leafward_tui.ui.appearance.terminal import textual_settings

    # No value made at start-up is garbage worth collecting; the application collects again once its screen stands.
    gc.disable()
    ahead = scan_ahead(paths[0]) if len(paths) == 1 else None
    settings = textual_settings(os.environ)
    os.environ.update(settings)
    from leafward_tui.app.app import run

    for name in settings:
        del os.environ[name]
    return run(paths, ahead)


if __name__ == "__main__":
    sys.exit(main())
