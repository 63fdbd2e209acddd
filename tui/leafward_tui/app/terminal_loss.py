"""The end of the application when its terminal is gone, or is about to be."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from leafward_tui.ui.appearance.terminal import hung_up

if TYPE_CHECKING:
    from typing import IO

    from textual.app import App
    from textual.driver import Driver

_LOOKED_FOR = 2.0
"""Seconds between two checks whether the terminal is still there."""


def end_without_terminal(app: App[Any]) -> None:
    """Lets a running application end as its own key does, without traces, once there is no terminal for it.

    That is on the signals of a closed window and a shutdown, and where the terminal is gone without one: Textual's reader
    would read nothing from it again and again.
    """
    loop = asyncio.get_running_loop()
    for name in ("SIGHUP", "SIGTERM"):
        # Windows has no such handlers.
        with suppress(AttributeError, RuntimeError, ValueError):
            loop.add_signal_handler(getattr(signal, name), app.exit)

    def look() -> None:
        if hung_up(sys.__stdin__.fileno() if sys.__stdin__ is not None else 0):
            app.exit()

    app.set_interval(_LOOKED_FOR, look)


class _Output:
    """A terminal to write to, or nothing once it is gone."""

    def __init__(self, terminal: IO[str]) -> None:
        self._terminal = terminal

    def write(self, text: str) -> None:
        """Writes a text."""
        try:
            self._terminal.write(text)
        except OSError:
            self._drop()

    def flush(self) -> None:
        """Sends what was written."""
        try:
            self._terminal.flush()
        except OSError:
            self._drop()

    def _drop(self) -> None:
        """Sends to nowhere what is still to come: what waits in the buffer would fail as the interpreter ends."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._terminal.fileno())
        os.close(nowhere)

    def fileno(self) -> int:
        """The descriptor of the terminal."""
        return self._terminal.fileno()


def outlasting(driver: type[Driver]) -> type[Driver]:
    """A driver whose output goes nowhere once the terminal is gone.

    Textual's thread for the output would end with an error, and the application wait for it for ever, once thirty frames
    queue up: it could not even hear a signal then.
    """

    def begin(self: Any, *given: Any, **options: Any) -> None:
        driver.__init__(self, *given, **options)
        if (terminal := getattr(self, "_file", None)) is not None:
            self._file = _Output(terminal)

    return type(driver.__name__, (driver,), {"__init__": begin})
