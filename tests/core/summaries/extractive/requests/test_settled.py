"""What was asked and answered is done, with its outcome; where nothing is open, no request is the goal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.session.entries import EntryIndex
from leafward.summaries.facts.forms.file_lists import with_whole_paths
from leafward.summaries.summarizers.extractive.requests.user_requests import GOT_REPLY
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from leafward.summaries.summarizers.outline import SummarySection, read_outline
from leafward.summaries.survival.spans import SpanMessage
from tests.core.told import ran, reply, result, span, summarize, told_in, user

if TYPE_CHECKING:
    from typing import Any

ASKED = user("Port the lexer of orchard to a table.")
EDIT = (
    reply("", ("a", "edit", {"path": "src/lexer.py", "oldText": "x", "newText": "y"})),
    result("a", "ok"),
)


def kept(*messages: dict[str, Any]) -> list[SpanMessage]:
    return [SpanMessage(EntryIndex(500 + place), message) for place, message in enumerate(messages)]


def test_an_answered_last_request_is_done_and_no_goal() -> None:
    said = [ASKED, *EDIT, reply("Done. Moved the table out of `src/lexer.py`; 26 tests pass.")]
    assert told_in(SummarySection.GOAL, *said) == [GOT_REPLY]
    assert told_in(SummarySection.DONE, *said) == [
        "Last request, answered: Port the lexer of orchard to a table. → the reply says: “Moved the table out of `src/lexer.py`; 26 tests pass.”"
    ]
    assert told_in(SummarySection.IN_PROGRESS, *said) == []


def test_behind_an_errand_too_the_goal_says_that_nothing_is_open() -> None:
    said = [
        user('The rule of the lexer should appear as "Orchard rule", not just "Rule"'),
        *EDIT,
        reply('Updated both badges: "Rule" is "Orchard rule" now. All 12 tests pass.'),
        user("commit"),
        reply("Committed. All 12 tests pass."),
    ]
    assert told_in(SummarySection.GOAL, *said) == [GOT_REPLY]


def test_no_request_that_was_answered_before_the_last_one_is_the_goal() -> None:
    said = [
        user("Changelog and README of the orchard. Short, people upgrade from 0.4."),
        *EDIT,
        reply("Both are written. Done."),
        user("Description for the review. What, why, how to check, risks."),
        # The answer is the text that was asked for: that something in it fails leaves nothing open.
        reply(
            "## Each job once\n\nSixty mails were sent twice.\n\n- `check main` fails: 17 of 400 jobs run twice"
        ),
    ]
    assert told_in(SummarySection.GOAL, *said) == [GOT_REPLY]
    done = told_in(SummarySection.DONE, *said)
    assert any(line.startswith("Last request, answered: Description for the review.") for line in done)
    assert any(line.startswith("Asked: Changelog and README") for line in done)


@pytest.mark.parametrize(
    "answer",
    [
        "Moved half of the table; still to do: the escapes of strings.",
        "Moved the table, but two of the old tests are still failing.",
        "Moved the table. Should I move the escapes too?",
    ],
)
def test_a_request_whose_answer_leaves_something_is_told_with_its_answer(answer: str) -> None:
    (goal,) = told_in(SummarySection.GOAL, ASKED, *EDIT, reply(answer))
    asks = ", answered with a question" if answer.endswith("?") else ""
    assert goal.startswith(f"Last request{asks}: Port the lexer")
    assert ("→ the reply says: “Moved" in goal) or asks
    assert told_in(SummarySection.IN_PROGRESS, ASKED, *EDIT, reply(answer)) == (
        ["Waiting for the user: Should I move the escapes too?"] if asks else []
    )


def test_a_request_is_not_called_answered_while_the_agents_list_has_an_open_step() -> None:
    todos = [
        {"content": "Move the table", "status": "completed"},
        {"content": "Drop it", "status": "pending"},
    ]
    said = [ASKED, reply("", ("t", "TodoWrite", {"todos": todos})), result("t", "ok"), *EDIT]
    (goal,) = told_in(SummarySection.GOAL, *said, reply("Done. Moved the table out of `src/lexer.py`."))
    assert goal.startswith("Last request: Port the lexer")


def test_the_next_request_is_the_goal_behind_a_summary_of_which_nothing_was_open() -> None:
    said = [ASKED, *EDIT, reply("Done. Moved the table out of `src/lexer.py`; 26 tests pass.")]
    before = summarize(span(*said)).text
    more = [user("Now port the printer of orchard."), *EDIT]
    then = span(*more, previous=before, previous_entry=EntryIndex(3))
    assert told_in(SummarySection.GOAL, *more, previous=before, previous_entry=EntryIndex(3)) == [
        "port the printer of orchard."
    ]
    assert "Last request, answered: Port the lexer" not in summarize(then).text
    assert (
        "Asked: Port the lexer of orchard to a table. → the reply says: “Moved the table"
        in summarize(then).text
    )


def test_what_the_kept_messages_go_on_with_is_neither_last_nor_waiting() -> None:
    said = [
        ASKED,
        *EDIT,
        reply("Moved the table out of `src/lexer.py`. Should I go on with the escapes now?"),
    ]
    assert "Waiting for the user: Should I go on" in summarize(span(*said)).text
    behind = kept(user("yes, and then port the printer of orchard"), reply("I look at the printer."))
    lines = summarize(span(*said, kept=behind)).text
    assert "Waiting for the user" not in lines
    other = [
        user("Which lexers does the orchard have in its folder of parsers?"),
        reply("Orchard has two lexers, a table and a tree."),
    ]
    lines = summarize(span(*said, *other, kept=behind)).text
    assert (
        "Last request before the messages that were kept: Which lexers does the orchard have in its folder of parsers?"
        in lines
    )
    assert "Last request: " not in lines


DONE_BEHIND = "Go on with the messages that were kept."


@pytest.mark.parametrize(
    "behind",
    [
        [reply("Done. Moved the table out of `src/lexer.py`.")],
        [
            *EDIT,
            reply("The table is in a module of its own. The old tree remains as it was, for the tests."),
            user("And which parsers does the orchard have in its folder?"),
        ],
        [
            reply("Moved the table out of `src/lexer.py`. Should I mark the change as ready for review?"),
            user("And which parsers does the orchard have in its folder?"),
        ],
    ],
)
def test_a_split_turn_that_the_kept_messages_finish_is_done(behind: list[dict[str, Any]]) -> None:
    what = span(ASKED, *EDIT, kept=kept(*behind), prefix=3)
    lines = [(section, line) for section, line, _ in read_outline(Extractive().summarize(what, 1000).text)]
    goal = next(line for section, line in lines if section is SummarySection.GOAL)
    assert goal == (DONE_BEHIND if behind[-1]["role"] == "user" else GOT_REPLY)
    assert not any(section is SummarySection.IN_PROGRESS for section, line in lines if line != "(none)")
    # What came of it stands in the kept messages, with what the user said to that.
    asked = "Port the lexer of orchard to a table."
    told = next(one for one in lines if asked in one[1])
    if behind[-1]["role"] == "user":
        asked = f"Last request before the messages that were kept: {asked} → changed `lexer.py`"
        assert told == (SummarySection.CONTEXT, asked)
    else:
        assert told[0] is SummarySection.DONE
        assert f"{asked} → " in told[1]


@pytest.mark.parametrize(
    "behind",
    [
        [*EDIT],
        [reply("Which of the two tables should I move?")],
    ],
)
def test_a_split_turn_that_goes_on_stays_the_goal(behind: list[dict[str, Any]]) -> None:
    what = span(ASKED, *EDIT, kept=kept(*behind), prefix=3)
    assert "## Goal\n- Port the lexer of orchard to a table." in Extractive().summarize(what, 1000).text


def test_a_split_turn_that_was_called_wrong_is_what_was_asked_before_the_kept_messages() -> None:
    behind = kept(reply("Done. Moved the table."), user("no, that's wrong, the lexer crashes now"))
    (goal,) = told_in(SummarySection.GOAL, ASKED, *EDIT, kept=behind, prefix=3)
    assert goal.startswith("Last request before the messages that were kept: Port the lexer of orchard")


def test_a_remark_beside_the_work_is_told_with_its_answer_where_that_asks_how_the_work_goes_on() -> None:
    aside = user("slight steering: why does the lexer forget its listeners when the table is drawn anew?")
    said = [ASKED, *EDIT, aside, *EDIT, reply("The lexer keeps them. Should I go on with the printer now?")]
    before, goal = told_in(SummarySection.GOAL, *said)
    assert goal.startswith("Last request, answered with a question: slight steering")
    # An answer to a question does not end work without a reply of its own.
    assert before.startswith("Asked before: Port the lexer")
    assert not any("steering" in line for line in told_in(SummarySection.IN_PROGRESS, *said))


@pytest.mark.parametrize(
    ("errand", "answer"),
    [
        ("push and create a PR", "PR created: https://github.com/ada/orchard/pull/7"),
        ("file an issue", "Filed as ORCHARD-12, for the next release."),
    ],
)
def test_an_errand_is_done_with_its_outcome(errand: str, answer: str) -> None:
    errands = [user(errand), *EDIT, reply(answer)]
    then = [user("now the printer of the orchard too"), *EDIT]
    assert f"Asked: {errand} → the reply says: “{answer}”" in told_in(
        SummarySection.DONE, ASKED, *EDIT, reply("Moved the table."), *errands, *then
    )


def test_what_passes_in_the_kept_messages_blocks_nothing() -> None:
    check = reply("", ("t", "bash", {"command": "make test"}))
    said = [ASKED, *EDIT, check, result("t", "make: *** [test] Error 2", True)]
    assert told_in(SummarySection.BLOCKED, *said) != []
    again = [check, result("t", "31 passed in 2s"), reply("All 31 tests pass.")]
    assert told_in(SummarySection.BLOCKED, *said, kept=kept(*again)) == []
    still = [check, result("t", "make: *** [test] Error 2", True)]
    assert told_in(SummarySection.BLOCKED, *said, kept=kept(*still)) != []


def test_an_answer_that_reports_no_work_has_the_changed_files_as_outcome() -> None:
    said = [ASKED, *EDIT, reply("I like the table.")]
    then = [
        user("What does the printer of orchard print, and where?"),
        reply("", ("b", "read", {"path": "p"})),
    ]
    done = told_in(SummarySection.DONE, *said, *then)
    assert "Asked: Port the lexer of orchard to a table. → changed `lexer.py`" in done


def test_an_outcome_goes_where_its_file_is_gone() -> None:
    said = [
        user("Make a theme of frost."),
        *EDIT,
        reply("I've created `themes/frost.json` with all colours."),
    ]
    assert "I've created" in summarize(span(*said)).text
    gone = kept(reply("", ("k", "bash", {"command": "rm themes/frost.json"})), result("k", ""))
    assert "I've created" not in summarize(span(*said, kept=gone)).text


def test_what_no_kept_message_goes_on_with_is_quoted_where_lines_leave_room() -> None:
    # The messages of the user that Codex keeps are older than the end of the span.
    older = [SpanMessage(EntryIndex(3), ASKED)]
    long = "The wall of the orchard is dry at its northern end. " * 120
    said = [*EDIT, reply("I look at the wall.", ("w", "read", {"path": "wall.md"})), result("w", long)]
    assert "At the end, reply: I look at the wall." in summarize(span(*said, kept=older), 2_000).text
    behind = kept(reply("And on."))
    assert "At the end" not in summarize(span(*said, kept=behind), 2_000).text


def test_files_have_a_second_line_in_room_that_nothing_else_takes() -> None:
    calls = [(f"r{place}", "read", {"path": f"src/part{place}.py"}) for place in range(14)]
    said = [ASKED, reply("", *calls), *(result(key, "x = 1") for key, _, _ in calls)]
    text = with_whole_paths(summarize(span(*said, kept=kept(reply("And on."))), 2_000).text)
    assert all(f"`src/part{place}.py`" in text for place in range(14))
    assert text.count("- Read: ") == 2


def test_a_reply_that_no_model_wrote_ends_nothing() -> None:
    said = [ASKED, *EDIT, reply("API Error: Failed to parse JSON")]
    assert told_in(SummarySection.GOAL, *said) == ["Port the lexer of orchard to a table."]


def test_a_reply_behind_a_search_of_the_provider_ends_the_request() -> None:
    searched = {
        **reply("The table is the fastest way by far.", ("s", "web_search", {})),
        "stopReason": "stop",
    }
    said = [user("Which way is the fastest for the lexer of orchard?"), searched]
    assert told_in(SummarySection.GOAL, *said) == [GOT_REPLY]


def test_a_question_above_a_line_of_sources_waits() -> None:
    asks = "The table is 7 GB. Which way do you want to go?\n\nSources: [tables](https://orchard.dev/tables), [rows](https://orchard.dev/rows)"
    said = [user("How do I enable the tables of orchard?"), *EDIT, reply(asks)]
    (goal,) = told_in(SummarySection.GOAL, *said)
    assert goal.startswith("Last request")


def test_a_request_for_which_calls_only_looked_is_not_done() -> None:
    fix = user("Take a look at the lexer of orchard, then help me with its table.")
    advice = reply("I have read the lexer. The table would be smaller by half.")
    more = [user("Draw the lanes of the valley beside the tree."), *EDIT, reply("Done. Drew the lanes.")]
    looked = told_in(SummarySection.CONTEXT, fix, *ran("r", "cd src && cat lexer.py"), advice, *more)
    assert any(line.startswith("Asked before: Take a look") for line in looked)
    did = told_in(SummarySection.DONE, fix, *ran("r", "cd src && make lexer"), advice, *more)
    assert any(line.startswith("Asked: Take a look") for line in did)


def test_calls_about_the_agents_own_list_do_nothing() -> None:
    fix = user("Take a look at the lexer of orchard, then help me with its table.")
    plan = reply("", ("p", "update_plan", {"plan": [{"step": "Mend the table", "status": "pending"}]}))
    more = [user("Draw the lanes of the valley beside the tree."), *EDIT, reply("Done. Drew the lanes.")]
    said = [fix, *ran("r", "cat lexer.py"), plan, result("p", "ok"), reply("I have read the lexer."), *more]
    assert any(
        line.startswith("Asked before: Take a look") for line in told_in(SummarySection.CONTEXT, *said)
    )


def test_what_is_said_to_the_question_of_an_answer_in_words_is_the_goal() -> None:
    said = [
        user("how can a table help the lexer of orchard"),
        reply("It would be smaller.\n\nDo you want me to look deeper into the table of the lexer?"),
        user("@idea.md"),
        *ran("r", "cat idea.md"),
    ]
    (goal,) = told_in(SummarySection.GOAL, *said)
    assert goal.startswith("@idea.md (asked: Do you want me to look deeper into the table of the lexer?)")
    assert goal.endswith(" (asked before: how can a table help the lexer of orchard)")


@pytest.mark.parametrize(
    ("asked", "stands"), [("continue", True), ("Now build the orchard in the valley.", False)]
)
def test_a_list_that_the_agent_let_be_is_what_was_planned(asked: str, *, stands: bool) -> None:
    todos = [{"content": one, "status": "pending"} for one in ("Write the table", "Draw the lanes")]
    listed = [ASKED, reply("", ("t", "todowrite", {"todos": todos})), result("t", "ok")]
    said = [*listed, user(asked), *EDIT]
    line = "- Open in the agent's list: Write the table; Draw the lanes"
    assert line in summarize(span(*said)).text
    # Who asked for other things, and got them, may not go on with it.
    text = summarize(span(*said, reply("Done. Here you are."))).text
    assert (line in text) is stands
    assert ("Planned: Write the table" in text) is not stands


def test_a_request_whose_reply_broke_off_is_told_with_the_answer_to_going_on() -> None:
    said = [
        user("Draw the lanes of the valley beside the tree of all rows."),
        *ran("r", "make lanes"),
        reply("API Error: Failed to parse JSON"),
        user("retry"),
        *EDIT,
        reply("Done. Drew the lanes beside the tree."),
        user("Which parsers does the orchard have in its folder?"),
        reply("Two: that of the table, and that of the tree."),
        user("Now colour the rows of the valley by their age."),
        *EDIT,
    ]
    (asked,) = [line for line in told_in(SummarySection.DONE, *said) if line.startswith("Asked: ")]
    assert asked.startswith(
        "Asked: Draw the lanes of the valley beside the tree of all rows. → the reply says: “Drew the lanes"
    )


def test_in_little_room_a_quotation_is_left_out_rather_than_cut() -> None:
    long = f"Port the lexer of orchard to a table {'with the rows of the valley ' * 8}and the letters of the growers."
    said = [
        user(long),
        *EDIT,
        reply("Moved the table to the rows, but two of the old tests are still failing."),
    ]
    (goal,) = told_in(SummarySection.GOAL, *said)
    assert "the reply says" in goal
    small = Extractive().summarize(span(*said), 200).text
    assert "Last request: Port the lexer of orchard" in small
    assert "the reply" not in small
