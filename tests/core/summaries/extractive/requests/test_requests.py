"""Requests, offers, decisions and next steps, in sessions of people who write in any language and in any manner."""

from __future__ import annotations

import pytest

from leafward.session.entries import EntryIndex
from leafward.summaries.facts.sentences.decisions import decides
from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import lines_of, reply, result, span, summarize, told_in, user, worked


def test_what_was_broken_off_is_over_where_the_answer_to_the_next_says_so() -> None:
    asked = [
        user("i think the queue of the orchard draws rows that are too wide"),
        *worked("src/rows.py", "a"),
    ]
    asked += [user("truncated text must stop at a new line"), *worked("src/rows.py", "b")]
    asked += [reply("Done. Both are fixed.")]
    for number, more in enumerate(
        ("Port the lexer of orchard to a table", "Port its parser to the same table")
    ):
        asked += [user(more), *worked("src/table.py", f"c{number}")]
    (goal,) = told_in(SummarySection.GOAL, *asked)
    assert goal.startswith("Port the lexer")


def test_a_step_that_the_user_asked_for_since_is_next_no_more() -> None:
    for step, then in (
        ("Next we still need to handle nested tables.", "ok now nested tables"),
        ("接下来还需要处理嵌套表。", "现在处理嵌套表"),
        ("Il reste à gérer les tables imbriquées.", "maintenant les tables imbriquées"),
    ):
        begun = [
            user("Write a parser for src/config.toml of orchard."),
            *worked("src/config.py", "a"),
            reply(f"Done.\n\n{step}"),
        ]
        assert step in told_in(SummarySection.NEXT, *begun)
        assert told_in(SummarySection.NEXT, *begun, user(then), *worked("src/nested.py", "b")) == []


def test_a_question_that_waits_for_the_user_is_told() -> None:
    for question in ("Should I go on with the lexer?", "要不要也支持数组？"):
        asked = [user("Port the parser of orchard to a table."), *worked("src/table.py", "a")]
        lines = told_in(
            SummarySection.IN_PROGRESS, *asked, reply(f"The parser is ported to a table. {question}")
        )
        assert sum(line.count(question) for line in lines) == 1


@pytest.mark.parametrize(
    "sentence",
    [
        "The migration made 465 commits on Feb 5, and we added 53 more since.",
        "`rows_of` has been there since the initial commit, but it should be split.",
        "The test is failing because the path isn't stored, so we need it.",
        "The timing makes sense because packing moves trees and leaves tables.",
        "Verify that the commit gets a trailer because the table shows changes",
    ],
)
def test_what_is_seen_or_when_it_began_is_no_decision(sentence: str) -> None:
    assert not decides(sentence)


def test_a_reason_is_one_still() -> None:
    assert decides("We keep the table since it is smaller than the list.")


def test_what_was_going_on_when_a_summary_was_written_is_no_state() -> None:
    earlier = "## Critical Context\n- No errors yet in the lanes of the orchard (still in progress)\n- Lanes are drawn in front of rows\n"
    asked = [user("Port the parser of orchard to a table."), *worked("src/table.py", "a")]
    lines = told_in(SummarySection.CONTEXT, *asked, previous=earlier, previous_entry=EntryIndex(3))
    assert "Lanes are drawn in front of rows" in lines
    assert not any("still in progress" in line for line in lines)


def test_steps_that_lead_to_the_next_call_are_no_context() -> None:
    steps = "Now I need to:\n1. Add styles of lanes\n2. Draw them in `rows_of`\n3. Call it in `draw_all`"
    asked = [user("Draw the lanes of the orchard."), reply(steps, ("a", "read", {"path": "src/rows.py"}))]
    lines = told_in(
        SummarySection.CONTEXT,
        *asked,
        result("a", "x"),
        *worked("src/rows.py", "b"),
        reply("All lanes are drawn."),
    )
    assert not any("Add styles of lanes" in line for line in lines)


def test_a_request_that_points_at_what_was_pasted_names_it() -> None:
    pasted = "It works but there are warnings in the console:\nWarning: Two rows have the key `frost`.\n    at Rows (rows.ts:12)"
    (goal,) = told_in(SummarySection.GOAL, user(pasted), *worked("src/rows.ts", "a"))
    assert goal == "It works but there are warnings in the console: Warning: Two rows have the key `frost`."


def test_a_command_of_the_agent_that_led_to_work_was_asked_for() -> None:
    command = {"role": "user", "content": "<command-name>/review</command-name>", "typed": "/review"}
    asked = [
        user("push the branch and open a PR for it"),
        *worked("src/rows.py", "a"),
        reply("The PR is open."),
    ]
    lines = told_in(SummarySection.IN_PROGRESS, *asked, command, *worked("src/rows.py", "b"))
    assert "Last request: /review" in lines


