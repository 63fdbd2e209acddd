"""Claude Code: rows in shapes that the stored transcripts do not have. All of it is shown, and nothing made a branch."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from leafward.agents.claude.entries.contents import native_usage
from leafward.agents.claude.entries.records import misses_files
from leafward.agents.model_window import context_window
from leafward.base.config import Config
from leafward.context.entry_metrics import EntryMetrics
from leafward.context.model_context import context_at
from leafward.context.sizes import Sizes
from leafward.session.entries import Kind
from leafward.session.headlines.entry_headline import headline
from tests.claude_transcript import Transcript
from tests.core.catalogued import cards_in
from tests.foreign_sessions import problems, said

if TYPE_CHECKING:
    from pathlib import Path

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"type": "document", "source": {"type": "content", "content": [text("pears")]}}, "pears"),
        (
            {"type": "search_result", "source": "notes", "title": "Pears", "content": [text("seven")]},
            "Pears\nnotes\nseven",
        ),
        ({"type": "hologram", "colour": "green"}, '[hologram] {"colour":"green"}'),
    ],
)
def test_blocks_of_every_kind_are_shown(tmp_path: Path, block: dict[str, Any], words: str) -> None:
    transcript = Transcript(tmp_path)
    transcript.row("user", message={"role": "user", "content": [text("see"), block]})
    transcript.call("Fetch", "c")
    result = {"type": "tool_result", "tool_use_id": "c", "content": [block]}
    transcript.row("user", message={"role": "user", "content": [result]})
    shown = [one for role, one in said(transcript.opened()) if role != "assistant"]
    assert shown == [f"see\n{words}", words]


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (
            {
                "type": "web_search_tool_result",
                "content": [
                    {
                        "type": "web_search_result",
                        "title": "Pears",
                        "url": "https://p.example",
                        "encrypted_content": "E",
                    }
                ],
            },
            "Pears\nhttps://p.example",
        ),
        (
            {"type": "web_search_tool_result", "content": {"type": "failure", "error_code": "too_many"}},
            '[failure] {"error_code":"too_many"}',
        ),
        (
            {
                "type": "bash_code_execution_tool_result",
                "content": {
                    "type": "bash_code_execution_result",
                    "stdout": "7",
                    "stderr": "odd",
                    "return_code": 0,
                },
            },
            "7\nodd",
        ),
        (
            {
                "type": "web_fetch_tool_result",
                "content": {
                    "type": "web_fetch_result",
                    "url": "https://p.example",
                    "content": {"type": "document", "source": {"type": "text", "data": "seven pears"}},
                },
            },
            "https://p.example\nseven pears",
        ),
    ],
)
def test_results_of_tools_that_the_service_runs_are_shown(
    tmp_path: Path, block: dict[str, Any], words: str
) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("How many?")
    transcript.block({"type": "server_tool_use", "id": "s", "name": "web", "input": {}}, "m")
    transcript.block({"tool_use_id": "s", **block}, "m", "end_turn")
    assert said(transcript.opened()) == [("user", "How many?"), ("assistant", f"web()\n{words}")]


@pytest.mark.parametrize(
    ("content", "words"), [(text("seven"), "seven"), (7, "7"), (None, ""), ([["a"]], '["a"]'), (["a"], "a")]
)
def test_results_of_every_type_are_shown(tmp_path: Path, content: Any, words: str) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("How many?")
    transcript.call("Count", "c")
    block = {"type": "tool_result", "tool_use_id": "c", "content": content}
    transcript.row("user", message={"role": "user", "content": [block]})
    assert said(transcript.opened())[-1] == ("toolResult", words)


@pytest.mark.parametrize(
    ("attachment", "words"),
    [
        (
            {
                "type": "hook_blocking_error",
                "blockingError": {"blockingError": "no pears", "command": "lint"},
            },
            "no pears\nlint",
        ),
        (
            # `@pear.png` in a prompt of 2.1.332, which has no rendered text.
            {
                "type": "file",
                "filename": "/home/ada/orchard/pear.png",
                "content": {"type": "image", "file": {"base64": "aGk=", "type": "image/png"}},
            },
            "/home/ada/orchard/pear.png\n[image image/png, 2 bytes]",
        ),
        (
            {"type": "relevant_memories", "memories": [{"path": "p.md", "content": "seven"}]},
            "p.md\nseven",
        ),
    ],
)
def test_attachments_say_all_that_they_hold(tmp_path: Path, attachment: dict[str, Any], words: str) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("Count the pears")
    transcript.reply("Seven.")
    transcript.row("attachment", attachment=attachment)
    assert said(transcript.opened())[-1] == ("custom", words)


@pytest.mark.parametrize("kind", [{}, ["text"], 5, None])
def test_a_type_need_be_no_text(tmp_path: Path, kind: Any) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("Count the pears")
    transcript.block({"type": kind, "text": "Seven."}, "m")
    transcript.block(text("And so on."), "m", "end_turn", uuid=kind)
    transcript.row("attachment", attachment={"type": kind, "content": "odd"})
    transcript.row("attachment", attachment={"type": "hook_success", "hookEvent": kind, "content": "odd"})
    transcript.call("Count", "c")
    result = {"type": "tool_result", "tool_use_id": "c", "content": "8", "is_error": True}
    transcript.row("user", message={"role": "user", "content": [result]}, toolDenialKind=kind)
    shown = [words for _, words in said(transcript.opened())]
    assert shown[:2] == ["Count the pears", "Seven.\nAnd so on."]
    assert shown[-1] == "8"


def test_what_is_only_shown_is_not_sent(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("Count the pears")
    failed = {"role": "assistant", "model": "<synthetic>", "content": [text("API Error: 529")]}
    transcript.row("assistant", message=failed, isApiErrorMessage=True)
    transcript.prompt("virtual", isVirtual=True)
    transcript.prompt("Go on")
    transcript.row("assistant", message={**failed, "content": [text("No response requested.")]})
    context = context_at(transcript.opened())
    assert [message.sent for message in context.messages] == [True, False, False, True, True]


@pytest.mark.parametrize("failed", [{"isApiErrorMessage": True}, {}])
def test_a_reply_that_claude_code_wrote_itself_is_of_no_model(tmp_path: Path, failed: dict[str, Any]) -> None:
    """A limit, an error of the service or "No response requested.": the next request goes to the model before it."""
    transcript = Transcript(tmp_path)
    transcript.defaults = {"version": "2.1.290"}
    transcript.prompt("Count the pears")
    asked = {"id": "m", "role": "assistant", "model": "claude-opus-4-7", "content": [text("Seven.")]}
    transcript.row("assistant", message=asked)
    [before] = cards_in(tmp_path, tmp_path / "one")
    itself = {"role": "assistant", "model": "<synthetic>", "content": [text("You've hit your session limit")]}
    for number in range(3):
        transcript.prompt("Go on")
        transcript.row("assistant", message={**itself, "id": f"s{number}"}, **failed)
    session = transcript.opened()
    context = context_at(session)
    assert (context.provider, context.model) == ("anthropic", "claude-opus-4-7")
    assert context_window(session, context, Config()).tokens == 1_000_000
    assert Sizes(session, EntryMetrics(session)).outline(session.leaf).model == (
        "anthropic",
        "claude-opus-4-7",
    )
    [card] = cards_in(tmp_path, tmp_path / "two")
    assert (before.model, card.model) == ("claude-opus-4-7", "claude-opus-4-7")


def test_rows_of_a_reply_that_are_written_late_or_early_stand_where_they_hang(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("one")
    transcript.block({"type": "thinking", "thinking": "Which?", "signature": "s"}, "m")
    rows = [
        transcript.text_of("assistant", message={"id": "m", "role": "assistant", "content": [block]})
        for block in (
            text("Both."),
            {"type": "tool_use", "id": "a", "name": "Read", "input": {}},
            {"type": "tool_use", "id": "b", "name": "Read", "input": {}},
        )
    ]
    for row in (rows[2], rows[0], rows[1]):
        transcript.raw(row.encode() + b"\n")
    transcript.result("a")
    transcript.result("b")
    transcript.reply("two")
    session = transcript.opened()
    reply = session.columns.kind.index(Kind.ASSISTANT)
    content = (session.body(reply) or {})["message"]["content"]
    assert [block.get("id") or block["type"] for block in content] == ["thinking", "text", "a", "b"]
    assert session.branches == 0


@pytest.mark.parametrize("ahead", [1, 3])
def test_unknown_rows_ahead_of_the_conversation_are_no_branch(tmp_path: Path, ahead: int) -> None:
    transcript = Transcript(tmp_path)
    transcript.row("mode", mode="normal")
    for number in range(ahead):
        transcript.row("brand-new", value=number)
    transcript.turn("Count the pears", "Seven.")
    transcript.row("brand-new", value="behind")
    transcript.turn("And plums?", "Two.")
    session = transcript.opened()
    assert (len(list(session.tree.leaves())), session.branches) == (1, 0)
    assert [words for _, words in said(session)] == ["Count the pears", "Seven.", "And plums?", "Two."]
    assert problems(session) == {"unknown-record": 1}


@pytest.mark.parametrize("stamp", [1_763_719_200, 1_763_719_200_000])
def test_times_that_are_numbers(tmp_path: Path, stamp: int) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("Count the pears", timestamp=stamp)
    session = transcript.opened()
    body = session.body(0) or {}
    assert (body["timestamp"], body["message"]["timestamp"]) == (
        "2025-11-21T10:00:00.000Z",
        1_763_719_200_000,
    )
    assert session.header["timestamp"] == body["timestamp"]


@pytest.mark.parametrize(
    ("attachment", "words", "head"),
    [
        ({"type": "opened_file_in_ide", "filename": "/o/a.py"}, "/o/a.py", "opened file in ide: /o/a.py"),
        (
            {
                "type": "selected_lines_in_ide",
                "filename": "/o/a.py",
                "lineStart": 3,
                "lineEnd": 4,
                "content": "x\ny",
            },
            "/o/a.py lines 3 to 4\nx\ny",
            "selected lines in ide: /o/a.py lines 3 to 4",
        ),
        (
            {"type": "selected_lines_in_ide", "filename": "a", "lineStart": None, "content": "x" * 5000},
            "a\n" + "x" * 2000,
            "selected lines in ide: a",
        ),
        (
            {
                "type": "diagnostics",
                "files": [
                    {
                        "uri": "file:///o/a.py",
                        "diagnostics": [{"severity": "Error", "message": "no pear"}, {"message": "ripe"}, 5],
                    },
                    {"uri": "b", "diagnostics": []},
                    "odd",
                ],
            },
            "/o/a.py\nError no pear\nripe",
            "diagnostics: /o/a.py",
        ),
        ({"type": "date_change", "newDate": "2026-11-22"}, "2026-11-22", "date change: 2026-11-22"),
        ({"type": "plan_mode", "planFilePath": "p.md"}, "p.md", "plan mode: p.md"),
        (
            {"type": "hook_success", "hookEvent": "SessionStart", "content": "It rains."},
            "It rains.",
            "hook success: It rains.",
        ),
        (
            {"type": "deferred_tools_delta", "addedLines": ["Pick", "Weigh"], "removedNames": ["Sow"]},
            "Pick\nWeigh\nSow",
            "tools that are loaded on demand: Pick",
        ),
        (
            {"type": "agent_listing_delta", "addedLines": ["- picker: picks"], "removedTypes": []},
            "- picker: picks",
            "kinds of sub-agents: - picker",
        ),
        (
            {"type": "mcp_instructions_delta", "addedBlocks": ["## orchard\nAsk first."], "removedNames": []},
            "## orchard\nAsk first.",
            "instructions of MCP servers: ## orchard",
        ),
        (
            {
                "type": "async_hook_response",
                "response": {"systemMessage": "Late.", "hookSpecificOutput": {"additionalContext": "Rain."}},
            },
            "Late.\nRain.",
            "async hook response: Late.",
        ),
        (
            {"type": "mcp_resource", "content": {"contents": [{"text": "seven pears"}, {"blob": "AAAA"}]}},
            "seven pears",
            "mcp resource: seven pears",
        ),
        (
            {"type": "task_status", "taskId": "t1", "status": "completed", "description": "Pick"},
            "t1\ncompleted\nPick",
            "task status: t1 completed Pick",
        ),
        (
            {"type": "background_shell_status", "taskId": "b1", "command": "npm start", "status": "running"},
            "b1\nnpm start\nrunning",
            "background shell status: b1 npm start running",
        ),
        (
            {"type": "async_agent_status", "agentId": "a1", "description": "Pick", "status": "completed"},
            "a1\nPick\ncompleted",
            "async agent status: a1 Pick completed",
        ),
        (
            {"type": "tool_search_usage_reminder", "undiscoveredToolNames": ["Pick", "Prune"]},
            "Pick\nPrune",
            "tool search usage reminder: Pick Prune",
        ),
        (
            {"type": "memory_update", "summary": "Pears noted", "paths": ["/m/pears.md"]},
            "Pears noted\n/m/pears.md",
            "memory update: Pears noted /m/pears.md",
        ),
        ({"type": "token_usage", "used": 5, "total": 9, "remaining": 4}, "5 9 4", "token usage: 5 9 4"),
    ],
)
def test_what_an_attachment_told_is_injected(
    tmp_path: Path, attachment: dict[str, Any], words: str, head: str
) -> None:
    """Before 2.1.3xx the words were sent and not stored: what the fields say stands for them."""
    transcript = Transcript(tmp_path)
    transcript.prompt("Count the pears")
    transcript.reply("Seven.")
    transcript.row("attachment", attachment=attachment)
    session = transcript.opened()
    at = len(session) - 1
    assert said(session)[-1] == ("custom", words)
    assert session.columns.kind[at] == Kind.INJECTED
    assert headline(session, at).text.startswith(head)


def test_what_a_hook_said_is_nobodys_prompt(tmp_path: Path) -> None:
    """1.0.98 stores it under the user's name, ahead of the prompt and behind it, and sends both."""
    transcript = Transcript(tmp_path)
    transcript.prompt("<session-start-hook>It is sunny.</session-start-hook>")
    transcript.prompt("Count the pears")
    transcript.prompt(
        "<user-prompt-submit-hook>It rains.</user-prompt-submit-hook>", isVisibleInTranscriptOnly=True
    )
    transcript.reply("Seven.")
    session = transcript.opened()
    prompts = [index for index, kind in enumerate(session.columns.kind) if kind == Kind.USER]
    assert [headline(session, index).text for index in prompts] == ["Count the pears"]
    assert [text.partition(">")[2].partition("<")[0] or text for _, text in said(session)] == [
        "It is sunny.",
        "Count the pears",
        "It rains.",
        "Seven.",
    ]


