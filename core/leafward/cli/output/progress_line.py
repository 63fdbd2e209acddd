"""A line on the terminal that shows the progress of a verb."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Self

from leafward.cli.output.page import NO_SEQUENCES

if TYPE_CHECKING:
    from leafward.catalogue.listing import Update

_AGAIN = "\r\x1b[K"
"""Moves to the beginning of the line and clears it."""


class ProgressLine:
    """One line on stderr, overwritten each time; nothing if stderr is no terminal that can do that. Leaving `with` removes it."""

    def __init__(self) -> None:
        self._watched = sys.stderr.isatty() and os.environ.get("TERM") not in NO_SEQUENCES

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.wipe()

    def show(self, what: str, done: int, total: int) -> None:
        """Shows `searching 3 / 1,200`."""
        self.write(f"{what} {done:,} / {total:,}" if self._watched else "")

    def show_reading(self, update: Update) -> None:
        """Shows the number of sessions read for the catalogue."""
        if not update.finished:
            self.show("reading sessions", update.done, update.total)

    def write(self, text: str) -> None:
        """Replaces the previous text."""
        if self._watched:
            sys.stderr.write(f"{_AGAIN}{text}")
            sys.stderr.flush()

    def wipe(self) -> None:
        """Clears the line for the next output."""
        self.write("")
