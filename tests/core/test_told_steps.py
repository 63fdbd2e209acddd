"""Steps that somebody only told: what was done about them decides whether they are still steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from leafward.compaction.exam import Topic, exam_of_draft
from leafward.compaction.gate import unseen
from leafward.compaction.settings import PlanSettings
from leafward.session.entries import EntryIndex
from leafward.summaries.facts import Fact, FactKind
from leafward.summaries.facts.prose import remains
from leafward.summaries.summarizers import SpanMessage
from leafward.summaries.summarizers.outline import Section
from leafward.summaries.survival import facts_of
from tests.acting import Acting, call, reading
from tests.core.compacted import drafted
from tests.core.told import FOLDER, ran, reply, result, told_in, user, worked

if TYPE_CHECKING:
    from pathlib import Path

EARLIER = """\
## Goal
- Prune the orchard

## Next Steps
- **Fix the frost check** (src/frost.py): a missing table is no error
- Write the release note for the growers
- This directly follows the request to prune the orchard.

## Critical Context
- I had NOT yet fixed the frost check in src/frost.py
- I had NOT yet told the growers about the new fence
- The docstring of `frostTable` is stale, fix pending
"""


def left(*messages: dict[str, Any], previous: str = EARLIER) -> list[str]:
    """The steps that a span leaves open."""
    said = [SpanMessage(EntryIndex(10 + place), message) for place, message in enumerate(messages)]
    return [fact.text for fact in steps(said, previous)]


def steps(said: list[SpanMessage], previous: str) -> list[Fact]:
    found = facts_of(said, FOLDER, previous, 3)
    return [fact for fact in found if fact.kind is FactKind.TODO]


FROST = "I had NOT yet fixed the frost check in src/frost.py"
FENCE = "I had NOT yet told the growers about the new fence"


def test_what_nothing_was_done_about_is_open() -> None:
    assert left(reply("I look at the rows.", ("a", "read", {"path": "rows.txt"})), result("a", "3")) == [
        FROST,
        FENCE,
    ]


def test_a_step_is_over_when_the_file_that_it_names_was_changed() -> None:
    assert left(*worked(f"{FOLDER}/src/frost.py", "a")) == [FENCE]


def test_a_change_that_failed_is_none() -> None:
    edit = {"path": f"{FOLDER}/src/frost.py", "oldText": "x", "newText": "y"}
    assert FROST in left(reply("", ("a", "edit", edit)), result("a", "not found", failed=True))


def test_how_things_stood_is_over_when_the_work_was_answered() -> None:
    work = worked("gate.py", "a")
    assert left(*work, reply("All done: the gate is mended.")) == []
    assert left(*work, reply("Shall I mend the gate as well?")) == [FROST, FENCE]


def test_what_the_answer_itself_leaves_open_stays_open() -> None:
    said = [*worked("gate.py", "a"), reply("The gate is mended. The fence is not yet painted.")]
    said += [user("and the well?"), *worked("well.py", "b"), reply("The well is deeper now.")]
    assert left(*said, previous="") == ["The fence is not yet painted."]


def test_a_patch_and_the_run_of_a_named_command_count_too() -> None:
    told = "## Next Steps\n- [ ] Tighten docs/well.md\n- [ ] Run `make water` again\n- [ ] Run the tests\n"
    patch = "*** Begin Patch\n*** Update File: docs/well.md\n@@\n-a\n+b\n*** End Patch\n"
    said = [reply("", ("a", "apply_patch", {"input": patch})), result("a", "ok"), *ran("b", "make water")]
    assert left(*said, previous=told) == ["Run the tests"]
    assert left(*said, *ran("c", "pytest -q"), previous=told) == []


def test_what_is_to_be_tried_by_hand_no_run_of_tests_has_done() -> None:
    told = "## Next Steps\n- [ ] Test the pump by hand\n"
    assert left(*ran("c", "pytest -q"), previous=told) == ["Test the pump by hand"]


@pytest.mark.parametrize("words", ["NOT YET FIXED", "Still to do: this"])
def test_words_that_name_no_work_are_no_step(words: str) -> None:
    assert not remains(words)
    assert remains("The fence is not yet painted.")


def test_a_branch_called_a_follow_up_is_no_step() -> None:
    assert not remains("The tests pass on the clean follow-up branch.")
    assert remains("A small follow-up: the docs of the well.")


def test_finished_work_is_no_next_step() -> None:
    said = [*worked(f"{FOLDER}/src/frost.py", "a"), reply("All done."), user("now paint the fence")]
    more = {"previous": EARLIER, "previous_entry": EntryIndex(3)}
    assert not any("frost" in line for line in told_in(Section.NEXT, *said, **more))
    context = told_in(Section.CONTEXT, *said, **more)
    assert not any("NOT yet" in line or "fix pending" in line for line in context)


def test_a_sentence_about_a_step_is_none() -> None:
    said = [user("go on with the rows"), *worked("rows.py", "a")]
    told = told_in(Section.NEXT, *said, previous=EARLIER, previous_entry=EntryIndex(3))
    assert "Write the release note for the growers" in told
    assert not any("directly follows" in line for line in told)


WITHHELD = """\
## Current Work
I had NOT yet:
- Added the fence around the orchard
"""


def test_a_list_of_what_had_not_been_done_says_nothing_of_what_is_done() -> None:
    more = {"previous": WITHHELD, "previous_entry": EntryIndex(3)}
    said = worked("rows.py", "a")
    assert not told_in(Section.DONE, *said, **more)
    assert told_in(Section.NEXT, *said, **more) == [
        "Not done when this was last summarised: Added the fence around the orchard"
    ]
    assert any(
        "Added the fence" in line
        for line in told_in(Section.DONE, *said, reply("All done."), user("thanks"), **more)
    )


def test_gate_and_exam_ask_for_nothing_that_was_done_since(tmp_path: Path) -> None:
    """Pinned, such a step would tell the model the opposite of what happened."""
    file = Acting(tmp_path / "s.jsonl")
    begun = file.user("Prune the orchard. " * 4)
    file.compacted(begun, EARLIER)
    for key, path in (("a", "src/frost.py"), ("b", "src/fence.py")):
        file.said("", call("edit", key, path=path, oldText="x", newText="y"))
        file.answered(key, "edit")
    plan = [{"content": "Mend the gate", "status": "completed"}, {"content": "Oil it", "status": "pending"}]
    file.said("", call("todo", "c", todos=plan))
    file.answered("c", "todo")
    file.said("All done: the frost check takes a missing table.")
    for turn in range(4):
        file.user(f"question {turn} " * 40)
        file.said(f"answer {turn} " * 40)
    with reading(file.path) as session:
        made = drafted(session, PlanSettings(keep_recent=100))
        assert [fate.fact.text for fate in unseen(made.survival)] == []
        (asked,) = [
            one.question for one in exam_of_draft(made).graded if one.question.topic is Topic.NEXT_STEP
        ]
    assert asked.answers[asked.right].text == "Oil it"
    assert [one.text for one in asked.answers if one is not asked.answers[asked.right]] == ["Mend the gate"]


def test_no_question_is_without_an_entry_that_proves_it(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    begun = file.user("Prune the orchard. " * 4)
    file.compacted(begun, "## Next Steps\n- [x] Dig the well\n- [ ] Paint the tall fence white\n")
    for turn in range(4):
        file.user(f"question {turn} " * 40)
        file.said(f"answer {turn} " * 40)
    with reading(file.path) as session:
        graded = exam_of_draft(drafted(session, PlanSettings(keep_recent=100))).graded
    assert [one.question.entry for one in graded] == [1]