@pytest.mark.parametrize(
    "head", ["Edit operation feedback:", "mcp__pears__count operation feedback:", "Stop hook feedback:"]
)
def test_what_a_hook_had_against_a_call_is_nobodys_prompt(tmp_path: Path, head: str) -> None:
    """1.0.38 to 2.0.14 store it under the user's name, and send it."""
    transcript = Transcript(tmp_path)
    transcript.prompt(f"{head.removesuffix(':')} is what I want")
    transcript.call("Edit", "c1", file_path="pears.txt")
    transcript.prompt(f"{head}\n- The linter complains about pears.")
    transcript.result("c1")
    transcript.reply("Edited.")
    session = transcript.opened()
    assert session.columns.kind.count(Kind.USER) == 1
    assert ("custom", f"{head}\n- The linter complains about pears.") in said(session)
    assert problems(session) == {}


def test_a_hooks_words_that_begin_with_their_kind_do_not_have_it_twice(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("Count the pears")
    words = "<system-reminder>\nSessionStart:startup hook success: It rains.\n</system-reminder>"
    transcript.row("attachment", attachment={"type": "hook_success"}, rendered=[{"content": words}])
    session = transcript.opened()
    assert headline(session, len(session) - 1).text == "SessionStart:startup hook success: It rains."


@pytest.mark.parametrize(
    "attachment",
    [
        {"type": "opened_file_in_ide", "filename": None},
        {"type": "selected_lines_in_ide"},
        {"type": "diagnostics", "files": []},
        {"type": "diagnostics", "files": {"a": 1}},
        {"type": "auto_mode", "reminderType": "full"},
        {"type": "command_permissions", "allowedTools": []},
        {"type": "context_tip", "content": "Prune in winter."},
        {"type": "prompt_as_file", "path": "/tmp/p.txt", "text": "Count"},
        {"type": "hook_success", "hookEvent": "PostToolUse", "content": "linted"},
        {"type": "hook_system_message", "hookEvent": "Stop", "content": "Well done."},
        {"type": "hook_error_during_execution", "hookEvent": "PreToolUse", "content": "no such file"},
        {"type": "already_read_file", "content": {"type": "text", "file": {"content": "seven"}}},
    ],
)
def test_what_was_not_sent_or_says_nothing_of_it_is_bookkeeping(
    tmp_path: Path, attachment: dict[str, Any]
) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("Count the pears")
    transcript.row("attachment", attachment=attachment)
    assert said(transcript.opened()) == [("user", "Count the pears")]


def test_what_was_stored_as_sent_counts(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("Count the pears")
    opened = {"type": "opened_file_in_ide", "filename": "/o/a.py"}
    transcript.row("attachment", attachment=opened, rendered=[{"content": "It was opened."}])
    assert "It was opened." in [words for _, words in said(transcript.opened())]


def test_records_and_what_is_added_are_told_in_plain_words(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.prompt("one")
    transcript.attachment("pruning: cut in winter", "skill_listing")
    transcript.row("queue-operation", operation="enqueue")
    transcript.row("api-request", model="pear")
    session = transcript.opened()
    told = [headline(session, index).text for index in range(1, len(session))]
    assert told == [
        "skills: pruning: cut in winter",
        "change of the prompt queue",
        "request to the model",
    ]


@pytest.mark.parametrize(
    "field", ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"]
)
def test_a_count_below_zero_is_none(field: str) -> None:
    counts = {
        "input_tokens": 50,
        "cache_creation_input_tokens": 7,
        "cache_read_input_tokens": 20,
        "output_tokens": 5,
    }
    usage = native_usage({**counts, field: -1})
    assert usage is not None
    assert usage["totalTokens"] == sum(counts.values()) - counts[field]
    assert min(usage[key] for key in ("input", "output", "cacheRead", "cacheWrite")) == 0


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_files_that_a_snapshot_misses_are_looked_for_however_its_row_is_spaced(
    separators: tuple[str, str],
) -> None:
    snapshot = {"trackedFileBackups": {"pears.txt": {"backupFileName": None, "version": 1}}}
    row = {"type": "file-history-snapshot", "snapshot": snapshot, "isSnapshotUpdate": False}
    assert misses_files(json.dumps(row, separators=separators).encode())
