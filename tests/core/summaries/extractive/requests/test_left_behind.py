"""Requests whose answers ended with an offer or a question that the user went on from: they are the goal no more."""

from __future__ import annotations

import pytest

from leafward.summaries.summarizers.extractive.requests.user_requests import GOT_REPLY
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


@pytest.mark.parametrize(
    ("request_", "answer", "offer"),
    [
        ("Read beds.csv and say whether the planner can take it", "It can, as it stands.", "If you like, the next step is to write the format down in the README."),
        ("beds.csv 파일을 보고 계획표에 넣을 수 있는지 봐줘", "지금 형태 그대로 넣을 수 있습니다.", "원하면 다음 단계로 형식을 README에 적어두겠습니다."),
        ("Sieh dir beds.csv an und sag, ob der Planer die Datei lesen kann", "Er kann sie lesen.", "Wenn du möchtest, ist der nächste Schritt eine Beschreibung im README."),
    ],
)  # fmt: skip
def test_an_offer_that_nobody_asked_for_is_no_step(request_: str, answer: str, offer: str) -> None:
    said = [user(request_), *ran("a", "head beds.csv"), reply(f"{answer} {offer}")]
    assert told_in(SummarySection.NEXT, *said) == []


def test_an_answered_request_is_no_goal_behind_three_others_whatever_it_left() -> None:
    said = [
        user("Read beds.csv and say whether the planner can take it as it stands"),
        *ran("a", "head beds.csv"),
        reply("It can. The next step is to write the format down in FORMAT.md."),
    ]
    for number, what in enumerate(("the hoses of the north", "the pump of the well", "the roof of the shed")):
        said += [
            user(f"Draw {what} for the neighbours on one sheet"),
            *worked(f"{number}.svg", f"k{number}"),
            reply("Drawn. The next step is a second sheet with the prices."),
        ]
    assert not any("beds.csv" in goal for goal in told_in(SummarySection.GOAL, *said))


@pytest.mark.parametrize(
    "again", ["try it again", "noch mal", "다시 해줘", "再试一次", "もう一度お願いします"]
)
def test_to_try_again_is_to_go_on(again: str) -> None:
    said = [user(_FIRST), *ran("a", "make flash"), user(again), *ran("b", "make flash")]
    assert told_in(SummarySection.GOAL, *said) == [_FIRST]
    assert not any(again in line for line in told_in(SummarySection.IN_PROGRESS, *said))


def test_a_question_that_was_looked_up_is_answered_whatever_the_answer_tells_of() -> None:
    asked = "which tables hold the frost rows, and why does the page of the valley show none of them?"
    found = "The page is broken: it still reads `rows_old`, which the import does not fill. The rows are in `rows`."
    assert told_in(SummarySection.GOAL, user(asked), *ran("a", "grep -rn rows src"), reply(found)) == [
        GOT_REPLY
    ]
    promised = reply(f"{found} I'll keep watching the import.")
    (goal,) = told_in(SummarySection.GOAL, user(asked), *ran("a", "grep -rn rows src"), promised)
    # Of the answer to a question its beginning tells most.
    assert goal.startswith(f"Last request: {asked} → the reply says: “The page is broken")


@pytest.mark.parametrize(
    "said",
    [
        "all beds were measured, I would hypothesize that right now the pump is always sending zero litres",
        "the pump is now never stopping in the rain, as far as I can see",
        "必ず毎朝水をやるという仕様にしようかと考えていますが、どうでしょう。",
    ],
)
def test_a_supposition_or_a_question_is_no_rule(said: str) -> None:
    told = [
        user("Look at the pump"),
        *ran("a", "make log"),
        reply("It runs."),
        user(said),
        *ran("b", "make log"),
    ]
    assert told_in(SummarySection.CONSTRAINTS, *told) == []


def test_a_request_is_no_rule_once_it_is_answered() -> None:
    asked = user("add a page for the pumps to the start page, and its picture should be pump.png")
    said = [asked, *worked("index.html", "a")]
    assert told_in(SummarySection.CONSTRAINTS, *said, reply("Added."), user("now the colours")) == []


@pytest.mark.parametrize(
    ("asked", "over"),
    [
        ("Review the plan of the hoses", True),
        ("/review the plan of the hoses", True),
        ("Vergleiche die Schläuche mit der Liste vom Frühjahr", True),
        ("분석해", True),
        ("ship it", False),
        ("Review the plan of the hoses and fix what is wrong in it", False),
        ("Check the hoses, then draw the missing ones into the plan", False),
    ],
)
def test_an_order_to_look_at_something_is_over_once_it_is_answered(asked: str, over: bool) -> None:
    found = (
        "Three hoses fail the check: they are too short, and the valve of bed 4 is still missing in the plan."
    )
    goal = told_in(SummarySection.GOAL, user(asked), *ran("a", "cat plan.md"), reply(found))
    assert (goal == [GOT_REPLY]) is over


def test_what_the_answer_asked_for_ends_the_request_that_it_was_for() -> None:
    asked = "Draw the hoses, write the report of the fault and publish both for the neighbours"
    said = [
        user(asked),
        *worked("report.md", "a"),
        reply("The server wants a login. Do you have the password of the neighbours' page, or should I use the old server?"),
        user("Password of the page: tulip7"),
        *ran("b", "make publish"),
        reply("Published. Report 12 is on the page."),
    ]  # fmt: skip
    assert told_in(SummarySection.GOAL, *said) == [GOT_REPLY]
    (done,) = [line for line in told_in(SummarySection.DONE, *said) if "Draw the hoses" in line]
    assert "login" not in done


@pytest.mark.parametrize("said", ["화면 검사를 하자, 의도를 파악해야해", "계획을 보고 순서를 정해야 해"])
def test_work_to_be_done_is_no_rule_in_korean(said: str) -> None:
    assert told_in(SummarySection.CONSTRAINTS, user(said), *ran("a", "make log")) == []
