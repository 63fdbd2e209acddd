"""Questions that were answered, what the user asked for then, and answers that go on with the work."""

from __future__ import annotations

import pytest

from leafward.summaries.summarizers.extractive.candidates import OUTCOME
from leafward.summaries.summarizers.extractive.requests.user_requests import GOT_REPLY
from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import ran, reply, span, summarize, told_in, user, worked

_QUESTION = "Can a gardener choose the stored frost rows for work without a network?"
_OFFER = (
    "No. There is no mode for the stored rows alone.\n\n"
    "Could add `stored` as a value of `--rows`. Want me to implement that?"
)
_ASKED = [user(_QUESTION), *ran("a", "grep -n rows src/*.py"), reply(_OFFER)]
_REQUEST = (
    "Let's do this: 1. Let's have `orchard --rows` ask the valley first, with the stored rows behind it as now. "
    "2. Let's also write a value `frost` that only reads the rows which earlier calls have stored, and never asks the valley."
)


def test_of_a_question_that_was_looked_up_the_offer_waits() -> None:
    (goal,) = told_in(SummarySection.GOAL, *_ASKED)
    assert goal.startswith("Last request, answered with a question: ")
    (waiting,) = told_in(SummarySection.IN_PROGRESS, *_ASKED)
    assert "Want me to implement that?" in waiting
    # A request in the form of a question is for work, and that may not be done.
    asked = [user("Can you add a mode for the stored rows?"), *_ASKED[1:]]
    assert told_in(SummarySection.GOAL, *asked) != [GOT_REPLY]


def test_the_goal_is_what_the_user_asked_for_behind_the_answer_and_whole() -> None:
    said = [*_ASKED, user(_REQUEST), *worked("src/rows.py", "b")]
    assert told_in(SummarySection.GOAL, *said) == [_REQUEST]


def test_the_outcome_of_a_question_is_its_own_answer() -> None:
    said = [*_ASKED, user(_REQUEST), *worked("src/rows.py", "b"), reply("Clean build.")]
    for line in told_in(SummarySection.DONE, *said):
        asked, _, outcome = line.partition(OUTCOME)
        assert "choose the stored frost rows" not in asked or "rows.py" not in outcome


def test_a_suggestion_is_over_once_the_user_asked_for_something() -> None:
    said = [*_ASKED, user(_REQUEST), *worked("src/rows.py", "b"), reply("Clean build.")]
    assert "Could add" not in summarize(span(*said, user("Bump the version."), *worked("a.md", "z"))).text


@pytest.mark.parametrize(
    "promise",
    [
        "I'll check back in 5 minutes and keep babysitting it.",
        "I will monitor the checks.",
        "Ich warte auf die Prüfungen und melde mich, sobald sie durch sind.",
        "我会继续观察检查结果，直到合并为止。",
    ],
)
def test_an_answer_that_goes_on_ends_nothing(promise: str) -> None:
    asked = "Open a pull request with the frost rows and watch it until it is merged."
    said = [
        user(asked),
        *ran("a", "gh pr create"),
        reply(f"The request is open and its checks run. {promise}"),
    ]
    (goal,) = told_in(SummarySection.GOAL, *said)
    assert goal.startswith(f"Last request: {asked} → the reply ")
    assert told_in(SummarySection.GOAL, *said[:-1], reply("It is merged.")) == [GOT_REPLY]


@pytest.mark.parametrize("ending", ["What are your questions?", "What would you like to do next?"])
def test_a_question_for_whatever_is_wanted_next_keeps_nothing_open(ending: str) -> None:
    answer = f"The rows are read by `read_rows`.\n\n{ending}"
    said = [user("Gather context on the frost rows."), *ran("a", "cat rows.py"), reply(answer)]
    assert told_in(SummarySection.GOAL, *said) == [GOT_REPLY]
    assert told_in(SummarySection.IN_PROGRESS, *said) == []
    story = "Rows are boxes, but the post takes no large ones."
    then = [*said, user("can you explain that to a child?"), reply(story)]
    assert told_in(SummarySection.GOAL, *then) == [GOT_REPLY]


def test_a_request_that_begins_with_a_yes_leaves_the_one_before_it_done() -> None:
    said = [user("Port the frost parser of orchard."), *worked("src/parser.py", "a"), reply("It is ported.")]
    then = [*said, user("ok, now the docs"), *worked("docs.md", "z")]
    assert told_in(SummarySection.IN_PROGRESS, *then) == ["Last request: the docs"]
    assert any(
        line.startswith("Asked: Port the frost parser") for line in told_in(SummarySection.DONE, *then)
    )


@pytest.mark.parametrize(
    "answer",
    [
        "I’ll base the frost table on the branch of the valley.\n\nThe old rows and their reader are removed.",
        "The old rows are removed. Now I need to fill the frost table in `frost.py`:",
        "旧的行已删除。接下来修改 `frost.py`：",
    ],
)
def test_an_answer_that_announces_the_next_work_ends_nothing(answer: str) -> None:
    # Fails where what is still to come is told as answered.
    asked = "Move the rows of the frost table into the valley of orchard."
    (goal,) = told_in(SummarySection.GOAL, user(asked), *worked("src/frost.py", "a"), reply(answer))
    assert asked in goal
    kept = "The rows of the frost table are in the valley now. I'll leave the old reader as it is."
    goals = told_in(SummarySection.GOAL, user(asked), *worked("src/frost.py", "a"), reply(kept))
    assert goals == [GOT_REPLY]


@pytest.mark.parametrize(
    ("answer", "fails"),
    [
        ("霜の表の行を移動しました。\n\n- 失敗時: ログにエラーを記録", False),
        ("霜の表の行を移動しましたが、テストは失敗しています。", True),
        ("霜表的行已移动。\n\n- 失败时写入日志面板", False),
        ("霜表的行已移动，但测试失败。", True),
    ],
)
def test_what_happens_on_a_failure_is_no_failure(answer: str, fails: bool) -> None:
    asked = "Move the rows of the frost table into the valley of orchard."
    goals = told_in(SummarySection.GOAL, user(asked), *worked("src/frost.py", "a"), reply(answer))
    assert (goals != [GOT_REPLY]) is fails


@pytest.mark.parametrize(
    ("answer", "is_open"),
    [
        ("Done. The changes remain uncommitted in the linked checkout.", False),
        ("Done. Two failing rows remain in the frost table.", True),
    ],
)
def test_what_remains_as_it_is_leaves_nothing_open(answer: str, is_open: bool) -> None:
    asked = "Move the rows of the frost table into the valley of orchard."
    goals = told_in(SummarySection.GOAL, user(asked), *worked("src/frost.py", "a"), reply(answer))
    assert (goals != [GOT_REPLY]) is is_open
