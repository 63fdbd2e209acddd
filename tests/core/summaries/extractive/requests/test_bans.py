"""Bans on all work, or on commits: nobody sets them for good."""

from __future__ import annotations

from typing import Any

import pytest

from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import ran, reply, told_in, user, worked


def rules(*messages: dict[str, Any]) -> list[str]:
    return told_in(SummarySection.CONSTRAINTS, *messages)


@pytest.mark.parametrize("ban", ["Do not edit.", "do not modify files yet", "DO NOT try to execute anything"])
def test_a_ban_on_all_work_ends_where_a_later_request_led_to_some(ban: str) -> None:
    asked = [user(f"Read the orchard's rows and say what you would do. {ban}"), reply("I would sort them.")]
    later = [user("Sort the rows"), *worked("rows.py", "z")]
    assert rules(*asked, user("And the frost?"), reply("It stays."), user("Next?")) == [ban]
    assert rules(*asked, *later, user("Next?")) == []
    # What the agent does against it lifts it for nobody.
    assert rules(asked[0], *worked("rows.py", "z"), user("Next?")) == [ban]


def test_a_ban_on_commits_ends_with_one_that_was_asked_for() -> None:
    asked = [user("Sort the rows. Do not commit."), *worked("rows.py", "z"), reply("Sorted.")]
    run = ran("c", "git commit -qm 'Sort the rows'")
    assert rules(*asked, user("Sort the frost, too"), *worked("frost.py", "y")) == ["Do not commit."]
    assert rules(*asked, user("Now commit it"), *run, reply("Done.")) == []


def test_a_ban_on_something_of_the_work_stands_in_the_goal() -> None:
    rule = "Do not change the frost table."
    asked = [user(f"Sort the rows. {rule}"), *worked("rows.py", "z"), reply("Sorted.")]
    said = [*asked, user("Go on"), *worked("b.py", "y")]
    assert rules(*said) == []
    assert any(rule in line for line in told_in(SummarySection.GOAL, *said))


_UNWANTED = [
    "I don't want you to commit without a task.",
    "Ich will nicht, dass du commits ohne Aufgabe machst.",
    "Не хочу, чтобы ты коммитил без задачи.",
    "Je ne veux pas que tu fasses de commit.",
    "Não quero que você faça um commit sem tarefa.",
    "No quiero que hagas commits sin tarea.",
    "Non voglio che tu faccia commit senza compito.",
]
_OWN_HANDS = [
    "I'll run the fly commands myself.",
    "I will handle the deploys myself.",
    "Ich committe selbst.",
    "Je lance les tests moi-même.",
]


@pytest.mark.parametrize("said", [*_UNWANTED, *_OWN_HANDS])
def test_what_the_agent_is_not_wanted_to_do_is_a_rule(said: str) -> None:
    work = [*worked("rows.py", "z"), reply("Sorted.")]
    assert rules(user("Sort the rows"), *work, user(said), reply("Understood.")) == [said]


@pytest.mark.parametrize(
    "said",
    [
        "I don't want you to worry about the frost.",
        "I don't want the table to move at all.",
        "No quiero que la tabla se mueva nunca más de sitio.",
        "I'll test it myself.",
        "I'll run the server now myself and tell you.",
        "I made the change to the rows myself.",
        "I run the tests of the orchard myself and they fail.",
    ],
)
def test_what_the_user_does_once_or_wants_of_the_work_is_none(said: str) -> None:
    work = [*worked("rows.py", "z"), reply("Sorted.")]
    told = rules(user("Sort the rows"), *work, user(said), reply("Understood."))
    assert said not in told
