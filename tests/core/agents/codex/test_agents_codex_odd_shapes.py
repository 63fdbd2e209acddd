"""Codex: records in shapes that the stored sessions do not have. All of it is shown, and nothing twice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.recognition import agent_of
from leafward.base.config import Config
from leafward.base.times import iso_time
from leafward.catalogue.listing import Catalogue
from leafward.session.entries import Kind
from leafward.session.foreign import outcomes
from tests.codex_rollout import CODEX, THREADS, Rollout, bare, opened
from tests.foreign_sessions import problems, said
from tests.forks import made, terms

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "prompt",
    ["Warning: the build fails, why?", "<hook> tags do not parse", "# AGENTS.md instructions are too long"],
)
@pytest.mark.parametrize("early", [False, True])
def test_what_was_typed_is_the_users_once_however_it_begins(
    tmp_path: Path, prompt: str, *, early: bool
) -> None:
    rollout = Rollout(tmp_path)
    rollout.said("<environment_context>x</environment_context>")
    if early:
        rollout.event("user_message", message=prompt, images=[])
        rollout.said(prompt)
    else:
        rollout.prompt(prompt)
    rollout.reply("I look.")
    assert said(rollout.opened())[1:] == [("user", prompt), ("assistant", "I look.")]


@pytest.mark.parametrize("early", [False, True])
def test_a_prompt_of_several_parts_is_there_once(tmp_path: Path, *, early: bool) -> None:
    parts = [{"type": "input_text", "text": text} for text in ("Count the pears", "and plums")]
    rollout = Rollout(tmp_path)
    for first in (early, not early):
        if first:
            rollout.event("user_message", message="Count the pearsand plums", images=[])
        else:
            rollout.item("message", role="user", content=parts)
    rollout.reply("Nine.")
    [(role, text), *rest] = said(rollout.opened())
    assert (role, "".join(text.split())) == ("user", "Countthepearsandplums")
    assert rest == [("assistant", "Nine.")]


def test_what_codex_puts_in_is_nobodys_prompt_though_a_prompt_stands_in_it(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.said("<environment_context>orchard</environment_context>")
    rollout.event("user_message", message="orchard", images=[])
    rollout.reply("Yes.")
    assert said(rollout.opened()) == [
        ("custom", "<environment_context>orchard</environment_context>"),
        ("user", "orchard"),
        ("assistant", "Yes."),
    ]


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({"type": "refusal", "refusal": "I will not."}, "I will not."),
        (
            {"type": "input_file", "filename": "pears.pdf", "file_data": "data:;base64,AAAA"},
            "[file pears.pdf]",
        ),
        ({"type": "hologram", "colour": "green"}, '[hologram] {"colour":"green"}'),
        ("pears", "pears"),
    ],
)
def test_parts_of_every_kind_are_shown(tmp_path: Path, part: Any, text: str) -> None:
    rollout = Rollout(tmp_path)
    rollout.item("message", role="user", content=[part])
    rollout.item("message", role="assistant", content=[part])
    assert [one for _, one in said(rollout.opened())] == [text, text]


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (None, ""),
        (42, "42"),
        (["pears"], "pears"),
        ({"pears": 7}, '{"pears":7}'),
        ({"content": "seven"}, "seven"),
    ],
)
def test_outputs_of_every_type_are_shown(tmp_path: Path, output: Any, text: str) -> None:
    rollout = Rollout(tmp_path)
    rollout.item("function_call", name="count", arguments="{}", call_id="c")
    rollout.item("function_call_output", call_id="c", output=output)
    assert said(rollout.opened())[1] == ("toolResult", text)


@pytest.mark.parametrize("effort", ["item", "line"])
def test_a_change_of_the_effort_within_a_reply_is_metadata_and_does_not_divide_it(
    tmp_path: Path, effort: str
) -> None:
    """Codex 0.171 can write both; neither is a word of the conversation."""
    rollout = Rollout(tmp_path)
    rollout.prompt("Count the pears")
    rollout.said("I look.", "assistant")
    if effort == "item":
        rollout.item("configuration_update", reasoning={"effort": "low"})
    else:
        rollout.line("retained_context", event={"type": "x"})
    rollout.item("function_call", name="shell", arguments="{}", call_id="call_1")
    session = rollout.opened()
    kinds = [Kind(one) for one in session.columns.kind]
    assert Kind.UNKNOWN not in kinds
    assert kinds.count(Kind.ASSISTANT) == 1
    assert problems(session) == {"dangling-call": 1}


@pytest.mark.parametrize(
    ("name", "space", "output", "failed"),
    [
        ("spawn_agent", "collaboration", '{"task_name":"/lead/pears"}', False),
        ("spawn_agent", "collaboration", "agent thread limit reached", True),
        ("wait_agent", "multi_agent_v1", '{"status":{},"timed_out":true}', False),
        ("wait_agent", "multi_agent_v1", "agent ids must be non-empty", True),
        ("send_message", "collaboration", "", False),
        ("update_goal", None, "cannot update goal because this thread has no goal", True),
        ("update_goal", None, '{"goal":null}', False),
        ("send_message", "mcp__orchard", "sent", False),
        ("shell", None, "exec command rejected by user", True),
    ],
)
def test_a_tool_that_answers_with_an_object_failed_where_it_gives_a_reason_in_words(
    tmp_path: Path, name: str, space: str | None, output: str, *, failed: bool
) -> None:
    rollout = Rollout(tmp_path)
    rollout.prompt("Help me")
    named = {"namespace": space} if space else {}
    rollout.item("function_call", name=name, arguments="{}", call_id="call_1", **named)
    rollout.item("function_call_output", call_id="call_1", output=output)
    session = rollout.opened()
    result = next(index for index in range(len(session)) if session.columns.kind[index] == Kind.TOOL_RESULT)
    assert (session.body(result) or {})["message"]["isError"] is failed
    told = outcomes(session)
    assert told is not None
    assert told(result) == ("call_1", failed)


@pytest.mark.parametrize(
    ("result", "failed"),
    [
        ({"Ok": {"content": []}}, False),
        ({"Ok": {"content": [], "is_error": True}}, True),
        ({"Ok": {"content": [], "isError": True}}, True),
        ({"Ok": {"content": [], "isError": False}}, False),
        ({"Err": "no such server"}, True),
        (None, False),
    ],
)
def test_tools_of_other_servers_fail(tmp_path: Path, result: Any, *, failed: bool) -> None:
    rollout = Rollout(tmp_path)
    rollout.item("function_call", name="orchard__count", arguments="{}", call_id="c")
    rollout.event("mcp_tool_call_end", call_id="c", result=result)
    rollout.item("function_call_output", call_id="c", output="it was so")
    session = rollout.opened()
    body = session.body(session.columns.kind.index(Kind.TOOL_RESULT)) or {}
    assert body["message"]["isError"] is failed


@pytest.mark.parametrize("output", ["aborted by user after 3.2s", "Wall time: 3.2 seconds\naborted by user"])
def test_a_call_that_was_stopped_did_not_go_well(tmp_path: Path, output: str) -> None:
    rollout = Rollout(tmp_path)
    rollout.call("shell", {"command": ["cat", "pears.txt"]}, output)
    rollout.call("shell", {"command": ["cat", "log.txt"]}, f"it said: {output}", "call_2")
    session = rollout.opened()
    results = [index for index, kind in enumerate(session.columns.kind) if kind == Kind.TOOL_RESULT]
    assert [(session.body(index) or {})["message"]["isError"] for index in results] == [True, False]


@pytest.mark.parametrize("kind", [{}, ["message"], 5])
def test_a_type_need_be_no_text(tmp_path: Path, kind: Any) -> None:
    rollout = Rollout(tmp_path)
    rollout.turn("Count the pears", "Seven.")
    rollout.line("response_item", type=kind)
    rollout.line("event_msg", type=kind)
    rollout.line("compacted", message="S", replacement_history=[{"type": kind}, {"type": "message"}])
    assert ("compactionSummary", "S") in said(rollout.opened())


@pytest.mark.parametrize("name", ["../../../elsewhere", "/elsewhere", "..", "", "\0", "\ud800", "x" * 400])
def test_an_id_that_is_no_name_of_a_file_leads_nowhere(tmp_path: Path, name: str) -> None:
    rollout = Rollout(tmp_path, id=name)
    rollout.turn("Count the pears", "Seven.")
    path = rollout.path.rename(tmp_path / "loose.jsonl")
    session = opened(path)
    assert said(session) == [("user", "Count the pears"), ("assistant", "Seven.")]
    home = tmp_path / "home" / "deep" / "down"
    made(session, session.place, "codex", terms(home), tmp_path)
    written = {file for file in tmp_path.rglob("*") if file.is_file()} - {path}
    assert written
    assert all(file.is_relative_to(home) for file in written)


def test_a_compaction_keeps_each_of_several_prompts_that_say_the_same(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    prompts = ["go on", "go on", "stop", "go on"]
    for prompt in prompts:
        rollout.turn(prompt, "Yes.")
    kept = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        for text in ["go on", "stop", "go on", "go on", "S"]
    ]
    rollout.line("compacted", message="S", replacement_history=kept)
    session = rollout.opened()
    users = [index for index, kind in enumerate(session.columns.kind) if kind == Kind.USER]
    compaction = session.columns.kind.index(Kind.COMPACTION)
    names = (session.body(compaction) or {})["projection"]["before"]
    index = [session.columns.index(name) for name in names]
    assert index == [users[0], users[2], users[1], users[3]]
    assert [text for _, text in said(session)] == ["go on", "stop", "go on", "go on", "S"]


# --- rollouts of before September 2025 ---


def test_items_that_are_lines_by_themselves(tmp_path: Path) -> None:
    rollout = bare(tmp_path)
    session = rollout.opened()
    assert said(session) == [
        ("custom", "<environment_context>\n  <cwd>/home/ada/orchard</cwd>\n</environment_context>"),
        ("user", "Count the pears"),
        ("assistant", "Where?\nshell(command=['cat', 'pears.txt'])"),
        ("toolResult", "seven\n"),
        ("assistant", "Seven."),
    ]
    assert (session.id, session.cwd) == (THREADS[0], "/home/ada/orchard")
    assert problems(session) == {}
    copy = tmp_path / "elsewhere" / "pears.jsonl"
    copy.parent.mkdir()
    copy.write_bytes(rollout.path.read_bytes())
    assert agent_of(copy) is CODEX
    catalogue = Catalogue(Config(), [tmp_path / "sessions"], index_path=tmp_path / "index")
    catalogue.refresh()
    [card] = catalogue.cards()
    assert (card.title, card.messages, card.project) == ("Count the pears", 4, "/home/ada/orchard")


def test_a_fork_of_them_is_one_that_codex_reads_now(tmp_path: Path) -> None:
    session = bare(tmp_path).opened()
    path = made(session, session.place, "codex", terms(tmp_path), tmp_path).draft.path
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line["type"] for line in lines] == ["session_meta"] + ["response_item"] * 6
    assert all(line["timestamp"] and line["payload"] for line in lines)
    assert lines[0]["payload"]["cwd"] == "/home/ada/orchard"
    assert said(opened(path)) == said(session)


@pytest.mark.parametrize("described", [True, False])
def test_a_thread_began_when_its_first_line_was_written_where_it_says_no_time(
    tmp_path: Path, *, described: bool
) -> None:
    """The list says it as soon as it looks at the file, and still when it read it."""
    path = tmp_path / "sessions" / f"rollout-2026-11-21T10-00-00-{THREADS[0]}.jsonl"
    path.parent.mkdir()
    meta = {"type": "session_meta", "payload": {"id": THREADS[0], "cwd": "/home/ada/orchard"}}
    said = {"type": "event_msg", "payload": {"type": "user_message", "message": "Count the pears"}}
    lines = [meta, said] if described else [said]
    stamped = [{"timestamp": f"2026-11-21T10:00:0{at}.000Z", **line} for at, line in enumerate(lines)]
    path.write_text("".join(json.dumps(line) + "\n" for line in stamped), "utf-8")
    catalogue = Catalogue(Config(roots={"codex": (str(tmp_path),)}), [tmp_path], index_path=tmp_path / "i")
    catalogue.refresh()
    [card] = catalogue.cards()
    assert not card.partial
    assert iso_time(card.created) == "2026-11-21T10:00:00.000Z"


@pytest.mark.parametrize(("other", "codes"), [(THREADS[1], ["joined-session"]), (THREADS[0], [])])
def test_lines_of_another_thread_in_the_same_file_are_named(
    tmp_path: Path, other: str, codes: list[str]
) -> None:
    """A description of the same thread is written again where it changes."""
    rollout = Rollout(tmp_path)
    rollout.prompt("Count the pears")
    rollout.reply("Seven")
    rollout.line("session_meta", id=other, cwd="/home/ada/orchard", cli_version="0.125.0")
    rollout.prompt("Count the plums")
    rollout.reply("Nine")
    session = opened(rollout.path)
    assert list(problems(session)) == codes
    assert [text for _, text in said(session)] == ["Count the pears", "Seven", "Count the plums", "Nine"]


def test_a_description_is_no_other_session_where_the_first_one_is_broken(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.prompt("Count the pears")
    rollout.reply("Seven")
    data = rollout.path.read_bytes()
    rollout.path.write_bytes(b"\0" * 8 + data[8:])
    rollout.line("session_meta", id=THREADS[0], cwd="/home/ada/orchard", cli_version="0.125.0")
    rollout.prompt("Count the plums")
    rollout.reply("Nine")
    assert "joined-session" not in problems(opened(rollout.path))


def test_what_a_fork_copied_is_no_other_session(tmp_path: Path) -> None:
    source = Rollout(tmp_path)
    source.prompt("Count the pears")
    source.reply("Seven")
    fork = Rollout(tmp_path, THREADS[1], minute=5, forked_from_id=THREADS[0])
    fork.raw(source.path.read_bytes())
    fork.prompt("Count the plums")
    assert not problems(opened(fork.path))
