"""Jobs: the latest of a key counts, exceptions become words, nothing arrives on a screen that is gone."""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from typing import TYPE_CHECKING

import pytest
from textual.screen import Screen

from leafward.base.errors import Cancelled, Refused
from leafward_tui.app.app import LeafwardApp

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from textual.pilot import Pilot

    from leafward_tui.ui.jobs import Job, Jobs

PATIENCE = 120.0


@pytest.fixture
async def pilot(tmp_path: Path) -> AsyncIterator[Pilot[int]]:
    async with LeafwardApp([tmp_path]).run_test() as pilot:
        yield pilot


def jobs_of(pilot: Pilot[int]) -> Jobs:
    app = pilot.app
    assert isinstance(app, LeafwardApp)
    return app.jobs(app.screen)


async def settled(pilot: Pilot[int]) -> None:
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


def gated(gate: threading.Event, value: str, _job: Job) -> str:
    """A value, once the gate is open: a job that goes on after it was cancelled."""
    assert gate.wait(PATIENCE)
    return value


def immediately(value: str, _job: Job) -> str:
    return value


def failing(error: Exception, _job: Job) -> str:
    raise error


async def test_only_the_latest_of_a_key_is_delivered(pilot: Pilot[int]) -> None:
    jobs, gate, found = jobs_of(pilot), threading.Event(), list[str]()
    jobs.latest("price", partial(gated, gate, "old"), found.append)
    jobs.latest("price", partial(gated, gate, "new"), found.append)
    jobs.latest("other", partial(gated, gate, "beside"), found.append)
    gate.set()
    for worker in pilot.app.workers:
        if not worker.is_cancelled:
            await worker.wait()
    await pilot.pause()
    assert sorted(found) == ["beside", "new"]
    assert not jobs.running("price")


async def test_the_result_arrives_in_the_thread_of_the_screen(pilot: Pilot[int]) -> None:
    jobs, threads = jobs_of(pilot), list[int]()
    jobs.latest("where", lambda _job: threading.get_ident(), threads.append)
    jobs.latest("here", partial(immediately, ""), lambda _none: threads.append(threading.get_ident()))
    await settled(pilot)
    assert len(set(threads)) == 2
    assert threading.get_ident() in threads


async def test_an_exception_becomes_words_and_a_cancelled_job_says_nothing(pilot: Pilot[int]) -> None:
    jobs, done, words = jobs_of(pilot), list[str](), list[str]()
    jobs.latest("a", partial(failing, Refused("the file changed")), done.append, words.append)
    jobs.latest("b", partial(failing, Cancelled("given up")), done.append, words.append)
    jobs.latest("c", partial(failing, ValueError("odd\x1b[31m\nred")), done.append, words.append)
    await settled(pilot)
    assert sorted(words) == ["the file changed", "unforeseen ValueError: odd␛[31m red"]
    assert not done


async def test_an_error_that_nobody_asked_for_is_a_toast(pilot: Pilot[int]) -> None:
    jobs_of(pilot).latest("a", partial(failing, OSError("disk full")), lambda _result: None)
    await settled(pilot)
    assert [toast.message for toast in pilot.app._notifications] == ["disk full"]


async def test_what_is_cancelled_is_told_to_stop_and_dropped(pilot: Pilot[int]) -> None:
    jobs, gate, unwanted, found = jobs_of(pilot), threading.Event(), list[bool](), list[str]()
    begun, ended = threading.Event(), threading.Event()

    def work(job: Job) -> str:
        begun.set()
        assert gate.wait(PATIENCE)
        unwanted.append(job.unwanted())
        job.report(lambda: found.append("progress"))
        ended.set()
        return "result"

    jobs.latest("a", work, found.append)
    assert jobs.running("a")
    assert await asyncio.to_thread(begun.wait, PATIENCE)
    jobs.cancel("a")
    gate.set()
    assert await asyncio.to_thread(ended.wait, PATIENCE)
    await pilot.pause()
    assert (unwanted, found, jobs.running("a")) == ([True], [], False)


async def test_what_is_asked_for_faster_than_it_is_done_is_done_all_the_same(pilot: Pilot[int]) -> None:
    jobs, gate, found, done = jobs_of(pilot), threading.Event(), list[str](), asyncio.Event()

    def told(value: str) -> None:
        found.append(value)
        if value == "last":
            done.set()

    for value in ("first", "second", "last"):
        jobs.after("survey", partial(jobs.latest, "survey", partial(gated, gate, value), told))
    gate.set()
    await asyncio.wait_for(done.wait(), PATIENCE)
    assert found == ["first", "last"]


async def test_what_waits_behind_a_cancelled_job_never_starts(pilot: Pilot[int]) -> None:
    jobs, gate, started = jobs_of(pilot), threading.Event(), list[str]()
    jobs.latest("survey", partial(gated, gate, "first"), started.append)
    jobs.after("survey", lambda: started.append("behind"))
    jobs.cancel("survey")
    gate.set()
    await pilot.pause()
    jobs.latest("survey", partial(immediately, "anew"), started.append)
    for worker in pilot.app.workers:
        if not worker.is_cancelled:
            await worker.wait()
    await pilot.pause()
    assert started == ["anew"]


async def test_jobs_beside_each_other_are_all_delivered(pilot: Pilot[int]) -> None:
    jobs, gate, found = jobs_of(pilot), threading.Event(), list[str]()
    jobs.also("write", partial(gated, gate, "first"), found.append)
    jobs.also("write", partial(gated, gate, "second"), found.append)
    gate.set()
    await settled(pilot)
    assert sorted(found) == ["first", "second"]
    assert not jobs.running("write")


async def test_nothing_arrives_on_a_screen_that_is_gone(pilot: Pilot[int]) -> None:
    app, gate, found = pilot.app, threading.Event(), list[str]()
    assert isinstance(app, LeafwardApp)
    screen: Screen[None] = Screen()
    await app.push_screen(screen)
    app.jobs(screen).latest("a", partial(gated, gate, "late"), found.append)
    await app.pop_screen()
    gate.set()
    await pilot.pause()
    await pilot.pause()
    assert not found
