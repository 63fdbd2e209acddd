"""Priority of keys over background work: Python runs one thread at a time, so such work doubles the time of a key."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from leafward.base.gc_pause import COLLECTOR

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.worker import Worker

_FRAME = 0.025
"""Usual seconds from a key until its frame is painted."""
_LATE_FRAME = 0.1
"""Seconds from a key until its frame where the machine is busy."""
_LONGEST_PAUSE = 1.0
"""The most seconds without garbage collection: a key that is held down makes some ten thousand values in that time."""


class InputPriority:
    """Pauses workers from a key until its frame is painted."""

    def __init__(self, *, pauses_collector: bool = False) -> None:
        """`pauses_collector`: whether garbage collection pauses too, which takes up to a third of the time of a key."""
        self._until = self._at_least_until = 0.0
        self._pauses_collector = pauses_collector
        self._paused_at: float | None = None

    def pressed(self) -> None:
        """Called when a key or button was pressed, in the thread of the screen."""
        now = time.monotonic()
        self._at_least_until, self._until = now + _FRAME, now + _LATE_FRAME
        if self._pauses_collector and self._paused_at is None:
            COLLECTOR.pause()
            self._paused_at = now
            asyncio.get_running_loop().call_later(_FRAME, self._collect_again)

    def painted(self) -> None:
        """Called after a painted frame in the thread of the screen; the frame may be that of something before the key."""
        self._until = self._at_least_until

    def _collect_again(self) -> None:
        """Resumes garbage collection after the frame of the last key, at the latest when keys come without a rest."""
        now, paused_at = time.monotonic(), self._paused_at
        if paused_at is not None and now < min(self._until, paused_at + _LONGEST_PAUSE):
            asyncio.get_running_loop().call_later(self._until - now, self._collect_again)
            return
        self.ended()

    def ended(self) -> None:
        """Resumes garbage collection at once, where a key paused it."""
        if self._paused_at is not None:
            self._paused_at = None
            COLLECTOR.go_on()

    def unwanted(self, worker: Worker[Any]) -> Callable[[], bool]:
        """The function that a worker calls every few milliseconds.

        It waits while a key is handled, and then tells whether the worker is cancelled.
        """

        def cancelled() -> bool:
            while (left := self._until - time.monotonic()) > 0 and not worker.is_cancelled:
                time.sleep(min(left, _FRAME))
            return worker.is_cancelled

        return cancelled
