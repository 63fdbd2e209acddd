"""A call that is made once nothing asked for it again for a moment: a cursor that rests, a query that is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.timer import Timer


class Delay:
    """Waits for one call at a time: the next one replaces it."""

    def __init__(self, set_timer: Callable[[float, Callable[[], object]], Timer]) -> None:
        """`set_timer` makes a timer from seconds and the call, as that of a widget does."""
        self._set_timer = set_timer
        self._timer: Timer | None = None

    def start(self, seconds: float, then: Callable[[], object]) -> None:
        """Calls `then` after so many seconds, 0 or more, unless another call is asked for before."""
        self.stop()
        self._timer = self._set_timer(seconds, then)
        # A call that is late would be skipped as if another one followed: a thread that stood still for as long as the
        # delay, just as it began, never made it (Textual 8, which divides by the delay then, too).
        self._timer._skip = False  # noqa: SLF001  no other way to ask for it

    def stop(self) -> None:
        """Gives up the call that is waited for."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
