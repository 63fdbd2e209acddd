"""Keys before background work: Python runs one thread at a time, so work that goes on while a key is handled doubles its time."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from leafward.base.gc_pause import COLLECTOR

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.worker import Worker

_FRAME = 0.025
"""Seconds from a key until its frame is painted, as a rule."""
_LATE_FRAME = 0.1
"""The same where the machine is busy."""
_LONGEST_PAUSE = 1.0
"""Seconds without garbage collection, at most: a key that is held down makes some ten thousand values until then."""


class InputPriority:
    """Lets workers rest from a key until its frame stands."""

    def __init__(self, *, pauses_collector: bool = False) -> None:
        """`pauses_collector`: whether no garbage is collected either meanwhile, which takes up to a third of the time of a key."""
        self._until = self._at_least_until = 0.0
        self._pauses_collector = pauses_collector
        self._paused_at: float | None = None

    def pressed(self) -> None:
        """A key or button was pressed; called in the thread of the screen."""
        now = time.monotonic()
        self._at_least_until, self._until = now + _FRAME, now + _LATE_FRAME
        if self._pauses_collector and self._paused_at is None:
            COLLECTOR.pause()
            self._paused_at = now
            asyncio.get_running_loop().call_later(_FRAME, self._collect_again)

    def painted(self) -> None:
        """A frame stands; called in the thread of the screen. It may be that of something before the key."""
        self._until = self._at_least_until

    def _collect_again(self) -> None:
        """Lets garbage be collected once the frame of the last key stands, in the end also where keys come without a rest."""
        now, paused_at = time.monotonic(), self._paused_at
        if paused_at is not None and now < min(self._until, paused_at + _LONGEST_PAUSE):
            asyncio.get_running_loop().call_later(self._until - now, self._collect_again)
            return
        self._paused_at = None
        COLLECTOR.go_on()

    def unwanted(self, worker: Worker[Any]) -> Callable[[], bool]:
        """What a worker asks after every few milliseconds of work.

        It waits there while a key is handled, and is then told whether its result is still wanted.
        """

        def cancelled() -> bool:
            while (left := self._until - time.monotonic()) > 0 and not worker.is_cancelled:
                time.sleep(min(left, _FRAME))
            return worker.is_cancelled

        return cancelled
