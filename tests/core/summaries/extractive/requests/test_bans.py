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
