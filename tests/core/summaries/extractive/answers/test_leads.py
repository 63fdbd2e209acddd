"""The outcome of a question is its answer, and not the sentence that leads to it."""

from __future__ import annotations

import pytest

from leafward.summaries.facts.sentences.prose import sentences
from leafward.summaries.summarizers.extractive.answers.passages import passages
from leafward.summaries.summarizers.extractive.answers.sentence_forms import only_leads
from leafward.summaries.summarizers.extractive.candidates import quoted
from leafward.summaries.summarizers.outline import SummarySection
from tests.core.linear_time import in_linear_time
from tests.core.told import ran, reply, told_in, user, worked

_ASKED = "Where does orchard keep the access token?"
_ANSWER = "The token is kept in the keychain under `orchard.token`."
_LEADS = [
    "I looked at the auth module and the CLI.",
    "I read through the three files that touch it.",
    "I checked how it is written.",
    "I've finished the investigation.",
    "I found it.",
    "I found exactly how it works.",
    "I see the confusion here.",
    "Here's what I found.",
    "Based on the code, here's how it works.",
    "After tracing the code, I have a clear picture.",
    "There are two places where the token lives.",
    "Three things stand out.",
    "The answer is simple.",
    "Found it.",
    "看完了，整体结构梳理如下。",
]


def _told(asked: str, answer: str) -> list[str]:
    said = [user(asked), *ran("g", "grep -rn token src"), reply(answer)]
    return [line for section in SummarySection for line in told_in(section, *said)]


@pytest.mark.parametrize("lead", _LEADS)
def test_the_answer_behind_a_sentence_that_leads_to_it_is_the_outcome(lead: str) -> None:
    told = _told(_ASKED, f"{lead} {_ANSWER}")
    assert f"Last request, answered: {_ASKED} → {quoted(_ANSWER)}" in told
    assert not any(lead in line for line in told)


@pytest.mark.parametrize(
    "told",
    [
        "I checked and the token is not encrypted.",
        "Found it in src/pool.ts.",
        "I read the config, which has no timeout.",
        "I read the module: it never closes the pool.",
        "I found three leaks in src/pool.ts.",
        "I searched for it, but there is no such flag.",
        "There are 42 routes, 12 of them under `/admin`.",
        "I compared both; the second is faster.",
        "I've verified the fix on staging.",
        "Here the pool is closed twice.",
    ],
)
def test_a_sentence_that_tells_what_was_seen_leads_to_nothing(told: str) -> None:
    assert not only_leads(told)


def test_an_answer_whose_subject_is_in_the_lead_stands_behind_it() -> None:
    lead = "I checked all the places that read it."
    told = _told(_ASKED, f"{lead} It is kept in the keychain under `orchard.token`.")
    answer = quoted(f"{lead} It is kept in the keychain under `orchard.token`.")
    assert f"Last request, answered: {_ASKED} → {answer}" in told


def test_a_reason_is_the_answer_behind_words_that_lead_to_it() -> None:
    asked, reason = (
        "Why is the deploy of orchard so slow?",
        "Most of it is `npm ci` because the cache is cold.",
    )
    assert f"Last request, answered: {asked} → {quoted(reason)}" in _told(
        asked, f"I profiled the last three runs. {reason}"
    )


def test_a_yes_or_no_alone_stands_before_what_is_said_with_it() -> None:
    asked, reason = "Does orchard refresh the token by itself?", "`refresh()` is only called by the tests."
    told = f"Last request, answered: {asked} → {quoted(f'No. {reason}')}"
    assert told in _told(asked, f"No. {reason}")
    assert told in _told(asked, f"**No.** {reason}")


def test_a_lead_alone_is_still_told() -> None:
    told = _told("List the files of orchard.", "Here are the files of orchard.")
    said = quoted("Here are the files of orchard.")
    assert f"Last request, answered: List the files of orchard. → {said}" in told


def test_a_sentence_goes_on_behind_the_end_of_a_list_in_it() -> None:
    said = "The client builds paths like `/login`, `/sync`, etc. against it."
    assert list(sentences(f"{said} Rows, columns etc. The rest is fine.")) == [
        said,
        "Rows, columns etc.",
        "The rest is fine.",
    ]


def test_hostile_leads_take_linear_time() -> None:
    with in_linear_time():
        for text in (
            "I checked" + " how" * 37,
            "I read" + " all a" * 25,
            "a " * 40 + ", here's the" + " a" * 30,
        ):
            for _ in range(100):
                assert not only_leads(text)


def test_work_that_was_agreed_to_has_the_report_of_its_reply() -> None:
    """Fails where what was asked first, and only looked at, decides what of the reply counts."""
    asked = "Every command of orchard takes ten seconds to end, find out why"
    found = (
        "The exporter waits for a collector that does not run.\n\nShall I have it probe the collector first?"
    )
    done = (
        "Option B is implemented and verified on `frost`. The change is small:\n\n"
        "- `src/frost.ts` has a new probe that ends after half a second\n\nThe changes are not committed yet."
    )
    said = [user(asked), *ran("g", "grep -rn timeout src"), reply(found), user("yes, do that")]
    goal = told_in(SummarySection.GOAL, *said, *worked("src/frost.ts", "p"), reply(done))
    assert goal[0].endswith("→ the reply says: “Option B is implemented and verified on `frost`.”")


def test_an_offer_with_its_reason_decides_nothing() -> None:
    offer = "Since the branch is in use I left the commit to you, but I am happy to commit it."
    said = [user("Make the frost table of orchard faster."), *worked("src/frost.ts", "p")]
    assert told_in(SummarySection.DECISIONS, *said, reply(f"Made it faster. {offer}")) == []


@pytest.mark.parametrize(
    ("asked", "answer", "outcome"),
    [
        ("what is the version in .nvmrc of orchard", "It is 18.", "It is 18."),
        ("what is in the last row of the table", "Gone. It has no name.", ""),
        ("is the frost table in use anywhere", "You're welcome!", ""),
    ],
)
def test_a_short_answer_is_the_outcome_as_a_whole(asked: str, answer: str, outcome: str) -> None:
    """Fails where an answer whose subject is in the question has no outcome."""
    told = _told(asked, answer)
    arrow = f" → {quoted(outcome)}" if outcome else ""
    assert f"Last request, answered: {asked}{arrow}" in told


@pytest.mark.parametrize(
    "lead",
    ["Not reached yet:", "Untested so far:", "还没完全达成：", "Todavía no está:", "Noch nicht erledigt:"],
)
def test_an_item_of_a_list_of_what_is_not_so_is_never_told_without_the_words_before_it(lead: str) -> None:
    item = "`orchard/press.py` fixes the pear press for all three sizes of pears that the farm has had for years."
    made = passages(f"{lead}\n- {item}\n- `orchard/cask.py` tests the casks.")
    assert f"{lead.rstrip(':：')}: {item}" in [one.text for one in made]
    assert item in [one.text for one in passages(f"Changed:\n- {item}")]


def test_such_an_item_that_is_too_long_for_the_words_before_it_is_left_out() -> None:
    item = f"`orchard/press.py` fixes the pear press for {'the small and the large and ' * 9}all pears."
    assert passages(f"Not reached yet:\n- {item}") == ()
    assert [one.text for one in passages(f"Changed:\n- {item}")] == [item]
