"""Calls that wait for a rest."""

from __future__ import annotations

from itertools import count

import pytest
from textual import _time
from textual.app import App

from leafward_tui.ui.delay import Delay
from tests.tui.session_store import until


@pytest.mark.parametrize("seconds", [0.0, 0.005])
async def test_a_call_comes_where_the_thread_stood_still_for_longer_than_the_delay(
    monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    app: App[None] = App()
    made: list[str] = []
    async with app.run_test() as pilot:
        with monkeypatch.context() as clock:
            late = count()
            clock.setattr(_time, "get_time", lambda: next(late) * 0.1)
            Delay(app.set_timer).start(seconds, lambda: made.append("made"))
            await until(pilot, lambda: made)
    assert made == ["made"]


async def test_only_the_last_call_that_was_asked_for_comes() -> None:
    app: App[None] = App()
    made: list[str] = []
    async with app.run_test() as pilot:
        delay = Delay(app.set_timer)
        delay.start(0.0, lambda: made.append("first"))
        delay.start(0.0, lambda: made.append("second"))
        await until(pilot, lambda: made)
        delay.start(0.0, lambda: made.append("third"))
        delay.stop()
        Delay(app.set_timer).start(0.01, lambda: made.append("fourth"))
        await until(pilot, lambda: len(made) > 1)
    assert made == ["second", "fourth"]
