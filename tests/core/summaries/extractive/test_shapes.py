"""Shapes of work that stored sessions seldom have: lists without ticks, broken-off replies, rules until further notice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.session.entries import EntryIndex
from leafward.summaries.summarizers.extractive.requests.user_requests import GOT_REPLY
from leafward.summaries.summarizers.outline import SummarySection, named_files
from tests.core.told import ran, reply, result, told_in, user, worked

if TYPE_CHECKING:
    from typing import Any

ASKED = user("Port the lexer of orchard to a table.")
WORK = worked("src/lexer.py", "w")


def listed(key: str, *items: tuple[str, str]) -> list[dict[str, Any]]:
    todos = [{"content": text, "status": status} for text, status in items]
    return [reply("", (key, "TodoWrite", {"todos": todos})), result(key, "Todos have been modified")]


def test_an_item_that_the_answer_tells_as_done_is_done_though_nobody_ticked_it() -> None:
    items = listed("a", ("Port the lexer", "in_progress"), ("Measure the lexer", "pending"))
    said = [ASKED, *items, *WORK]
    assert told_in(SummarySection.NEXT, *said, reply("The lexer is there.")) != []
    done = [*said, reply("Done. The lexer is ported and measured: 3 ms.")]
    assert told_in(SummarySection.NEXT, *done) == []
    assert told_in(SummarySection.GOAL, *done) == [GOT_REPLY]
    half = [*said, reply("Ported the lexer; I have not measured the lexer yet.")]
    assert told_in(SummarySection.NEXT, *half) == ["Measure the lexer"]


@pytest.mark.parametrize(
    "answer",
    [
        "Next I port the lexer.",
        "Once ported, the lexer reads its table.",
        "The lexer should be ported.",
        "The lexer is not ported.",
    ],
)
def test_an_answer_that_only_names_an_item_does_not_tick_it(answer: str) -> None:
    items = listed("a", ("Port the lexer", "in_progress"), ("Measure the printer", "pending"))
    assert "Port the lexer" in told_in(SummarySection.NEXT, ASKED, *items, *WORK, reply(answer))


def test_what_the_user_withdraws_is_off_the_list_and_no_longer_what_is_left() -> None:
    said = [
        ASKED,
        *listed("a", ("Port the lexer", "in_progress"), ("Write tests", "pending")),
        *WORK,
        reply("Ported the lexer. The tests are still to write."),
    ]
    assert told_in(SummarySection.NEXT, *said) == ["Write tests"]
    said += [user("forget the tests; rename the printer to press instead"), *ran("b", "git mv src/printer.py src/press.py"), reply("Renamed.")]  # fmt: skip
    assert told_in(SummarySection.NEXT, *said) == []
    assert told_in(SummarySection.GOAL, *said) == [GOT_REPLY]


def test_a_reply_that_broke_off_is_over_once_the_work_went_on() -> None:
    broken_off = {**reply("Now I"), "stopReason": "error", "errorMessage": "529 overloaded"}
    said = [ASKED, *WORK, broken_off, user("continue")]
    (goal,) = told_in(SummarySection.GOAL, *said)
    assert goal.startswith("Port the lexer")
    done = [*said, *worked("src/table.py", "x"), reply("Done. The lexer is ported.")]
    assert told_in(SummarySection.GOAL, *done) == [GOT_REPLY]


def test_a_command_that_the_agent_carries_out_itself_waits_for_nothing() -> None:
    said = [ASKED, *WORK, reply("Done. Ported.")]
    assert told_in(SummarySection.GOAL, *said, user("/cost")) == [GOT_REPLY]
    assert told_in(SummarySection.GOAL, *said, user("/review-branch")) != [GOT_REPLY]


@pytest.mark.parametrize(
    "answer",
    [
        "Implemented steps 1 and 2; the docs are not updated yet.",
        "Fixed the typo. I have not added the entry of the changelog yet.",
    ],
)
def test_an_answer_that_says_what_it_did_not_do_leaves_the_request_open(answer: str) -> None:
    assert told_in(SummarySection.GOAL, ASKED, *WORK, reply(answer)) != [GOT_REPLY]


def test_a_request_that_is_taken_back_in_the_words_of_a_rule_is_no_rule() -> None:
    said = [user("never mind the deploy, port the lexer instead"), *WORK, reply("Done. Ported the lexer.")]
    assert told_in(SummarySection.CONSTRAINTS, *said) == []


def test_a_rule_until_further_notice_is_over_once_the_user_asks_for_the_thing() -> None:
    rule = "Don't commit until I say so."
    said = [user(f"{rule} Port the lexer of orchard."), *WORK, reply("Done. Ported.")]
    assert told_in(SummarySection.CONSTRAINTS, *said) == [rule]
    other = user("don't commit the table of the lexer, it is too large")
    assert rule in told_in(SummarySection.CONSTRAINTS, *said, other)
    asked = [user("ok commit"), *ran("c", "git commit -am 'Port the lexer'"), reply("Committed.")]
    assert told_in(SummarySection.CONSTRAINTS, *said, *asked) == []


def test_a_failed_check_that_nobody_minded_through_two_results_blocks_nothing() -> None:
    failed = [
        reply("", ("t", "bash", {"command": "npx tsc --noEmit"})),
        result("t", "src/a.ts(3,1): error TS2304\nCommand exited with code 2", True),
    ]
    said = [*ran("c", "ls src"), *ran("d", "ls test"), ASKED, *WORK, *failed]
    assert told_in(SummarySection.BLOCKED, *said) != []
    said += [reply("Done. Ported the lexer, the errors are those of the settings.")]
    assert told_in(SummarySection.BLOCKED, *said) != []
    said += [user("draw the lanes of the orchard"), *worked("src/lanes.py", "l"), reply("Done. The lanes are drawn.")]  # fmt: skip
    assert told_in(SummarySection.BLOCKED, *said) == []


def test_a_request_that_prints_something_is_done_with_its_answer() -> None:
    said = [user("Print a long log"), *ran("p", "cat log.txt"), reply("That was a long log.")]
    assert told_in(SummarySection.GOAL, *said) == [GOT_REPLY]


def test_what_an_earlier_summary_had_in_progress_is_not_beside_its_own_result() -> None:
    previous = "## In Progress\n- Adding `mul()` to src/calc.py.\n"
    more: dict[str, Any] = {"previous": previous, "previous_entry": EntryIndex(3)}
    asked = [user("What is left to do?"), reply("Only the division is left.")]
    assert told_in(SummarySection.IN_PROGRESS, *asked, **more) != []
    end = reply("Added `mul(a, b)` to `src/calc.py`; the tests pass.")
    assert told_in(SummarySection.IN_PROGRESS, end, *asked, **more) == []


def test_requests_that_were_kept_without_their_answers_are_over_but_for_the_last() -> None:
    """Codex keeps them beside a summary that nobody can read."""
    asked = [user("Add a mul function to src/calc.py and run the tests"), user("Write a README for orchard")]
    said = [*asked, user("What is left to do?"), reply("Only the division is left.")]
    then: dict[str, Any] = {"previous_entry": EntryIndex(12)}
    assert told_in(SummarySection.GOAL, *said) != [GOT_REPLY]
    assert told_in(SummarySection.GOAL, *said, **then) == [GOT_REPLY]
    (goal,) = told_in(SummarySection.GOAL, *asked, *worked("README.md", "r"), **then)
    assert goal.startswith("Write a README for orchard")


def test_a_short_request_that_was_answered_by_a_text_is_the_last_one() -> None:
    said = [
        user("List all files of the lexer in orchard"),
        reply("There are two: `lexer.py` and `table.py`."),
        user("Describe both"),
    ]
    said += [reply("`lexer.py` reads, `table.py` keeps the rows of the frost table.")]
    (last,) = [line for line in told_in(SummarySection.DONE, *said) if line.startswith("Last request")]
    assert last.startswith("Last request, answered: Describe both")


def test_a_remark_before_the_next_call_is_no_decision_and_what_is_needed_now_is_not_done() -> None:
    remark = (
        "I’m checking the threads of orchard now; checks may still be queued because the head just changed."
    )
    said = [ASKED, *WORK, reply(remark, ("c", "bash", {"command": "gh pr view"})), result("c", "x")]
    assert told_in(SummarySection.DECISIONS, *said) == []
    need = "Now that we use `git branch -D`, we need a commit so that the lexer of orchard works."
    said = [ASKED, *WORK, reply(need, ("c", "read", {"path": "a.go"})), result("c", "x")]
    assert need not in told_in(SummarySection.DONE, *said)


def test_a_question_that_passes_an_offer_over_and_was_answered_is_not_in_progress() -> None:
    said = [ASKED, *WORK, reply("Ported. Should I delete the old one?")]
    said += [user("what does lanes.py do?"), *ran("d", "cat lanes.py"), reply("It draws the lanes.")]
    assert told_in(SummarySection.IN_PROGRESS, *said) == []


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Fix the header of orchard, fix the footer, write tests", "The header is fixed. The footer and the tests are next."),
        ("Fix the crash in rows.py", "I'll look into it and fix it."),
    ],
)  # fmt: skip
def test_an_answer_that_leaves_work_or_only_promises_it_ends_nothing(asked: str, answer: str) -> None:
    work = [] if answer.startswith("I'll") else WORK
    assert told_in(SummarySection.GOAL, user(asked), *work, reply(answer)) != [GOT_REPLY]


def test_what_the_user_did_himself_is_no_goal() -> None:
    said = [
        user("Fix the crash in rows.py of orchard"),
        *ran("a", "cat rows.py"),
        reply("Should I add a check?"),
    ]
    said += [user("i fixed it myself, go on with lanes.py: draw them upside down"), *worked("lanes.py", "b"), reply("Done. Lanes are drawn upside down.")]  # fmt: skip
    assert told_in(SummarySection.GOAL, *said) == [GOT_REPLY]


def test_a_report_that_all_is_reverted_ends_the_request() -> None:
    said = [ASKED, *WORK, reply("Done. Ported."), user("revert everything with git")]
    said += [*ran("g", "git checkout -- ."), reply("All changes are reverted.")]
    assert told_in(SummarySection.GOAL, *said) == [GOT_REPLY]


def test_a_commit_that_was_amended_is_told_by_its_new_title_alone() -> None:
    said = [user("commit it"), *ran("a", "git commit -m 'Prot the lexer'")]
    assert "Committed: Prot the lexer" in told_in(SummarySection.DONE, *said)
    said += [*ran("b", "git commit --amend -m 'Port the lexer'"), reply("Committed.")]
    done = told_in(SummarySection.DONE, *said)
    assert "Committed: Port the lexer" in done
    assert "Committed: Prot the lexer" not in done


def test_changed_files_of_one_name_are_told_with_their_folders() -> None:
    assert named_files(["app/page.tsx", "app/apps/page.tsx", "src/tree.py"]) == (
        "`app/page.tsx`, `apps/page.tsx`, `tree.py`"
    )
