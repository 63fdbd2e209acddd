"""Work behind the screen waits while a key is handled."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, cast

import pytest

from leafward_tui.app import input_priority as module
from leafward_tui.app.app import LeafwardApp
from leafward_tui.app.input_priority import InputPriority
from tests.tui.explored import exploring, forked
from tests.tui.session_store import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from textual.worker import Worker


class Clock:
    """A time that passes only while somebody sleeps."""

    def __init__(self, worker: Cancellable) -> None:
        self.now = 100.0
        self.slept: list[float] = []
        self.worker = worker
        self.cancels = False

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        self.worker.is_cancelled |= self.cancels


class Cancellable:
    is_cancelled = False


@pytest.fixture
def worker() -> Cancellable:
    return Cancellable()


@pytest.fixture
def clock(worker: Cancellable, monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock(worker)
    monkeypatch.setattr(module, "time", made)
    return made


def test_work_goes_on_where_nobody_types(worker: Cancellable, clock: Clock) -> None:
    unwanted = InputPriority().unwanted(cast("Worker[None]", worker))
    assert not unwanted()
    assert not clock.slept


def test_work_rests_until_the_frame_of_a_key_stands(worker: Cancellable, clock: Clock) -> None:
    keys = InputPriority()
    unwanted = keys.unwanted(cast("Worker[None]", worker))
    keys.pressed()
    keys.painted()
    assert not unwanted()
    assert clock.slept
    assert 0.016 < sum(clock.slept) < 0.05
    rested = len(clock.slept)
    assert not unwanted()
    assert len(clock.slept) == rested


def test_work_rests_longer_where_the_frame_is_late_but_not_for_ever(
    worker: Cancellable, clock: Clock
) -> None:
    keys = InputPriority()
    unwanted = keys.unwanted(cast("Worker[None]", worker))
    keys.pressed()
    assert not unwanted()
    assert 0.05 < sum(clock.slept) < 0.2


def test_what_is_no_longer_wanted_does_not_wait(worker: Cancellable, clock: Clock) -> None:
    keys = InputPriority()
    unwanted = keys.unwanted(cast("Worker[None]", worker))
    keys.pressed()
    worker.is_cancelled = True
    assert unwanted()
    assert not clock.slept


def test_cancelled_while_it_rests(worker: Cancellable, clock: Clock) -> None:
    keys = InputPriority()
    unwanted = keys.unwanted(cast("Worker[None]", worker))
    clock.cancels = True
    keys.pressed()
    assert unwanted()
    assert len(clock.slept) == 1


class Loop:
    """An event loop that says what it would call later."""

    def __init__(self) -> None:
        self.later: list[tuple[float, Callable[[], object]]] = []

    def get_running_loop(self) -> Loop:
        return self

    def call_later(self, delay: float, call: Callable[[], object]) -> None:
        self.later.append((delay, call))

    def go_on(self, clock: Clock) -> None:
        """Lets the time pass until the only call, and makes it."""
        ((delay, call),) = self.later
        self.later.clear()
        clock.now += delay
        call()


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loop]:
    made = Loop()
    monkeypatch.setattr(module, "asyncio", made)
    before = gc.isenabled()
    gc.enable()
    yield made
    (gc.enable if before else gc.disable)()


def test_no_garbage_is_collected_until_the_frame_of_a_key_stands(clock: Clock, loop: Loop) -> None:
    keys = InputPriority(pauses_collector=True)
    keys.pressed()
    assert not gc.isenabled()
    keys.pressed()
    keys.painted()
    loop.go_on(clock)
    assert gc.isenabled()
    assert not loop.later
    # A frame that is late is waited for.
    keys.pressed()
    loop.go_on(clock)
    assert not gc.isenabled()
    loop.go_on(clock)
    assert gc.isenabled()


def test_garbage_is_collected_where_keys_come_without_a_rest(clock: Clock, loop: Loop) -> None:
    keys = InputPriority(pauses_collector=True)
    began = clock.now
    keys.pressed()
    while not gc.isenabled() and clock.now < began + 5:
        keys.pressed()
        loop.go_on(clock)
    assert 0.5 < clock.now - began < 1.5


def test_the_collector_of_others_is_left_alone(clock: Clock, loop: Loop) -> None:
    del clock
    InputPriority().pressed()
    assert gc.isenabled()
    assert not loop.later


async def test_a_key_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = forked(tmp_path / "session.jsonl")
    async with exploring(file.path, (120, 30)) as (pilot, _):
        pressed: list[None] = []
        assert isinstance(pilot.app, LeafwardApp)
        monkeypatch.setattr(pilot.app.input_priority, "pressed", lambda: pressed.append(None))
        await pilot.press("k", "j")
        assert len(pressed) == 2


@pytest.mark.frames
async def test_a_frame_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = forked(tmp_path / "session.jsonl")
    async with exploring(file.path, (120, 30)) as (pilot, _):
        painted: list[None] = []
        assert isinstance(pilot.app, LeafwardApp)
        monkeypatch.setattr(pilot.app.input_priority, "painted", lambda: painted.append(None))
        await pilot.press("k")
        await until(pilot, lambda: bool(painted))
