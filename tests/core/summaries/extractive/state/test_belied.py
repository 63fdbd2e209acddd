"""Ticks on the word of a reply that a run, a failed call or a later complaint contradicts."""

from __future__ import annotations

import pytest

from leafward.summaries.summarizers.extractive.answers.sentence_sections import section_of_sentence
from leafward.summaries.summarizers.outline import SummarySection
from leafward.summaries.survival.spans import SpanMessage
from tests.core.told import ended, ran, reply, result, span, told_in, user, worked

_SAYS = "ALL FIXED! The parser now reads nested rows and every test passes."
_FAILED = "FAIL src/parser.test.ts\n  ● reads nested rows\n\nTests: 2 failed, 10 passed, 12 total\nCommand exited with code 1"
_ASKED = user("Fix the failing tests of the orchard parser.")
_FIX = [_ASKED, *worked("src/parser.ts", "a"), reply(_SAYS)]
_TICK = f"Asked: {_ASKED['content']} → "
_BEFORE = f"Asked before: {_ASKED['content']}"
_RUN = ended("t", "npm test", _FAILED, failed=True)
_OTHER = [
    user("Now add a column for frost to the table view."),
    *worked("src/table.ts", "z"),
    reply("Added the frost column to the table view."),
]


def _ticked(*messages: dict[str, object]) -> bool:
    return any(line.startswith(_TICK) for line in told_in(SummarySection.DONE, *messages))


@pytest.mark.parametrize("other", [[], _OTHER])
def test_a_request_whose_tests_fail_in_the_next_run_is_not_done(other: list[dict[str, object]]) -> None:
    said = [*_FIX, user("run the tests"), *_RUN, reply("Two tests fail: nested rows and empty rows.")]
    assert _ticked(*_FIX, *_OTHER)
    assert not _ticked(*said, *other)
    context = told_in(SummarySection.CONTEXT, *said, *other)
    assert f"{_BEFORE} → changed `parser.ts`" in context
    assert not any("every test passes" in line for line in context)


def test_the_last_run_before_a_reply_belies_it() -> None:
    said = [_ASKED, *worked("src/parser.ts", "a"), *_RUN, reply(_SAYS)]
    assert not _ticked(*said, *_OTHER)
    goal = told_in(SummarySection.GOAL, *said)
    assert goal == [f"Last request: {_ASKED['content']} → the reply says: “{_SAYS.partition('! ')[2]}”"]


def test_a_run_in_the_kept_messages_belies_it_too() -> None:
    behind = span(*_FIX, user("run the tests"), *_RUN).messages[len(_FIX) :]
    kept = [SpanMessage(one.entry, one.message) for one in behind]
    done = told_in(SummarySection.DONE, *_FIX, kept=kept)
    assert not any("every test passes" in line for line in done)


@pytest.mark.parametrize(
    "between",
    [
        # Other work may have broken it.
        [*_OTHER, user("run the tests"), *_RUN, reply("Two tests fail.")],
        # It passed in the end.
        [user("run the tests"), *_RUN, *ended("u", "npm test", "Tests: 12 passed, 12 total"), reply("12 passed.")],
        # Another check.
        [user("run the linter"), *ended("t", "npm run lint", "3 errors\nCommand exited with code 1", failed=True), reply("Three lint errors.")],
        [user("run the tests"), *_RUN, reply("The two failures are pre-existing and unrelated."), *_OTHER],
    ],
)  # fmt: skip
def test_a_failure_that_says_nothing_of_the_work_does_not(between: list[dict[str, object]]) -> None:
    assert _ticked(*_FIX, *between)


def test_a_failure_that_the_reply_tells_itself_does_not() -> None:
    told = reply("Fixed nested rows; two tests of empty rows still fail.")
    said = [_ASKED, *worked("src/parser.ts", "a"), *_RUN, told, *_OTHER]
    assert any("Fixed nested rows" in line for line in told_in(SummarySection.DONE, *said))


def test_a_complaint_that_names_an_earlier_work_is_about_that() -> None:
    """Fails where any complaint is about the answer just before it."""
    said = [*_FIX, *_OTHER, user("the parser still fails on nested rows"), *worked("src/parser.ts", "q")]
    said.append(reply("Guarded the rows that are undefined in src/parser.ts."))
    done = told_in(SummarySection.DONE, *said)
    assert not _ticked(*said)
    assert any(line.startswith("Asked: add a column for frost") for line in done)
    about_last = [*_FIX, *_OTHER, user("the frost column still does not show in the table")]
    about_last += [
        *worked("src/table.ts", "q"),
        reply("Guarded the rows that are undefined in src/table.ts."),
    ]
    assert _ticked(*about_last)


def test_a_word_that_an_earlier_request_has_leaves_both_open() -> None:
    said = [*_FIX, *_OTHER, user("the tests of the parser are still failing")]
    done = told_in(SummarySection.DONE, *said)
    assert not any(line.startswith("Asked: ") for line in done)


@pytest.mark.parametrize(
    ("command", "printed", "told"),
    [
        (
            "fly deploy",
            "Error: no access token available\nCommand exited with code 1",
            "Deployed orchard to staging.",
        ),
        (
            "git push origin frost",
            "The user doesn't want to proceed with this tool use. The tool use was rejected.",
            "Pushed the frost branch to origin.",
        ),
    ],
)
def test_what_a_command_was_to_do_that_failed_last_is_not_done(command: str, printed: str, told: str) -> None:
    def said(text: str, failed: bool) -> list[dict[str, object]]:
        call = [reply("", ("p", "bash", {"command": command})), result("p", text, failed)]
        asked = user("Bring the frost view of orchard to staging.")
        return [asked, *worked("deploy.yml", "k"), *call, reply(told), *_OTHER]

    assert told not in told_in(SummarySection.DONE, *said(printed, failed=True))
    done = told_in(SummarySection.DONE, *said("ok", failed=False))
    assert any(told in line for line in done)


@pytest.mark.parametrize(
    "finding",
    [
        "The server now returns 500 for every request.",
        "The login no longer works.",
        "The parser now fails on empty rows.",
        "Created by the CLI, the lock file blocks the next run.",
        "Added in 2.3, the flag is off by default.",
        "Deleted rows come back after a sync.",
        "Merged cells are not supported by the exporter.",
    ],
)
def test_a_finding_is_no_report_of_work(finding: str) -> None:
    assert section_of_sentence(finding) is SummarySection.CONTEXT


@pytest.mark.parametrize(
    "report",
    [
        "The server no longer returns 500 for empty bodies.",
        "Fixed by closing the pool after each request.",
        "Fixed what was broken in the parser.",
        "Added a flag that is off by default.",
        "Removed the flag in 3 places.",
        "The table no longer flickers on resize.",
    ],
)
def test_a_report_with_words_of_one_is(report: str) -> None:
    assert section_of_sentence(report) is SummarySection.DONE


def test_nothing_is_belied_where_nothing_was_claimed() -> None:
    said = [_ASKED, *worked("src/parser.ts", "a"), *_RUN, reply("Added a guard for nested rows."), *_OTHER]
    assert any("Added a guard" in line for line in told_in(SummarySection.DONE, *said))
    looked = [*_FIX, user("what is in the folder"), *ran("l", "ls src"), reply("Two files."), *_OTHER]
    assert _ticked(*looked)
