"""Work beside the screen: the only place with thread workers.

A job is a free function of values. It gets a `Job`, asks it every few milliseconds whether its result is still wanted,
and returns the result; the caller's function gets that in the thread of the screen, unless a newer job of the same key
was started or the screen is gone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from textual.worker import get_current_worker

from leafward.base.errors import Cancelled, LeafwardError, reason_of
from leafward.base.safe_text import safe_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.dom import DOMNode
    from textual.worker import Worker

Result = TypeVar("Result")


class Job:
    """The handle that a job gets beside its values, used from the job's own thread."""

    __slots__ = ("report", "unwanted")

    def __init__(
        self, unwanted: Callable[[], bool], report: Callable[[Callable[[], object]], object]
    ) -> None:
        self.unwanted = unwanted
        """Whether the result is no longer wanted; to be asked every few milliseconds. Waits there while a key is handled: for
        that alone a job asks that runs on in any case.
        """
        self.report = report
        """Runs a function in the thread of the screen, as long as the job is wanted: for progress and results in parts."""


class Jobs:
    """The jobs of one screen or widget: named by keys, of which the latest counts. They end with it."""

    def __init__(
        self,
        owner: DOMNode,
        unwanted: Callable[[Worker[Any]], Callable[[], bool]],
        say: Callable[[str], object],
    ) -> None:
        """`unwanted` makes the function of that name for a worker's job; `say` shows why a job failed."""
        self._owner, self._unwanted, self._say = owner, unwanted, say
        self._runs: dict[str, int] = {}
        self._running: dict[str, int] = {}
        self._waiting: dict[str, Callable[[], object]] = {}
        """The start of the next job of a key, once the present one has delivered."""

    def latest(
        self,
        key: str,
        work: Callable[[Job], Result],
        on_done: Callable[[Result], object],
        on_error: Callable[[str], object] | None = None,
        *,
        alone: bool = True,
    ) -> None:
        """Starts a job; `alone`, it cancels the one before with the same key.

        `on_done` gets the result, `on_error` one sentence (shown as a problem where it is not given), both in the thread of the screen
        and only while the job is the latest of its key.
        """
        owner, runs = self._owner, self._runs
        if alone:
            self._waiting.pop(key, None)
            runs[key] = runs.get(key, 0) + 1
            self._running[key] = 0
        run = runs.setdefault(key, 0)
        self._running[key] = self._running.get(key, 0) + 1

        def ended(tell: Callable[[], object] | None) -> None:
            if runs[key] == run:
                self._running[key] -= 1
                if tell is not None:
                    tell()
                if runs[key] == run and not self.running(key) and key in self._waiting:
                    self._waiting.pop(key)()

        def deliver(tell: Callable[[], object]) -> None:
            owner.call_later(lambda: tell() if runs[key] == run else None)

        def failed(text: str) -> Callable[[], object]:
            return lambda: (on_error or self._say)(text)

        def in_thread() -> None:
            tell: Callable[[], object] | None
            try:
                result = work(Job(self._unwanted(get_current_worker()), deliver))
            except Cancelled:
                tell = None
            except (LeafwardError, OSError) as error:
                tell = failed(reason_of(error))
            except Exception as error:  # a defect of a job ends neither its thread nor the application
                # Its words may be those of a session.
                tell = failed(safe_line(f"unforeseen {type(error).__name__}: {error}"))
            else:

                def tell() -> object:
                    return on_done(result)

            owner.call_later(ended, tell)

        owner.run_worker(
            in_thread, name=key, group=key, exclusive=alone, thread=True, exit_on_error=False, description=key
        )

    def after(self, key: str, start: Callable[[], object]) -> None:
        """Calls `start`, which starts a job of this key: now, or once the one under way has delivered; of several that wait, the last.

        So a job that is asked for faster than it is done is done all the same.
        """
        if self.running(key):
            self._waiting[key] = start
        else:
            start()

    def also(
        self,
        key: str,
        work: Callable[[Job], Result],
        on_done: Callable[[Result], object],
        on_error: Callable[[str], object] | None = None,
    ) -> None:
        """Starts a job beside those of the same key; each delivers its result. For writes, which are never cancelled."""
        self.latest(key, work, on_done, on_error, alone=False)

    def running(self, key: str) -> bool:
        """Whether a job of this key has not delivered yet."""
        return bool(self._running.get(key))

    def cancel(self, *keys: str) -> None:
        """Cancels the jobs of some keys, without keys all jobs; their results are dropped."""
        for key in keys or tuple(self._runs):
            self._runs[key] = self._runs.get(key, 0) + 1
            self._running.pop(key, None)
            self._waiting.pop(key, None)
            self._owner.workers.cancel_group(self._owner, key)
