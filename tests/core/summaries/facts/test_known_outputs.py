"""What is read in outputs ahead of a reader of the messages is what that reader would find."""

from __future__ import annotations

from typing import Any

import pytest

from leafward.session.entries import EntryIndex
from leafward.summaries.facts import call_reader
from leafward.summaries.facts.known_texts import Known
from leafward.summaries.facts.reader import FactReader

CWD = "/home/ada/orchard"


def asked(name: str, call_id: str, **arguments: object) -> dict[str, Any]:
    call = {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}
    return {"role": "assistant", "content": [call]}


def answered(call_id: str, text: str, **more: object) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolCallId": call_id, "content": content, "isError": False, **more}


SPAN = [
    asked("bash", "1", command="make test | tail"),
    answered("1", "src/pear.py:3:1: error: no such tree\n3 tests failed"),
    asked("bash", "2", command="make build"),
    answered("2", "Error: cannot find docs/plan.md", isError=True, exitCode=7),
    # The same output with another exit code.
    asked("bash", "3", command="make build"),
    answered("3", "Error: cannot find docs/plan.md", isError=True, exitCode=8),
    # The content of a file, which is not read; that it is not there is.
    asked("read", "4", path="src/pear.py"),
    answered("4", "class Pear: see docs/tree.md"),
    asked("read", "5", path="src/apple.py"),
    answered("5", "ENOENT: no such file src/apple.py", isError=True),
    asked("TaskCreate", "6", subject="Plant a pear", description="In docs/garden.md"),
    answered("6", "Task #1 created successfully: Plant a pear"),
    answered("gone", "What a call from before printed about docs/old.md"),
]
MESSAGES = [(EntryIndex(at), message) for at, message in enumerate(SPAN)]


@pytest.mark.parametrize("part", [1, 3, 500])
def test_a_reader_finds_what_was_read_in_outputs_known(monkeypatch: pytest.MonkeyPatch, part: int) -> None:
    monkeypatch.setattr(call_reader, "_PART", part)
    alone, parts = FactReader(CWD), list(call_reader.outputs_read(MESSAGES, CWD))
    assert len(parts) == -(-len(MESSAGES) // part)
    known = Known(item for one in parts for item in one.items())
    assert len(known) == sum(map(len, parts))
    ahead = dict(known)
    beside = FactReader(CWD, known)
    assert [beside.read(*one) for one in MESSAGES] == [alone.read(*one) for one in MESSAGES]
    for kind in ("printed", "ended"):
        outputs = {what for what in alone.texts.known if what[0] == kind}
        assert outputs
        assert outputs == {what for what in ahead if what[0] == kind}


def test_texts_are_asked_for_ahead_part_after_part() -> None:
    known, asked_for = Known(), []
    parts = [None, Known({("printed", "a"): []}), Known({("printed", "b"): []})]

    def ahead() -> Known | None:
        asked_for.append(1)
        return parts.pop(0)

    known.ahead = ahead
    assert known.found(("printed", "a")) is None
    assert known.found(("printed", "a")) == []
    assert known.found(("printed", "a")) == []
    assert known.found(("printed", "b")) == []
    assert len(asked_for) == 3
