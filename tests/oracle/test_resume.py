"""The real pi, resuming a session whose leaf was moved, sends exactly the context of the new leaf.

Runs where ``LEAFWARD_PI`` names the folder of an unpacked pi package (and node is at hand, or named by
``LEAFWARD_NODE``); skipped elsewhere.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests import reference_projection as reference
from tests.oracle.golden import SESSIONS
from tests.oracle.resume import Resumed, Sent, find_node, resume

PACKAGE = os.environ.get("LEAFWARD_PI")
NODE = find_node()
PROMPT = "What comes next?"

pytestmark = [
    pytest.mark.skipif(
        not PACKAGE or NODE is None, reason="LEAFWARD_PI names no pi package, or node is missing"
    ),
]
needs_cli = pytest.mark.skipif(
    not (find_spec("leafward") and find_spec("leafward.__main__")),
    reason="the leafward command is not installed",
)

PLACES = [
    ("branches", 6),
    ("branches", 8),
    ("branches", 12),
    ("branches", 28),
    ("branches", 41),
    ("compacted-twice", 15),
    ("compacted-twice", 24),
    ("compacted-twice", 33),
    ("compacted-twice", 37),
    ("edits-and-extras", 8),
    ("edits-and-extras", 20),
    ("edits-and-extras", 28),
    ("edits-and-extras", 35),
    ("rpc-errors", 4),
    ("rpc-errors", 15),
    ("rpc-errors", 19),
    ("retain-none", 10),
    ("retain-none", 13),
]


def expected_request(entries: list[reference.Entry], at: int | None) -> list[Sent]:
    """The request pi 1.5.2 makes of the context at an entry, without system messages and without the prompt.

    Replies that failed or were stopped are left out, and so are empty ones; a call without its result gets
    a made-up one; images of tool results follow in a user message.
    """
    sent: list[Sent] = []
    open_calls: list[str] = []
    pictures = 0

    def close() -> None:
        nonlocal pictures
        sent.extend(Sent("tool", "No result provided") for _ in open_calls)
        open_calls.clear()
        if pictures:
            sent.append(Sent("user", "Attached image(s) from tool result:", images=pictures))
        pictures = 0

    for _, message in reference.project(entries, at).messages:
        role, content = message["role"], message.get("content")
        if role == "system" or (text := reference.canonical(message)) is None:
            continue
        blocks = content if isinstance(content, list) else []
        words = "\n".join(block["text"] for block in blocks if block["type"] == "text") if blocks else text
        images = sum(block["type"] == "image" for block in blocks)
        if role == "toolResult":
            if message["toolCallId"] in open_calls:
                open_calls.remove(message["toolCallId"])
            sent.append(Sent("tool", words or "(see attached image)"))
            pictures += images
            continue
        close()
        if role == "assistant":
            if message["stopReason"] in ("error", "aborted") or not content:
                continue
            calls = [block for block in blocks if block["type"] == "toolCall"]
            text = "".join(block["text"] for block in blocks if block["type"] == "text")
            sent.append(Sent("assistant", text, tuple(call["name"] for call in calls)))
            open_calls.extend(call["id"] for call in calls)
        else:
            sent.append(Sent("user", words, images=images))
    close()
    return sent


def entries_of(path: Path) -> list[dict[str, Any]]:
    return reference.load(path.read_text("utf-8"))[1]


def resumed(path: Path) -> tuple[list[Sent], Resumed]:
    """The request pi makes, without system messages and the prompt, and everything it did."""
    assert PACKAGE
    result = resume(Path(PACKAGE), path, PROMPT, node=NODE)
    messages = [message for message in result.messages if message.role != "system"]
    assert messages[-1] == Sent("user", PROMPT)
    return messages[:-1], result


def leafward(home: Path, *arguments: str) -> dict[str, Any]:
    """Run the command line in an isolated home and read its one JSON document."""
    home.mkdir(exist_ok=True)
    environment = {**os.environ, "HOME": str(home), "LEAFWARD_HOME": str(home / "leafward")}
    ran = subprocess.run(
        [sys.executable, "-m", "leafward", *arguments, "--json"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    document: dict[str, Any] = json.loads(ran.stdout)
    return document


def assert_context_is_request(
    context: dict[str, Any], entries: list[dict[str, Any]], sent: list[Sent]
) -> None:
    """Each message of a request has its message in the context, in order; what is left over is never sent."""
    by_id = {entry["id"]: entry.get("message") or {} for entry in entries}
    left = [
        message
        for message in sent
        if message.text not in ("No result provided", "Attached image(s) from tool result:")
    ]
    for message in context["messages"]:
        source = by_id.get(message["entry"], {})
        if message["role"] == "system":
            continue
        role = {"assistant": "assistant", "toolResult": "tool"}.get(message["role"], "user")
        if (
            left
            and left[0].role == role
            and all(name in message["text"] for name in (left[0].text, *left[0].tools))
        ):
            left.pop(0)
            continue
        stopped = source.get("stopReason") in ("error", "aborted") or source.get("content") == []
        assert stopped or source.get("excludeFromContext"), f"not sent: {message}; next sent: {left[:1]}"
    assert left == []


@pytest.fixture
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of the stored session that the test names."""
    return Path(shutil.copy(SESSIONS / f"{request.param}.jsonl", tmp_path / "session.jsonl"))


