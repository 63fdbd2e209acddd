"""Control of the garbage collector, so that it does not visit the same values again and again while many are made."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


_MANY = 100_000
"""New values from which a pass over them would stop every thread for some hundredths of a second."""


class _Collector:
    """The garbage collector; several threads may pause it at a time, and it resumes when the last one ends its pause."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._pauses = 0
        self._collects = False
        """Whether it is enabled apart from pauses."""
        self.sets_aside = False
        """Whether values were excluded, and are to stay so."""

    def pause(self) -> None:
        """Stops garbage collection until `go_on` was called as often as `pause`."""
        with self._lock:
            if not self._pauses:
                self._collects = gc.isenabled()
                gc.disable()
            self._pauses += 1

    def go_on(self) -> None:
        """Ends one `pause`. Where many values were made, the next pass is not over all of them: they count as old ones."""
        with self._lock:
            self._pauses -= 1
            if self._pauses or not self._collects:
                return
            if gc.get_count()[0] >= _MANY:
                gc.freeze()
                if not self.sets_aside:
                    gc.unfreeze()
            gc.enable()

    def enable(self) -> None:
        """Enables garbage collection now, or at the end of the last pause."""
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
    """Makes passes over all live values rare: one per million new values instead of one per some ten thousand.

    Each pass stops every thread, longer the more values there are, and frees little: only values in cycles need a pass.
    """
    gc.set_threshold(2_000, 10, 50)


def set_aside() -> None:
    """Excludes all values that live now from garbage collection; later ones are still collected. Costs nothing.

    A session of a million entries is some ten thousand values that every pass over all values visits, for 0.02 s each time.
    Excluded values that become garbage are freed by `look_through`; those without any reference are freed at once.
    """
    COLLECTOR.sets_aside = True
    gc.freeze()


def look_through() -> None:
    """Frees excluded values that became garbage, and excludes the rest again; stops every thread for up to 0.1 s."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
