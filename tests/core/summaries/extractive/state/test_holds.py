"""Statements of a summary still hold: goals of an earlier summary, the request that the work is for, older figures, what was only seen."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.recognition import agent_of
from leafward.session.entries import EntryIndex
from leafward.summaries.facts.sentences import decisions, negation, remaining_work, replies
from leafward.summaries.facts.sentences import demands as rules
from leafward.summaries.facts.sentences.decisions import decides
from leafward.summaries.facts.sentences.demands import demands
from leafward.summaries.facts.sentences.marker_words import Markers
from leafward.summaries.facts.sentences.prose import sentences
from leafward.summaries.facts.sentences.remaining_work import remains
from leafward.summaries.summarizers.extractive.requests.user_requests import GO_ON, GOT_REPLY
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from leafward.summaries.summarizers.outline import SummarySection, is_drawn, read_outline
from leafward.summaries.survival.spans import replaced_by
from tests.bench import need
from tests.core.told import (
    lines_of,
    ran,
    reply,
    span,
    stored,
    summarize,
    told_in,
    user,
    worked,
)
from tests.surroundings import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

BEFORE = """## Goal
- Problem 1 (fixed): the queue drops its last job
- Problem 2 (in progress): jobs run twice after a restart
- Name the workers in the log
"""


def went_on(number: int) -> list[dict[str, Any]]:
    request = f"Now build the worker number {number} of the shop with its own retries."
    return [
        user(request),
        *worked(f"src/worker{number}.py", f"w{number}"),
        reply(f"Worker {number} is built."),
    ]


def test_of_a_list_of_goals_what_was_reached_is_done_and_the_current_one_stays() -> None:
    more: dict[str, Any] = {"previous": BEFORE, "previous_entry": EntryIndex(3)}
    goals = told_in(SummarySection.GOAL, *went_on(1), **more)
    assert goals == ["Problem 2 (in progress): jobs run twice after a restart"]
    assert any("Problem 1" in line for line in told_in(SummarySection.DONE, *went_on(1), **more))


def test_behind_other_work_a_list_of_requests_is_no_goal() -> None:
    previous = "## Goal\n- Paint the border\n- Shorten the names\n- Group the commits\n"
    messages = [
        *went_on(1),
        *went_on(2),
        user("Write the guide of the shop next."),
        *worked("docs/guide.md", "g"),
    ]
    text = summarize(span(*messages, previous=previous, previous_entry=EntryIndex(3))).text
    goals = [line for section, line, _ in read_outline(text) if section is SummarySection.GOAL]
    assert not any("border" in line or "commits" in line for line in goals)
    assert any("guide" in line or "worker" in line for line in goals)


@pytest.mark.parametrize(
    "goal",
    [
        "Continue the work described above.",
        "Resume the previous task where we left off",
        "Die oben beschriebene Arbeit fortsetzen",
        "Continuer le travail décrit au-dessus",
        "继续上面的工作",
    ],
)
def test_a_goal_that_only_points_at_what_stood_before_is_none(goal: str) -> None:
    previous = f"## Goal\n{goal}\n"
    goals = told_in(SummarySection.GOAL, *went_on(1), previous=previous, previous_entry=EntryIndex(3))
    assert goals == [GOT_REPLY]
    kept = "## Goal\nContinue the port of the queue to sqlite\n"
    assert told_in(SummarySection.GOAL, *went_on(1), previous=kept, previous_entry=EntryIndex(3)) == [
        "Continue the port of the queue to sqlite"
    ]


def test_a_request_behind_which_nobody_answered_the_question_is_over() -> None:
    asked = [user("create a new theme of the shop for me"), *worked("themes/night.json", "n")]
    asked += [reply("I've created `themes/night.json` from the dark theme. What colors would you like?")]
    then = [user("the selector of the shop draws its rows too late"), *worked("src/selector.py", "s")]
    assert told_in(SummarySection.GOAL, *asked, *then) == ["the selector of the shop draws its rows too late"]
    agreed = [user("dark green colors please, like those of the old shop"), *worked("themes/night.json", "m")]
    assert told_in(SummarySection.GOAL, *asked, *agreed)[0].startswith(
        "create a new theme of the shop for me"
    )


@pytest.mark.parametrize(
    ("question", "no"),
    [
        ("Want me to also set `queue.auto 0` in the shop now?", "no don't set it, let's see"),
        ("Soll ich die alte Tabelle auch löschen?", "nein, lass das"),
        ("要不要也删除旧表？", "不用了"),
    ],
)
def test_what_the_user_declined_is_said(question: str, no: str) -> None:
    asked = [
        user("document the queue of the shop"),
        *worked("docs/queue.md", "d"),
        reply(f"Done. {question}"),
    ]
    later = [
        *asked,
        user(no),
        reply("Fine."),
        user("now draw the rows of the shop"),
        *worked("src/rows.py", "r"),
    ]
    assert f"Declined by the user: {question} ({no})" in told_in(SummarySection.DECISIONS, *later)
    agreed = [*asked, user("yes please"), *worked("src/queue.py", "q")]
    assert not any("Declined" in line for line in told_in(SummarySection.DECISIONS, *agreed))


def test_what_was_declined_and_is_wanted_now_was_not_declined() -> None:
    previous = "## Key Decisions\n- Declined by the user: Should I also drop the old table? (no, later)\n"
    now = [user("drop the old table now"), *worked("db/003.sql", "d")]
    more: dict[str, Any] = {"previous": previous, "previous_entry": EntryIndex(3)}
    assert any("Declined" in line for line in told_in(SummarySection.DECISIONS, *went_on(1), **more))
    assert not any("Declined" in line for line in told_in(SummarySection.DECISIONS, *now, **more))


def test_a_step_of_which_an_answer_says_that_it_is_written_is_over() -> None:
    previous = "## Next Steps\n- [ ] Write tests for retries\n- [ ] Update the guide\n"
    said = [
        user("continue"),
        *worked("tests/retry.ts", "r"),
        reply("Tests for retries are written; 34 pass. Go on?"),
    ]
    steps = told_in(SummarySection.NEXT, *said, previous=previous, previous_entry=EntryIndex(3))
    assert steps == ["Update the guide"]


@pytest.mark.parametrize("own", ["2", "2.", "b) please", "2. this happened twice by the way"])
def test_a_bare_number_is_told_with_the_way_that_it_chooses(own: str) -> None:
    ways = (
        "a) Reset the whole index\nb) Rebuild the queue"
        if own[0] == "b"
        else "1. Reset the whole index\n2. Rebuild the queue"
    )
    asked = [
        user("why does the shop lose its last job"),
        reply(f"Which way?\n{ways}\n\nWhich one do you prefer?"),
    ]
    made = summarize(span(*asked, user(own), *worked("src/queue.py", "q"))).text
    assert "Rebuild the queue)" in made


def test_a_list_of_the_users_own_chooses_nothing() -> None:
    asked = [user("why does the shop lose its last job"), reply("1. Reset it\n2. Rebuild it\n\nWhich one?")]
    own = "1. fix the last job of the shop\n2. fix the name of the shop"
    assert "Reset it)" not in summarize(span(*asked, user(own), *worked("src/queue.py", "q"))).text


def test_what_was_only_offered_in_a_list_is_not_told() -> None:
    offer = "The queue loses jobs since the collector runs.\n\nA few things you could do:\n- Run `queue gc.never` in the main shop to keep all jobs alive"
    asked = [user("why does the shop lose jobs"), *worked("src/queue.py", "q"), reply(offer)]
    assert (
        "gc.never"
        not in summarize(span(*asked, user("draw the rows of the shop"), *worked("a.py", "r"))).text
    )


def test_code_of_an_earlier_summary_is_carried_as_it_was() -> None:
    previous = (
        "## Critical Context\n- The hook runs `queue drain 2>/dev/null || true` behind each job of the shop\n"
    )
    text = summarize(span(*went_on(1), previous=previous, previous_entry=EntryIndex(3))).text
    assert "`queue drain 2>/dev/null || true`" in text


@pytest.mark.parametrize(
    "line",
    [
        "This is the largest remaining work package.",
        "The small issues are all appropriate for follow-up.",
    ],
)
def test_a_remark_about_work_is_no_step(line: str) -> None:
    assert not remains(line)


def test_a_goal_that_goes_on_with_what_was_asked_first_says_so() -> None:
    plan = "Implement the following plan:\n\n# Plan: Tree of shops\n\n## Context\n\nThe page lists shops without any order.\n"
    begun = [user(plan), *worked("src/shops.ts", "a"), reply("All of it is implemented.")]
    fault = [user("it works but the console shows warnings"), *worked("src/shops.ts", "b")]
    assert told_in(SummarySection.GOAL, *begun, *fault) == [
        "it works but the console shows warnings (asked first: Implement the following plan: # Plan: Tree of shops)"
    ]
    other = [user("write the guide of the warehouse next"), *worked("docs/guide.md", "c")]
    assert told_in(SummarySection.GOAL, *begun, *other) == ["write the guide of the warehouse next"]


def test_a_goal_of_an_earlier_summary_is_an_earlier_request_once_the_user_went_on() -> None:
    # Fails where it is told as the goal of today: nothing tells whether it was reached.
    goal, earlier = "Move the shop to the new queue", EntryIndex(3)
    previous = f"## Goal\n- {goal}\n"
    assert told_in(SummarySection.GOAL, *went_on(1), previous=previous, previous_entry=earlier) == [goal]
    for before in (previous, f"## Goal\n- Asked before: {goal}\n"):
        lines = lines_of(summarize(span(*went_on(1), *went_on(2), previous=before, previous_entry=earlier)))
        assert (SummarySection.CONTEXT, f"Asked before: {goal}") in lines
        assert not any(section is SummarySection.GOAL and goal in text for section, text in lines)


def test_the_goals_of_work_that_was_answered_are_earlier_requests_once_something_else_was_asked() -> None:
    # Fails where the next request stands beside a list of what was done before it.
    previous = "## Goal\n- Move the shop to the new queue\n- Count its retries\n- Draw them in a table\n"
    rest = [*worked("shop/queue.py", "a"), reply("Moved it: the queue counts its retries.")]
    asked = [user("write the guide of the warehouse next"), *worked("docs/guide.md", "c")]
    goals = told_in(SummarySection.GOAL, *rest, *asked, previous=previous, previous_entry=EntryIndex(3))
    assert goals == ["write the guide of the warehouse next"]


def test_a_request_of_long_ago_is_no_goal() -> None:
    opening = [
        user("Read the whole shop and write me a plan how to untangle its modules."),
        *ran("r", "cat plan.md"),
        reply("Here is the plan. Next step: split the workers. The store still needs a test."),
    ]
    messages = [*opening, *(message for number in range(8) for message in went_on(number)), user("go on")]
    assert not any("untangle" in line for line in told_in(SummarySection.GOAL, *messages))


@pytest.mark.parametrize(
    "sentence",
    [
        "I see - Gemini uses `start` rather than `lines`.",
        "The issue is that commits hold all files, not just the changed ones, because each must be read alone.",
        "That feels broken because the config needs these parts.",
        "Unless the commit stores the full tree rather than just changed files.",
        "I hit a mismatch because Rust uses the default path.",
        "There is a second call because the test needs it.",
    ],
)
def test_what_was_only_seen_is_no_decision(sentence: str) -> None:
    assert not decides(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "We keep src/tree.py because the old tests import it.",
        "Use one table rather than a file for each job.",
        "It is decided: one table for all jobs.",
        "I moved the lock into the store so that both workers see it because one must wait.",
    ],
)
def test_what_was_chosen_is_one(sentence: str) -> None:
    assert decides(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "we did a migration to checkpoints - but that should have been a one-off operation",
        "it also always seems to be the same hash in here",
        "the second job never works with the new queue here",
    ],
)
def test_how_things_are_is_no_rule(sentence: str) -> None:
    assert not demands(sentence)
    assert demands("the worker should never write into gen/")
    assert demands("it should be a single file for all of them")


def test_a_line_that_names_signs_of_drawing_is_no_drawing() -> None:
    assert is_drawn("├── src/queue.py")
    assert not is_drawn("Draw lanes with `╭`, `│` and `╰` in front of each row")


def test_goals_that_are_done_are_none_in_real_sessions(corpora: Path) -> None:
    for name, wrong in (("a5", "Reduce tree indentation"), ("b8", "Problem 1 (fixed)")):
        (path,) = (corpora / "real" / "claude").glob(f"entireio__cli__{name}_*.jsonl")
        with closing(agent_of(path).open(path)) as session:
            there = replaced_by(session, need.compactions_of(session)[-1])
            text = Extractive().summarize(need.span_of(session, there), 1500).text
        goals = [line for section, line, _ in read_outline(text) if section is SummarySection.GOAL]
        assert goals
        assert not any(wrong in line for line in goals)


def test_the_words_that_patterns_are_looked_up_by_miss_none_of_their_forms(corpora: Path) -> None:
    """Over all that was written in the shared sessions: the words are an outline of the pattern, never less than it."""
    modules = (decisions, negation, remaining_work, replies, rules)
    all_markers = [
        value for module in modules for value in vars(module).values() if isinstance(value, Markers)
    ]
    assert len(all_markers) >= 7
    for path in sorted((corpora / "real").glob("*/*.jsonl")):
        with closing(agent_of(path).open(path)) as session:
            for compaction in need.compactions_of(session):
                text = "\n".join(str(said.message) for said in replaced_by(session, compaction).messages)
                for sentence in {*sentences(text.replace("\\n", "\n"))}:
                    for one in all_markers:
                        if one.pattern.search(sentence.lower()) is not None:
                            assert one.may_stand_in(sentence), (one.pattern.pattern[:40], sentence)


@pytest.mark.parametrize("size", [600, 1000, 1500])
def test_what_was_asked_last_in_the_bundled_session_is_done_as_the_kept_messages_answer_it(size: int) -> None:
    lines = stored(REPOSITORY / "core" / "leafward" / "data" / "demo.jsonl", size=size)
    (goal,) = lines[SummarySection.GOAL]
    assert goal == GO_ON
    asked = (
        "changelog and README. short, people upgrade from 0.4 → the reply says: “`CHANGELOG.md` starts with"
    )
    assert any(asked in line for line in lines[SummarySection.DONE])
    assert lines[SummarySection.IN_PROGRESS] == ["(none)"]
