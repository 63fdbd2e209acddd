"""The goal of a summary where the last request is an aside: a no, a remark, a question that nothing was done for."""

from __future__ import annotations

import pytest

from leafward.summaries.summarizers.extractive.requests.user_requests import GOT_REPLY
from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import ran, reply, span, summarize, told_in, user
from tests.core.told import worked as edited

_FIRST = [
    user("the frost table of orchard is broken, why?"),
    *ran("a", "cat prune.py"),
    reply("Found it. `prune_rows` leaves loose rows in the table."),
    user("make prune_rows sort the loose rows before it counts them"),
    *edited("prune.py", "b"),
    reply("Done. `prune_rows` sorts them now."),
]
_OFFERED = [
    *_FIRST[:-1],
    reply("Done. `prune_rows` sorts them now. Want me to also set `gc.auto 0` on your table?"),
]


@pytest.mark.parametrize(
    "aside",
    [
        "I'm pretty sure we had this before: added sortLooseRows()",
        "those phantom rows, I guess were from the old valley table?",
    ],
)
def test_an_answered_request_is_no_goal_beside_an_open_aside(aside: str) -> None:
    # What it was said to was answered: it is done, and no goal.
    assert told_in(SummarySection.GOAL, *_FIRST, user(aside)) == [aside]
    done = told_in(SummarySection.DONE, *_FIRST, user(aside))
    assert any(
        line.startswith("Asked: make prune_rows sort the loose rows") and " → " in line for line in done
    )


def test_a_request_is_not_called_over_where_it_happened_since() -> None:
    # What is sure of it is that it was asked.
    report = "this error happened in the process of counting the rows of the valley"
    asked = "make prune_rows sort the loose rows before it counts them"
    assert told_in(SummarySection.GOAL, *_FIRST, user(report)) == [f"{report} (asked before: {asked})"]
    assert not any(asked in line for line in told_in(SummarySection.DONE, *_FIRST, user(report)))


def test_a_no_is_no_goal_beside_what_was_done() -> None:
    goal = told_in(SummarySection.GOAL, *_OFFERED, user("no don't set it, let's see if it keeps happening"))
    assert goal == []


def test_an_aside_alone_is_all_there_is() -> None:
    assert told_in(SummarySection.GOAL, user("I noticed that the frost table of orchard is broken")) != []


def test_a_longer_request_that_begins_as_a_remark_is_a_goal() -> None:
    asked = "I have a table of frosts of the valley here, please write a reader for its rows and count them by year and by month"
    assert told_in(SummarySection.GOAL, *_FIRST, user(asked))[0].startswith("I have a table of frosts")


def test_a_request_that_was_taken_back_is_no_goal() -> None:
    said = [
        user("make the frosts red and green a little less intense, and the valley blue"),
        *edited("theme.json", "a"),
        reply("Made them softer. Should I test them?"),
        user("this is not what we had, can you please make it like that again?"),
        *edited("theme.json", "b"),
        reply("Restored the colours of the frosts."),
        user("use the colour 8abeb7 for the accent of the valley"),
        *edited("theme.json", "c"),
    ]
    goal = told_in(SummarySection.GOAL, *said)
    assert goal[0].startswith("use the colour 8abeb7")


def test_a_goal_that_was_answered_was_asked_before_once_something_else_is_asked() -> None:
    once = summarize(span(*_OFFERED, user("no don't set it"))).text
    told = told_in(
        SummarySection.GOAL,
        user("write a reader of the valley rows"),
        *edited("read.py", "z"),
        previous=once,
        previous_entry=3,
    )
    assert told == ["write a reader of the valley rows"]


def test_an_answered_question_is_no_goal_of_the_summary_after_the_next() -> None:
    # Fails where what was asked two summaries ago is told as what the work is for.
    question = "is there a reason the frost table is pruned more often now?"
    asked = [user(question), *ran("a", "cat prune.py")]
    first = summarize(span(*asked)).text
    assert f"## Goal\n- {question}" in first
    then = [
        reply("Yes: the migration left loose rows in the table."),
        user("make prune_rows sort the loose rows before it counts them"),
        *edited("prune.py", "b"),
    ]
    goal = told_in(SummarySection.GOAL, *then, previous=first, previous_entry=3)
    assert goal == ["make prune_rows sort the loose rows before it counts them"]
    assert f"Asked before: {question}" in told_in(
        SummarySection.CONTEXT, *then, previous=first, previous_entry=3
    )


def test_a_goal_that_asks_nothing_lasts_over_the_next_summary() -> None:
    aim = "Port the parser of orchard to a table."
    then = [reply("The parser is read."), user("first sort the loose rows"), *edited("prune.py", "b")]
    goal = told_in(SummarySection.GOAL, *then, previous=f"## Goal\n- {aim}\n", previous_entry=3)
    assert goal[0] == aim


def test_a_remark_that_changed_nothing_is_no_goal_alone() -> None:
    asked = [
        user("The rows of orchard are broken, why?"),
        *ran("a", "cat rows.py"),
        reply("Done: the table of orchard is read twice."),
    ]
    remark = "We moved the rows of orchard to the valley last week, but only once"
    said = [*asked, user(remark), *ran("b", "git log"), user("ok"), *ran("c", "git show")]
    (goal,) = told_in(SummarySection.GOAL, *said)
    assert goal == f"{remark} (asked first: The rows of orchard are broken, why?)"


def test_a_remark_on_what_was_done_is_no_goal_behind_later_requests() -> None:
    said = [
        *_FIRST,
        user("we did a migration of the valley rows - but that should have been a one-off operation"),
        *ran("c", "git log -3"),
        reply("The migration left the loose rows. Want me to run the pruning?"),
        user("why is the valley counted twice in the table of frosts"),
        *ran("d", "cat valley.py"),
        reply("It has two names in `valley.py`."),
    ]
    assert not any("migration" in line for line in told_in(SummarySection.GOAL, *said))


def test_a_question_that_words_answered_leaves_nothing_open() -> None:
    """The answer tells of what is lost: it fails where that keeps the question as the goal."""
    said = [
        *_FIRST,
        user("ah yes that would be it. and the valley wouldn't have kept them as differences?"),
        reply("Right - the valley stores whole rows. Where one is pruned, its differences are still broken."),
    ]
    assert told_in(SummarySection.GOAL, *said) == [GOT_REPLY]


def test_who_accepts_the_offer_behind_an_answer_asks_for_that() -> None:
    said = [
        user("how do we set the rows of the orchard? all I see reads them"),
        reply("By `setRows` and `addRow`. Ready to start with the first step of the plan?"),
        user("ok, this looks amazing, start implementing"),
        *edited("rows.py", "a"),
    ]
    (goal,) = told_in(SummarySection.GOAL, *said)
    assert goal.startswith("this looks amazing, start implementing")