@pytest.mark.parametrize(
    "session",
    ["branches", "compacted-twice", "edits-and-extras", "rpc-errors", "version-1", "version-2"],
    indirect=True,
)
def test_an_untouched_session_continues_from_its_last_line(session: Path) -> None:
    entries = entries_of(session)
    sent, _ = resumed(session)
    assert sent == expected_request(entries, len(entries) - 1)


@pytest.mark.parametrize(("session", "at"), PLACES, indirect=["session"])
def test_a_leaf_marker_moves_what_pi_sends(session: Path, at: int) -> None:
    entries = entries_of(session)
    marker = {
        "type": "custom",
        "id": "00000001",
        "parentId": entries[at]["id"],
        "timestamp": "2026-11-22T00:00:00.000Z",
    }
    data = {"from": entries[-1]["id"], "target": entries[at]["id"], "op": "move"}
    with session.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps({**marker, "customType": "leafward.leaf", "data": data}) + "\n")
    sent, result = resumed(session)
    assert sent == expected_request(entries, at)
    assert result.appended[0]["parentId"] == "00000001"


@needs_cli
@pytest.mark.parametrize(
    ("session", "at"), [*PLACES, ("version-1", 15), ("version-2", 20)], indirect=["session"]
)
def test_after_a_move_pi_sends_the_context_that_leafward_shows(
    session: Path, at: int, tmp_path: Path
) -> None:
    before = entries_of(session)
    moved = leafward(tmp_path / "home", "move", str(session), f"#{at}")
    context = leafward(tmp_path / "home", "context", str(session))
    sent, result = resumed(session)
    assert sent == expected_request(before, at)
    assert_context_is_request(context, entries_of(session), sent)
    assert result.appended[0]["parentId"] == moved["leaf"]


@needs_cli
@pytest.mark.parametrize("session", ["branches", "compacted-twice"], indirect=True)
def test_undo_label_and_name_leave_what_pi_sends(session: Path, tmp_path: Path) -> None:
    home, before = tmp_path / "home", entries_of(session)
    leafward(home, "move", str(session), "#6")
    leafward(home, "undo", str(session))
    leafward(home, "label", str(session), "#4", "a mark")
    leafward(home, "name", str(session), "A new name")
    context = leafward(home, "context", str(session))
    sent, _ = resumed(session)
    assert sent == expected_request(before, len(before) - 1)
    assert_context_is_request(context, entries_of(session), sent)
