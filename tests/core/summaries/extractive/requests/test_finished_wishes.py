"""Demands on the one thing that a request is about are over with it; limits on how to work say that they came with an earlier request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.session.entries import EntryIndex
from leafward.summaries.facts.values import FactKind
from leafward.summaries.fates.report import facts_of
from leafward.summaries.summarizers.outline import SummarySection
from leafward.summaries.survival.spans import SpanMessage
from tests.core.told import FOLDER, reply, told_in, user, worked

if TYPE_CHECKING:
    from typing import Any

WORK, DONE = worked("src/rows.py", "a"), reply("Done. The work is in.")
THEN = [user("now print the crates by weight"), *worked("src/crates.py", "c")]
LEAD = "Said with an earlier request: "
LEAD_OF_LAST = "Said with the last request: "


def rules(*messages: dict[str, Any], **more: Any) -> list[str]:
    return told_in(SummarySection.CONSTRAINTS, *messages, **more)


@pytest.mark.parametrize(
    "wish",
    [
        "crate number cell should be under the name instead of beside it",
        "The table needs to have zebra rows",
        "I want the footer to be dark instead of light",
        "when the harvest ends, it should return to the first page",
        "ensure that the orchard is deployed to the second machine",
        "make sure the crates of the valley are shown in the table",
        "CHERRYPICK ONLY the commits of the parser from the other branch",
        "run only the failing tests of the orchard",
        "the sum should be green if it is more than the last one",
        "move the button to the right, it must not overlap the title",
        "把按钮放在名字下面，不要放在旁边",
        "use rays.tsx and rays.css as background",
        'use  the "src/rays.tsx" in the page for its text',
        "Don't change the words, just wrap them",
        "the image of the first page should be using the picture component",
    ],
)
def test_a_wish_for_one_thing_is_no_rule_once_it_was_answered(wish: str) -> None:
    asked = [user(f"Add a page for the crates. {wish}."), *WORK]
    assert rules(*asked, DONE, *THEN) == []


@pytest.mark.parametrize(
    "rule",
    [
        "no new dependencies.",
        "Never write to the valley table.",
        "From now on every page should have a title.",
        "Don't push without a word from me.",
        "no new column if we can avoid it.",
        "I want to know why before we touch anything.",
        "make sure you run the tests before you say that it works",
    ],
)
def test_an_order_about_how_the_agent_works_is_a_rule_whatever_was_answered(rule: str) -> None:
    assert rules(user(f"Add a page for the crates. {rule}"), *WORK, DONE, *THEN) == [rule]


@pytest.mark.parametrize(
    "limit",
    [
        "Don't change the colours.",
        "Keep the logo of the orchard.",
        "use named colours in the table, no numbered ones!",
        "Tests should not use the network.",
        "Lines should be shorter than 100 characters.",
        "The api must return 404 for an unknown crate.",
        "La página debe cargar en menos de 2 segundos.",
        "Every page must have a title.",
        "The user must never see an id.",
    ],
)
def test_a_limit_on_answered_work_says_that_it_came_with_it(limit: str) -> None:
    asked = [user(f"Add a page for the crates. {limit}"), *WORK, DONE]
    assert rules(*asked) == [f"{LEAD_OF_LAST}{limit}"]
    assert rules(*asked, *THEN) == [f"{LEAD}{limit}"]


def test_a_sentence_that_is_wrapped_over_lines_is_one_rule() -> None:
    asked = user(
        "Add a page for the crates.\nEach name of a crate is on it, and it\nmust not wrap to the next line"
    )
    rule = "Each name of a crate is on it, and it must not wrap to the next line"
    assert rules(asked, *WORK, DONE, *THEN) == [LEAD + rule]
    listed = user(
        "Add a page for the crates\nthe api must return 404 for an unknown crate\nnever write to the valley"
    )
    assert len(rules(listed, *WORK, DONE, *THEN)) == 2


@pytest.mark.parametrize("item", ["only the visible columns", "without the new borders of the rows"])
def test_an_item_that_says_how_far_the_work_of_its_list_goes_is_no_rule(item: str) -> None:
    asked = user(f"Build an export of the crates:\n- header in bold\n- {item}\n- no new dependencies")
    assert rules(asked, *WORK, DONE, *THEN) == ["no new dependencies"]


def test_a_clause_without_its_sentence_is_no_rule() -> None:
    asked = user("Add a page for the crates.\nso that it must never be loaded twice at the same time")
    assert rules(asked, *WORK, DONE, *THEN) == []


def test_a_prompt_that_only_sets_a_limit_sets_a_rule() -> None:
    said = [user("Don't change the logo of the orchard."), reply("I will not."), *THEN]
    assert rules(*said) == ["Don't change the logo of the orchard."]
    # Where work followed, it was part of that.
    assert rules(said[0], *worked("src/logo.py", "d"), *said[1:]) == [f"{LEAD}{rules(*said)[0]}"]


def test_a_limit_that_was_said_with_another_request_again_is_told_once() -> None:
    limit = "Keep the logo of the orchard."
    said = [user(f"Add a page for the crates. {limit}"), *WORK, DONE]
    again = [user(f"Sort the crates by weight. {limit}"), *worked("src/crates.py", "c"), DONE]
    assert rules(*said, *again, user("now print them")) == [f"{LEAD}{limit}"]


def test_a_limit_on_open_work_stands_in_the_goal_or_is_told_as_said_with_it() -> None:
    limit = "The api must return 404 for an unknown crate."
    assert rules(user(f"Add a page for the crates. {limit}"), *WORK) == []
    beds = [f"The page shows the crates of bed {number} of the valley by name." for number in range(20)]
    asked = user(" ".join([*beds[:10], limit, *beds[10:]]))
    assert rules(asked, *WORK) == [f"Said with the open request: {limit}"]


@pytest.mark.parametrize(
    "said",
    [
        "edit the notes of the orchard to never use those long dashes",
        "Write me a command with this prompt:\nYou are the keeper of the orchard. No greetings. Never say please.",
        "Die Mail:\n\nDie Kisten dürfen nie leer sein, und sie müssen immer gezählt werden.",
    ],
)
def test_work_and_text_to_be_written_set_no_rules(said: str) -> None:
    told = rules(user(f"Have a look. {said}"), *WORK, DONE, *THEN)
    assert [one for one in told if not one.startswith(LEAD)] == []


@pytest.mark.parametrize(
    "said",
    [
        "The problem is that it must always be formatted anew",
        'Only use it if the page differs from the orchard." This is how I remember it',
    ],
)
def test_what_is_wrong_and_pieces_of_quotations_are_no_rules(said: str) -> None:
    assert rules(user("Add a page for the crates."), *WORK, DONE, user(said), *WORK, DONE) == []


def test_a_list_of_rules_says_that_it_came_with_its_request() -> None:
    asked = user("Add a page for the crates.\n\nRules:\n- Use tabs for the rows\n- Never push")
    assert rules(asked, *WORK, DONE, *THEN) == [f"{LEAD}Use tabs for the rows", "Never push"]


def test_a_limit_of_an_earlier_summary_is_told_with_its_lead_once() -> None:
    previous = f"## Constraints & Preferences\n- {LEAD}Keep the old rows working beside the new ones\n"
    more: dict[str, Any] = {"previous": previous, "previous_entry": EntryIndex(3)}
    kept = "Keep the old rows working beside the new ones"
    assert rules(*THEN, **more) == [f"{LEAD}{kept}"]
    removal = [user("remove the old rows"), *worked("src/fence.py", "d")]
    assert rules(*removal, **more) == []


def test_a_wish_among_the_users_messages_of_an_earlier_summary_is_no_rule() -> None:
    said = '   - "the sum should be below the crates. Never push the valley."\n'
    more: dict[str, Any] = {"previous": f"Summary:\n6. **All User Messages:**\n{said}", "previous_entry": 3}
    assert rules(*WORK, **more) == ["Never push the valley."]
    wish = f"Summary:\n6. **All User Messages:**\n{said.replace(' Never push the valley.', '')}"
    there = [SpanMessage(EntryIndex(10 + place), one) for place, one in enumerate(WORK)]
    # What the summary does not tell, a compaction cannot lose.
    assert not any(fact.kind is FactKind.CONSTRAINT for fact in facts_of(there, FOLDER, wish, EntryIndex(3)))


def test_a_wish_for_every_part_outlasts_its_request_with_its_origin() -> None:
    said = [
        user("Port the orchard to Rust, make sure there is 100% parity in every single part."),
        *worked("src/rows.rs", "a"),
        reply("Ported the rows."),
        user("proceed with the crates"),
        *worked("src/crates.rs", "b"),
    ]
    assert any("100% parity" in rule for rule in told_in(SummarySection.CONSTRAINTS, *said))


def test_a_demand_of_earlier_work_that_nobody_answered_says_that_it_came_with_it() -> None:
    wish = "make sure the crates of the valley are shown in the table"
    asked = [user(f"Add a page for the crates. {wish}"), *WORK]
    assert rules(*asked, *THEN) == [f"{LEAD}{wish}"]


@pytest.mark.parametrize(
    "said",
    [
        "The goal is a small file that helps the next sessions avoid mistakes in the valley.",
        "We keep the rows in a cache to avoid slow pages of the orchard",
        "update the second page of the crates and swap both, as I prefer the last one.",
        "Root cause: the log of the orchard is never opened for the crates.",
        "看看能不能帮我操作一下",
    ],
)
def test_a_purpose_a_reason_and_a_cause_oblige_nobody(said: str) -> None:
    seen = facts_of([SpanMessage(EntryIndex(0), user(said))], FOLDER)
    assert not any(fact.kind is FactKind.CONSTRAINT for fact in seen)


def test_what_somebody_should_avoid_is_a_rule() -> None:
    rule = "try to avoid new columns in the valley."
    asked = user(f"Add a page for the crates. Please {rule}")
    assert rules(asked, *WORK, DONE) == [f"{LEAD_OF_LAST}{rule}"]


def test_a_limit_on_an_open_request_is_told_where_the_goal_says_the_contrary() -> None:
    """Fails where the goal only has its words: the middle of a long request is cut out of that."""
    more = "The rows came from the import of the last year and nobody reads them any more. " * 12
    asked = f"Rename the rows of the table. {more}Do not rename the table. {more}"
    assert rules(user(asked), *WORK) == ["Said with the open request: Do not rename the table."]


def test_a_limit_is_of_the_open_request_no_more_once_an_agreement_asks_for_more() -> None:
    said = [
        user("Write the crate report of the orchard. Do not rename the table."),
        *WORK,
        reply("The report is there. Would you like me to test it?"),
    ]
    limit = "Do not rename the table."
    assert rules(*said, user("let's test the sums of all crates"), *WORK) == [
        f"Said with an earlier request: {limit}"
    ]
    assert rules(*said, user("yes"), *WORK) != [f"Said with an earlier request: {limit}"]
