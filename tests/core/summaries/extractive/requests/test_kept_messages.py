"""What the kept messages answer, take back or show to pass is not told as open, done or broken by the summary before them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.session.entries import EntryIndex
from leafward.summaries.summarizers.extractive.requests.user_requests import GOT_REPLY
from leafward.summaries.summarizers.outline import SummarySection
from leafward.summaries.survival.spans import SpanMessage
from tests.core.told import (
    ran,
    reply,
    result,
    span,
    summarize,
    told_in,
    user,
    work_told,
    worked,
)

if TYPE_CHECKING:
    from typing import Any

ASKED = user("Port the lexer of orchard to a table.")
GONE_ON = "Go on with the messages that were kept."


def kept(*messages: dict[str, Any]) -> list[SpanMessage]:
    return [SpanMessage(EntryIndex(200 + place), one) for place, one in enumerate(messages)]


NEXT = [user("remove the old pear.json from the orchard"), *ran("n", "rm pear.json")]
MORE = [user("now print the crates of the orchard by weight"), *worked("src/crates.py", "m")]


@pytest.mark.parametrize(
    "behind",
    [
        # The user went on before it was answered; the next answer tells both.
        [
            *worked("src/lexer.py", "b"),
            *NEXT,
            reply("Removed `pear.json`, and the lexer has its table."),
            *MORE,
            reply("Done. The crates are printed by weight."),
        ],
        # The answer asked back, and what was said to that led to the result.
        [
            *worked("src/lexer.py", "b"),
            reply("Which of the escapes does the printer of orchard use?"),
            user("actually it is the table of the escapes"),
            *worked("src/escapes.py", "c"),
            reply("Fixed the table of the escapes in `src/escapes.py`."),
            *MORE,
            reply("Done. The crates are printed by weight."),
        ],
    ],
)
def test_a_split_turn_that_the_user_went_on_from_is_neither_the_goal_nor_in_progress(
    behind: list[dict[str, Any]],
) -> None:
    more: dict[str, Any] = {"kept": kept(*behind), "prefix": 3}
    said = [ASKED, *worked("src/lexer.py", "a")]
    assert told_in(SummarySection.GOAL, *said, **more) == [GONE_ON]
    assert told_in(SummarySection.IN_PROGRESS, *said, **more) == []


def test_a_request_without_an_answer_is_told_without_an_outcome() -> None:
    behind = [
        user("that is not the lexer, see `src/scan.py`"),
        *worked("src/scan.py", "b"),
        reply("Done. `src/scan.py` has the table."),
        *MORE,
        reply("Done. The crates are printed by weight."),
    ]
    more: dict[str, Any] = {"kept": kept(*behind), "prefix": 3}
    said = [ASKED, *worked("src/lexer.py", "a")]
    assert not any("Port the lexer" in line for line in told_in(SummarySection.DONE, *said, **more))
    assert any("Port the lexer" in line for line in told_in(SummarySection.CONTEXT, *said, **more))


def test_a_split_turn_whose_correction_is_not_done_yet_is_not_called_answered() -> None:
    behind = kept(reply("Done."), user("no, that's wrong, the lexer crashes now"))
    (goal,) = told_in(SummarySection.GOAL, ASKED, *worked("src/lexer.py", "a"), kept=behind, prefix=3)
    assert goal.startswith("Last request before the messages that were kept: Port the lexer")


def test_a_request_that_the_kept_messages_answer_is_no_goal() -> None:
    said = [
        ASKED,
        *worked("src/lexer.py", "a"),
        reply("The table is filled. Next: move the escapes. Should I move the escapes of the lexer?"),
        user("which tests does the orchard have for the lexer?"),
        reply("Two: one for the table, one for the tree."),
    ]
    before = told_in(SummarySection.CONTEXT, *said)
    assert any(line.startswith("Asked before: Port the lexer") for line in before)
    behind = [
        user("move the escapes of the lexer then"),
        *worked("src/escapes.py", "b"),
        reply("Done. Moved the escapes."),
        *MORE,
        reply("Done. The crates are printed by weight."),
        user("thanks"),
    ]
    assert told_in(SummarySection.GOAL, *said, kept=kept(*behind)) == [GONE_ON]


def test_what_the_user_takes_back_in_the_kept_messages_is_not_told_as_done() -> None:
    said = [
        ASKED,
        *worked("src/lexer.py", "a"),
        reply("Done. Moved the table of the lexer to `src/lexer.py`."),
    ]
    assert any("Moved the table" in line for line in told_in(SummarySection.DONE, *said))
    behind = kept(user("you can undo that, it was the printer"), *worked("src/lexer.py", "b"))
    assert not any("Moved the table" in line for line in told_in(SummarySection.DONE, *said, kept=behind))
    assert any(
        line.startswith("Taken back: Port the lexer")
        for line in told_in(SummarySection.DECISIONS, *said, kept=behind)
    )


BROKEN = """## Current Work
The test `test_frost_rows` is failing because `rowCount` is empty.

