"""The search of all text: what is found, in which part of an entry, and what narrows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.claude_transcript import Transcript
from tests.codex_rollout import Rollout
from tests.opencode_store import Conversation, Database, call
from tests.pi_file import HEADER, PiFile
from tests.searched import ROADS, found, parts

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def file(tmp_path: Path) -> PiFile:
    return PiFile(tmp_path / "session.jsonl")


def called(file: PiFile, name: str, output: str = "", *, failed: bool = False, **arguments: object) -> None:
    """A call and its result."""
    content = [{"type": "toolCall", "id": "c", "name": name, "arguments": arguments}]
    file.entry("message", message={"role": "assistant", "content": content, "stopReason": "toolUse"})
    file.entry(
        "message",
        message={
            "role": "toolResult",
            "toolCallId": "c",
            "toolName": name,
            "content": [{"type": "text", "text": output}],
            "isError": failed,
        },
    )


def test_every_part_of_an_entry_is_searched(file: PiFile, tmp_path: Path) -> None:
    file.user("needle in a prompt")
    content = [{"type": "thinking", "thinking": "a needle, hm"}, {"type": "text", "text": "no"}]
    file.entry("message", message={"role": "assistant", "content": content, "stopReason": "stop"})
    called(file, "bash", "the needle was printed", command="cat needle.txt")
    file.entry("compaction", summary="## Goal\nfind the needle", firstKeptEntryId="00000001", tokensBefore=1)
    file.entry("branch_summary", fromId="00000001", summary="needle left")
    file.entry("custom_message", customType="x", content="a needle was put in", display=True)
    file.entry("label", targetId="00000001", label="needle!")
    file.entry("session_info", name="The Needle")
    file.entry(
        "message", message={"role": "bashExecution", "command": "grep needle", "output": "", "exitCode": 1}
    )
    file.entry("message", message={"role": "system", "content": "you are a needle"})
    (session,) = found("NEEDLE", tmp_path)
    assert [hit.part for hit in session.hits] == [
        "prompt", "thinking", "call", "result", "summary", "summary", "injected", "name", "name", "call", "system",
    ]  # fmt: skip
    assert [(hit.kind, hit.role) for hit in session.hits[:3]] == [
        ("message", "user"), ("message", "assistant"), ("message", "assistant"),
    ]  # fmt: skip
    for hit in session.hits:
        assert [hit.text[start:stop].lower() for start, stop in hit.spans] == ["needle"]
    assert [parts(f"needle in:{part}", tmp_path)[0][1] for part in ("summary", "name", "call")] == [
        "needle", "needle", "needle",
    ]  # fmt: skip
    assert len(parts("needle in:summary", tmp_path)) == 2


def test_tools_errors_and_files_narrow(file: PiFile, tmp_path: Path) -> None:
    called(file, "read", "ENOENT: no such file", failed=True, path="src/theme.ts")
    called(file, "bash", "no such luck", command="ls src/theme.ts")
    called(file, "edit", "done", path="/home/ada/orchard/src/Theme.ts", oldText="one", newText="such")
    called(file, "mcp__github__search_code", "such code", query="q")
    assert parts("such error:", tmp_path) == [("result", "such")]
    assert parts('error:"no such"', tmp_path) == [("result", "no such")]
    assert parts("such tool:bash", tmp_path) == [("result", "such")]
    assert parts("such tool:edit", tmp_path) == [("call", "such")]
    assert parts("tool:search_code such", tmp_path) == [("result", "such")]
    assert parts("tool:mcp__* such", tmp_path) == [("result", "such")]
    assert parts("file:src/theme.ts", tmp_path) == [
        ("call", "src/theme.ts"), ("call", "/home/ada/orchard/src/Theme.ts"),
    ]  # fmt: skip
    assert parts("file:src/theme.ts tool:read", tmp_path) == [("call", "src/theme.ts")]
    assert [part for part, _ in parts("error:", tmp_path)] == ["result"]
    assert [part for part, _ in parts("tool:bash", tmp_path)] == ["call", "result"]
    assert parts("such not:luck not:code not:such", tmp_path) == []
    assert len(parts("such not:luck", tmp_path)) == 3


@pytest.mark.parametrize("road", ROADS)
def test_a_failed_call_is_found_by_the_file_that_it_touched(file: PiFile, tmp_path: Path, road: str) -> None:
    called(file, "read", "ENOENT: no such file", failed=True, path="src/a.py")
    called(file, "read", "import os", path="src/a.py")
    # Names of calls may be given again.
    called(file, "read", "EACCES: not allowed", failed=True, path="src/b.py")
    called(file, "bash", "cat: cannot open", failed=True, command="cat elsewhere")
    called(file, "edit", "no match in src/a.py", failed=True, path="src/a.py", oldText="x", newText="y")

    def hits(text: str) -> list[tuple[str, str, str]]:
        return [
            (hit.part, hit.tool, hit.text)
            for session in found(text, tmp_path, road=road)
            for hit in session.hits
        ]

    failures = [
        ("result", "read", "ENOENT: no such file"),
        ("result", "edit", "no match in src/a.py"),
    ]
    assert hits("error: file:src/A.py") == failures
    assert hits("error: file:a.py in:result") == failures
    assert hits("error: file:a.py tool:read") == failures[:1]
    assert hits('error:"no match" file:a.py') == failures[1:2]
    assert hits("tool:read error:") == [failures[0], ("result", "read", "EACCES: not allowed")]
    assert hits("error: file:c.py") == []
    assert [tool for _, tool, _ in hits("file:src/a.py")] == ["read", "read", "edit"]


@pytest.mark.parametrize("road", ROADS)
def test_a_failed_call_of_other_agents_is_found_by_its_file(tmp_path: Path, road: str) -> None:
    transcript = Transcript(tmp_path / "claude")
    transcript.prompt("look at it")
    transcript.call("Read", "c1", file_path="/home/ada/src/a.py")
    transcript.result("c1", "File does not exist.", failed=True)
    rollout = Rollout(tmp_path / ".codex")
    rollout.turn("look", "yes")
    rollout.call(
        "shell", {"command": ["bash", "-lc", "cat src/a.py"]}, "Exit code: 1\nOutput:\ncat: no such file"
    )
    talk = Conversation("ses_one")
    talk.ask("read it")
    talk.reply(call("read", status="error", error="not found", filePath="/home/ada/src/a.py"))
    Database(tmp_path / "opencode").write(talk)
    sessions = found("error: file:src/a.py", tmp_path, road=road)
    assert sorted((session.card.agent, hit.part, hit.tool) for session in sessions for hit in session.hits) == [
        ("claude", "result", "Read"), ("codex", "result", "shell"), ("opencode", "result", "read"),
    ]  # fmt: skip


def test_a_reply_that_failed_is_an_error(file: PiFile, tmp_path: Path) -> None:
    message = {"role": "assistant", "content": [], "stopReason": "error", "errorMessage": "529 overloaded"}
    file.user("go on, overloaded")
    file.entry("message", message=message)
    assert parts("overloaded error:", tmp_path) == [("reply", "overloaded")]


def test_all_words_in_one_entry_come_before_words_all_over_the_session(tmp_path: Path) -> None:
    one, two, three = (PiFile(tmp_path / f"{name}.jsonl", HEADER | {"id": name}) for name in "abc")
    one.user("stripe webhook")
    one.reply("webhook only")
    two.user("stripe")
    two.reply("webhook")
    three.user("stripe")
    for road in ROADS:
        hits = {
            session.card.id: [hit.entry for hit in session.hits]
            for session in found("stripe webhook", tmp_path, road=road)
        }
        assert hits == {"a": ["00000001"], "b": ["00000001", "00000002"]}


def test_a_phrase_goes_on_over_line_ends(file: PiFile, tmp_path: Path) -> None:
    file.user("the rate\n   limit")
    file.reply("a limit of the rate")
    assert parts('"rate limit"', tmp_path) == [("prompt", "rate\n   limit")]
    assert len(parts("rate limit", tmp_path)) == 2


def test_patterns_ignore_case_and_know_lines(file: PiFile, tmp_path: Path) -> None:
    file.user("first\nRetrying in 30s")
    file.reply("retry in 5s")
    assert parts(r"/retry(ing)? in \d+s/", tmp_path) == [
        ("prompt", "Retrying in 30s"), ("reply", "retry in 5s"),
    ]  # fmt: skip
    assert parts(r"re:^retry\w+", tmp_path) == [("prompt", "Retrying")]
    assert parts(r're:"in \d+s$"', tmp_path) == [("prompt", "in 30s"), ("reply", "in 5s")]
