"""The list that an agent keeps of its own work, written whole or item by item: what is open is what the agent's own list says."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.recognition import agent_of
from leafward.compaction.draft.gate import unseen
from leafward.compaction.exam.grade import exam_of_draft
from leafward.compaction.exam.questions import Topic
from leafward.compaction.plan.settings import PlanSettings
from leafward.session.entries import EntryIndex, Kind
from leafward.session.headlines.entry_headline import headline
from leafward.session.messages import messages_of
from leafward.summaries.facts.calls.agent_plan import AgentPlanItem
from leafward.summaries.facts.reader import FactReader
from leafward.summaries.facts.values import FactKind, gather
from leafward.summaries.fates.report import facts_of
from leafward.summaries.summarizers.outline import SummarySection
from leafward.summaries.survival.earlier_plan import plan_before
from leafward.summaries.survival.spans import SpanMessage, replaced_by
from tests.acting import Acting, call, reading
from tests.claude_transcript import Transcript, opened
from tests.core.compacted import drafted
from tests.core.told import FOLDER, reply, result, span, told_in, user

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.session.session import Session
    from leafward.summaries.facts.calls.agent_plan import Items

RECORDED = Path(__file__).parents[3] / "data" / "claude" / "2.1.332"
"""Claude Code with its tools for single items switched on, against a scripted model."""


def steps(*messages: dict[str, Any], plan: Items = ()) -> dict[str, tuple[bool, str]]:
    """Of each step of the last state whether it is open, and what became of it."""
    reader = FactReader(FOLDER, plan=plan)
    found = reader.earlier("", EntryIndex(-1))
    for place, message in enumerate(messages):
        found += reader.read(EntryIndex(place), message)
    return {fact.text: (fact.is_open, fact.outcome) for fact in gather(found) if fact.kind is FactKind.TODO}


def made(number: int, subject: str) -> tuple[tuple[str, str, dict[str, Any]], dict[str, Any]]:
    key = f"made{number}"
    given = {"subject": subject, "description": "in src/rows.py", "activeForm": "Working"}
    return (key, "TaskCreate", given), result(key, f"Task #{number} created successfully: {subject}")


def plan_of(*subjects: str) -> list[dict[str, Any]]:
    """A reply that makes all of the items, and the results."""
    both = [made(number, subject) for number, subject in enumerate(subjects, 1)]
    return [reply("", *(one for one, _ in both)), *(one for _, one in both)]


def change(key: str, answer: str | None = None, **given: Any) -> list[dict[str, Any]]:
    answer = f"Updated task #{given['taskId']} status" if answer is None else answer
    return [reply("", (key, "TaskUpdate", given)), result(key, answer)]


THREE = plan_of("Write the rows", "Count the rows", "Paint the fence")


def test_items_made_in_one_reply_are_told_apart_by_their_results() -> None:
    said = [*THREE, *change("a", taskId="2", status="completed"), *change("b", taskId="3", status="deleted")]
    assert steps(*said) == {
        "Write the rows": (True, ""),
        "Count the rows": (False, ""),
        "Paint the fence": (False, "dropped"),
    }


@pytest.mark.parametrize(
    "answer", ["Task not found", "Task #2 not found", "A hook says no.", "Interrupted: not changed."]
)
def test_a_change_counts_only_where_its_result_says_so(answer: str) -> None:
    """None of these is marked as an error."""
    assert steps(*THREE, *change("a", answer, taskId="2", status="completed"))["Count the rows"] == (True, "")


def test_an_item_that_was_not_made_is_none() -> None:
    failed = [reply("", made(1, "Write the rows")[0]), result("made1", "refused by a hook", failed=True)]
    assert steps(*failed) == {}
    assert steps(reply("", made(1, "Write the rows")[0])) == {}


def test_an_item_may_be_reopened_and_named_anew() -> None:
    again = [*change("a", taskId="1", status="completed"), *change("b", taskId="1", status="in_progress")]
    assert steps(*THREE, *again)["Write the rows"] == (True, "")
    renamed = steps(*THREE, *change("a", taskId="1", subject="Write all rows twice"))
    assert renamed["Write the rows"] == (False, "dropped")
    assert renamed["Write all rows twice"] == (True, "")


@pytest.mark.parametrize("state", [["completed"], {"is": "completed"}, 3, None])
def test_a_state_that_is_no_word_changes_nothing(state: object) -> None:
    given = {"taskId": "1", "status": state}
    change = [reply("", ("c", "TaskUpdate", given)), result("c", "Updated task #1 status")]
    assert steps(*plan_of("Port the lexer"), *change) == {"Port the lexer": (True, "")}


def test_what_waits_for_another_item_stays_open() -> None:
    answer = "Updated task #2 blockedBy"
    assert steps(*THREE, *change("a", answer, taskId="2", addBlockedBy=["1"]))["Count the rows"][0]


def test_of_two_items_with_the_same_words_one_may_be_left() -> None:
    twice = plan_of("Run the tests again", "Run the tests again")
    one = [*twice, *change("a", taskId="1", status="completed")]
    assert steps(*one) == {"Run the tests again": (True, "")}
    assert not steps(*one, *change("b", taskId="2", status="completed"))["Run the tests again"][0]


def test_states_and_ids_are_nobodys_names() -> None:
    said = [*THREE, *change("a", taskId="1", status="in_progress", owner="team_lead")]
    found = facts_of([SpanMessage(EntryIndex(at), one) for at, one in enumerate(said)], FOLDER)
    assert not [fact for fact in found if fact.kind in (FactKind.IDENTIFIER, FactKind.NUMBER)]
    assert [fact.text for fact in found if fact.kind is FactKind.PATH] == ["src/rows.py"]


def test_the_list_itself_says_what_is_there() -> None:
    """A sub-agent works on the same list, in a file of its own."""
    rows = "#1 [completed] Write the rows (ada)\n#4 [pending] Dig the well (by hand) [blocked by #1, #2]"
    listed = [reply("", ("l", "TaskList", {})), result("l", rows)]
    assert steps(*THREE, *listed) == {
        "Write the rows": (False, ""),
        "Count the rows": (False, "dropped"),
        "Paint the fence": (False, "dropped"),
        "Dig the well (by hand)": (True, ""),
    }
    empty = [reply("", ("l", "TaskList", {})), result("l", "No tasks found")]
    assert not any(is_open for is_open, _ in steps(*THREE, *empty).values())
    shown = [
        reply("", ("g", "TaskGet", {"taskId": "7"})),
        result("g", "Task #7: Dig the well\nStatus: pending\n"),
    ]
    assert steps(*shown) == {"Dig the well": (True, "")}


def test_a_list_that_was_written_whole_in_a_call_that_failed_is_taken_back() -> None:
    def written(key: str, *items: tuple[str, str], failed: bool = False) -> list[dict[str, Any]]:
        todos = [{"content": text, "status": status} for text, status in items]
        return [reply("", (key, "TodoWrite", {"todos": todos})), result(key, "said", failed)]

    before = written("a", ("Write the rows", "pending"), ("Count the rows", "pending"))
    wrong = written("b", ("Write the rows", "completed"), ("Paint the fence", "completed"), failed=True)
    assert steps(*before, *wrong) == {
        "Write the rows": (True, ""),
        "Count the rows": (True, ""),
        "Paint the fence": (False, "dropped"),
    }


def test_the_list_that_a_result_carries_counts() -> None:
    """pi's own extension changes a list item by item, and puts it beside the text of a result."""

    def shown(key: str, *items: dict[str, Any], **given: Any) -> list[dict[str, Any]]:
        answer = result(key, "Todo #1 completed") | {"details": {"todos": list(items), "nextId": 3}}
        return [reply("", (key, "todo", given)), answer]

    first = {"id": 1, "text": "Write the rows", "done": False}
    other = {"id": 2, "text": "Count the rows", "done": False}
    said = [*shown("a", first, action="add", text="Write the rows"), *shown("b", first, other, action="add")]
    assert steps(*said) == {"Write the rows": (True, ""), "Count the rows": (True, "")}
    said += shown("c", first | {"done": True}, other, action="toggle", id=1)
    assert steps(*said) == {"Write the rows": (False, ""), "Count the rows": (True, "")}
    assert steps(*said, *shown("d", action="clear"))["Count the rows"] == (False, "dropped")


