"""Which demands are orders to the agent about how it works, and so hold beyond their request."""

from __future__ import annotations

import pytest

from leafward.summaries.facts.sentences.demands import demands, limits_work
from leafward.summaries.facts.sentences.standing_orders import orders_agent
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
        "Please never push.",
        "Only use pnpm",
        "Ask me before deleting anything",
        "Pushe nichts nach main",
        "Bitte nicht committen",
        "Du darfst nicht pushen",
        "No hagas commits",
        "Não faça commits",
        "You're not allowed to push",
        "we will ONLY work in this folder.",
        "When you commit, always sign off.",
        "Never touch the files under gen/.",
        "Antworte immer auf Deutsch",
        "Every commit must be signed",
        "コミットしないでください",
    ],
)
def test_an_order_about_how_the_agent_works_lasts_however_it_is_put(rule: str) -> None:
    assert demands(rule)
    assert orders_agent(rule)


@pytest.mark.parametrize(
    "demand",
    [
        "Die Doku muss bis Mai fertig sein.",
        "Le site doit être prêt pour le 5 mai.",
        "The client must handle a 403 Forbidden reply.",
        "Do not use a new line between the two rows here.",
        "The button must always be blue",
        "Every page must have a title.",
        "If a crate is unknown, always return 404",
        "Cada pregunta debe tener siempre 5 opciones de respuesta",
        "Die Summe muss immer unten stehen",
        "No greetings.",
        "Only change the header of the page",
    ],
)
def test_what_the_thing_made_has_to_be_lasts_no_longer_than_its_request(demand: str) -> None:
    assert demands(demand)
    assert not orders_agent(demand)


@pytest.mark.parametrize(
    "said",
    [
        "Ask me any clarifying questions before writing the plan.",
        "erro no deploy [PM2] Saving current process list...",
        "Há um problema no último deploy",
        "We are not supposed to show the answer, so remove that.",
        "We want to see if it is possible to parse that ourself without any external crates.",
    ],
)
def test_a_report_a_complaint_or_a_wish_with_words_of_orders_is_none(said: str) -> None:
    assert not demands(said)
    assert not orders_agent(said)


@pytest.mark.parametrize(
    "said",
    [
        "Login always fails",
        "Search never returns results",
        "Users always see the old page",
        "Always crashes on startup",
        "Always the same error",
        "Immer noch kaputt",
        "Toujours le même problème",
        "Der Bau bricht immer wieder ab",
        "We can only test on Windows",
        "You will only find it in src",
    ],
)
def test_a_report_of_what_is_always_so_is_no_order(said: str) -> None:
    assert not orders_agent(said)


def test_very_many_limits_beside_work_that_none_of_them_limits() -> None:
    limits = [f"Change the row {number}, and don't paint it twice." for number in range(3_000)]
    prompt = "\n".join(limits)
    with in_linear_time():
        assert not any(limits_work(limit, prompt) for limit in limits)
    assert limits_work(limits[0], f"{prompt}\nPaint the rows.")


@pytest.mark.parametrize(
    "said", ["please, " * 40 + "xyz not it", "never " + "edit " * 16_000], ids=["leads", "work"]
)
def test_very_many_words_that_an_order_may_begin_with(said: str) -> None:
    with in_linear_time():
        orders_agent(said)
