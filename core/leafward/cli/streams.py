"""The three standard streams as they are when the command starts: each is there, also where the caller closed it."""

from __future__ import annotations

import os
import sys

_NAMES = ("stdin", "stdout", "stderr")


def fill_closed() -> None:
    """Puts nothing in the place of each standard stream that is closed.

    Else the next file that is opened, a session for one, gets the descriptor that programs take for their output.
    """
    for number, name in enumerate(_NAMES):
        if _is_open(number) and getattr(sys, name) is not None:
            continue
        if not _is_open(number):
            # The lowest free number: those below are open by now.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8", closefd=False))


def let_go(number: int) -> None:
    """Sends a stream nowhere from now on: what is still buffered must not fail once more at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
