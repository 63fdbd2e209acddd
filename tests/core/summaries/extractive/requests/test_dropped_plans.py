"""What was planned is no step once the user turned away from it, and what an earlier summary has as planned is told once more at most."""

from __future__ import annotations

from typing import Any

import pytest

from leafward.session.entries import EntryIndex
from leafward.summaries.facts.sentences import responses
from leafward.summaries.facts.values import FactKind
from leafward.summaries.fates.report import facts_of
from leafward.summaries.summarizers.outline import SummarySection
from leafward.summaries.survival.spans import SpanMessage
from tests.core.told import FOLDER, reply, told_in, user, worked

STEPS = "## Goal\n- Make a page\n\n## Next Steps\n1. Add an index to the crate table\n2. Write the docs for the page\n"
EARLIER: dict[str, Any] = {"previous": STEPS, "previous_entry": 3}
PLANNED: dict[str, Any] = {
    "previous": "## Goal\n- Make a page\n\n## Critical Context\n- Planned: Write the docs for the page\n",
    "previous_entry": 3,
}
WEIGHT = [
    user("print the crates by their weight"),
    *worked("src/w.py", "b"),
    reply("Done. They are printed."),
]
BLUE = [user("now make all of it blue"), *worked("src/blue.css", "c"), reply("All of it is blue now.")]


def planned(*messages: dict[str, Any], **more: Any) -> list[str]:
    return [line for line in told_in(SummarySection.CONTEXT, *messages, **more) if "Planned: " in line]


@pytest.mark.parametrize(
    "prompt",
    [
        "forget the plan, a plain page is enough",
        "scrap all that, a plain page is enough",
        "ok, let's start over from scratch with a plain page",
        "change of plans: a plain page is enough",
        "vergiss den Plan, eine einfache Seite reicht",
        "fangen wir von vorne an, mit einer einfachen Seite",
        "on repart de zéro, une page simple suffit",
        "empecemos de cero con una página simple",
        "重新开始，做一个简单的页面",
    ],
)
def test_who_turns_away_from_the_plan_drops_its_steps(prompt: str) -> None:
    asked = [user(prompt), *worked("src/page.html", "a")]
    assert len(told_in(SummarySection.NEXT, *WEIGHT, **EARLIER)) == 2
    assert told_in(SummarySection.NEXT, *asked, **EARLIER) == []
    assert planned(*asked, **EARLIER) == []
    # What is planned from then on counts.
    then = reply("The page is there.\n\nNext steps:\n- Add an index to the crate table of the valley")
    assert told_in(SummarySection.NEXT, *asked, then, **EARLIER) != []


@pytest.mark.parametrize(
    "prompt",
    [
        "start over with the second one if the first fails?",
        "start the server over there",
        "forget everything in the old table",
        "try a different approach for the index",
    ],
)
def test_who_begins_one_thing_anew_drops_no_plan(prompt: str) -> None:
    assert not responses.drops_steps(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "skip the docs of the page",
        "let's not write docs, print the crates",
        "the docs for the page are not needed any more",
    ],
)
def test_a_step_that_the_user_cancels_is_none_without_a_box_too(prompt: str) -> None:
    asked = [user(prompt), *worked("src/w.py", "a")]
    assert told_in(SummarySection.NEXT, *asked, **EARLIER) == ["Add an index to the crate table"]
    assert planned(*asked, **PLANNED) == []


def test_forget_that_drops_what_the_answer_before_it_told() -> None:
    assert responses.drops_it("no, forget that, print the crates")
    assert responses.drops_it("vergiss das")
    assert not responses.drops_it("forget that table of pears")
    told = reply("Done.\n\nStill to do: the pear sums of the valley need to be rounded.")
    said = [user("count the pears of the valley"), *worked("src/pears.py", "p"), told]
    assert told_in(SummarySection.NEXT, *said) != []
    assert told_in(SummarySection.NEXT, *said, user("forget that")) == []


def test_what_an_earlier_summary_tells_as_planned_is_told_once_more_at_most() -> None:
    assert planned(*WEIGHT, **PLANNED) == ["Planned: Write the docs for the page"]
    assert planned(*WEIGHT, *BLUE, **PLANNED) == []


def test_a_compaction_can_lose_no_step_that_the_user_cancelled() -> None:
    def left(prompt: str) -> list[str]:
        asked = [user(prompt), *worked("src/w.py", "a")]
        said = [SpanMessage(EntryIndex(10 + place), one) for place, one in enumerate(asked)]
        facts = facts_of(said, FOLDER, STEPS, EntryIndex(3))
        return [fact.text for fact in facts if fact.kind is FactKind.TODO and fact.is_open]

    assert len(left("print the crates by their weight")) == 2
    assert left("skip the docs of the page") == ["Add an index to the crate table"]
    assert left("forget the plan, a plain page is enough") == []
