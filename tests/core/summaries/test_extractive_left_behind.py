"""Requests whose answers ended with an offer or a question that the user went on from: they are the goal no more."""

from __future__ import annotations

from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import ran, reply, told_in, user, worked

_FIRST = "Repair the pump driver, flash it on the bench board and water one bed with it"
_NEXT = "look closer at how the valve opens. The simulator waters that bed in 12 seconds"
_LAST = (
    "No, the board is too slow for that. Change the driver, describe the fault in VALVES.md and tag a release"
)
_WATERED = [
    user(_FIRST),
    *ran("a", "make flash"),
    reply("The pump runs: the board answers and one bed is wet. Want me to water all twelve beds?"),
    user("all beds were measured, and the sensor in the north is dry"),
    *ran("b", "make log"),
    reply("The sensor reads nothing. Shall I replay the log of last week, or look at the wiring?"),
    user(_NEXT),
    *ran("c", "make trace"),
    reply("The valve opens half way. Should I flash all boards?"),
    user("is there any way to open it wide without new firmware"),
    *ran("e", "make probe"),
    reply("There is none: the driver holds the angle. Ready to flash the boards?"),
]


def test_a_request_whose_offers_were_passed_over_is_no_goal_behind_other_work() -> None:
    assert told_in(SummarySection.GOAL, *_WATERED, user(_LAST), *worked("src/valve.c", "d")) == [_LAST]


def test_a_request_stays_the_goal_while_its_offers_are_taken_up() -> None:
    said = [
        user(_FIRST),
        *ran("a", "make flash"),
        reply("The pump runs. Want me to water one bed, or all twelve beds?"),
        user("one bed, and water it slowly in the morning"),
        *ran("b", "make water"),
        reply("It waters. Shall I tune the pressure of the pump?"),
        user("yes, tune the pressure down to two bar"),
        *worked("src/pump.c", "c"),
    ]
    (goal,) = told_in(SummarySection.GOAL, *said)
    assert goal.startswith(_FIRST)


def test_a_question_that_words_answered_is_no_goal_behind_others() -> None:
    said = [
        user("Is a drip hose for twelve beds a good idea at all, or does everybody use a sprinkler by now?"),
        reply("It is: a hose loses less water. Which bed do you plan first?"),
        user("could the neighbour test such a hose on his own terrace without our pump and valves?"),
        reply("Yes, with a barrel. Do you want a list of parts?"),
        user("and where would we begin, if nobody has bought anything for it yet?"),
        reply("With the barrel. Shall I begin with the drawing?"),
        user("write the plan down in PLAN.md with all five steps and prices"),
        *worked("PLAN.md", "a"),
    ]
    assert not any("good idea at all" in goal for goal in told_in(SummarySection.GOAL, *said))
