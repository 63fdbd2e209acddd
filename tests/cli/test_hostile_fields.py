"""Every string of a session, hostile: nothing that a terminal could act on reaches stdout or stderr, as text or as JSON."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

import pytest

from tests.acting import call
from tests.claude_transcript import Transcript
from tests.codex_rollout import Rollout
from tests.opencode_store import Conversation, Database, said
from tests.opencode_store import call as opencode_call
from tests.pi_file import HEADER, PiFile

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.conftest import Outcome, Run

HOSTILE = (
    "w\x1b[31m\x1b]0;title\x07\x1b]8;;http://evil\x1b\\x\x1b]52;c;cm0gLXJm\x07\x1bP+q\x1b\\ \x9b2J\x9d52;c;eA\x9c"
    "\u202eevil\u2066\u200b\u2028\x7f\x08\x00\r\nnext\U000e0041"
)
ACTS = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060\u2066-\u2069\ufeff\U000e0000-\U000e007f]"
)
NAME = HOSTILE.replace("/", ":").replace("\x00", "")


def pi(folder: Path) -> Path:
    there = folder / "w" / NAME
    there.mkdir(parents=True)
    file = PiFile(
        folder / f"{NAME}.jsonl", HEADER | {"cwd": str(there), "id": HOSTILE, "parentSession": HOSTILE}
    )
    file.user(HOSTILE)
    file.entry("model_change", provider=HOSTILE, modelId=HOSTILE)
    file.entry(
        "message",
        message={
            "role": "assistant",
            "model": HOSTILE,
            "provider": HOSTILE,
            "content": [
                {"type": "text", "text": HOSTILE},
                {"type": "thinking", "thinking": HOSTILE},
                call("read", HOSTILE, path=HOSTILE),
                call("edit", "e", path=HOSTILE, oldText=HOSTILE, newText=HOSTILE),
                call("bash", "b", command=f"cat {HOSTILE}"),
                call(HOSTILE, "c", **{HOSTILE: HOSTILE}),
                {"type": "image", "mimeType": HOSTILE, "data": HOSTILE},
                {"type": HOSTILE},
            ],
            "stopReason": HOSTILE,
            "errorMessage": HOSTILE,
        },
    )
    for one in (HOSTILE, "e", "b", "c"):
        result = {
            "role": "toolResult",
            "toolCallId": one,
            "toolName": HOSTILE,
            "content": HOSTILE,
            "isError": one == "b",
        }
        file.entry("message", message=result)
    file.entry(
        "message", message={"role": "bashExecution", "command": HOSTILE, "output": HOSTILE, "exitCode": 1}
    )
    file.entry("custom_message", customType=HOSTILE, content=HOSTILE, display=True)
    file.entry("custom", customType=HOSTILE, data={HOSTILE: HOSTILE})
    file.entry("branch_summary", fromId=HOSTILE, summary=HOSTILE)
    file.entry(HOSTILE, x=HOSTILE)
    file.reply(HOSTILE)
    file.entry("compaction", summary=f"## Goal\n{HOSTILE}", firstKeptEntryId="00000003", tokensBefore=1)
    file.entry("label", targetId="00000001", label=HOSTILE)
    file.entry("session_info", name=HOSTILE)
    file.user(HOSTILE)
    file.raw(HOSTILE)
    file.raw(
        json.dumps(
            {
                "type": "message",
                "id": HOSTILE,
                "parentId": HOSTILE,
                "message": {"role": "user", "content": HOSTILE},
            }
        )
    )
    file.user("aside " + HOSTILE, parent="00000003")
    file.reply(HOSTILE)
    file.user(HOSTILE, parent="00000003")
    file.reply("end")
    return file.path


def claude(folder: Path) -> Path:
    made = Transcript(folder / ".claude", folder=f"projects/{NAME}")
    made.defaults = {"cwd": f"/w/{HOSTILE}", "gitBranch": HOSTILE, "version": HOSTILE, "slug": HOSTILE}
    made.turn(HOSTILE, HOSTILE)
    made.call("Bash", "1", command=HOSTILE, description=HOSTILE)
    made.result("1", HOSTILE, failed=True)
    made.call(HOSTILE, "2", file_path=HOSTILE)
    made.result("2", HOSTILE)
    made.row("summary", summary=HOSTILE, leafUuid=HOSTILE)
    made.row(HOSTILE, x=HOSTILE)
    made.boundary(HOSTILE)
    made.turn(HOSTILE, "end")
    return made.path


def codex(folder: Path) -> Path:
    made = Rollout(
        folder / ".codex",
        cwd=f"/w/{HOSTILE}",
        originator=HOSTILE,
        cli_version=HOSTILE,
        model_provider=HOSTILE,
    )
    made.line("turn_context", cwd=HOSTILE, model=HOSTILE, approval_policy=HOSTILE)
    made.turn(HOSTILE, HOSTILE)
    made.call("shell", {"command": ["bash", "-lc", HOSTILE]}, HOSTILE)
    made.call(HOSTILE, {HOSTILE: HOSTILE}, HOSTILE, call=HOSTILE)
    made.event(HOSTILE, message=HOSTILE)
    made.line(HOSTILE, x=HOSTILE)
    made.turn(HOSTILE, "end")
    return made.path


def opencode(folder: Path) -> Path:
    talk = Conversation("ses_one", directory=f"/w/{NAME}", title=HOSTILE, version=HOSTILE)
    talk.turn(HOSTILE)
    talk.ask(HOSTILE)
    talk.reply(said(HOSTILE), opencode_call("write", filePath=HOSTILE, content=HOSTILE, number=1))
    talk.reply(opencode_call(HOSTILE, HOSTILE, number=2), {"type": HOSTILE, "text": HOSTILE})
    talk.compaction(HOSTILE)
    talk.reply(said("end"))
    return Database(folder / "opencode").write(talk)


SESSIONS = {"pi": pi, "claude": claude, "codex": codex, "opencode": opencode}

READING = [
    *(("tree",), ("tree", "--entries"), ("show",), ("show", "#0"), ("show", "#2"), ("context",), ("files",)),
    *(("diff", "#1", "#2"), ("diff", "leaf", "#1", "--what", "outcome"), ("diff", "leaf", "#1", "--what", "contents")),
    *(("diff", "leaf", "#1", "--what", "context"), ("diff", "leaf", "#1", "--what", "summary")),
    *(("diff", "leaf", "#1", "--patch", "a"), ("select", "prompts()"), ("plan",), ("compact", "--dry-run"), ("survival",), ("exam",), ("heal", "--dry-run", "--cwd", "/")),
    *(("inject",), ("summarize", "--from", "leaf", "--to", "#1"), ("log",), ("doctor",), ("export",), ("resume", "--print")),
    *(("fork", "leaf", "--dry-run", "--cwd", "/"), ("fork", "leaf", "--dry-run", "--to", "codex", "--cwd", "/")),
    *(("move", "#1", "--dry-run"), ("undo", "--dry-run"), ("label", "#1", HOSTILE, "--dry-run")),
    *(("name", HOSTILE, "--dry-run"), ("archive", "#1", "--dry-run"), ("delete", "--dry-run"), ("keep", "--dry-run")),
    *(("edit-context", "#1", "--text", HOSTILE, "--dry-run"), ("graft", "#1", "--dry-run"), ("show", HOSTILE)),
    *(("export", "--at", HOSTILE), ("select", HOSTILE), ("files", "--at", "leaf", "--contents"), ("resume",)),
    *(("restore", "#1", "--dry-run", "--diff"), ("restore", "leaf", HOSTILE, "--dry-run"), ("restore", "--undo")),
    *(("bisect", "--good", "#0", "--bad", "leaf", "true"), ("bisect", "--good", "#0", "--bad", "leaf", "--base", HOSTILE, "true")),
]  # fmt: skip


def acts(outcome: Outcome) -> list[str]:
    """Sequences that a terminal could act on; ours uses no colour here, and `export` writes an ordinary text."""
    return ACTS.findall(outcome.out) + ACTS.findall(outcome.err)


def verbs(path: Path) -> Iterator[tuple[str, ...]]:
    for name, *rest in READING:
        for form in ((), ("--json",)):
            yield (name, str(path), *rest, *form)
    for form in ((), ("--json",)):
        yield ("blame", __file__, "--among", str(path.parent), *form)
    for words in (
        ("ls",),
        ("search", "end"),
        ("search", "evil"),
        ("ls", "--totals"),
        ("ls", "--query", HOSTILE),
    ):
        for form in ((), ("--json",)):
            yield (*words, str(path.parent), *form) if "--totals" not in words else (*words, *form)


@pytest.mark.skipif(os.name != "posix", reason="file names that other systems do not take")
@pytest.mark.parametrize("agent", SESSIONS)
def test_no_verb_passes_it_on(run: Run, tmp_path: Path, agent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = SESSIONS[agent](tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    done = 0
    for words in verbs(path):
        outcome = run(*(word.replace("\x00", "") for word in words))
        assert acts(outcome) == [], words
        assert "unforeseen" not in outcome.err, (words, outcome.err)
        done += outcome.code == 0
        if "--json" in words and outcome.code == 0:
            json.loads(outcome.out)
    assert done >= 50, "most verbs must have got as far as the text"


@pytest.mark.skipif(os.name != "posix", reason="file names that other systems do not take")
@pytest.mark.parametrize("agent", SESSIONS)
def test_no_verb_that_writes_passes_it_on(run: Run, tmp_path: Path, agent: str) -> None:
    path = SESSIONS[agent](tmp_path)
    written = 0
    for words in (
        *(("label", "#1", HOSTILE), ("name", HOSTILE), ("move", "#1"), ("undo",), ("redo",), ("archive", "#2")),
        *(("edit-context", "#1", "--text", HOSTILE), ("compact",), ("log",), ("keep",), ("tree",), ("undo", "--json")),
        *(("fork", "leaf", "--cwd", str(tmp_path)), ("doctor",), ("delete",)),
    ):  # fmt: skip
        name, *rest = (word.replace("\x00", "") for word in words)
        outcome = run(name, path, *rest)
        assert acts(outcome) == [], words
        assert "unforeseen" not in outcome.err, (words, outcome.err)
        written += outcome.code == 0
    assert written >= 6
