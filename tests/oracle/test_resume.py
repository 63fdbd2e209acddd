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
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from leafward.compaction.exam.sitting import keep_exam, kept_exams
from leafward.session.journal.write import Writing
from leafward.session.session import Session
from tests import reference_projection as reference
from tests.oracle.golden import SESSIONS
from tests.oracle.installed_agents import NODE, PI, needs_pi
from tests.oracle.resume import Resumed, Sent, resume

PROMPT = "What comes next?"

pytestmark = [needs_pi]
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


@dataclass(frozen=True, slots=True)
class Expected:
    """Condition on one message of a request: its text where it is known, else the texts that stand in it.

    pi puts words of its own around summaries and bash executions, and instead of what is missing; they are
    not repeated here.
    """

    role: str
    text: str | None = None
    parts: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    images: int = 0
    call: str | None = None

    def admits(self, sent: Sent) -> bool:
        facts = (self.role, self.tools, self.images, self.call)
        if facts != (sent.role, sent.tools, sent.images, sent.call):
            return False
        if self.text is not None:
            return sent.text == self.text
        return bool(sent.text) and all(part in sent.text for part in self.parts)


def expected_request(entries: list[reference.Entry], at: int | None) -> list[Expected]:
    """The request pi 1.5.2 makes of the context at an entry, without system messages and without the prompt.

    Replies that failed or were stopped are left out, and so are empty ones; a call without its result gets
    a made-up one; images of tool results follow in a user message.
    """
    sent: list[Expected] = []
    open_calls: list[str] = []
    pictures = 0

    def close() -> None:
        nonlocal pictures
        sent.extend(Expected("tool", call=call) for call in open_calls)
        open_calls.clear()
        if pictures:
            sent.append(Expected("user", images=pictures))
        pictures = 0

    for _, message in reference.project(entries, at).messages:
        role, content = message["role"], message.get("content")
        if role == "system" or (text := reference.canonical(message)) is None:
            continue
        blocks = content if isinstance(content, list) else []
        words = "\n".join(block["text"] for block in blocks if block["type"] == "text") if blocks else text
        images = sum(block["type"] == "image" for block in blocks)
        if role == "toolResult":
            call = message["toolCallId"]
            if call in open_calls:
                open_calls.remove(call)
            sent.append(Expected("tool", words or None, call=call))
            pictures += images
            continue
        close()
        if role == "assistant":
            if message["stopReason"] in ("error", "aborted") or not content:
                continue
            calls = [block for block in blocks if block["type"] == "toolCall"]
            text = "".join(block["text"] for block in blocks if block["type"] == "text")
            sent.append(Expected("assistant", text, tools=tuple(call["name"] for call in calls)))
            open_calls.extend(call["id"] for call in calls)
        elif role == "bashExecution":
            sent.append(Expected("user", parts=(message["command"], message["output"])))
        elif role in ("compactionSummary", "branchSummary"):
            sent.append(Expected("user", parts=(text,)))
        else:
            sent.append(Expected("user", words, images=images))
    close()
    return sent


def assert_request(sent: list[Sent], expected: list[Expected]) -> None:
    """The request has the expected messages, in their order, and no others."""
    for place, (one, wanted) in enumerate(zip(sent, expected, strict=False)):
        assert wanted.admits(one), f"message {place}: sent {one}, expected {wanted}"
    assert len(sent) == len(expected)


def entries_of(path: Path) -> list[dict[str, Any]]:
    return reference.load(path.read_text("utf-8"))[1]


def resumed(path: Path) -> tuple[list[Sent], Resumed]:
    """The request pi makes, without system messages and the prompt, and everything it did."""
    result = resume(Path(PI), path, PROMPT, node=NODE)
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
    """Each message of a request has its message in the context, in order; what is left over is never sent.

    Messages that pi makes up stand for no entry: results of calls that have none in the context, and
    a user message that carries the images of the tool results before it.
    """
    by_id = {entry["id"]: entry.get("message") or {} for entry in entries}
    shown = [message for message in context["messages"] if message["role"] != "system"]
    answered = {by_id.get(message["entry"], {}).get("toolCallId") for message in shown}
    left: list[Sent] = []
    for before, message in pairwise([None, *sent]):
        assert message is not None
        after_result = before is not None and before.role == "tool"
        made_up = message.role == "tool" and message.call not in answered
        carrier = after_result and message.role == "user" and message.images > 0
        if not made_up and not (carrier and not any(message.text in one["text"] for one in shown)):
            left.append(message)
    for message in shown:
        source = by_id.get(message["entry"], {})
        if left and tells(message, source, left[0]):
            left.pop(0)
            continue
        stopped = source.get("stopReason") in ("error", "aborted") or source.get("content") == []
        assert stopped or source.get("excludeFromContext"), f"not sent: {message}; next sent: {left[:1]}"
    assert left == []


def tells(message: dict[str, Any], source: dict[str, Any], sent: Sent) -> bool:
    """Whether a message of ``leafward context`` is the one that pi sent; ``source`` is its entry's own message."""
    role, text = message["role"], message["text"]
    if sent.role != {"assistant": "assistant", "toolResult": "tool"}.get(role, "user"):
        return False
    if role in ("compactionSummary", "branchSummary"):
        return bool(text) and text in sent.text
    if role == "bashExecution":
        return all(part in sent.text and part in text for part in (source["command"], source["output"]))
    answers = sent.call is None or sent.call == source.get("toolCallId")
    return answers and all(part in text for part in (sent.text, *sent.tools))


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
    assert_request(sent, expected_request(entries, len(entries) - 1))


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
    assert_request(sent, expected_request(entries, at))
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
    assert_request(sent, expected_request(before, at))
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
    assert_request(sent, expected_request(before, len(before) - 1))
    assert_context_is_request(context, entries_of(session), sent)


@pytest.mark.parametrize("session", ["compacted-twice"], indirect=True)
def test_the_result_of_an_exam_leaves_what_pi_sends(session: Path) -> None:
    before = entries_of(session)
    compaction = max(at for at, entry in enumerate(before) if entry["type"] == "compaction")
    with closing(Session.open(session)) as opened:
        keep_exam(
            opened, compaction, {"model": "openai/x", "right": 1, "asked": 2, "answers": [0, None]}, Writing()
        )
        assert len(kept_exams(opened, compaction)) == 1
    sent, _ = resumed(session)
    assert_request(sent, expected_request(before, len(before) - 1))
