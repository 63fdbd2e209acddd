"""Summaries by models that are given up, and several at once, over real HTTP, through litellm."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.errors import Cancelled
from leafward.summaries.summarizers.model import litellm_requests
from leafward.summaries.summarizers.model.summarizer import Model
from tests.model_endpoint import WHOLE, Endpoint, Reply
from tests.model_requests import MARKS, SERVED, settings, span, summary

if TYPE_CHECKING:
    from collections.abc import Callable


pytestmark = MARKS

AT_ONCE = 20.0
"""Seconds, on any machine: what does not end at once waits for a minute or for ever."""


# --- cancelling -------------------------------------------------------------------------------------------------------


def cancelled(work: Callable[[Callable[[], bool]], Any], when: Callable[[], bool]) -> float:
    """Seconds from the moment when `when` turned true to the end of the work."""
    began: list[float] = []

    def stop() -> bool:
        if not began and when():
            began.append(time.monotonic())
        return bool(began)

    with pytest.raises(Cancelled):
        work(stop)
    return time.monotonic() - began[0]


@pytest.mark.parametrize("name", SERVED)
@pytest.mark.parametrize("after", [0, 2])
def test_cancelling_closes_the_socket_at_once(endpoint: Endpoint, name: str, after: int) -> None:
    endpoint.play(Reply(end="stall", after=after))
    model = Model(settings(endpoint, name))
    took = cancelled(lambda stop: model.summarize(span(), 500, stop=stop), lambda: bool(endpoint.asked))
    assert took < AT_ONCE
    assert endpoint.asked[0].gone.wait(60)


def test_cancelling_ends_a_wait_between_attempts(endpoint: Endpoint) -> None:
    endpoint.play(Reply(status=429, headers={"retry-after": "60"}))
    stages: list[str] = []
    model = Model(settings(endpoint), lambda progress: stages.append(progress.stage))
    took = cancelled(
        lambda stop: model.summarize(span(), 500, stop=stop),
        lambda: any("again in 60 s" in at for at in stages),
    )
    assert took < AT_ONCE
    assert len(endpoint.asked) == 1


def test_an_interrupt_closes_the_socket_too(endpoint: Endpoint) -> None:
    endpoint.play(Reply(end="stall", after=1))

    def interrupt() -> bool:
        if endpoint.asked:
            raise KeyboardInterrupt
        return False

    with pytest.raises(KeyboardInterrupt):
        Model(settings(endpoint)).summarize(span(), 500, stop=interrupt)
    assert endpoint.asked[0].gone.wait(60)


def test_stopped_before_it_began_sends_nothing(endpoint: Endpoint) -> None:
    with pytest.raises(Cancelled):
        Model(settings(endpoint)).summarize(span(), 500, stop=lambda: True)
    assert not endpoint.asked


def test_several_summaries_run_at_once_in_one_thread(endpoint: Endpoint) -> None:
    endpoint.play(
        lambda asked: Reply(f"## Goal\n{asked.prompt.split('<<<')[1][30:60]}", end="stall", after=0)
    )
    found: dict[int, str] = {}

    def one(at: int) -> None:
        found[at] = Model(settings(endpoint)).summarize(span(f"task {at}"), 500).text

    workers = [threading.Thread(target=one, args=(at,)) for at in range(8)]
    for worker in workers:
        worker.start()
    endpoint.wait_for(8)
    assert [thread.name for thread in threading.enumerate()].count("leafward-models") == 1
    endpoint.release()
    for worker in workers:
        worker.join(60)
    assert len(found) == 8
    assert all(f"task {at}" in text for at, text in found.items())


def test_the_loop_can_be_closed_and_starts_again(endpoint: Endpoint) -> None:
    summary(endpoint)
    litellm_requests.close_model_loop()
    assert "leafward-models" not in [thread.name for thread in threading.enumerate()]
    assert summary(endpoint).text == WHOLE
