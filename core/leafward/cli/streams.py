"""The three standard streams at the start of the command, opened if the caller closed them."""

from __future__ import annotations

import os
import sys

_NAMES = ("stdin", "stdout", "stderr")


def fill_closed() -> None:
    """Opens the null device for each closed standard stream.

    Otherwise the next file to be opened, such as a session, would get the descriptor that programs write their output to.
    """
    for number, name in enumerate(_NAMES):
        if _is_open(number) and getattr(sys, name) is not None:
            continue
        if not _is_open(number):
            # `open` takes the lowest free number, and those below are open by now.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False))


def let_go(number: int) -> None:
    """Redirects a stream to the null device: text that is still buffered must not fail once more at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
