"""Codex from 0.153 on, `multi_agent_v2`: a sub-agent's task comes as an item of its own, encrypted, behind what its parent had said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.base import SessionCandidate
from leafward.context.model_context import context_at, uncertainties
from leafward.doctor.session_problems import check
from leafward.session.entries import Kind
from leafward.session.headlines.entry_headline import headline
from leafward.session.headlines.session_title import title_of
from tests.codex_rollout import CODEX, THREADS, Rollout
from tests.foreign_sessions import problems

if TYPE_CHECKING:
    from pathlib import Path

ONE, TWO = THREADS[:2]
TASK = "Message Type: NEW_TASK\nTask name: /lead/apples\nSender: /lead\nPayload:\n"
SEALED = {"type": "encrypted_content", "encrypted_content": "gAAAAA"}


def handed(child: Rollout, text: str, *more: dict[str, Any]) -> None:
    """An item as one agent sends it to another."""
    child.line("inter_agent_communication_metadata", trigger_turn=True)
    content = [{"type": "input_text", "text": text}, *more]
    child.item("agent_message", author="/lead", recipient="/lead/apples", content=content)


@pytest.fixture
def child(tmp_path: Path) -> Rollout:
    """A thread up to where its own begins: what it was given ends with the call that made it."""
    link = {"subagent": {"thread_spawn": {"parent_thread_id": ONE, "depth": 1, "agent_path": "/lead/apples"}}}
    meta: dict[str, Any] = {
        "forked_from_id": ONE,
        "source": link,
        "thread_source": "subagent",
        "history_mode": "paginated",
    }
    rollout = Rollout(tmp_path, TWO, first=0, subagent_history_start_ordinal=7, **meta)
    rollout.event("task_started", turn_id="one")
    rollout.said("<environment_context>here</environment_context>")
    kinds = {"content_item_kinds": ["user.text"]}
    content = [{"type": "input_text", "text": "count the pears"}]
    rollout.item("message", role="user", content=content, internal_chat_message_metadata_passthrough=kinds)
    rollout.item("function_call", name="spawn_agent", arguments="{}", call_id="call_1")
    rollout.event("turn_aborted", turn_id="one", reason="interrupted")
    rollout.said("You are now a newly spawned child agent.", "developer")
    rollout.event("task_started", turn_id="two")
    return rollout


@pytest.mark.parametrize(
    ("text", "more", "told"),
    [
        (TASK, [SEALED], "apples (encrypted)"),
        (TASK.replace("Task name: /lead/apples\n", ""), [SEALED], "task (encrypted)"),
        (TASK + "pick the apples", [], "pick the apples"),
    ],
    ids=["encrypted", "nameless", "plain"],
)
def test_a_task_begins_a_turn_and_names_the_thread(
    child: Rollout, text: str, more: list[dict[str, Any]], told: str
) -> None:
    handed(child, text, *more)
    child.said("picked", "assistant")
    session = child.opened()
    task = session.source.task
    assert session.inherited <= task
    assert session.columns.kind[task] == Kind.USER
    assert headline(session, task) == ("task", told, "")
    assert title_of(session) == told
    assert session.tree.prompts_upto(session.leaf) == 2
    look = CODEX.peek(SessionCandidate(str(child.path), [child.size, 1, 1], "codex"))
    assert look is not None
    assert look.prompt == told
    assert not problems(session)


def test_a_call_without_result_is_a_fault_of_a_sub_agent_where_it_is_its_own(child: Rollout) -> None:
    """The call that made it, in what it was given, has its result in the thread of its parent."""
    handed(child, TASK, SEALED)
    child.item("function_call", name="exec_command", arguments="{}", call_id="call_2")
    child.prompt("and the plums")
    session = child.opened()
    (problem,) = [one for one in check(session) if one.code == "dangling-call"]
    assert "exec_command" in problem.text


def test_a_later_task_is_called_one_too(child: Rollout) -> None:
    """Another one for the same sub-agent: it is none of what a person typed."""
    handed(child, TASK, SEALED)
    child.said("picked", "assistant")
    handed(child, TASK, SEALED)
    child.prompt("and the plums")
    session = child.opened()
    prompts = [index for index, kind in enumerate(session.columns.kind) if kind == Kind.USER]
    assert [headline(session, index).word for index in prompts] == ["you", "task", "task", "you"]


def test_other_messages_of_agents_begin_none(child: Rollout) -> None:
    handed(child, TASK, SEALED)
    child.said("picked", "assistant")
    handed(
        child, "Message Type: FINAL_ANSWER\nTask name: /lead/apples\nSender: /lead/apples\nPayload:\n", SEALED
    )
    session = child.opened()
    assert session.tree.prompts_upto(session.leaf) == 2
    assert session.columns.kind[-1] == Kind.INJECTED


def test_a_call_without_output_is_said_with_what_stands_in_its_place(child: Rollout) -> None:
    """Codex sends one in the place of each that is missing, here of the call that made the sub-agent."""
    handed(child, TASK, SEALED)
    child.said("picking", "assistant")
    child.item("function_call", name="exec_command", arguments="{}", call_id="call_2")
    session = child.opened()
    call = session.columns.kind.index(Kind.ASSISTANT)
    (note,) = [one for one in uncertainties(session, context_at(session)) if one.code == "open-calls"]
    name = session.columns.id(call)
    assert (
        note.text
        == f'1 call has no result here: spawn_agent ({name}); the model is sent "aborted" in its place'
    )
    child.prompt("and the plums")
    session = child.opened()
    notes = [one.text for one in uncertainties(session, context_at(session))]
    assert any(text.startswith("2 calls have no result here: ") for text in notes)
