"""Jobs for the tests of controllers: they run when a test says so, in the test's own thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.base.errors import Cancelled, LeafwardError
from leafward_tui.ui.jobs import Job, Jobs

if TYPE_CHECKING:
    from collections.abc import Callable


WANTED = Job(lambda: False, lambda tell: tell())
"""The handle of a job that nobody cancels."""


class WaitingJobs(Jobs):
    """Jobs that run when they are told to; of each key the latest is kept until it delivers."""

    def __init__(self) -> None:
        self.waiting: dict[str, tuple[Any, ...]] = {}
        self.behind: dict[str, Callable[[], object]] = {}
        """What starts a job of a key once the present one has delivered."""

    def latest(
        self, key: str, work: Callable[[Job], Any], on_done: Any, on_error: Any = None, **_alone: bool
    ) -> None:
        self.behind.pop(key, None)
        self.waiting[key] = (work, on_done, on_error)

    also = latest

    def after(self, key: str, start: Callable[[], object]) -> None:
        if self.running(key):
            self.behind[key] = start
        else:
            start()

    def running(self, key: str) -> bool:
        return key in self.waiting

    def cancel(self, *keys: str) -> None:
        for key in keys or tuple(self.waiting):
            self.waiting.pop(key, None)
            self.behind.pop(key, None)

    def take(self, key: str) -> Callable[[], None]:
        """Does the work of a key; what is returned delivers it, unless it was cancelled or replaced by then."""
        job = work, on_done, on_error = self.waiting[key]
        try:
            result = work(WANTED)
        except Cancelled:
            return lambda: None
        except (LeafwardError, OSError) as error:
            told, result = on_error, str(error)
        else:
            told = on_done

        def deliver() -> None:
            if self.waiting.get(key) is job:
                del self.waiting[key]
                told(result)
                self.behind.pop(key, lambda: None)()

        return deliver

    def run(self, key: str) -> None:
        self.take(key)()

    def run_all(self, key: str) -> None:
        """Runs the jobs of a key, each of which starts the next."""
        for _ in range(20):
            if key not in self.waiting:
                return
            self.run(key)
        raise AssertionError(key)
