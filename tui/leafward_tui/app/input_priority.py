"""Keys before background work: Python runs one thread at a time, so work that goes on while a key is handled doubles its time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.worker import Worker

_FRAME = 0.025
"""Seconds from a key until its frame is painted, as a rule."""
_LATE_FRAME = 0.1
"""The same where the machine is busy."""


class InputPriority:
    """Lets workers rest from a key until its frame stands."""

    def __init__(self) -> None:
        self._until = self._at_least_until = 0.0

    def pressed(self) -> None:
        """A key or button was pressed; called in the thread of the screen."""
        now = time.monotonic()
        self._at_least_until, self._until = now + _FRAME, now + _LATE_FRAME

    def painted(self) -> None:
        """A frame stands; called in the thread of the screen. It may be that of something before the key."""
        self._until = self._at_least_until

    def unwanted(self, worker: Worker[Any]) -> Callable[[], bool]:
        """What a worker asks after every few milliseconds of work.

        It waits there while a key is handled, and is then told whether its result is still wanted.
        """

        def cancelled() -> bool:
            while (left := self._until - time.monotonic()) > 0 and not worker.is_cancelled:
                time.sleep(min(left, _FRAME))
            return worker.is_cancelled

        return cancelled
