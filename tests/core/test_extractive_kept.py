"""What the kept messages answer, take back or show to pass is not told as open, done or broken by the summary before them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.session.entries import EntryIndex
from leafward.summaries.summarizers.outline import SummarySection
from leafward.summaries.survival.spans import SpanMessage
from tests.core.told import ran, reply, result, span, summarize, told_in, user, worked

if TYPE_CHECKING:
    from typing import Any

ASKED = user("Port the lexer of orchard to a table.")
GONE_ON = "What was asked before the messages that were kept is answered; go on with these."


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


def test_a_split_turn_whose_correction_is_not_done_yet_stays_the_goal() -> None:
    behind = kept(reply("Done."), user("no, that's wrong, the lexer crashes now"))
    (goal,) = told_in(SummarySection.GOAL, ASKED, *worked("src/lexer.py", "a"), kept=behind, prefix=3)
    assert goal.startswith("Port the lexer")


def test_a_request_that_the_kept_messages_answer_is_no_goal() -> None:
    said = [
        ASKED,
        *worked("src/lexer.py", "a"),
        reply("The table is filled. Next: move the escapes. Should I move the escapes of the lexer?"),
        user("which tests does the orchard have for the lexer?"),
        reply("Two: one for the table, one for the tree."),
    ]
    (before,) = told_in(SummarySection.GOAL, *said)
    assert before.startswith("Port the lexer")
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
    ended = "Run `pytest tests/test_frost.py` (2 times; ended with exit 1 last)"
    assert ended in told_in(SummarySection.CONTEXT, *said)
    behind = kept(reply("", ("p", *run)), result("p", "1 passed in 2s"), reply("The test passes."))
    assert "Run `pytest tests/test_frost.py` (2 times)" in told_in(SummarySection.CONTEXT, *said, kept=behind)


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
    assert in_progress in told_in(
        SummarySection.IN_PROGRESS, *said, reply("The build still fails with three errors in the printer.")
    )
