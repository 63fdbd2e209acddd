"""Steps that somebody only told: what was done about them decides whether they are still steps."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.recognition import agent_of
from leafward.compaction.draft.gate import unseen
from leafward.compaction.exam.grade import exam_of_draft
from leafward.compaction.exam.questions import Topic
from leafward.compaction.plan.settings import PlanSettings
from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.session.entries import EntryIndex
from leafward.session.injected_block import split_enclosed
from leafward.session.messages import message_text
from leafward.summaries.facts.sentences.remaining_work import remains
from leafward.summaries.facts.values import Fact, FactKind
from leafward.summaries.fates.report import facts_of
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from leafward.summaries.summarizers.outline import SummarySection, read_outline
from leafward.summaries.summarizers.summary import Span
from leafward.summaries.survival.earlier_plan import plan_before
from leafward.summaries.survival.spans import SpanMessage
from tests.acting import Acting, call, reading
from tests.core.compacted import drafted
from tests.core.told import FOLDER, ran, reply, result, told_in, user, worked

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session

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
FIX = "**Fix the frost check** (src/frost.py): a missing table is no error"
NOTE = "Write the release note for the growers"


def test_what_nothing_was_done_about_is_open() -> None:
    looked = [reply("I look at the rows.", ("a", "read", {"path": "rows.txt"})), result("a", "3")]
    assert left(*looked) == [FROST, FENCE, FIX, NOTE]


def test_a_step_is_over_when_the_file_that_it_names_was_changed() -> None:
    assert left(*worked(f"{FOLDER}/src/frost.py", "a")) == [FENCE, NOTE]


def test_a_change_that_failed_is_none() -> None:
    edit = {"path": f"{FOLDER}/src/frost.py", "oldText": "x", "newText": "y"}
    assert FROST in left(reply("", ("a", "edit", edit)), result("a", "not found", failed=True))


def test_how_things_stood_is_over_when_the_work_was_answered() -> None:
    work = worked("gate.py", "a")
    assert left(*work, reply("All done: the gate is mended.")) == []
    assert left(*work, reply("Shall I mend the gate as well?")) == [FROST, FENCE, FIX, NOTE]


def test_how_things_stood_is_over_when_the_work_was_committed() -> None:
    work = worked("gate.py", "a")
    assert left(*work, *ran("b", "git add -A && git commit -m 'Mend the gate'")) == [FIX, NOTE]
    assert left(*work, *ran("b", "git commit --dry-run")) == [FROST, FENCE, FIX, NOTE]
    assert left(*work, *ran("b", "git log --oneline")) == [FROST, FENCE, FIX, NOTE]


@pytest.mark.parametrize(
    "words", ["接下来我会读完井边的所有说明再写总结。", "Next step: paint the whole fence of the orchard."]
)
def test_what_comes_next_in_the_work_is_over_when_that_was_answered(words: str) -> None:
    looked = [reply(words, ("a", "read", {"path": "rows.txt"})), result("a", "3")]
    assert left(*looked, previous="") == [words]
    assert left(*looked, reply("The orchard has 3 rows."), previous="") == []
    # An answer that leaves it says it for whoever goes on.
    assert left(*looked, reply(words), previous="") == [words]


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
    assert not any("frost" in line for line in told_in(SummarySection.NEXT, *said, **more))
    context = told_in(SummarySection.CONTEXT, *said, **more)
    assert not any("NOT yet" in line or "fix pending" in line for line in context)


def test_a_sentence_about_a_step_is_none() -> None:
    said = [user("go on with the rows"), *worked("rows.py", "a")]
    told = told_in(SummarySection.NEXT, *said, previous=EARLIER, previous_entry=EntryIndex(3))
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
    assert not told_in(SummarySection.DONE, *said, **more)
    assert told_in(SummarySection.NEXT, *said, **more) == [
        "Not done when this was last summarised: Added the fence around the orchard"
    ]
    assert any(
        "Added the fence" in line
        for line in told_in(SummarySection.DONE, *said, reply("All done."), user("thanks"), **more)
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


def listed(key: str, *items: tuple[str, str]) -> list[dict[str, Any]]:
    todos = [{"content": text, "status": status} for text, status in items]
    return [reply("", (key, "TodoWrite", {"todos": todos})), result(key, "ok")]


SUMMARISED = """\
## Current Work
The fence is half painted.