def test_lines_that_were_quoted_are_no_request() -> None:
    quoted = "can you explain how these lanes of orchard are drawn:\n\n  > │ - 5952698 prune\n  > ╰ - a917ebd plant"
    made = summarize(span(user(quoted), *worked("src/lanes.py", "a")))
    goals = [line for section, line in lines_of(made) if section is SummarySection.GOAL]
    assert goals == ["can you explain how these lanes of orchard are drawn:"]


def test_what_was_only_offered_is_no_decision() -> None:
    offer = "The fix: replace `rows_of` with `draw_all` instead of counting rows twice. Want me to do that?"
    asked = [user("why does orchard draw rows twice"), *worked("src/rows.py", "a"), reply(offer)]
    wanted = "The fix: replace `rows_of` with `draw_all` instead of counting rows twice."
    taken = [*asked, user("yes please"), *worked("src/rows.py", "b")]
    (line,) = told_in(SummarySection.IN_PROGRESS, *taken)
    assert wanted in line
    later = [user("which commit brought the second row of the orchard"), *worked("src/log.py", "c")]
    assert not any(wanted in line for line in told_in(SummarySection.DECISIONS, *asked, *later))
    assert not any(wanted in line for line in told_in(SummarySection.DECISIONS, *asked))


def test_a_request_of_one_word_that_is_worked_on_is_the_last_one() -> None:
    asked = [user("tests of the orchard fail"), *worked("src/rows.py", "a"), reply("Fixed, all pass.")]
    lines = [*told_in(SummarySection.GOAL, *asked, user("now vat"), *worked("src/vat.py", "b"))]
    lines += told_in(SummarySection.IN_PROGRESS, *asked, user("now vat"), *worked("src/vat.py", "b"))
    assert any(line.endswith("vat") for line in lines)
    assert "Last request: tests of the orchard fail" not in lines


def test_what_a_question_offers_is_told_only_where_it_was_chosen() -> None:
    ways = "Which one do you want?\n1. Store a code beside each amount\n2. One currency per orchard"
    asked = [user("currency of the orchard"), reply(ways), user("2"), *worked("src/price.py", "a")]
    text = summarize(span(*asked, reply("Done. `priceCode` holds it."))).text
    assert "Store a code beside" not in text


def test_a_step_whose_offer_was_taken_and_answered_is_over() -> None:
    step = "接下来还需要支持嵌套表。"
    asked = [
        user("请写一个解析果园配置的模块 src/config.py"),
        *worked("src/config.py", "a"),
        reply(f"已完成。{step}要不要我现在做？"),
    ]
    assert step in told_in(SummarySection.NEXT, *asked)
    taken = [*asked, user("好的，继续"), *worked("src/config.py", "b"), reply("8 个测试通过。")]
    assert told_in(SummarySection.NEXT, *taken) == []


def test_what_failed_on_the_way_to_an_answer_is_not_in_the_way() -> None:
    why = [
        user("why does an empty orchard break the rows"),
        reply("", ("a", "bash", {"command": "python -c 'import rows'"})),
    ]
    why += [result("a", "IndexError: list index out of range", failed=True)]
    assert told_in(SummarySection.BLOCKED, *why) == [
        "Failed: `python -c 'import rows'`: IndexError: list index out of range"
    ]
    answered = [*why, reply("`rows[0]` is read without a look at its length.")]
    assert told_in(SummarySection.BLOCKED, *answered) == []
    # Other calls went on: it was a look at something, no obstacle.
    assert told_in(SummarySection.BLOCKED, *why, *worked("src/rows.py", "b")) == []


def test_a_phase_that_the_user_skips_is_not_next() -> None:
    plan = "## Phase 1: Schema\n- [ ] Add a table of rows\n\n## Phase 2: UI\n- [ ] Page with the list\n\nShall I start?"
    asked = [
        user("plan the rows of the orchard"),
        reply(plan),
        user("yes but skip the UI, someone else does it"),
    ]
    text = summarize(span(*asked, *worked("db/rows.sql", "a"))).text
    assert "Add a table of rows" in text
    assert "Page with the list" not in text


def test_a_table_that_a_program_printed_is_no_request() -> None:
    shown = "$ kubectl get pods\nNAME READY STATUS\nworker-1 1/1 Running\n\nlooks good. tag the release of the orchard"
    asked = [user(shown), *worked("src/rows.py", "a")]
    assert told_in(SummarySection.GOAL, *asked) == ["looks good. tag the release of the orchard"]


def test_what_follows_code_in_the_middle_of_a_sentence_is_not_told_alone() -> None:
    said = "If the orchard is there already, adding:\n\n```toml\nrows = 3\n```\n\nmay do nothing until somebody prunes `rows_of`. The fence of `draw_all` stays."
    asked = [user("how do rows of the orchard grow"), *worked("src/rows.py", "a"), reply(said)]
    text = summarize(span(*asked, user("draw the lanes"), *worked("src/lanes.py", "b"))).text
    assert "may do nothing" not in text


