"""The last request is what the user asked for last: no stopped command, pasted screen, note of the agent, or request that a later reply ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.session.entries import EntryIndex
from leafward.summaries.facts.sentences.pasting import divided
from leafward.summaries.summarizers.extractive.earlier_summary.carried_goals import last_listed
from leafward.summaries.summarizers.extractive.requests.user_requests import GOT_REPLY
from leafward.summaries.summarizers.extractive.turns import turns_of
from leafward.summaries.summarizers.outline import SummarySection
from leafward.summaries.survival.spans import SpanMessage
from tests.core.told import reply, told_in, user, worked

if TYPE_CHECKING:
    from typing import Any

PAGE = [
    user("Add a page for the crates of the orchard."),
    *worked("src/page.py", "a"),
    reply("Done. The page lists the crates."),
]


def goals(*messages: dict[str, Any]) -> list[str]:
    return told_in(SummarySection.GOAL, *messages)


@pytest.mark.parametrize(
    "note", ["[Request interrupted by user]", "<turn_aborted>\nstopped\n</turn_aborted>"]
)
def test_a_command_that_the_user_stopped_at_once_is_no_request(note: str) -> None:
    command = {**user("review the crates"), "command": "/review"}
    stopped = {"role": "custom", "content": note}
    said = [SpanMessage(EntryIndex(place), one) for place, one in enumerate([*PAGE, command, stopped])]
    assert [turn.own for turn in turns_of(said)] == ["Add a page for the crates of the orchard."]
    # What somebody typed is wanted, whatever stopped the work on it.
    typed = [*said[:-2], SpanMessage(EntryIndex(9), user("review the crates")), said[-1]]
    assert [turn.own for turn in turns_of(typed)][-1] == "review the crates"


@pytest.mark.parametrize(
    "item",
    [
        '"[Request interrupted by user for tool use]"',
        '"/compact"',
        '"Your task is to create a detailed summary of the conversation so far"',
        "[Current message asking for a summary]",
        '"$ make test\\nFAILED tests/test_pears.py - AssertionError"',
    ],
)
def test_the_last_of_the_users_messages_in_an_earlier_summary_is_a_request(item: str) -> None:
    listed = f'6. All user messages:\n   - "add a page"\n   - "now sort the crates by weight"\n   - {item}\n\n7. Pending Tasks:\n'
    assert last_listed(listed) == "now sort the crates by weight"
    assert last_listed(listed.replace(item, '"and by name"')) == "and by name"


def test_where_the_last_of_these_messages_is_not_quoted_none_is_told() -> None:
    assert (
        last_listed('6. All user messages:\n   - "add a page"\n   - asked for the crates by weight\n\n') == ""
    )
    assert last_listed('6. All user messages:\n   - "add a page"\nand so on\n') == ""


def test_what_was_copied_from_the_screen_of_an_agent_is_no_request() -> None:
    shown = "⏺ The page lists the crates. I've also changed the sum.\n\n  Next steps:\n  - sort the crates\n\nwhy the sum?"
    typed, pasted = divided(shown)
    assert typed.strip() == "why the sum?"
    assert "sort the crates" in pasted
    typed, _ = divided(
        "why did it stop\n● Read(/orchard/pears.md)\n  ⎿  Read 15 lines\n\n  Update(/orchard/sums.md)\n"
    )
    assert typed.strip() == "why did it stop"
    asked = user(
        "⏺ pears:review(Review the sums of the orchard)\n  ⎿  Done (9 tool uses)\n\ndoes this add up then?"
    )
    (goal,) = goals(*PAGE, asked)
    assert goal.startswith("does this add up then? (pasted: pears:review(Review the sums of the orchard))")


def test_what_stays_where_it_is_leaves_nothing_open() -> None:
    ends = "Done. The reader moved to `src/pears.py`. The sum remains in the page, since all crates have one."
    asked = [user("move the reader of pears out of the page, please"), *worked("src/pears.py", "b")]
    assert goals(*PAGE, *asked, reply(ends)) == [GOT_REPLY]
    assert goals(*PAGE, *asked, reply("Done. The sum remains to be moved.")) != [GOT_REPLY]


def test_a_request_whose_files_a_later_one_changed_is_no_goal_behind_the_reply_to_that() -> None:
    begun = [user("we need to mend the sums of the crates in the orchard"), *worked("src/sums.py", "b")]
    amid = [user("wait, why do you append the crates and count them again?"), *worked("src/sums.py", "c")]
    assert goals(*PAGE, *begun, *amid, reply("Done. Each crate is counted once.")) == [GOT_REPLY]
    other = [user("wait, why does the page have no title?"), *worked("src/page.py", "d")]
    (goal,) = goals(*PAGE, *begun, *other, reply("Done. The page has one."))
    assert goal.startswith("Asked before: we need to mend the sums")
