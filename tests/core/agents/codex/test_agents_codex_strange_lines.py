"""Codex: lines that nobody here has seen, wherever they stand. All that others say stays as it is, and they are shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.codex.entries.record_words import event_words
from leafward.session.entries import Kind
from leafward.session.headlines.entry_headline import headline
from tests.codex_rollout import Rollout
from tests.foreign_sessions import problems, said
from tests.surroundings import THOROUGH

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session

STAMP = "2026-11-21T10:00:30.000Z"


def line(type_: str, **payload: Any) -> bytes:
    return json.dumps({"timestamp": STAMP, "type": type_, "payload": payload}).encode() + b"\n"


STRANGE = {
    "hologram": line("hologram", colour="plum"),
    "event_msg hologram": line("event_msg", type="hologram", colour="plum"),
    "response_item hologram": line("response_item", type="hologram", colour="plum"),
    "event_msg item_completed Hologram": line(
        "event_msg", type="item_completed", item={"type": "Hologram", "id": "h", "colour": "plum"}
    ),
}
KNOWN = {
    "sub_agent_activity": line("event_msg", type="sub_agent_activity", colour="plum"),
    "hook_completed": line("event_msg", type="hook_completed", colour="plum"),
    "model_reroute": line("event_msg", type="model_reroute", colour="plum"),
    "item_completed": line("event_msg", type="item_completed", item={"type": "Sleep", "colour": "plum"}),
    "response_item": line("response_item", type="additional_tools", colour="plum"),
    "security_risk_score": line("security_risk_score", colour="plum"),
    "realtime_item": line("realtime_item", type="transcript_segment", colour="plum"),
}


def talk(folder: Path, *, count_first: bool) -> Rollout:
    """Two turns with calls side by side, of which one fails; token counts ahead of the items (to 0.58) or behind them."""
    rollout = Rollout(folder)
    for number in range(1, 3):
        rollout.event("task_started", turn_id=f"turn_{number}")
        rollout.prompt(f"Count the pears {number}")
        if count_first:
            rollout.count(number * 1000)
        rollout.event("agent_message", message=f"Let me see {number}")
        rollout.said(f"Let me see {number}", "assistant")
        for call in ("a", "b"):
            rollout.item("function_call", name="count", arguments="{}", call_id=f"{call}{number}")
        if not count_first:
            rollout.count(number * 1000)
        rollout.event("mcp_tool_call_end", call_id=f"a{number}", result={"Err": "no pears"})
        rollout.item("function_call_output", call_id=f"a{number}", output="no pears")
        rollout.item("function_call_output", call_id=f"b{number}", output="seven")
        rollout.event("agent_message", message=f"Seven {number}")
        rollout.said(f"Seven {number}", "assistant")
        rollout.count(number * 1000 + 500)
        rollout.event("task_complete", turn_id=f"turn_{number}")
    return rollout


def told(session: Session) -> list[Any]:
    """All that was said, with what each reply cost and each call ended in."""
    bodies = [session.body(index) or {} for index in range(len(session))]
    messages = [body["message"] for body in bodies if "message" in body]
    return [
        said(session),
        [(one["role"], one.get("usage"), one.get("isError")) for one in messages],
        session.branches,
    ]


@pytest.mark.parametrize("count_first", [False, True])
@pytest.mark.parametrize("name", [*STRANGE, *KNOWN])
def test_a_line_between_others_changes_nothing_that_they_say(
    tmp_path: Path, name: str, *, count_first: bool
) -> None:
    rollout = talk(tmp_path, count_first=count_first)
    expected = told(rollout.opened())
    lines = rollout.path.read_bytes().splitlines(keepends=True)
    strange = {**STRANGE, **KNOWN}[name]
    # Each kind of line at other places, unless all are tried.
    first, step = (1, 1) if THOROUGH else (1 + len(name) % 3, 3)
    for place in range(first, len(lines) + 1, step):
        rollout.path.write_bytes(b"".join([*lines[:place], strange, *lines[place:]]))
        session = rollout.opened()
        assert told(session) == expected, place
        (entry,) = (index for index in range(len(session)) if "plum" in str(session.body(index)))
        kind, note = (Kind.UNKNOWN, {"unknown-record": 1}) if name in STRANGE else (Kind.CUSTOM, {})
        assert session.columns.kind[entry] == kind, place
        shown = headline(session, entry).text
        assert shown == (f"codex.{name}" if name in STRANGE else event_words(name) or name.replace("_", " "))
        assert problems(session) == note
        assert b"plum" in session.raw(entry)
        assert rollout.path.read_bytes()[session.origin(entry).offset :].startswith(strange), place
        session.close()


def test_what_was_spoken_is_shown_and_not_sent(tmp_path: Path) -> None:
    """The words of a voice conversation (0.171 stores them) are no messages of the thread."""
    rollout = Rollout(tmp_path)
    rollout.turn("Count the pears", "Seven.")
    rollout.line("realtime_item", type="transcript_segment", role="user", text="And the plums?")
    session = rollout.opened()
    assert headline(session, len(session) - 1).text == "user: And the plums?"
    assert [text for _, text in said(session)] == ["Count the pears", "Seven."]
    assert problems(session) == {}


@pytest.mark.parametrize("order", ["ends first", "ends last", "counts between"])
def test_calls_side_by_side_end_as_is_said_of_each(tmp_path: Path, order: str) -> None:
    rollout = Rollout(tmp_path)
    rollout.prompt("Count the pears")
    for call in ("a", "b"):
        rollout.item("function_call", name="count", arguments="{}", call_id=call)
    steps = {
        "ends first": ["end a", "end b", "out a", "out b"],
        "ends last": ["out a", "out b", "end a", "end b"],
        "counts between": ["end a", "count", "out a", "end b", "count", "out b"],
    }[order]
    for step in steps:
        verb, _, call = step.partition(" ")
        if verb == "count":
            rollout.count(1000)
        elif verb == "end":
            result: dict[str, Any] = {"Err": "no pears"} if call == "a" else {"Ok": {"content": []}}
            rollout.event("mcp_tool_call_end", call_id=call, result=result)
        else:
            rollout.item("function_call_output", call_id=call, output="it was so")
    rollout.reply("Seven.")
    session = rollout.opened()
    results = [
        (session.body(index) or {})["message"]
        for index, kind in enumerate(session.columns.kind)
        if kind == Kind.TOOL_RESULT
    ]
    assert [(one["toolCallId"], one["isError"]) for one in results] == [("a", True), ("b", False)]
    at = rollout.size
    rollout.turn("And the plums?", "None.")
    session.refresh()
    assert at < rollout.size
    assert told(session) == told(rollout.opened())


def test_what_a_compaction_holds_of_a_type_that_is_not_known_is_shown(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.turn("one", "first")
    rollout.line(
        "compacted", message="a summary", replacement_history=[{"type": "hologram", "colour": "plum"}]
    )
    assert ("custom", '[hologram] {"colour":"plum"}') in said(rollout.opened())
