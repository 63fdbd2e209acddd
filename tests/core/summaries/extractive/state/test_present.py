"""The present in a summary: outcomes of the last runs, requests that are open, states that no later one replaced."""

from __future__ import annotations

from typing import Any

from leafward.session.entries import EntryIndex
from leafward.summaries.facts.reader import FactReader
from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import FOLDER, reply, result, span, summarize, told_in, user


def run(key: str, command: str, text: str = "ok", *, failed: bool = False) -> list[dict[str, Any]]:
    return [reply("", (key, "bash", {"command": command})), result(key, text, failed)]


def edit(key: str, path: str) -> list[dict[str, Any]]:
    given = {"path": f"{FOLDER}/{path}", "oldText": "x", "newText": f"{key} = 1"}
    return [reply("", (key, "edit", given)), result(key, "ok")]


def test_a_command_that_failed_once_did_not_pass_each_time() -> None:
    done = told_in(
        SummarySection.DONE,
        user("Take the unused type out of the parser and lint it."),
        *run("a", "mise run lint", "Exit code 1\nparser.go:6:6: type rowKey is unused", failed=True),
        *run("b", "mise run lint", "0 issues."),
        *run("c", "make check", "ok"),
        *run("d", "make check", "ok"),
        reply("The parser is clean."),
    )
    assert "`mise run lint` passes (once; 1 earlier run did not)" in done
    assert "`make check` passes (2 times)" in done


def test_a_task_that_runs_tests_is_the_last_run_of_tests() -> None:
    context = told_in(
        SummarySection.CONTEXT,
        user("Run the tests of the options, then the end-to-end ones."),
        *run("a", "cargo test options", "test result: ok. 2 passed; 0 failed"),
        *run("b", "mise run test:e2e e2e/test_options", "E2E test_options passed in 3s"),
        reply("Both are green."),
    )
    assert any(line.startswith("Last test run: `mise run test:e2e e2e/test_options`") for line in context)


def test_what_was_asked_last_and_not_answered_is_in_progress_however_short() -> None:
    messages = (
        user("Write the README and a receipt printer in receipt.py."),
        *edit("a", "receipt.py"),
        reply("Both are there."),
        user("Move receipt.py to printing/receipt.py and use amount_text in it."),
        *edit("b", "printing/receipt.py"),
        reply("check.py fails now: the total is wrong. I have not found why yet."),
        user("Find out which change broke check.py."),
    )
    asked = "Find out which change broke check.py."
    assert told_in(SummarySection.IN_PROGRESS, *messages) == [f"Last request: {asked}"]
    assert told_in(SummarySection.GOAL, *messages) == [asked]


def test_a_request_that_was_worked_on_and_left_is_no_goal() -> None:
    messages = (
        user("Write the README and a receipt printer in receipt.py."),
        *edit("a", "receipt.py"),
        reply("Both are there."),
        user("Make add refuse negative counts, and let remove take a count."),
        *edit("b", "cart.py"),
    )
    now = ["Make add refuse negative counts, and let remove take a count."]
    assert told_in(SummarySection.GOAL, *messages) == now
    # The work on it may stand behind the span.
    assert told_in(SummarySection.GOAL, *messages[:-2]) == now


def test_a_screen_that_was_pasted_without_a_word_is_no_request() -> None:
    screen = (
        "> v ada/table *  [4 checkpoints]\n"
        "   v * take the vertical lines out completely and keep all colours\n"
        "      - [ NEW ] One more thing, the prompt is too long — just now [+176 -361]\n"
        "      - [ NEW ] This session goes on from another one — 3 mins ago [+126 -350]"
    )
    messages = (
        user("On the first session the prompt is so long that nothing else is shown, cut it."),
        *edit("a", "view.py"),
        reply("The prompt is cut to the width of the terminal."),
        user(screen),
        *edit("b", "view.py"),
    )
    progress = told_in(SummarySection.IN_PROGRESS, *messages)
    assert not any("vertical lines" in line for line in progress)
    assert (
        any("cut it" in line for line in progress) or "cut it" in told_in(SummarySection.GOAL, *messages)[0]
    )
    assert not any("Asked: " in line for line in told_in(SummarySection.DONE, *messages))


BEFORE = """## Primary Request and Intent
- Show the age of rows
- Make the hash dim
- **Most recent question**: Could we compare with the base commit?

## Critical Context
- Most recent edit: added `strings` to the imports of rows.go
- `undefined: json` in rows_test.go: need to add the import (currently in progress)
- The store keeps whole trees
"""


