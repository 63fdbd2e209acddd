"""Messages read by their declared shapes equal those decoded whole."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from leafward.compaction.measure.measure import measure
from leafward.context import message_builder
from leafward.session.entries import Kind
from leafward.session.native_file import NativeFile
from leafward.session.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

    from leafward.session.entries import Body

HEADER = b'{"type":"session","version":3,"id":"s","timestamp":"2026-01-05T08:00:00.000Z","cwd":"/home/ada"}'
START = b'{"type":"message","id":"%08d","parentId":%b,"timestamp":"2026-01-05T08:00:01.000Z","message":'

ANYTHING: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        True,
        False,
        0,
        7,
        -3,
        2.5,
        1.0,
        10**30,
        2**53 + 1,
        "x",
        "é𝄞",
        "\ud800",
        [],
        [1],
        {},
        {"a": [{"b": 1.5}]},
    ]
)
TEXT = st.text(max_size=6) | st.sampled_from(['a\n"b"\\', "😀", "/home/ada/a.py"])
ARGUMENTS = st.dictionaries(
    st.sampled_from(["path", "edits", "timeout", "ä"]),
    TEXT | st.lists(st.fixed_dictionaries({"oldText": TEXT, "newText": TEXT}) | TEXT, max_size=2) | ANYTHING,
    max_size=3,
)
CALL = st.fixed_dictionaries(
    {
        "type": st.just("toolCall"),
        "id": TEXT,
        "name": st.sampled_from(["read", "edit", "write", "bash", "skill"]) | ANYTHING,
        "arguments": ARGUMENTS | ANYTHING,
    }
)
SAID = st.fixed_dictionaries({"type": st.just("text"), "text": TEXT | ANYTHING})
IMAGE = st.just({"type": "image", "data": "", "mimeType": "image/png"})
THINKING = st.fixed_dictionaries({"type": st.just("thinking"), "thinking": TEXT, "thinkingSignature": TEXT})
USAGE = st.fixed_dictionaries(
    {"totalTokens": st.integers(0, 10**13) | ANYTHING, "output": st.integers(0, 99) | ANYTHING}
)
REPLY = st.fixed_dictionaries(
    {"role": st.just("assistant"), "content": st.lists(CALL | SAID | THINKING, max_size=3) | ANYTHING},
    optional={
        "usage": USAGE | ANYTHING,
        "stopReason": st.sampled_from(["stop", "toolUse", "aborted", "error", "other"]) | ANYTHING,
        "timestamp": st.integers(1, 2**44) | ANYTHING,
        "neverSent": ANYTHING,
    },
)
PROMPT = st.fixed_dictionaries(
    {"role": st.just("user"), "content": st.lists(SAID | IMAGE | ANYTHING, max_size=2) | TEXT | ANYTHING},
    optional={"neverSent": ANYTHING},
)
RESULT = st.fixed_dictionaries(
    {
        "role": st.just("toolResult"),
        "toolCallId": TEXT,
        "content": st.lists(SAID | IMAGE, max_size=2) | ANYTHING,
    },
    optional={
        "isError": st.booleans() | ANYTHING,
        "toolName": st.sampled_from(["read", "skill"]) | ANYTHING,
        "nestedCalls": st.fixed_dictionaries({"calls": st.lists(CALL, max_size=1)}) | ANYTHING,
    },
)
OTHER = st.fixed_dictionaries({"role": st.just("bashExecution") | ANYTHING, "command": TEXT, "output": TEXT})
SPOILT: list[tuple[bytes, bytes]] = [
    (b"", b""),
    (b"", b""),
    (b'"role":"user"', b'"role":"user","role":"assistant"'),
    (b'"type":"text"', b'"type":"text","type":"image"'),
    (b'"content"', b'"content":[],"content"'),
    (b'"content"', b'"x":"\xff","content"'),
    (b'"content"', b'"x":NaN,"content"'),
    (b"}}", b'},"message":{"role":"user","content":"again"}}'),
    (b"}}", b"}} "),
    (b"}}", b'}}{"message":{"role":"user","content":"a second one"}}'),
    (b"}}", b"},"),
    (b"}}", b"}\n}"),
    (b"}}", b"}"),
    (b"}}", b"}}\r"),
    (b"}}", b"}}\n\n"),
]
"""Faults of a line."""


def written(path: Path, messages: list[tuple[Any, tuple[bytes, bytes]]]) -> Path:
    lines = [HEADER]
    for number, (message, (was, now)) in enumerate(messages):
        parent = b'"%08d"' % number if number else b"null"
        text = json.dumps(message, separators=(",", ":"), ensure_ascii=number % 2 == 0)
        line = START % (number + 1, parent) + text.encode("utf-8", "surrogatepass") + b"}"
        lines.append(line.replace(was, now, 1))
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def measured(path: Path, many: int, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """All that is measured of the path to the last entry, where declared shapes are tried from so many entries on."""
    monkeypatch.setattr(message_builder, "_MANY", many)
    session = Session.open(path)
    try:
        sizes = measure(session)
        found = {one.name: getattr(sizes, one.name) for one in fields(sizes) if one.name != "context"}
        messages = sizes.context.messages
        return found | {"messages": list(messages), "ledger": sizes.context.ledger}
    finally:
        session.close()


TWO_IN_ONE = [
    ({"role": "user", "content": "a"}, (b"}}", b'}}{"message":{"role":"user","content":"a second one"}}')),
    ({"role": "user", "content": "b"}, (b"}}", b'},"x":[{},')),
    ({"role": "user", "content": "c"}, (b"}}", b"}}]}")),
    ({"role": "user", "content": "d"}, (b"", b"")),
]
"""As many objects as lines, but two in the first, and one that goes on in the third."""


@example(TWO_IN_ONE)
@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.tuples(REPLY | PROMPT | RESULT | OTHER, st.sampled_from(SPOILT)), min_size=1, max_size=6))
def test_messages_of_any_shape_say_what_decoding_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, messages: list[tuple[Any, tuple[bytes, bytes]]]
) -> None:
    path = written(tmp_path / "s.jsonl", messages)
    assert measured(path, 0, monkeypatch) == measured(path, 10**9, monkeypatch)


def test_of_a_long_path_no_line_is_made_an_object_and_odd_ones_are_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = {"totalTokens": 900, "output": 9, "cost": {"total": 0.5}}
    call = {"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": "a.py"}}
    odd = {**call, "arguments": {"path": "b.py", "share": 0.5}}
    turn: list[Any] = [
        {"role": "user", "content": [{"type": "text", "text": "go on"}], "timestamp": 1767600000000},
        {
            "role": "assistant",
            "content": [call],
            "usage": usage,
            "stopReason": "toolUse",
            "timestamp": 1767600001000,
        },
        {
            "role": "toolResult",
            "toolCallId": "c",
            "toolName": "read",
            "content": [{"type": "text", "text": "x"}],
        },
    ]
    messages = [(message, (b"", b"")) for message in turn * 800]
    messages[1000] = ({**turn[1], "content": [odd]}, (b"", b""))
    path = written(tmp_path / "s.jsonl", messages)
    decoded: list[int] = []
    bodies, body = NativeFile.bodies, NativeFile.body

    def counted(self: NativeFile, entries: Any, pick: Any = None) -> Iterator[tuple[Any, Body | None]]:
        wanted = list(entries)
        decoded.extend(wanted)
        return bodies(self, wanted, pick)

    def counted_one(self: NativeFile, index: int) -> Body | None:
        decoded.append(index)
        return body(self, index)

    monkeypatch.setattr(NativeFile, "bodies", counted)
    monkeypatch.setattr(NativeFile, "body", counted_one)
    session = Session.open(path)
    sizes = measure(session)
    # Besides the last reply, which says what it used, and a few of the ends of the path.
    assert len(set(decoded)) < 8
    assert set(sizes.touches.path) == {"a.py", "b.py"}
    assert len(sizes.touches) == sizes.parts.count(bytes([8])) == session.columns.kind.count(Kind.ASSISTANT)
    session.close()
