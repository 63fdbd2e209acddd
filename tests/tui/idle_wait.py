"""Waits for the application as Textual's pilot does, in finer steps.

Textual looks every 20 ms whether the process used its processor, twice a key and once a pause: most of the time of a
test was spent in that. Here an application is at rest when no message waits to be handled and no job is under way. As long
as a job runs, it has to leave the processor alone for as long as Textual wants.
"""

from __future__ import annotations

from asyncio import sleep
from time import monotonic, process_time
from typing import TYPE_CHECKING, Any

from textual._context import active_app

if TYPE_CHECKING:
    from textual.app import App

STEP = 0.003
"""Seconds between two looks."""
BUSY_SHARE = 0.2
"""Share of a step from which the process counts as working."""
QUIET = 3 * STEP
"""Seconds of rest that are enough after a key, without a job: a message handled in the first step may have led to another."""
QUIET_OF_PAUSE = 0.02
"""The same beside a job, and for a pause, after which a test looks at the screen: those that Textual waits for."""
_LONGEST = 1.0
"""Seconds after which an application that never rests is looked at all the same."""
_ROUND = 0.02
"""Seconds of `_LONGEST` that one look counts for at most: where the machine stood still, the application did so as well."""
SOON = 0.2
"""Seconds of a delay for which a test waits that wants all that a key leads to: what follows a cursor that rests."""


def no_message_waits(app: App[Any]) -> bool:
    """Whether all messages are handled."""
    nodes = [app, *(node for screen in app.screen_stack for node in screen.walk_children(with_self=True))]
    return not any(node.message_queue_size for node in nodes)


def no_delay_runs(app: App[Any]) -> bool:
    """Whether nothing is put off that happens soon."""
    timers = (
        timer
        for screen in app.screen_stack
        for node in screen.walk_children(with_self=True)
        for timer in node._timers
    )
    return not any(
        timer._repeat == 0 and timer._interval <= SOON and timer._task is not None and not timer._task.done()
        for timer in timers
    )


def no_job_runs(app: App[Any]) -> bool:
    """Whether all jobs have ended, those that have not begun too."""
    return all(worker.is_finished for worker in app.workers)


async def wait_after_key(_least: float = 0.0) -> None:
    """Lets the application run until it is at rest."""
    await _rest(QUIET)


async def wait_in_pause(_least: float = 0.0) -> None:
    """Lets the application run until it is at rest, for as long as Textual does."""
    await _rest(QUIET_OF_PAUSE)


async def _rest(enough: float) -> None:
    app, waited, quiet = active_app.get(), 0.0, 0.0
    while waited < _LONGEST:
        began, used = monotonic(), process_time()
        await sleep(STEP)
        waited += min(monotonic() - began, _ROUND)
        works = process_time() - used > STEP * BUSY_SHARE
        if works or not no_message_waits(app):
            quiet = 0.0
            continue
        if not quiet and app.screen_stack:
            # A frame that waits for its timer is drawn now; it may lead to more.
            app.screen._on_timer_update()
        quiet += STEP
        if quiet >= (enough if no_job_runs(app) else QUIET_OF_PAUSE):
            return
