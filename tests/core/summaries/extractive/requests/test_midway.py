"""What the user adds while a request is worked on: a limit goes with the request, a question is answered with the next one."""

from __future__ import annotations

import pytest

from leafward.summaries.summarizers.extractive.candidates import quoted
from leafward.summaries.summarizers.extractive.requests.user_requests import GOT_REPLY
from leafward.summaries.summarizers.outline import SummarySection
from tests.core.told import ran, reply, result, told_in, user, worked

ASKED = user("Import the crates of the orchard into the new store, then push and merge to main.")


@pytest.mark.parametrize(
    "limit",
    [
        "Make sure to not import anything private or other things",
        "And please only this orchard, nothing else.",
        "please don't touch the other crates",
        "only the pears, nothing more",
        "bitte nur diesen Ordner, sonst nichts",
        "seulement ce dossier, rien d'autre",
        "只要这个仓库，不要动别的",
    ],
)
def test_a_limit_said_while_a_request_is_worked_on_is_no_request_of_its_own(limit: str) -> None:
    said = [ASKED, *ran("a", "store status"), user(limit), *ran("b", "store import pears")]
    (goal,) = told_in(SummarySection.GOAL, *said)
    assert goal.startswith("Import the crates")
    assert not any(limit in line for line in told_in(SummarySection.IN_PROGRESS, *said))
    rule = limit.removeprefix("And ").removeprefix("please ")
    assert any(rule in line for line in told_in(SummarySection.CONSTRAINTS, *said))


@pytest.mark.parametrize(
    "more",
    [
        "don't use the old store, write a new importer for the pears instead",
        "Make sure that the importer of the orchard also prints the weight of each crate",
        "never mind",
    ],
)
def test_what_asks_for_something_else_is_a_request(more: str) -> None:
    said = [ASKED, *ran("a", "store status"), user(more), *worked("src/importer.py", "b")]
    told = [
        line
        for section in (SummarySection.GOAL, SummarySection.IN_PROGRESS)
        for line in told_in(section, *said)
    ]
    assert more == "never mind" or any(more[:30] in line for line in told)


def test_a_limit_behind_an_answer_begins_something_new() -> None:
    said = [ASKED, *worked("src/store.py", "a"), reply("Imported, pushed and merged.")]
    said += [user("only the pears of the north crate, nothing else"), *ran("b", "store import north")]
    assert any("north crate" in line for line in told_in(SummarySection.IN_PROGRESS, *said))


QUESTIONS = [
    user("are the crates of the orchard sorted by weight?"),
    *ran("a", "grep -n sort src/crates.py"),
    user("and do they print the tare?"),
    *ran("b", "grep -n tare src/crates.py"),
]


def test_a_question_is_over_where_the_next_one_is_answered() -> None:
    answer = reply(
        "No — both read a plain list:\n\n- `crates.py` prints what it gets\n- the tare is not read"
    )
    (goal,) = told_in(SummarySection.GOAL, *QUESTIONS, answer)
    assert goal == GOT_REPLY


def test_a_request_for_work_is_not_over_with_the_answer_to_a_question() -> None:
    said = [
        ASKED,
        *worked("src/store.py", "a"),
        user("do the crates have a tare?"),
        *ran("b", "grep tare src"),
    ]
    (goal, *_) = told_in(SummarySection.GOAL, *said, reply("Yes — each has one of 2 kg."))
    assert goal.startswith("Asked before: Import the crates")


@pytest.mark.parametrize(
    ("question", "answer", "outcome"),
    [
        (
            "can we get rid of the overrides in package.json of the orchard?",
            "No — both overrides have to stay, each for a reason of its own:\n\n- `crate` is an alias for the store.",
            "No — both overrides have to stay, each for a reason of its own",
        ),
        (
            "and the newest versions of the orchard's packages, do they move to 7?",
            "Everything is at its latest version already, and no — the store has not moved to 7 yet:\n\n- **crate** — `7.0.2`.",
            "Everything is at its latest version already, and no — the store has not moved to 7 yet",
        ),
        (
            "werden die beiden Pakete des Ladens noch gebraucht?",
            "Ja, beide werden gebraucht:\n\n- `crate` ist der Kern des Ladens.",
            "Ja, beide werden gebraucht",
        ),
    ],
)
def test_a_question_is_told_with_the_verdict_that_leads_a_list(
    question: str, answer: str, outcome: str
) -> None:
    (line,) = told_in(SummarySection.DONE, user(question), *ran("a", "cat package.json"), reply(answer))
    assert line.endswith(f"→ {quoted(outcome)}")


def test_a_question_with_a_verdict_is_over_though_its_reasons_tell_what_is_missing() -> None:
    answer = (
        "No — the store has not moved to 7 yet:\n\n- the override remains necessary\n- `crate` still needs 6"
    )
    said = [user("do the packages of the orchard move to 7?"), *ran("a", "cat package.json"), reply(answer)]
    assert told_in(SummarySection.GOAL, *said) == [GOT_REPLY]


def test_a_question_that_was_answered_is_no_goal_beside_an_open_one() -> None:
    said = [*QUESTIONS, reply("No — both read a plain list:\n\n- `crates.py` prints what it gets")]
    (goal,) = told_in(SummarySection.GOAL, *said, user("what about the newest version of those things"))
    assert "sorted" not in goal


def test_words_that_only_lead_to_a_list_are_no_verdict() -> None:
    asked = user("what does the store of the orchard keep?")
    answer = reply(
        "Here is what I found:\n\n- The store keeps one row for each crate, with its weight and its tare."
    )
    (line,) = told_in(SummarySection.DONE, asked, *ran("a", "cat store.py"), answer)
    assert "Here is what" not in line


@pytest.mark.parametrize("praise", ["Good call", "Good point", "Good catch", "Fair point"])
def test_a_sentence_that_agrees_and_announces_is_no_statement(praise: str) -> None:
    words = f"{praise} — let me look at what is in these crates before importing or pushing anything of them."
    said = [
        ASKED,
        *ran("a", "store status"),
        reply(words, ("b", "bash", {"command": "ls crates"})),
        result("b", "pears"),
    ]
    told = [line for section in SummarySection for line in told_in(section, *said)]
    assert not any(praise in line for line in told)