def since(*messages: dict[str, Any]) -> list[str]:
    """The lines of a summary of what followed one that stood in the middle of work, with their sections."""
    first = [
        reply("", ("z", "bash", {"command": "go build"})),
        result("z", "ok"),
        reply("It is compared now."),
    ]
    return [
        f"{section.title}: {line}"
        for section in SummarySection
        for line in told_in(section, *first, *messages, previous=BEFORE)
    ]


def test_what_was_newest_or_under_way_at_an_earlier_summary_is_not_so_any_more() -> None:
    lines = since(user("Cut the prompt of a session that is too long."), *edit("a", "rows.go"))
    assert not any("Most recent edit" in line or "currently in progress" in line for line in lines)
    assert any("whole trees" in line for line in lines)


def test_a_question_that_was_the_last_one_then_is_no_goal_behind_its_answer() -> None:
    lines = since(user("Cut the prompt of a session that is too long."), *edit("a", "rows.go"))
    goals = [line for line in lines if line.startswith("Goal: ")]
    assert not any("base commit" in line for line in goals)
    assert any("too long" in line for line in goals)
    # Before anything else was asked it is what the work is for.
    assert any("base commit" in line for line in since() if line.startswith("Goal: "))


def test_how_something_stood_amid_the_work_is_not_told_behind_its_end() -> None:
    said = (
        user("Address the feedback on the pull request and the failing checks of src/rows.rs."),
        reply(
            "There is one new feedback item from Cursor: `list_missing` still uses install-path existence.",
            ("a", "bash", {"command": "gh pr checks 7"}),
        ),
        result("a", "pending"),
        *edit("b", "src/rows.rs"),
        reply(
            "The new head is `b2b346f`; checks are running from scratch.",
            ("c", "bash", {"command": "gh pr checks 7"}),
        ),
        result("c", "pending"),
        reply("CI is still in the early build phase for #7.", ("d", "bash", {"command": "gh pr checks 7"})),
        result("d", "pass"),
        reply("The feedback on `list_missing` is addressed; #7 is green now."),
    )
    context = told_in(SummarySection.CONTEXT, *said)
    assert not any(
        words in line
        for line in context
        for words in ("running from scratch", "early build", "one new feedback")
    )
    assert any("#7 is green" in line for line in (*context, *told_in(SummarySection.DONE, *said)))


def test_how_it_stands_is_told_while_the_work_goes_on() -> None:
    found = "There is one new feedback item from Cursor: `list_missing` still uses install-path existence."
    said = (
        user("Address the feedback on the pull request and the failing checks of src/rows.rs."),
        reply(found, ("a", "bash", {"command": "gh pr checks 7"})),
        result("a", "pending"),
    )
    assert f"Last reply: {found}" in told_in(SummarySection.CONTEXT, *said)
    assert not any(found in line for line in told_in(SummarySection.IN_PROGRESS, *said))


def test_an_answer_to_what_was_asked_before_the_span_leaves_nothing_in_progress() -> None:
    messages = (
        *run("a", "gh pr checks 7", "pending"),
        reply("CI is still in the early build phase for #7.", ("b", "bash", {"command": "gh pr checks 7"})),
        result("b", "pass"),
        reply("All of it is handled: #7 is green."),
    )
    assert told_in(SummarySection.IN_PROGRESS, *messages) == []
    assert not any("early build" in line for line in told_in(SummarySection.CONTEXT, *messages))


def test_blocks_of_thinking_that_meet_make_no_name() -> None:
    thought = {
        "role": "assistant",
        "content": [
            {
                "type": "thinking",
                "thinking": "Truncate it to fit the available widthLet me look at rowWidth and its stepThe rest fits.",
            },
            {
                "type": "toolCall",
                "id": "a",
                "name": "bash",
                "arguments": {"command": "grep -n rowWidth view.py"},
            },
        ],
    }
    lines = told_in(
        SummarySection.CONTEXT,
        user("Cut the rows of the view to the width of the terminal."),
        thought,
        result("a", "ok"),
    )
    assert any("rowWidth" in line for line in lines)
    assert not any("widthLet" in line or "stepThe" in line for line in lines)