## Errors
- Error: "frost should have rows"
- The rows are empty after the hook runs
- In progress: the test of the rows fails
"""


def test_a_test_that_passes_in_the_kept_messages_is_not_told_as_failing() -> None:
    more: dict[str, Any] = {"previous": BROKEN, "previous_entry": EntryIndex(3)}
    failing = [
        reply("", ("t", "bash", {"command": "pytest tests/test_frost.py"})),
        result("t", "1 failed in 2s\nCommand exited with code 1", True),
    ]
    said = [reply("I look at the rows.", ("r", "read", {"path": "rows.py"})), result("r", "x"), *failing]
    assert "is failing" in summarize(span(*said, **more)).text
    passing = [
        *worked("rows.py", "w"),
        reply("", ("p", "bash", {"command": "pytest tests/test_frost.py"})),
        result("p", "1 passed in 2s"),
        reply("Fixed: the rows are counted, and the test passes."),
    ]
    text = summarize(span(*said, kept=kept(*passing), **more)).text
    assert not any(old in text for old in ("is failing", "should have rows", "are empty", "test of the rows"))


def test_a_command_that_ends_well_in_the_kept_messages_is_not_told_to_have_failed_last() -> None:
    run = ("bash", {"command": "pytest tests/test_frost.py"})
    failing = [
        reply("", ("t", *run)),
        result("t", "1 failed in 2s\nCommand exited with code 1", True),
        reply("", ("u", *run)),
        result("u", "1 failed in 1s\nCommand exited with code 1", True),
    ]
    said = [ASKED, *worked("src/lexer.py", "a"), *failing]
    ended = "Ran `pytest tests/test_frost.py` (2 times; the last ended with exit 1)"
    assert ended in told_in(SummarySection.CONTEXT, *said)
    behind = kept(reply("", ("p", *run)), result("p", "1 passed in 2s"), reply("The test passes."))
    assert "Ran `pytest tests/test_frost.py` (2 times)" in told_in(SummarySection.CONTEXT, *said, kept=behind)


def test_an_agreement_is_what_is_in_progress_and_not_the_request_before_it() -> None:
    said = [
        user("Which version comes next, a minor one of orchard? Bump it then."),
        *worked("package.json", "a"),
        reply("All packages are at 0.8.0. Should I proceed with committing and tagging?"),
        user("yeah, do it all"),
        *ran("b", "git tag v0.8.0"),
    ]
    in_progress = "Last request: yeah, do it all (asked: Should I proceed with committing and tagging?)"
    assert in_progress in told_in(SummarySection.IN_PROGRESS, *said)
    # The answer leaves something open.
    failed = "The build still fails with three errors in the printer."
    assert told_in(SummarySection.GOAL, *said, reply(failed)) == [
        f"{in_progress} → the reply says: “{failed}”"
    ]


EARLIER: dict[str, Any] = {"previous_entry": EntryIndex(3)}
NEXT_REQUESTS = [
    user("which crates does the orchard have, and how many?"),
    *worked("src/count.py", "k"),
    reply("Done. It has four crates."),
    user("print them by weight then, in the report of orchard"),
    *worked("src/crates.py", "m"),
    reply("Done. They are printed by weight."),
]


def test_the_goal_of_an_earlier_summary_is_over_once_the_kept_messages_go_on_to_other_requests() -> None:
    previous = "## Goal\n- Turn the rows of the frost table around\n"
    said = worked("src/frost.py", "a")
    (goal,) = told_in(SummarySection.GOAL, *said, previous=previous, **EARLIER)
    assert goal == "Turn the rows of the frost table around"
    behind = [reply("Done. The rows are turned around."), *NEXT_REQUESTS]
    more: dict[str, Any] = {"previous": previous, **EARLIER, "kept": kept(*behind)}
    assert told_in(SummarySection.GOAL, *said, **more) == [GONE_ON]
    context = told_in(SummarySection.CONTEXT, *said, **more)
    assert "Asked before: Turn the rows of the frost table around" in context


@pytest.mark.parametrize("in_kept", [False, True])
def test_the_goal_of_an_earlier_summary_is_over_where_the_work_on_it_ended(in_kept: bool) -> None:
    previous = "## Goal\n- Find out why the frost rows are counted twice (current issue)\n- Write a test of the rows\n"
    work = [*worked("src/frost.py", "a"), *ran("b", "pytest tests/test_frost.py")]
    end = reply("Fixed. `src/frost.py` counts the rows now, and a test covers them.")
    said, more = ([*work, end], {}) if not in_kept else (work, {"kept": kept(end)})
    assert told_in(SummarySection.GOAL, *said, previous=previous, **EARLIER, **more) == [GOT_REPLY]
    context = told_in(SummarySection.CONTEXT, *said, previous=previous, **EARLIER, **more)
    assert "Asked before: Find out why the frost rows are counted twice" in context
    left = reply("Fixed the count in `src/frost.py`. The test of the rows still fails.")
    goals = told_in(SummarySection.GOAL, *work, left, previous=previous, **EARLIER)
    assert "Write a test of the rows" in goals


def test_the_mark_of_a_current_trouble_goes_with_the_work_on_it() -> None:
    trouble = "**Doubled keys (CURRENT)**: the rows of the frost table are in both lists of the orchard"
    more: dict[str, Any] = {"previous": f"## Errors\n- {trouble}\n", **EARLIER}
    work = worked("src/frost.py", "a")
    assert any("Doubled keys" in line for line in told_in(SummarySection.CONTEXT, *work, **more))
    end = reply("Fixed. Each row is taken once.")
    assert not any("Doubled keys" in line for line in told_in(SummarySection.CONTEXT, *work, end, **more))


def test_a_rule_that_the_kept_messages_withdraw_says_so() -> None:
    said = [
        user("Port the lexer of orchard. Keep the old lexer working beside the new one."),
        *worked("src/lexer.py", "a"),
        reply("Done. Both are there."),
    ]
    rule = "Keep the old lexer working beside the new one."
    withdrawn = [f"{rule} (asked since: remove the old lexer now)"]
    assert told_in(SummarySection.CONSTRAINTS, *said) == [f"Said with the last request: {rule}"]
    lead = "Said with an earlier request: "
    behind = kept(user("remove the old lexer now"), *ran("b", "rm src/old_lexer.py"), reply("Removed it."))
    assert told_in(SummarySection.CONSTRAINTS, *said, kept=behind) == [f"{lead}{withdrawn[0]}"]
    previous = f"## Constraints\n- {rule}\n"
    work = worked("src/table.py", "c")
    assert told_in(SummarySection.CONSTRAINTS, *work, previous=previous, **EARLIER) == [rule]
    assert told_in(SummarySection.CONSTRAINTS, *work, previous=previous, **EARLIER, kept=behind) == withdrawn


def test_a_trouble_that_is_back_is_not_told_as_mended() -> None:
    said = [
        user("git status of orchard is broken, why?"),
        *ran("a", "git read-tree HEAD"),
        reply("Fixed — clean status, no errors."),
    ]
    assert "clean status" in summarize(span(*said)).text
    again = [user("uh oh - it just happened again"), *ran("b", "git status")]
    assert "clean status" not in "".join(work_told(*said, kept=kept(*again)))
    assert "clean status" not in "".join(work_told(*said, *again))


def test_a_remark_on_the_way_is_not_what_is_in_progress_once_the_kept_messages_have_another_request() -> None:
    said = [
        ASKED,
        *worked("src/lexer.py", "a"),
        user("slight steering: why does the lexer forget its listeners when the table is drawn anew?"),
        *worked("src/lexer.py", "b"),
    ]
    behind = kept(
        reply("The listeners stay now. Should I go on with the printer?"),
        user("i looked at it, it is good, go on with the printer"),
        *worked("src/printer.py", "c"),
    )
    assert not any(
        "steering" in line for line in told_in(SummarySection.IN_PROGRESS, *said, kept=behind, prefix=3)
    )


def test_a_passing_remark_of_a_turn_that_the_kept_messages_go_on_with_is_left_out() -> None:
    said = [
        ASKED,
        *worked("src/lexer.py", "a"),
        reply(
            "The last poll of `src/lexer.py` is still waiting for the output of the checks.",
            ("p", "bash", {"command": "gh pr checks"}),
        ),
        result("p", "pending"),
    ]
    assert "still waiting" in summarize(span(*said)).text
    behind = kept(*ran("q", "gh pr checks"), reply("All checks are green."))
    assert "still waiting" not in summarize(span(*said, kept=behind, prefix=4)).text


def test_a_request_is_over_though_a_word_behind_it_had_no_answer() -> None:
    said = [
        ASKED,
        *worked("src/lexer.py", "a"),
        reply("Done. Moved the table of the lexer."),
        user("ls"),
        *ran("b", "ls"),
        user("what did i just run?"),
        reply("You typed `ls` as a prompt, so it was run as a tool."),
    ]
    assert told_in(SummarySection.GOAL, *said) == [GOT_REPLY]


def test_an_answer_that_leaves_a_thing_as_it_is_belongs_to_the_request() -> None:
    said = [
        user("Move the files of the orchard to their final folders, and propose where each should go first."),
        *ran("a", "ls src"),
        reply("`cli` stays or goes to `bin`. Should I move it to `bin`?"),
        user("can leave it"),
        *worked("src/core/tree.py", "b"),
        reply("Done. All files are in their folders."),
        user("Error: ENOENT: no such file or directory, open '/orchard/package.json'\n    at readFileSync (node:fs:443:20)"),
        *worked("src/core/config.py", "c"),
        user("are there any other paths of that kind, possibly?"),
        *ran("d", "rg package.json"),
    ]  # fmt: skip
    (goal,) = told_in(SummarySection.GOAL, *said)
    assert goal == "are there any other paths of that kind, possibly?"


@pytest.mark.parametrize(
    "advice",
    [
        "Consider a follow-up to clean the signatures of `pick_rows` if they are internal.",
        "Nit: a follow-up could rename the columns of the frost table.",
        "Optionally, the remaining work on `pick_rows` can be split.",
    ],
)
def test_advice_of_an_answer_is_no_next_step(advice: str) -> None:
    said = [
        user("review the branch of orchard"),
        *ran("a", "git diff"),
        reply(f"The diff is fine.\n\n- {advice}"),
    ]
    assert told_in(SummarySection.NEXT, *said) == []
    step = "The remaining work on `pick_rows` is to split it."
    assert told_in(SummarySection.NEXT, *said[:-1], reply(f"The diff is fine.\n\n- {step}")) == [step]


@pytest.mark.parametrize(
    "item", ["SKIPPED (optional, for later)", "Move the pickers (cancelled)", "~~Move the pickers~~"]
)
def test_an_item_that_says_itself_that_it_was_skipped_is_no_next_step(item: str) -> None:
    plan = f"## Steps\n- [ ] Fill the table of the lexer\n- [ ] {item}\n"
    said = [ASKED, reply("", ("a", "write", {"path": "plan.md", "content": plan})), result("a", "ok")]
    text = " ".join(told_in(SummarySection.NEXT, *said))
    assert "Fill the table" in text
    assert item not in text


def test_what_the_kept_messages_answer_is_not_in_progress_whatever_the_answer_leaves_open() -> None:
    said = [
        user("we moved the rows of orchard to another table last week, and it got slow"),
        *ran("a", "du -sh data"),
        reply("That left 4,717 loose objects. Want me to pack them?"),
        user("> git gc\nfatal: bad tree object 082c2c44\n\nHALP"),
        *ran("b", "git fsck"),
    ]
    behind = [*ran("c", "git read-tree HEAD"), reply("Now try `git gc` again."), user("success...?"), reply("It packed them all.")]  # fmt: skip
    assert told_in(SummarySection.IN_PROGRESS, *said) != []
    assert told_in(SummarySection.IN_PROGRESS, *said, kept=kept(*behind), prefix=3) == []


def test_the_goal_of_an_earlier_summary_lasts_while_its_work_asks_how_to_go_on() -> None:
    previous = "## Goal\n- Port the modes of orchard to one session\n"
    said = worked("src/modes.py", "a")
    behind = kept(
        reply("Two of four modes are ported. Remaining: the printer. Should I go on?"),
        user("you have not read src/printer.py of orchard in full, i suppose"),
        *ran("b", "cat src/printer.py"),
        user("why does the printer of orchard keep its own rows?"),
        *ran("c", "cat src/rows.py"),
    )
    (goal,) = told_in(SummarySection.GOAL, *said, previous=previous, **EARLIER, kept=behind)
    assert goal == "Port the modes of orchard to one session"


def test_a_remark_that_all_works_is_not_what_was_asked_last() -> None:
    said = [
        ASKED,
        *worked("src/lexer.py", "a"),
        reply("Done. Ported."),
        user("jesus, everything works, you are a monster"),
        reply("Thanks."),
        user("are we all committed?"),
        *ran("b", "git status"),
        reply("All committed. Want me to clean the imports up too?"),
        user("yes"),
        *ran("c", "ruff check --fix"),
    ]
    behind = kept(reply("All clean, all committed."), *MORE)
    assert not any("monster" in line for line in told_in(SummarySection.DONE, *said, kept=behind, prefix=3))


def test_steps_of_an_earlier_summary_are_not_next_once_the_kept_messages_answer_its_work() -> None:
    previous = "## Next Steps\n- Reply to the growers in all five threads\n"
    said = [reply("I look.", ("r", "read", {"path": "rows.py"})), result("r", "x")]
    more: dict[str, Any] = {"previous": previous, **EARLIER}
    half = kept(*worked("rows.py", "w"))
    assert told_in(SummarySection.NEXT, *said, kept=half, **more) != []
    behind = kept(*worked("rows.py", "w"), reply("All done. Every thread has its answer."))
    assert told_in(SummarySection.NEXT, *said, kept=behind, **more) == []


def test_output_that_the_user_only_pasted_is_a_later_prompt_too() -> None:
    said = [ASKED, *worked("src/lexer.py", "a"), reply("Done. Ported the lexer of orchard.")]
    behind = kept(
        user("> v orchard/lanes *  [4 rows]\n   v * the first prompt of the day, cut at its end: …"),
        *worked("src/lexer.py", "b"),
    )
    (done,) = [line for line in told_in(SummarySection.DONE, *said, kept=behind) if "Port the lexer" in line]
    assert done.startswith("Last request before the messages that were kept: ")


def test_an_answer_that_the_kept_messages_turn_down_is_not_told_as_done() -> None:
    said = [user("Let the pear table count the crates of each day."), *worked("src/pears.py", "a")]
    ended = reply("Done: the pear table counts the crates of each day.")
    more = [user("Now print the plums of the orchard as well."), *worked("src/plums.py", "b")]
    assert told_in(SummarySection.GOAL, *said, ended, kept=kept(*more), prefix=3) == [GONE_ON]
    assert "pear table" in told_in(SummarySection.GOAL, *said, ended, kept=kept(user("um, no")))[0]
    no = [user("um, no. ok the crates belong to the days of the valley"), *worked("src/days.py", "c")]
    (goal,) = told_in(SummarySection.GOAL, *said, ended, kept=kept(*no), prefix=3)
    assert "pear table" in goal


def test_a_limit_of_work_that_the_kept_messages_finish_is_no_rule() -> None:
    said = [
        user("Widen the beds of the orchard page. Don't widen them too much"),
        *worked("src/beds.py", "a"),
    ]
    assert told_in(SummarySection.CONSTRAINTS, *said) == []
    assert any("Don't widen them too much" in line for line in told_in(SummarySection.GOAL, *said))
    behind = kept(reply("Done: the beds are wider."))
    assert told_in(SummarySection.CONSTRAINTS, *said, kept=behind, prefix=3) == []


def test_a_call_that_a_reply_only_writes_out_ends_no_work() -> None:
    said = [user("Does the pear table build on the north bed?"), *worked("src/pears.py", "a")]
    typed = 'Let me build it.\n\n<invoke name="bash">\n<parameter name="command">make pears</parameter>\n</invoke>'
    (goal,) = told_in(SummarySection.GOAL, *said, reply(typed))
    assert goal == "Does the pear table build on the north bed?"
    assert told_in(SummarySection.GOAL, *said, reply("It builds on the north bed.")) == [GOT_REPLY]
