"""Which demands hold beyond their request by their form."""

from __future__ import annotations

import pytest

from leafward.summaries.facts.sentences.demands import demands, lasts, limits_work
from tests.core.linear_time import in_linear_time


@pytest.mark.parametrize(
    "rule",
    [
        "You must not push to main.",
        "We must not deploy on Fridays.",
        "Make sure you don't push anything.",
        "Make sure not to commit anything.",
        "Don't ever push to main.",
        "Do not add any new dependencies.",
        "Avoid adding new dependencies.",
        "Don't add breaking changes.",
        "It's forbidden to push.",
        "Ne fais pas de commit.",
        "不要提交代码",
    ],
)
def test_a_ban_on_what_the_agent_does_lasts_however_it_is_put(rule: str) -> None:
    assert demands(rule)
    assert lasts(rule)


@pytest.mark.parametrize(
    "demand",
    [
        "Die Doku muss bis Mai fertig sein.",
        "Le site doit être prêt pour le 5 mai.",
        "The client must handle a 403 Forbidden reply.",
        "Do not use a new line between the two rows here.",
    ],
)
def test_the_name_of_a_month_or_of_a_status_makes_no_demand_last(demand: str) -> None:
    assert demands(demand)
    assert not lasts(demand)


def test_very_many_limits_beside_work_that_none_of_them_limits() -> None:
    limits = [f"Change the row {number}, and don't paint it twice." for number in range(3_000)]
    prompt = "\n".join(limits)
    with in_linear_time():
        assert not any(limits_work(limit, prompt) for limit in limits)
    assert limits_work(limits[0], f"{prompt}\nPaint the rows.")
