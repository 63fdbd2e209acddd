"""Garbage collection in a process of the application's own: none while it starts, seldom afterwards."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

from leafward.base.gc_pause import COLLECTOR, collect_seldom, look_through, set_aside

if TYPE_CHECKING:
    from textual.app import App

_SETTLED = 1.0
"""Seconds after which start-up is over, or the next screen stands."""


class OwnCollector:
    """The garbage collector where it was off before the application was made; where that is embedded, it is left alone."""

    def __init__(self, app: App[Any]) -> None:
        self._app = app
        self.is_ours = not gc.isenabled()

    def begin(self) -> None:
        """Starts garbage collection once start-up is over; it skips the objects made until then."""
        if self.is_ours:
            self._app.set_timer(_SETTLED, self._collect)

    def _collect(self) -> None:
        self.keep_for_long()
        collect_seldom()
        COLLECTOR.enable()

    def keep_for_long(self) -> None:
        """Excludes the objects made so far from garbage collection: no key has to wait for a pass over them."""
        if self.is_ours:
            set_aside()

    def let_go(self) -> None:
        """Ends `keep_for_long`: the objects are examined again, once the next screen stands."""
        if self.is_ours and self._app.is_running:
            self._app.set_timer(_SETTLED, look_through)