## Next Steps
1. Implement it for both orchards
2. Move the trees as told above
"""


def next_steps(*said: dict[str, Any], previous: str = SUMMARISED) -> list[str]:
    return told_in(SummarySection.NEXT, *said, previous=previous, previous_entry=EntryIndex(3))


def test_the_list_that_an_agent_makes_later_takes_the_place_of_what_a_summary_told() -> None:
    said = [user("go on with the fence"), *worked("rows.py", "a")]
    assert next_steps(*said) == ["Implement it for both orchards", "Move the trees as told above"]
    plan = listed("p", ("Paint the gate", "in_progress"), ("Oil the hinges", "pending"))
    assert next_steps(*said, *plan) == ["Paint the gate", "Oil the hinges"]
    context = told_in(SummarySection.CONTEXT, *said, *plan, previous=SUMMARISED, previous_entry=EntryIndex(3))
    # Not even as planned before: the list says what is still to be done.
    assert not any("Implement it for both orchards" in line for line in context)
    by_item = [
        reply("", ("p", "TaskCreate", {"subject": "Paint the gate", "description": ""})),
        result("p", "Task #1 created successfully: Paint the gate"),
    ]
    assert next_steps(*said, *by_item) == ["Paint the gate"]


def test_a_box_of_a_summary_stays_beside_the_list_of_the_agent() -> None:
    boxes = "## Next Steps\n- [ ] Dig the well of the orchard\n"
    said = [user("go on with the fence"), *listed("p", ("Paint the gate", "pending"))]
    assert set(next_steps(*said, previous=boxes)) == {"Dig the well of the orchard", "Paint the gate"}


def test_what_was_only_agreed_to_goes_on_before_the_next_request() -> None:
    work = worked("rows.py", "a")
    agreed = [user("can leave it"), *work, reply("Done. The trees are moved."), user("how tall are they?")]
    assert next_steps(*agreed) == []
    other = [user("paint the gate of the well"), *work, reply("Done."), user("how tall are the trees?")]
    assert next_steps(*other) == ["Implement it for both orchards", "Move the trees as told above"]
    asked = [user("can leave it"), *work, reply("Half of it. Shall I go on?")]
    assert next_steps(*asked) == ["Implement it for both orchards", "Move the trees as told above"]


def test_what_a_list_of_steps_quotes_of_the_user_is_no_step() -> None:
    quoted = '## Next Step\n1. Dig the well\n\nUser\'s exact question: "could we not dig it by the road?"\n'
    said = [user("go on"), *worked("rows.py", "a")]
    assert next_steps(*said, previous=quoted) == ["Dig the well"]
    context = told_in(SummarySection.CONTEXT, *said, previous=quoted, previous_entry=EntryIndex(3))
    assert any("by the road" in line for line in context)


def test_a_step_told_in_the_span_is_over_when_its_file_was_changed() -> None:
    """So it is for the gate; its line says the same."""
    told = [user("How could the docs be better?"), reply("A small follow-up: tighten docs/well.md.")]
    told += [user("fix the rows of the table first")]
    assert next_steps(*told, previous="") == ["A small follow-up: tighten docs/well.md."]
    assert next_steps(*told, *worked(f"{FOLDER}/docs/well.md", "b"), previous="") == []


CHECKLIST = {"path": f"{FOLDER}/plan.md", "content": "- [ ] Manual test of the pump\n- [ ] Tidy the shed\n"}


@pytest.mark.parametrize(
    ("words", "stays"),
    [
        ("wow, it works", False),
        ("jesus, everything works, you are a monster", False),
        ("does it work?", True),
        ("make sure it works", True),
        ("it works only on Linux", True),
        ("ok, that works for me", True),
    ],
)
def test_what_was_to_be_tried_by_hand_is_over_when_the_user_says_that_it_works(
    words: str, stays: bool
) -> None:
    said = [reply("", ("a", "write", CHECKLIST)), result("a", "written"), user(words)]
    assert ("Manual test of the pump" in left(*said, previous="")) is stays
    assert "Tidy the shed" in left(*said, previous="")


@pytest.mark.parametrize(
    ("words", "stays"),
    [
        ("skip the release note, paint the gate", False),
        ("ok, no need for a release note", False),
        ("Never mind the release note for the growers.", False),
        ("we don't need to write the release note", False),
        ("skip the release note for now", True),
        ("can we skip the release note?", True),
        ("skip the note", True),
        ("skip the tests of the release", True),
    ],
)
def test_a_step_that_the_user_takes_back_is_dropped(words: str, stays: bool) -> None:
    told = "## Next Steps\n- [ ] Write the release note for the growers\n- [ ] Dig the well\n"
    said = [user(words), *worked("rows.py", "a")]
    assert ("Write the release note for the growers" in left(*said, previous=told)) is stays
    assert "Dig the well" in left(*said, previous=told)
    if not stays:
        assert next_steps(*said, previous=told) == ["Dig the well"]


def test_tests_run_by_the_runner_of_a_project_are_tests() -> None:
    told = "## Next Steps\n1. Run tests to verify the pump\n2. Run lint on all of it\n"
    said = [user("go on"), *worked("rows.py", "a"), *ran("b", "mise run test 2>&1")]
    assert next_steps(*said, previous=told) == ["Run lint on all of it"]
    assert next_steps(*said, *ran("c", "mise run lint"), previous=told) == []


def test_a_short_question_is_what_was_asked_last() -> None:
    said = [
        user("could the change of the pump be related to the broken fence?"),
        *worked("rows.py", "a"),
        reply("Likely. The pump was changed last week."),
        user("which commit?"),
        reply("", ("b", "bash", {"command": "git log"})),
        result("b", "abc"),
    ]
    (line,) = told_in(SummarySection.IN_PROGRESS, *said)
    assert line.startswith("Last request: which commit? (asked before: could the change of the pump")


def test_who_says_that_it_works_asks_for_nothing() -> None:
    said = [user("Paint the fence of the orchard white"), *worked("fence.py", "z"), reply("Done.")]
    said += [user("move the old trees to the new field"), *worked("rows.py", "a"), reply("They are moved.")]
    assert not any(
        "works" in line for line in told_in(SummarySection.IN_PROGRESS, *said, user("wow, it works"))
    )
    asked = told_in(SummarySection.IN_PROGRESS, *said, user("oil the gate"))
    assert asked == ["Last request: oil the gate"]


def test_a_request_that_went_on_in_a_branch_is_not_in_progress() -> None:
    asked = [user("Paint the fence of the orchard white"), *worked("fence.py", "z"), reply("Done.")]
    asked += [user("copy the trees of the orchard to the new field"), *worked("rows.py", "a")]
    assert told_in(SummarySection.IN_PROGRESS, *asked)
    came_back = {"role": "branchSummary", "summary": "The trees were moved on another branch.", "fromId": "x"}
    assert told_in(SummarySection.IN_PROGRESS, *asked, came_back, user("ok")) == []


def span_at(session: Session, at: int) -> Span:
    """All that the model saw at an entry, as if a compaction replaced it there."""
    messages: list[SpanMessage] = []
    previous, previous_entry = "", EntryIndex(-1)
    for message in context_at(session, at).messages:
        body = message_body(session, message)
        if message.role == "compactionSummary":
            previous, previous_entry = split_enclosed(message_text(body))[0], message.entry
        elif message.sent and message.role != "system":
            messages.append(SpanMessage(message.entry, body))
    return Span(messages, previous, previous_entry, plan_before(session, messages), cwd=session.cwd)


@pytest.mark.parametrize(
    ("file", "at", "gone"),
    [
        ("pi/before-compaction.jsonl", 662, ("Create directories", "Move files", "Test via")),
        ("pi/branched-compacted.jsonl", 668, ("Manual test",)),
        ("real/claude/entireio__cli__b8_659b3a4dd4.jsonl", 211, ("Implement for both",)),
        ("real/claude/entireio__cli__b8_659b3a4dd4.jsonl", 333, ("Verify the JSON", "Verify hookData")),
        ("real/claude/entireio__cli__13_340918e71b.jsonl", 228, ("Run tests to verify",)),
        ("real/claude/entireio__cli__a7_98c50803fd.jsonl", 131, ("User's exact question",)),
        ("real/codex/jdx__mise__49_42d2638f78.jsonl", 193, ("A small follow-up",)),
    ],
)
def test_no_step_that_was_done_in_a_real_session(
    corpora: Path, file: str, at: int, gone: tuple[str, ...]
) -> None:
    """At places where these were done, as the messages above them say."""
    path = corpora / file
    with closing(agent_of(path).open(path)) as session:
        text = Extractive().summarize(span_at(session, at), 1000).text
    steps = [line for section, line, _ in read_outline(text) if section is SummarySection.NEXT]
    assert not [line for line in steps if line.startswith(gone)]


def test_a_step_of_which_the_agent_sees_that_it_is_done_is_over() -> None:
    looked = [reply("The fence is already in place.", ("a", "read", {"path": "rows.txt"})), result("a", "3")]
    previous = EARLIER + "- We still need to put the fence in place behind the rows\n"
    assert "We still need to put the fence in place behind the rows" in left(previous=previous)
    step = "We still need the `frostTable` import of rows"
    said = reply("The `frostTable` import is already in place.", ("a", "read", {"path": "rows.txt"}))
    assert step in left(previous=f"## Next Steps\n- {step}\n")
    assert step not in left(said, result("a", "3"), previous=f"## Next Steps\n- {step}\n")
    assert FENCE in left(*looked)