def test_what_the_user_says_is_wrong_was_not_done() -> None:
    asked = [user("Add a dark mode toggle to the settings of the orchard"), *worked("src/a.tsx", "a")]
    asked += [reply("Added a toggle in the header. Fixed the padding of `rows_of` on the way.")]
    asked += [
        user("no, in the settings, not the header"),
        *worked("src/a.tsx", "b"),
        reply("Moved it to the settings."),
    ]
    text = summarize(span(*asked, user("now the font size of it"), *worked("src/b.tsx", "c"))).text
    assert "Added a toggle in the header" not in text
    assert "Fixed the padding" in text


def test_a_request_whose_offer_was_taken_and_is_over_is_no_goal() -> None:
    asked = [user("warum brauchen die Tests der Plantage auf dem CI so lange"), *worked("ci.yml", "a")]
    asked += [reply("Die Datenbank wird immer neu gebaut. Soll ich ein Image cachen?"), user("ja mach das")]
    asked += [*worked("ci.yml", "b"), reply("Umgesetzt: das Image wird gecacht.")]
    asked += [user("Lass uns jetzt den Login anschauen"), *worked("src/login.ts", "c")]
    assert told_in(SummarySection.GOAL, *asked) == ["Lass uns jetzt den Login anschauen"]


def test_a_request_of_which_only_files_tell_is_left_out_once_these_were_changed_again() -> None:
    """`colour is green` and then `make that blue`: the first is not how it stands, and nothing says so."""
    asked = [user("the link colour of the orchard is green"), *worked("src/theme.json", "a")]
    asked += [reply("It was hard to read."), user("print the crates by their weight")]
    asked += [*worked("src/crates.py", "b"), reply("Added the weight to `crates_of`.")]
    told = "Asked: the link colour of the orchard is green → changed `theme.json`"
    then = [user("Port the lexer of orchard to a table"), *worked("src/lexer.py", "c"), reply("Ported it.")]
    assert told in told_in(SummarySection.DONE, *asked, *then)
    again = [
        user("what link text is there should be blue"),
        *worked("src/theme.json", "d"),
        reply("So it is."),
    ]
    assert told not in told_in(SummarySection.DONE, *asked, *again, *then)


LONG = (
    "Add an export of the ledger to the billing service. The file is a CSV with a semicolon between its columns. "
    "Amounts have two digits and no sign for the currency. Dates are those of the customer's own time zone. "
    "Rows of test customers stay out of the file. The file is written to exports/ledger, one for each month. "
    "Where a month is written again, the older file gets the ending .old and stays."
)


def test_an_open_request_is_quoted_with_its_details_and_an_answered_one_by_its_beginning() -> None:
    work = [user(LONG), *worked("src/export.py", "a", "b")]
    assert told_in(SummarySection.GOAL, *work) == [LONG]
    after = [reply("The export is in place and tested."), user("Describe the retries in docs/retries.md.")]
    done = told_in(SummarySection.DONE, *work, *after, *worked("docs/retries.md", "c"))
    assert any(line.startswith("Asked: Add an export") and "tested" in line for line in done)
    assert not any(".old" in line for line in done)


def test_of_a_record_that_was_pasted_into_an_open_request_no_more_than_its_beginning_is_quoted() -> None:
    record = "".join(f'{{"number":{number},"role":"assistant"}},' for number in range(30))
    (goal,) = told_in(SummarySection.GOAL, user(f"Find out what is wrong with this reply: {record}"))
    assert goal.startswith("Find out what is wrong")
    assert len(goal) < 300


def test_in_very_little_room_a_long_open_request_leaves_some_to_other_lines() -> None:
    failed = [reply("", ("t", "bash", {"command": "make test"})), result("t", "2 failed", failed=True)]
    made = summarize(span(user(LONG), *worked("src/export.py", "a"), *failed), 160)
    lines = lines_of(made)
    assert next(text for section, text in lines if section is SummarySection.GOAL).endswith("…")
    assert any("make test" in text for _, text in lines)


def test_of_a_long_request_the_last_sentences_are_told_too() -> None:
    middle = " ".join(f"The bed {number} holds its own rows of crates." for number in range(40))
    asked = f"Move the rows of the orchard to the new table. {middle} Leave the prices alone. Show me the plan first."
    (goal,) = told_in(SummarySection.GOAL, user(asked))
    assert goal.startswith("Move the rows of the orchard to the new table.")
    assert " … " in goal
    assert goal.endswith("Leave the prices alone. Show me the plan first.")
    assert len(goal) <= 700