def test_the_list_beside_a_result_is_in_the_summary() -> None:
    """Details are read for nothing else there."""
    item = {"id": 1, "text": "Write the rows of frost", "done": False}
    answer = result("a", "Todo #1 added") | {"details": {"todos": [item], "nextId": 2}}
    said = [user("draw the frost of the orchard"), reply("", ("a", "todo", {"action": "add"})), answer]
    assert "Write the rows of frost" in told_in(SummarySection.NEXT, *said)


@pytest.mark.parametrize("kind", ["task_reminder", "todo_reminder"])
def test_a_reminder_of_claude_code_shows_the_list(kind: str, tmp_path: Path) -> None:
    words = "subject" if kind == "task_reminder" else "content"
    items = [
        {
            "id": "1",
            words: "Write the rows",
            "description": "",
            "status": "completed",
            "blocks": [],
            "blockedBy": [],
        },
        {
            "id": "2",
            words: "Count the rows",
            "description": "",
            "status": "pending",
            "blocks": [],
            "blockedBy": [],
        },
    ]
    file = Transcript(tmp_path)
    file.prompt("draw the frost of the orchard")
    file.row("attachment", attachment={"type": kind, "content": items, "itemCount": 2})
    file.row("attachment", attachment={"type": kind, "content": [], "itemCount": 0})
    session = opened(file.path)
    messages = [
        message
        for entry in session.tree.path(session.leaf)
        for message in messages_of(session.body(entry) or {}, Kind(session.columns.kind[entry]))
    ]
    assert steps(*messages) == {"Write the rows": (False, ""), "Count the rows": (True, "")}


