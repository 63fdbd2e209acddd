"""What is over: plans that were carried out, goals that were reached, troubles that came back, advice for them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import ran, reply, result, span, summarize, told_in, user
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


_LOOKS_BROKEN = [
    user("why do the colours of orchard differ in the other terminal?"),
    *ran("a", "cat theme.py"),
]


@pytest.mark.parametrize(
    "advice",
    [
        "In the other terminal: Check if `frost_blend` of the orchard is enabled and toggle it",
        "Also check the settings of `frost_blend` of the orchard in the other terminal.",
        "The commented lines of `frost_blend` in the orchard are there if you want to enable them.",
        "Look at the test of `frost_blend` in the orchard, all three greys of it are the same there.",
    ],
)
def test_advice_to_the_reader_is_over_once_work_went_on(advice: str) -> None:
    said = [*_LOOKS_BROKEN, reply(f"It sets no colour by itself.\n\n{advice}")]
    assert advice in summarize(span(*said)).text
    behind = [user("make the muted grey of the table brighter"), *edited("table.py", "z"), reply("Brighter.")]
    assert advice not in summarize(span(*said, *behind)).text


def test_a_trouble_is_over_once_the_user_says_so() -> None:
    known = "The other terminal has known issues with colours of `frost_blend`, above all its greys."
    lasting = "The greys of `frost_blend` stand in the table of the other terminal's theme."
    said = [*_LOOKS_BROKEN, reply(f"{known} {lasting}")]
    then = [user("omfg that's it, now all is the same. make the dim grey brighter"), *edited("dim.py", "z")]
    assert known in summarize(span(*said)).text
    told = summarize(span(*said, *then)).text
    assert known not in told
    assert lasting in told, "it says nothing of the trouble"


def test_a_trouble_is_over_once_the_next_answer_mended_it() -> None:
    broken = "The index of `frost_tree` references a missing object, and reading the status fails on it."
    lasting = "The branch of `frost_tree` itself is fine, all its commits are intact."
    said = [*_LOOKS_BROKEN, reply(f"{broken} {lasting}")]
    then = [user("build it anew then"), *ran("b", "git read-tree HEAD"), reply("Fixed — a clean status.")]
    assert broken in summarize(span(*said)).text
    told = summarize(span(*said, *then)).text
    assert broken not in told
    assert lasting in told


def test_a_lack_is_over_once_the_offer_to_make_it_good_was_accepted() -> None:
    lack = "The text and the address of a link in `frost_mark` both get the same colour."
    said = [*_LOOKS_BROKEN, reply(f"{lack}\n\nShould I add a colour of its own?")]
    assert lack in summarize(span(*said, user("no, leave it"), *ran("b", "ls"))).text
    then = [user("yes, a grey one"), *edited("mark.py", "z"), reply("The link has two colours now.")]
    assert lack not in summarize(span(*said, *then)).text


def test_values_that_were_given_anew_are_not_told() -> None:
    scale = "The scale of it is: `darkGrey`: `#303030` (darkest); `dimGrey`: `#585858` (dimmed)"
    given = {"path": "dark.json", "oldText": "x", "newText": '"darkGrey": "#303030", "dimGrey": "#585858"'}
    other = {"path": "dark.json", "oldText": "x", "newText": '"dimGrey": "#666666"'}
    said = [
        user("make the greys of the orchard's theme brighter"),
        reply("", ("a", "edit", given)),
        result("a", "ok"),
        reply(scale),
    ]
    assert "`#585858`" in summarize(span(*said)).text
    then = [user("the dim grey is too dark still"), reply("", ("b", "edit", other)), result("b", "ok")]
    assert "`#585858`" not in summarize(span(*said, *then)).text


def test_a_remark_beside_the_work_is_not_its_goal() -> None:
    said = [
        user("The parser of orchard is a mess and needs to be ported to the new table."),
        *ran("a", "cat parser.py"),
        reply("The port goes step by step. Shall I begin?"),
        user("ok, this looks good, start implementing"),
        *edited("parser.py", "y"),
        user("btw, can we keep the old parser of the orchard around for reference?"),
        *edited("parser.py", "z"),
    ]
    goals = told_in(SummarySection.GOAL, *said, prefix=3)
    assert len(goals) == 1
    assert goals[0].startswith("The parser of orchard is a mess")


def test_what_is_the_case_now_is_a_result_and_no_decision() -> None:
    now = (
        "Now uncommitted rows will show accurate figures by comparing the `frost_base` tree against the original head, "
        "rather than comparing against the row before in the chain (which incorrectly showed cumulative changes)."
    )
    said = [user("mend the figures of new rows"), *edited("rows.py", "y"), reply(now)]
    then = [user("cut long titles of the rows"), *edited("titles.py", "z"), reply("Cut.")]
    assert told_in(SummarySection.DECISIONS, *said, *then) == []


def test_a_plan_is_none_any_more_once_its_answer_reports_even_if_it_asks_what_is_next() -> None:
    behind = [user("go on"), *edited("frost_rows.py", "z"), reply("Done: all moved. Want to try it?")]
    assert "Rename the class" not in summarize(span(*behind, previous=_PLAN, previous_entry=3)).text


def test_goals_before_what_was_asked_afterwards_are_reached() -> None:
    previous = (
        "Summary:\n1. Primary Request and Intent:\n   The user asked to mend two bugs of the orchard:\n"
        "   - **Bug 1**: Rows leak into the terminal of the valley\n   - **Bug 2**: Loose rows are said to be gone and stay\n\n"
        "   After that was mended, the user requested a review of the branch.\n\n2. Key Technical Concepts:\n   - Rows\n"
    )
    goals = told_in(SummarySection.GOAL, *ran("a", "git diff"), previous=previous, previous_entry=3)
    assert goals == ["After that was mended, the user requested a review of the branch."]


def test_what_a_summary_lists_as_not_done_is_not_in_progress_before_work_went_on() -> None:
    step = "Added the handling of lost rows to `drop_rows`"
    previous = f"## Current Work\nThe review of the branch goes on.\n\nI had NOT yet:\n- {step}\n- Run the tests of the orchard\n"
    told = summarize(span(*ran("a", "cat rows.py"), previous=previous, previous_entry=3)).text
    assert f"- [ ] Not done when this was last summarised: {step}" in told
    assert f"\n- {step}" not in told, "it reads as if it were done"


def test_a_value_amid_a_statement_does_not_make_it_one_about_values() -> None:
    way = "The result of the task `run_frost` contains `frostId: ac66d4b`, and the transcript holds both."
    given = {"path": "frost.py", "oldText": "x", "newText": "frostId = read_id(run_frost)"}
    said = [
        *_LOOKS_BROKEN,
        *ran("c", "orchard run"),
        reply(way),
        user("now read the ids from there"),
        reply("", ("b", "edit", given)),
    ]
    assert "ac66d4b" in summarize(span(*said, result("b", "ok", failed=True))).text
    other = given | {"newText": "frostId = read_id()"}
    then = [*said[:-1], reply("", ("b", "edit", other)), result("b", "ok")]
    assert "ac66d4b" in summarize(span(*then)).text


def test_hints_after_a_compaction_do_not_replace_the_goal() -> None:
    goal = "Port the parser of the orchard to the new table"
    behind = [
        user("you can look up the history of the orchard in /var/frost.jsonl if you need to"),
        *edited("parser.py", "y"),
        user("also remember the file plan.md of the orchard, could read it now"),
        *edited("parser.py", "z"),
    ]
    assert told_in(SummarySection.GOAL, *behind, previous=f"## Goal\n{goal}\n", previous_entry=3) == [goal]


def test_a_heading_that_says_not_done_is_none_of_finished_work() -> None:
    previous = "## Work\n\n**What was NOT yet done:**\n- The handling of lost rows in `drop_rows`\n"
    told = told_in(SummarySection.DONE, *ran("a", "cat rows.py"), previous=previous, previous_entry=3)
    assert told == []


def test_a_file_that_the_messages_behind_the_summary_delete_is_not_told_as_made() -> None:
    made = [user("make a theme of frost"), *edited("themes/frost.json", "x")]
    said = [*made, reply("I've created `themes/frost.json` with all colours of the valley.")]
    assert "frost.json" in summarize(span(*said)).text
    gone = list(span(*ran("k", "rm themes/frost.json")).messages)
    assert "I've created" not in summarize(replace(span(*said), kept=gone)).text
    failed = [*gone[:-1], gone[-1]._replace(message={**gone[-1].message, "isError": True})]
    assert "I've created" in summarize(replace(span(*said), kept=failed)).text


def test_a_goal_that_was_reached_earlier_is_done() -> None:
    previous = "## Goal\n- Draw the lanes of the orchard (completed earlier)\n- Turn the lanes around\n"
    told = told_in(SummarySection.GOAL, *edited("lanes.py", "z"), previous=previous, previous_entry=3)
    assert told == ["Turn the lanes around"]


def test_an_edit_that_was_refused_is_over_once_its_file_came_up_again() -> None:
    refused = "File has not been read yet. Read it first before writing to it."
    start = [
        user("Route the orchard's pages"),
        reply("", ("a", "bash", {"command": "npm run build"}), ("b", "write", {"path": "src/app.ts", "content": "x"})),
        result("a", "error: no routes", failed=True),
        result("b", refused, failed=True),
    ]  # fmt: skip
    again = [
        reply("", ("c", "read", {"path": "src/app.ts"})),
        result("c", "routes = []"),
        reply("", ("d", "bash", {"command": "npm run build"})),
        result("d", "error: no routes", failed=True),
    ]
    assert refused in summarize(span(*start), 400).text
    assert refused not in summarize(span(*start, *again), 400).text


def test_who_holds_a_port_is_asked_by_a_program_that_fails_where_nobody_does() -> None:
    script = "cat LOCK; lsof /dev/ttyUSB0"
    asked = [user("Is the board free?"), reply("", ("a", "bash", {"command": script})), result("a", "", failed=True)]  # fmt: skip
    assert "Failed" not in summarize(span(*asked), 400).text
