"""Jobs for the tests of controllers: they run when a test says so, in the test's own thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.base.errors import LeafwardError
from leafward_tui.ui.jobs import Job, Jobs

if TYPE_CHECKING:
    from collections.abc import Callable


WANTED = Job(lambda: False, lambda tell: tell())
"""The handle of a job that nobody cancels."""


class WaitingJobs(Jobs):
    """Jobs that run when they are told to; of each key the latest is kept."""

    def __init__(self) -> None:
        self.waiting: dict[str, tuple[Any, ...]] = {}

    def latest(self, key: str, work: Callable[[Job], Any], on_done: Any, on_error: Any = None) -> None:
        self.waiting[key] = (work, on_done, on_error)

    also = latest

    def running(self, key: str) -> bool:
        return key in self.waiting

    def cancel(self, *keys: str) -> None:
        for key in keys:
            self.waiting.pop(key, None)

    def run(self, key: str) -> None:
        work, on_done, on_error = self.waiting.pop(key)
        try:
            result = work(WANTED)
        except LeafwardError as error:
            on_error(str(error))
        else:
            on_done(result)
