"""The garbage collector, kept from looking through the same values again and again while many are made."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Collector:
    """The garbage collector, which several threads may pause at a time: it goes on when the last of them lets it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._pauses = 0
        self._collects = False
        """Whether it is enabled otherwise."""

    def pause(self) -> None:
        """No garbage collection until as many `go_on`."""
        with self._lock:
            if not self._pauses:
                self._collects = gc.isenabled()
                gc.disable()
            self._pauses += 1

    def go_on(self) -> None:
        """Takes one `pause` back."""
        with self._lock:
            self._pauses -= 1
            if not self._pauses and self._collects:
                gc.enable()

    def enable(self) -> None:
        """Garbage is collected from now on, or from the end of the last pause on."""
        with self._lock:
            self._collects = True
            if not self._pauses:
                gc.enable()


COLLECTOR = _Collector()


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pauses garbage collection: with a million values, one pass over them stops every thread for 0.1 s."""
    COLLECTOR.pause()
    try:
        yield
    finally:
        COLLECTOR.go_on()


def collect_seldom() -> None:
    """Passes over everything that lives are made after a million new values instead of some ten thousand.

    Each keeps every thread waiting, the longer the more there is, and finds little: what has no cycles goes without them.
    """
    gc.set_threshold(2_000, 10, 50)


def set_aside() -> None:
    """What lives now lives for long: from now on garbage is looked for among what is made later. Costs nothing.

    A session of a million entries is some ten thousand values that a pass over everything visits, for 0.02 s each time.
    What becomes garbage among what was set aside is freed by `look_through`, but for what nothing refers to any more: that goes at once.
    """
    gc.freeze()


def look_through() -> None:
    """Frees what became garbage among what was set aside, and sets the rest aside; stops every thread for up to 0.1 s."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