@pytest.mark.parametrize("around", ["{}", "Go on with the list: {} Keep to it."])
def test_a_list_that_a_tool_prints_counts(around: str) -> None:
    """opencode's reader leaves long details out; the text has them."""
    todos = [
        {"content": "Write the rows", "status": "completed"},
        {"content": "Count the rows", "status": "pending"},
    ]
    answer = result("a", around.format(json.dumps(todos))) | {"toolName": "todoread"}
    said = [reply("", ("a", "todoread", {})), answer]
    assert steps(*said) == {"Write the rows": (False, ""), "Count the rows": (True, "")}
    assert steps(*said[:1], answer | {"isError": True}) == {}
    assert steps(*said[:1], result("a", "no list") | {"toolName": "todoread"}) == {}


def test_why_a_plan_of_codex_changed_is_read_as_its_words() -> None:
    given = {
        "explanation": "We decided to keep the old table because the tests import it.",
        "plan": [{"step": "Port the tests", "status": "pending"}],
    }
    said = [SpanMessage(EntryIndex(1), reply("", ("p", "update_plan", given)))]
    found = {fact.kind: fact.text for fact in facts_of(said, FOLDER)}
    assert found[FactKind.TODO] == "Port the tests"
    assert found[FactKind.DECISION] == given["explanation"]


def test_a_summary_tells_what_is_next_and_what_is_done() -> None:
    said = [user("Prune the orchard, all of it"), *THREE, *change("a", taskId="1", status="completed")]
    assert told_in(SummarySection.NEXT, *said) == ["Count the rows", "Paint the fence"]
    assert any("Write the rows" in line for line in told_in(SummarySection.DONE, *said))


def test_a_change_behind_a_compaction_finds_its_item() -> None:
    before = (
        ("1", AgentPlanItem("Write the rows", is_open=True)),
        ("2", AgentPlanItem("Count the rows", is_open=True)),
    )
    after = change("a", taskId="2", status="completed")
    assert steps(*after, plan=before) == {"Count the rows": (False, "")}
    earlier = "## Next Steps\n- [ ] Count the rows\n- [ ] Paint the fence\n"
    told = told_in(SummarySection.NEXT, user("go on"), *after, previous=earlier, plan=before)
    assert told == ["Paint the fence"]
    assert span(*after, plan=before).plan == before


@pytest.fixture
def recorded() -> Iterator[Session]:
    (path,) = RECORDED.rglob("ad34f073-*.jsonl")
    with closing(agent_of(path).open(path)) as session:
        yield session


def _before(session: Session, at: int) -> Sequence[SpanMessage]:
    return [SpanMessage(EntryIndex(at), {**(session.body(EntryIndex(at)) or {}).get("message", {})})]


