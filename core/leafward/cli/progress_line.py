"""The line of the terminal that says how far a verb is."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from leafward.catalog import Update

_AGAIN = "\r\x1b[K"
"""Back to the beginning of the line, which is emptied."""


class ProgressLine:
    """One line on stderr, written over each time; nothing where stderr is no terminal. After `with` it is gone."""

    def __init__(self) -> None:
        self._watched = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.wipe()

    def show(self, what: str, done: int, total: int) -> None:
        """`searching 3 / 1,200`."""
        self.write(f"{what} {done:,} / {total:,}" if self._watched else "")

    def show_reading(self, update: Update) -> None:
        """How many sessions of the catalogue are read."""
        if not update.finished:
            self.show("reading sessions", update.done, update.total)

    def write(self, text: str) -> None:
        """Puts a text in place of the one before."""
        if self._watched:
            sys.stderr.write(f"{_AGAIN}{text}")
            sys.stderr.flush()

    def wipe(self) -> None:
        """Empties the line, for what is written next."""
        self.write("")
