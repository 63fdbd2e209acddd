"""A request and what is said to its answers are one exchange: its end says whether it is over, and how it came out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.summaries.facts.sentences.replies import announces
from leafward.summaries.facts.sentences.responses import keeps_going
from leafward.summaries.summarizers.extractive.requests.user_requests import GOT_REPLY
from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import ran, reply, result, span, summarize, told_in, user, worked

if TYPE_CHECKING:
    from typing import Any


def aborted(text: str = "") -> dict[str, Any]:
    return {**reply(text), "stopReason": "aborted"}


def the_goal(*messages: dict[str, Any]) -> str:
    (goal,) = told_in(SummarySection.GOAL, *messages)
    return goal


DONE = [user("Port the lexer of orchard to a table."), *worked("src/lexer.py", "a")]


@pytest.mark.parametrize("broken_off", [aborted(), aborted("Now I look for it.")])
def test_a_request_whose_reply_was_broken_off_is_the_last_request(broken_off: dict[str, Any]) -> None:
    said = [*DONE, reply("Moved the table of the lexer."), user("remove fruit-reporter"), broken_off]
    assert the_goal(*said) == "remove fruit-reporter"
    assert told_in(SummarySection.IN_PROGRESS, *said)[0] == "Last request: remove fruit-reporter"


def test_a_command_in_the_text_of_a_prompt_is_a_request_once_work_followed() -> None:
    said = [*DONE, reply("Moved the table of the lexer."), user("/fix 2"), *worked("src/cache.py", "b")]
    assert the_goal(*said) == "/fix 2"


def test_what_was_left_open_is_over_once_a_question_about_it_is_answered() -> None:
    said = [
        user("CI is red on request 91 of orchard, can you look"),
        *worked("src/price.ts", "a"),
        reply("The type error in `src/price.ts` is mended; the checks are still running."),
        user("and?"),
        *ran("b", "gh pr checks 91"),
        reply("All checks on request 91 are green."),
        user("merge it then"),
    ]
    assert the_goal(*said).startswith("merge it then")
    (asked,) = [line for line in told_in(SummarySection.DONE, *said) if line.startswith("Asked: ")]
    assert asked.endswith("→ the reply says: “All checks on request 91 are green.”")


def test_a_reply_to_a_question_of_the_models_is_part_of_the_request() -> None:
    said = [
        user("deploy to staging"),
        *ran("a", "./deploy.sh staging"),
        reply("The host refuses the connection. Is the tunnel up?"),
        user("tunnel is up now"),
        *ran("b", "./deploy.sh staging"),
        reply("Deployed build 9f21 to staging."),
        user("now prod"),
        *ran("c", "./deploy.sh prod"),
        reply("Prod needs an approval; I cannot go on until someone approves run 771."),
    ]
    # A word alone says nothing without the request before it, and what waits for somebody is not done.
    assert the_goal(*said) == ("Last request: prod (asked before: deploy to staging)")
    assert not any("prod" in line.lower() for line in told_in(SummarySection.DONE, *said))
    assert told_in(SummarySection.BLOCKED, *said) == [
        "Prod needs an approval; I cannot go on until someone approves run 771."
    ]


def test_a_declined_offer_leaves_nothing_open() -> None:
    said = [
        user("Clean up the old branches of orchard"),
        *ran("a", "git branch -d plum pear"),
        reply("Deleted the branches `plum` and `pear`."),
        user("and the remote ones?"),
        reply("I can delete them on origin too: `git push origin --delete plum pear`. Should I?"),
        user("no leave them"),
    ]
    assert the_goal(*said) == GOT_REPLY
    assert told_in(SummarySection.IN_PROGRESS, *said) == []
    # The question alone does not name what was declined.
    assert told_in(SummarySection.DECISIONS, *said) == [
        "Declined by the user: I can delete them on origin too: `git push origin --delete plum pear`. Should I? (no leave them)"
    ]


def test_a_correction_of_a_plan_is_no_declined_start() -> None:
    said = [
        user("Plan how the jobs of orchard move to a queue. Don't write code yet."),
        reply("1. Add a table of jobs\n2. Write a worker\n\nShall I start?"),
        user("No table please, use streams instead."),
        reply("1. Add a stream of jobs\n2. Write a worker\n\nOk like this?"),
        user("approved, go"),
        *worked("jobs/stream.py", "a"),
    ]
    assert told_in(SummarySection.DECISIONS, *said) == [
        "Answered by the user: No table please, use streams instead. (asked: Shall I start?)"
    ]
    # Work has begun since.
    assert told_in(SummarySection.CONSTRAINTS, *said) == []
    assert the_goal(*said) == (
        "approved, go (asked: Ok like this?) (asked before: Plan how the jobs of orchard move to a queue. Don't write code yet.)"
    )


def test_the_rule_not_to_begin_yet_stands_until_work_may_begin() -> None:
    said = [
        user("Plan how the jobs of orchard move to a queue. Don't write code yet."),
        reply("1. Add a table of jobs\n2. Write a worker\n\nShall I start?"),
        user("How long does the second step take?"),
    ]
    assert told_in(SummarySection.CONSTRAINTS, *said) == ["Don't write code yet."]


def test_an_accepted_offer_is_told_with_the_words_that_name_it() -> None:
    said = [
        user("Why is the export of orchard slow on large files?"),
        *ran("a", "python -m profile export.py"),
        reply("The export opens the file anew for each row. Should I change that?"),
        user("yes please, but without new dependencies"),
    ]
    assert the_goal(*said).endswith(
        "without new dependencies (asked: The export opens the file anew for each row. Should I change that?)"
    )
    assert told_in(SummarySection.CONSTRAINTS, *said) == ["without new dependencies"]


def test_an_answer_that_the_user_called_wrong_is_no_outcome() -> None:
    said = [
        user("The total of the invoice is off by one cent. Find out why."),
        *ran("a", "cat inv.py"),
        reply("The cause is the rounding of floats in `total()`."),
        user("no that's wrong, we use decimals there"),
        *ran("b", "cat inv.py"),
        reply("You are right. The cause is that tax is rounded for each line."),
        user("round it once at the end then"),
    ]
    (asked,) = [line for line in told_in(SummarySection.CONTEXT, *said) if line.startswith("Asked before: ")]
    assert asked.endswith("→ the reply says: “The cause is that tax is rounded for each line.”")


def test_work_is_taken_back_behind_a_reason_too() -> None:
    said = [
        user("Make the parser of orchard streaming"),
        *worked("src/parser.rs", "a"),
        reply("The parser streams now: memory for a large file falls to 40 MB."),
        user("it's slower by 30% on small files. revert it"),
        *ran("b", "git checkout src/parser.rs"),
        reply("Reverted `src/parser.rs`. 43 tests pass."),
        user("instead only read the header lazily"),
        *worked("src/header.rs", "c"),
        reply("The header is read lazily now."),
    ]
    text = summarize(span(*said)).text
    assert (
        "Taken back: Make the parser of orchard streaming (it's slower by 30% on small files. revert it)"
        in text
    )
    assert "parser streams now" not in text
    # Another way for the work at hand binds nothing afterwards.
    assert told_in(SummarySection.CONSTRAINTS, *said) == []


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("Rebased; the conflict is resolved with both parameters kept.", None),
        ("The introduction is rewritten; it has 310 words.", None),
        ("The lock is released in a `finally` now.", None),
        ("Die Spalte der Sorten ist ergänzt, am Ende der Zeile.", None),
        ("Le champ du numéro est ajouté, il est facultatif.", None),
        # No report, but what it says of the changed file says more than its name.
        ("Below 480 pixels the label is above the button.", "{} (changed `lexer.py`)"),
        # The trouble that was mended is no outcome.
        ("The port was read as a string.", "changed `lexer.py`"),
        # What the code does is no report.
        ("The transcript is written in `committed.go` by a hook of git.", "{} (changed `lexer.py`)"),
    ],
)
def test_the_outcome_is_what_the_answer_reports(answer: str, outcome: str | None) -> None:
    lines = told_in(SummarySection.DONE, *DONE, reply(answer))
    says = f"the reply says: “{answer}”"
    wanted = says if outcome is None else outcome.format(says)
    assert lines[0] == f"Last request, answered: Port the lexer of orchard to a table. → {wanted}"
    # It stands once.
    assert sum(answer.rstrip(".") in line for line in lines) <= 1


def test_a_cut_request_ends_with_a_whole_item_and_before_the_sections_of_a_plan() -> None:
    items = "\n".join(f"- keep the grouping of the trees by orchard in view {number}" for number in range(6))
    listed = [
        user(f"I think what I want is:\n{items}"),
        *worked("src/a.py", "a"),
        reply("Grouped all the views."),
    ]
    plan = "Implement the following plan:\n\n# Plan: a tree of fruit\n\n## Context\n\nThe tab shows a flat list. It has two faults."
    planned = [user(plan), *worked("src/b.py", "b"), reply("Added the tree of fruit.")]
    lines = told_in(SummarySection.DONE, *listed, *planned, user("Now print the orchard as a map."))
    asked = [line.removeprefix("Asked: ").partition(" → ")[0] for line in lines if line.startswith("Asked: ")]
    assert asked[0].endswith("in view 1 …")
    assert asked[1] == "Implement the following plan: # Plan: a tree of fruit …"


def test_a_pasted_report_of_a_bug_sets_no_rule_and_is_named_by_its_title() -> None:
    report = (
        "Please fix this issue:\n\n## Timeouts are ignored (#482)\n\n**Describe the bug**\nYou must always restart the daemon."
        "\n\n**To Reproduce**\n1. Start it\n\n**Expected behavior**\nNever wait longer than 5 seconds."
    )
    said = [user(report), *worked("client/http.py", "a"), reply("Fixed the timeout of the client.")]
    assert told_in(SummarySection.CONSTRAINTS, *said) == []
    assert told_in(SummarySection.DONE, *said)[0].startswith(
        "Last request, answered: fix this issue: Timeouts are ignored (#482) → "
    )


def test_what_an_editor_put_before_a_prompt_is_no_part_of_it() -> None:
    put = "# Context from my IDE setup:\n\n## Active file: src/a.ts\n\n## Open tabs:\n- a.ts: src/a.ts\n\n## My request for Codex:\n"
    assert (
        the_goal(user(f"{put}make the tabs accessible by keyboard")) == "make the tabs accessible by keyboard"
    )


def test_what_an_application_put_before_a_prompt_is_no_part_of_it() -> None:
    put = "# Files mentioned by the user:\n\n## pears.docx: C:\\orchard\\pears.docx\n\n## My request:\n"
    assert the_goal(user(f"{put}count the pears of the north wall")) == "count the pears of the north wall"


def test_a_run_with_a_schema_ends_with_its_output() -> None:
    asked = user("review the change of the pear store for security")
    found = reply("The store opens no file by itself.", ("a", "StructuredOutput", {"findings": []}))

    assert told_in(SummarySection.GOAL, asked, found, result("a", "ok")) == [GOT_REPLY]
    assert told_in(SummarySection.GOAL, asked, found, result("a", "no array", failed=True)) != [GOT_REPLY]
    silent = reply("", ("a", "StructuredOutput", {"findings": []}))
    assert told_in(SummarySection.GOAL, asked, silent, result("a", "ok")) == [GOT_REPLY]


def test_a_request_said_again_in_the_same_words_is_one() -> None:
    asked = "address the feedback on the orchard and failing checks if any"
    said = [
        user(asked),
        *worked("src/a.rs", "a"),
        aborted("I push now."),
        user(asked),
        *worked("src/a.rs", "b"),
        # A failure that is over, and one that may come, leave nothing open.
        reply(
            "Done. Pushed the answer to the feedback. I handled the previously failing check; if it fails, it says so."
        ),
    ]
    assert the_goal(*said) == GOT_REPLY


def test_an_offer_of_more_is_told_with_the_report_before_it() -> None:
    said = [
        user("Run the tests of orchard to make sure everything works."),
        *ran("a", "make test"),
        reply(
            "All 12 tests pass. Here is what there is:\n\n- trees\n\nWould you like me to help with the front end?"
        ),
    ]
    # The report before the words that introduce a list.
    assert the_goal(*said) == (
        "Last request, answered with a question: Run the tests of orchard to make sure everything works."
        " → the reply says: “All 12 tests pass.”"
    )
    assert told_in(SummarySection.IN_PROGRESS, *said) == [
        "Waiting for the user: Would you like me to help with the front end?"
    ]


@pytest.mark.parametrize(
    "praise", ["This is really helpful.", "This is perfect. Thank you for all the help!"]
)
def test_praise_is_no_request(praise: str) -> None:
    said = [*DONE, reply("Moved the table of the lexer."), user(praise)]
    assert the_goal(*said) == GOT_REPLY
    assert told_in(SummarySection.DONE, *said)[0].startswith("Last request, answered: Port the lexer")


def test_what_follows_praise_and_thanks_is_the_request() -> None:
    said = [*DONE, reply("Moved the table of the lexer.")]
    assert the_goal(*said, user("This is exactly what I needed! Let me see the printer.")).startswith(
        "Let me see"
    )
    assert the_goal(*said, user("thanks, and now add an option --host")) == "add an option --host"


def test_a_question_that_was_looked_into_is_answered() -> None:
    said = [
        user("can you look once more at that folder, I wonder why the long branch is not the green one"),
        *ran("a", "git log"),
        reply("The long branch ends at the third commit, and the green one begins there."),
    ]
    assert the_goal(*said) == GOT_REPLY


def test_what_was_said_while_the_work_went_on_is_answered_with_it() -> None:
    first = [user("Add a dark theme to the settings of orchard"), *worked("web/a.css", "a")]
    then = [
        user("also make the sidebar collapsible"),
        *worked("web/b.css", "b"),
        reply("Added both, the theme and the fold."),
    ]
    last = user("the icon of the sidebar is off by 2px")
    assert the_goal(*first, *then, last) == "the icon of the sidebar is off by 2px"
    waits = [
        user("wait, first rename the file of colors"),
        *worked("web/b.css", "b"),
        reply("Renamed the file of colors."),
    ]
    assert the_goal(*first, *waits, last) == (
        "the icon of the sidebar is off by 2px (asked before: Add a dark theme to the settings of orchard)"
    )


def test_a_request_that_was_answered_with_a_question_is_called_so() -> None:
    said = (
        user("Make importer.py skip empty rows."),
        *worked("importer.py", "a"),
        reply("Done: `importer.py` skips them."),
        user("Go through the rows of people.py with me."),
        *ran("b", "cat people.py"),
        reply(
            "The first row names the beds of the garden.\n\nShall we look at the next row, or at the totals?"
        ),
    )
    assert the_goal(*said) == (
        "Last request, answered with a question: Go through the rows of people.py with me."
    )
    assert told_in(SummarySection.IN_PROGRESS, *said) == [
        "Waiting for the user: Shall we look at the next row, or at the totals?"
    ]
    then = (user("Count the beds."), *ran("c", "wc beds.csv"))
    once = summarize(span(*said)).text
    assert told_in(SummarySection.GOAL, *then, previous=once) == ["Count the beds."]
    assert "Asked before: Go through the rows of people.py with me." in told_in(
        SummarySection.CONTEXT, *then, previous=once
    )


@pytest.mark.parametrize(
    "trouble",
    [
        "the mail did not send and the orchard no longer appears in the form",
        "the first gap of the orchard is still huge",
        "i tried the pear option and i got an error",
        "persiste el error",
        "astro error: the form of the orchard has no await",
        "I cleared the cache of the browser and started it again, twice. The first gap of the orchard is still huge",
        "al guardar la cosecha obtengo el siguiente error en la consola",
    ],
)
def test_a_trouble_behind_an_answer_takes_its_tick(trouble: str) -> None:
    said = [
        user("Mend the mail form of the orchard and close the gap between the rows."),
        *worked("src/mail.py", "a"),
        reply("I mended the mail form of the orchard and closed the gap between the rows."),
        user(trouble),
        *worked("src/form.py", "b"),
    ]
    assert not any("I mended" in line for line in told_in(SummarySection.DONE, *said))


@pytest.mark.parametrize(
    ("asked", "choice", "told"),
    [
        ("どうしますか？", "3で", "3で (3: 記事がない場合も通知)"),
        ("どうしますか？", "3番がいい", "3番がいい (3: 記事がない場合も通知)"),
        ("选哪个？", "选3吧", "选3吧 (3: 記事がない場合も通知)"),
        ("¿Cuál?", "la opción 3", "la opción 3 (3: 記事がない場合も通知)"),
        ("どうしますか？", "3分待って", "3分待って"),
    ],
)
def test_a_way_is_chosen_by_its_number_in_any_language(asked: str, choice: str, told: str) -> None:
    ways = "1. 現状維持\n2. フィルターを延長\n3. 記事がない場合も通知"
    said = [
        user("通知が来ない原因を調べてください"),
        reply(f"対策の選択肢:\n\n{ways}\n\n{asked}"),
        user(choice),
    ]
    assert the_goal(*said).startswith(told)
    assert ("(3: " in the_goal(*said)) is ("(3: " in told)


@pytest.mark.parametrize(
    "remark",
    [
        "そのほかにもないかってことだよ。",
        "那个怎么还是不行",
        "eso no funciona",
        "das geht so nicht",
    ],
)
def test_a_request_about_what_other_words_name_has_those_in_any_language(remark: str) -> None:
    first = "Sort the crates of the orchard by weight."
    said = [user(first), *worked("src/rows.py", "a"), reply("They are sorted."), user(remark)]
    assert the_goal(*said) == f"{remark} (asked before: {first})"


def test_an_earlier_request_about_what_other_words_name_has_those() -> None:
    first, remark = "Sort the crates of the orchard by weight.", "そのほかにもないかってことだよ。"
    said = [user(first), *worked("src/rows.py", "a"), reply("They are sorted."), user(remark)]
    amid = [
        *said,
        *ran("b", "orchard rows"),
        user("Paint the gate of the valley."),
        *ran("c", "orchard gate"),
    ]
    told = summarize(span(*amid, reply("It is green.\n\nThe rest of the paint is still missing."))).text
    assert f"Asked before: {remark} (asked before: {first})" in told


def test_what_an_answer_asks_of_its_reader_is_not_how_a_request_stands() -> None:
    asked = [user("Change the reader of orchard to a table."), *worked("src/reader.py", "a")]
    lights = "Hovering a row of the table now lights all of it"
    bid = "Decide how shared rows of the table behave."
    (done,) = told_in(SummarySection.DONE, *asked, reply(f"{bid}\n\n{lights}."))
    assert f"→ the reply says: “{lights}" in done
    stands = "The reader of the orchard stands on a table that the template of the valley has"
    left = f"Restart your own server before that.\n\n{stands}.\n\nThe colours of the rows are still missing."
    assert the_goal(*asked, reply(left)).endswith(f"→ the reply says: “{stands}.”")


def test_a_skill_that_an_agent_says_it_uses_only_leads_to_its_work() -> None:
    assert announces("Using the shed-mapper skill to find the gaps between the rows of the orchard.")
    assert not announces("Using the shed saves half of the time.")


@pytest.mark.parametrize(
    "asked",
    [
        "do you need to run the local server to check the structure of the data behind the broken pictures?",
        "musst du dafür wirklich den Server der Bilder neu starten?",
        "go on, I've given you access",
    ],
)
def test_a_question_about_open_work_and_leave_to_go_on_are_no_goal(asked: str) -> None:
    first = "Fix the pictures of the orchard page, they are not shown."
    said = [user(first), *worked("src/rows.py", "a"), user(asked), *worked("src/frost.py", "b")]
    assert told_in(SummarySection.GOAL, *said) == [first]


def test_leave_to_go_on_is_no_request_in_chinese() -> None:
    assert keeps_going("继续，给你权限了")
    assert not keeps_going("继续，修复权限的测试")


@pytest.mark.parametrize(
    ("words", "goes_on"),
    [
        ("please continue where you left off", True),
        ("ok, continue with the remaining tasks", True),
        ("keep going please", True),
        ("mach weiter mit der Aufgabe", True),
        ("continua con la tarea", True),
        ("continue la tâche", True),
        ("продолжай работу", True),
        ("请继续完成任务", True),
        ("作業を続けてください", True),
        ("ok，继续", True),
        ("继续，不要停", True),
        ("pode continuar", True),
        ("continue, don't stop", True),
        ("resume the work", True),
        ("resume el trabajo", False),
        ("continue with the parser", False),
        ("continue with step 3", False),
        ("retry the deploy", False),
        ("continue, but skip the tests", False),
        ("继续优化", False),
        ("continue " * 20_000 + "x", False),
    ],
)
def test_to_go_on_with_the_work_names_no_subject(words: str, goes_on: bool) -> None:
    assert keeps_going(words) is goes_on
