"""The way into the command line, before any of its modules is loaded."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.cli.host import CheckApp, OpenApp


def command_line(
    argv: Sequence[str] | None = None, open_app: OpenApp | None = None, check_app: CheckApp | None = None
) -> int:
    """Runs the command line (see `leafward.cli.main`).

    An interrupt while modules load ends the process as the signal ends any other one, without a traceback.
    """
    handler = signal.getsignal(signal.SIGINT)
    is_usual = handler is signal.default_int_handler
    if is_usual:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from leafward.cli.main import main

    if is_usual:
        signal.signal(signal.SIGINT, handler)
    return main(argv, open_app, check_app)
