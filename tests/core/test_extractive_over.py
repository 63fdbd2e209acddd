"""What is over: plans that were carried out, goals that were reached, troubles that came back, advice for them."""

from __future__ import annotations

import pytest

from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import ran, reply, span, summarize, told_in, user
from tests.core.told import worked as edited

_STEP = "Rename the class `RowKeeper` of `frost_rows.py` to `RowWarden`"
_PLAN = f"## Next Steps\n- {_STEP}\n"


def test_a_step_that_was_worked_on_is_no_plan_any_more_once_that_was_answered() -> None:
    # Fails where a reader takes a plan that was carried out for work to do.
    behind = [user("go on"), *edited("frost_rows.py", "z")]
    told = summarize(span(*behind, previous=_PLAN, previous_entry=3)).text
    assert f"Planned: {_STEP}" in told, "nobody says yet that it is done"
    after = summarize(span(*behind, reply("All moved and checked."), previous=_PLAN, previous_entry=3)).text
    assert "Rename the class" not in after


def test_a_plan_that_the_user_ordered_is_none_any_more_once_it_was_answered() -> None:
    said = [
        user("how could the orchard say more of frost?"),
        *ran("a", "cat docs/frost.md"),
        reply("The remaining work is to name `RowKeeper` and `RowWarden` in `docs/frost.md`."),
        user("do that and mend the parser of the valley too"),
        *edited("docs/frost.md", "z"),
    ]
    assert "Planned: " in summarize(span(*said)).text
    assert "Planned: " not in summarize(span(*said, reply("Both are done."))).text


_REQUESTS = (
    "Summary:\n1. Primary Request and Intent:\n"
    "   - Draw lanes of the sessions in the list of the orchard\n"
    "   - Add a spinner while the rows load\n"
    "   - Turn the lanes around, they are upside down\n\n"
    "2. Key Technical Concepts:\n   - Lanes\n"
)


def test_of_requests_one_after_the_other_the_last_is_the_goal() -> None:
    # Claude Code lists every request of a session; the work is for the last one.
    behind = [*edited("lanes.py", "z")]
    goals = told_in(SummarySection.GOAL, *behind, previous=_REQUESTS, previous_entry=3)
    assert goals == ["Turn the lanes around, they are upside down"]
    told = summarize(span(*behind, previous=_REQUESTS, previous_entry=3)).text
    assert "- Asked before: Draw lanes of the sessions" in told


def test_the_work_that_goes_on_through_all_requests_stays_a_goal() -> None:
    kept = "Continue to look for the frost bug FR-11"
    previous = _REQUESTS.replace("Draw lanes of the sessions in the list of the orchard", kept)
    goals = told_in(SummarySection.GOAL, *edited("lanes.py", "z"), previous=previous, previous_entry=3)
    assert goals == [kept, "Turn the lanes around, they are upside down"]


def test_the_parts_of_one_request_stay_goals() -> None:
    previous = _REQUESTS.replace(
        "Intent:\n", "Intent:\n   The user requested a drawing of the sessions. Specifically:\n"
    )
    goals = told_in(SummarySection.GOAL, *edited("lanes.py", "z"), previous=previous, previous_entry=3)
    assert len(goals) == 3


def test_of_two_newest_requests_the_later_is_the_goal() -> None:
    previous = _REQUESTS.replace("- Add a spinner", "- **Final request**: Add a spinner").replace(
        "- Turn the lanes", "- Most recent question: Turn the lanes"
    )
    behind = [*edited("lanes.py", "z")]
    goals = told_in(SummarySection.GOAL, *behind, previous=previous, previous_entry=3)
    assert goals == ["Most recent question: Turn the lanes around, they are upside down"]
    told = summarize(span(*behind, previous=previous, previous_entry=3)).text
    assert "- Asked before: Add a spinner while the rows load" in told, "it is the final one no more"


_UNDONE = [
    user("port `prune_rows` of orchard to the new table"),
    *edited("prune.py", "y"),
    reply("Ported `prune_rows` to the new table."),
    user("you broke it. i undid your changes, try again and read the whole file"),
]


def test_what_the_user_undid_and_the_agent_did_again_is_not_told_as_undone() -> None:
    again = [*_UNDONE, *ran("b", "cat prune.py")]
    assert "- Undone by the user: `prune.py`" in summarize(span(*again)).text
    told = summarize(span(*again, *edited("prune.py", "z"), reply("Ported it properly."))).text
    assert "- Undone by the user" not in told
    assert "- Done anew after the user undid it: `prune.py`" in told


@pytest.mark.parametrize(
    "back",
    [
        "uh oh - it just happened again",
        "hm, it's happening again after the last push",
        "the same error came back",
        "das ist wieder passiert",
    ],
)
def test_a_trouble_that_came_back_is_not_told_as_mended(back: str) -> None:
    said = [
        user("why is the git status of orchard broken?"),
        *ran("a", "git read-tree HEAD"),
        reply("Fixed — clean status of the tree, no errors."),
        user("log an issue about frost for that in the tracker"),
        *ran("b", "gh issue create"),
        reply("Added the issue FR-11 with the cause."),
    ]
    assert "Fixed — clean status" in summarize(span(*said)).text
    told = summarize(span(*said, user(back), *ran("c", "git fsck"))).text
    assert "Fixed — clean status" not in told
    assert "Added the issue FR-11" in told, "other work stays"