def test_an_errand_that_is_run_is_what_was_asked_last() -> None:
    messages = (
        user("Fix the duplicate keys that the console warns of in the tree view."),
        *edit("a", "tree.ts"),
        reply("Fixed the duplicate keys in `tree.ts`."),
        user('The badge should say "Linked docs" and not just "Linked".'),
        *edit("b", "view.ts"),
        reply("Updated the badge in `view.ts`."),
        user("commit"),
        reply("", ("c", "bash", {"command": "git status"})),
    )
    assert told_in(SummarySection.IN_PROGRESS, *messages)[0] == "Last request: commit"
    told = [*told_in(SummarySection.GOAL, *messages), *told_in(SummarySection.DONE, *messages)]
    assert any("The badge should say" in line for line in told)


CODE_BEFORE = """## In Progress
- The test `test_rows` is failing: the path is empty after the hook.

## Critical Context
- <system-reminder>
- <tools-used>Bash, Edit</tools-used>
- return nil
- entries.push({ path: file.rowPath });
- **In Progress**: the test fails because the path is not stored
- The store keeps whole trees
"""


def test_of_an_earlier_summary_neither_markup_nor_idle_code_nor_what_failed_then_is_told() -> None:
    first = [reply("", ("z", "bash", {"command": "go test"})), result("z", "ok"), reply("All tests pass.")]
    work = [
        user("Rename rowPath in src/rows.ts to linePath."),
        *edit("a", "src/rows.ts"),
        reply("Renamed `rowPath`."),
    ]
    lines = [
        line for section in SummarySection for line in told_in(section, *first, *work, previous=CODE_BEFORE)
    ]
    assert any("whole trees" in line for line in lines)
    for words in ("system-reminder", "tools-used", "return nil", "is failing", "In Progress**"):
        assert not any(words in line for line in lines), words


def test_what_a_user_runs_after_the_answer_does_not_open_the_request_again() -> None:
    messages = (
        user("Write a README for the calculator in README.md."),
        *edit("a", "README.md"),
        reply("README.md is in place and names the calculator."),
        {**user("The following tool was executed by the user"), "typed": "! ls src"},
        *run("u", "ls src", "calc.py"),
    )
    assert told_in(SummarySection.IN_PROGRESS, *messages) == []


def test_a_correction_of_one_answer_is_no_rule() -> None:
    rules = told_in(
        SummarySection.CONSTRAINTS,
        user("Make the block of the footer dim."),
        *edit("a", "footer.ts"),
        reply("The block is dim now."),
        user("no, the block should stay as is. Never touch the theme for that."),
        *edit("b", "footer.ts"),
    )
    assert rules == ["Never touch the theme for that."]


def test_who_is_pleased_or_only_marvels_asks_for_nothing() -> None:
    work = (user("Copy the rows of the view to the list."), *edit("a", "rows.py"), reply("They are copied."))
    for words in ("wow", "great, it works now"):
        assert told_in(SummarySection.IN_PROGRESS, *work, user(words)) == []


def test_what_a_reply_stated_stands_apart_from_what_is_recorded() -> None:
    found = "The lexer of orchard reads `frost_table` twice for each row of the valley."
    asked = [user("Why does the lexer of orchard take so long?"), *run("a", "cat lexer.py"), reply(found)]
    context = summarize(span(*asked, user("Then mend it."))).text.partition("## Critical Context\n")[2]
    _, said, rest = context.partition("### As replies said it then\n")
    said, _, recorded = rest.partition("\n### Recorded\n")
    assert said == f"- {found}\n"
    assert "`lexer.py`" in recorded


def test_a_decision_before_later_work_is_told_as_said() -> None:
    chosen = "We keep `frost_table` because the old tests of the valley import it."
    asked = [user("Remove the tables of orchard that can go."), *edit("a", "tables.py"), reply(chosen)]
    assert chosen in told_in(SummarySection.DECISIONS, *asked)
    mended = [user("Then mend the lexer of orchard."), *edit("c", "lexer.py"), reply("Done.")]
    assert told_in(SummarySection.DECISIONS, *asked, *mended) == []
    assert chosen in told_in(SummarySection.CONTEXT, *asked, *mended)


def test_names_in_lines_that_an_edit_left_alone_are_not_written() -> None:
    given = {
        "path": f"{FOLDER}/fences.py",
        "oldText": "HEIGHT_LIMIT = 40\ngate_width = old_step\n",
        "newText": "HEIGHT_LIMIT = 40\ngate_width = fence_step\n",
    }
    reader = FactReader(FOLDER)
    list(reader.read(EntryIndex(1), reply("", ("a", "edit", given))))
    (written,) = reader.calls.written
    assert set(written.names) == {"gate_width", "fence_step"}
    assert written.removed == ("old_step",)