def test_the_real_agent_keeps_its_list_over_a_compaction(recorded: Session) -> None:
    """It makes, changes, deletes and renames items, with an id that is not there and a state that is none."""
    kinds = recorded.columns.kind
    (compaction,) = (at for at in range(len(recorded)) if kinds[at] == Kind.COMPACTION)
    there = replaced_by(recorded, compaction)
    assert there.plan == ()
    found = facts_of(there.messages, recorded.cwd)
    assert [fact.text for fact in found if fact.kind is FactKind.TODO] == [
        "Count the rows",
        "Tell the growers",
    ]
    replies = [at for at in range(compaction, len(recorded)) if kinds[at] == Kind.ASSISTANT]
    left = plan_before(recorded, _before(recorded, replies[0]))
    assert [(key, item.text, item.is_open) for key, item in left] == [
        ("1", "Write the rows", False),
        ("2", "Count the rows", True),
        ("3", "Tell the growers", True),
    ]
    below = [
        SpanMessage(EntryIndex(at), (recorded.body(EntryIndex(at)) or {})["message"])
        for at in range(replies[0], len(recorded))
        if kinds[at] in (Kind.ASSISTANT, Kind.TOOL_RESULT)
    ]
    found = facts_of(below, recorded.cwd, plan=left)
    assert [fact.text for fact in found if fact.kind is FactKind.TODO] == ["Tell the growers and the press"]


def test_on_a_branch_counts_what_is_on_its_path(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("Prune the orchard")
    file.said("", call("TaskCreate", "a", subject="Count the rows", description=""))
    fork = file.answered("a", "TaskCreate", "Task #1 created successfully: Count the rows")
    file.said("", call("TaskUpdate", "b", taskId="1", status="completed"))
    file.answered("b", "TaskUpdate", "Updated task #1 status")
    file.user("Not yet", parent=fork)
    end = file.said("", call("TaskUpdate", "c", taskId="1", subject="Count all rows"))
    with reading(file.path) as session:
        left = plan_before(session, _before(session, session.columns.index(end)))
    assert [(item.text, item.is_open) for _, item in left] == [("Count the rows", True)]


def test_what_stands_above_a_list_that_was_written_whole_is_not_read(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("Prune the orchard")
    for number, (text, failed) in enumerate((("first", False), ("second", False), ("third", True))):
        file.said("", call("TodoWrite", str(number), todos=[{"content": f"Dig the {text} well"}]))
        file.answered(str(number), "TodoWrite", "said", failed=failed)
        for turn in range(300):
            file.said(f"work {turn}", call("bash", f"{number}-{turn}", command="ls"))
            file.answered(f"{number}-{turn}", "bash")
    end = file.said("", call("TodoWrite", "e", todos=[{"content": "Fill the wells"}]))
    with reading(file.path) as session:
        left = plan_before(session, _before(session, session.columns.index(end)))
    assert [item.text for _, item in left] == ["Dig the second well"]


def test_gate_and_exam_know_the_items(tmp_path: Path) -> None:
    file = Acting(tmp_path / "s.jsonl")
    file.user("Prune the orchard. " * 4)
    file.said(
        call("TaskCreate", "a", subject="Mend the gate", description=""),
        call("TaskCreate", "b", subject="Oil the hinges", description=""),
    )
    file.answered("a", "TaskCreate", "Task #1 created successfully: Mend the gate")
    file.answered("b", "TaskCreate", "Task #2 created successfully: Oil the hinges")
    file.said("", call("TaskUpdate", "c", taskId="1", status="completed"))
    file.answered("c", "TaskUpdate", "Updated task #1 status")
    for turn in range(4):
        file.user(f"question {turn} " * 40)
        file.said(f"answer {turn} " * 40)
    with reading(file.path) as session:
        draft = drafted(session, PlanSettings(keep_recent=100))
        assert unseen(draft.survival) == ()
        (graded,) = (one for one in exam_of_draft(draft).graded if one.question.topic is Topic.NEXT_STEP)
    answers = graded.question.answers
    assert answers[graded.question.right].text == "Oil the hinges"
    assert {one.text for one in answers} == {"Oil the hinges", "Mend the gate"}


def test_a_row_that_names_an_item_by_its_id_says_its_words() -> None:
    (path,) = RECORDED.rglob("ad34f073-*.jsonl")
    with closing(agent_of(path).open(path)) as session:
        rows = [headline(session, entry).text for entry in session.tree.path(session.leaf)]
    assert "#1 in progress: Write the rows" in rows
    assert "#2 completed: Count the rows" in rows
    assert "#9 completed" in rows
    assert not any(row.count("Count the rows") > 1 for row in rows)
