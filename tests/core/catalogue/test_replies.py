"""Replies read without making objects equal decoded ones."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from leafward.catalogue.cards.daily_usage import Meter
from leafward.catalogue.cards.replies import Replies
from leafward.session.lines import scan as scan_module
from leafward.session.lines.line_decoding import decode_line
from leafward.session.lines.scan import Scan
from tests.core.catalogued import replies_in
from tests.core.listed_sessions import Draft
from tests.surroundings import THOROUGH

HEADER = b'{"type":"session","version":3,"id":"s","timestamp":"2026-01-05T08:00:00.000Z","cwd":"/home/ada"}'
START = b'{"type":"message","id":"%08d","parentId":"%08d","timestamp":"2026-01-05T08:00:01.000Z","message":'

ANYTHING: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, 7, -3, 2.5, 10**30, "x", "\ud800", "é", [], [1], {}, {"total": 1}]
)
COUNTS = st.integers(0, 10**13) | ANYTHING
COSTS = st.floats(0, 9) | st.integers(0, 3) | ANYTHING
USAGE = (
    st.fixed_dictionaries(
        {"totalTokens": COUNTS, "cost": st.fixed_dictionaries({"total": COSTS}) | ANYTHING},
        optional={"input": COUNTS, "output": COUNTS},
    )
    | ANYTHING
)
ARGUMENTS = (
    st.fixed_dictionaries(
        {},
        optional={
            "edits": ANYTHING,
            "path": st.text(max_size=4) | ANYTHING,
            "file_path": st.text(max_size=4),
            "filePath": st.text(max_size=4) | ANYTHING,
            "input": st.just("*** Begin Patch\n*** Add File: p\n+x\n*** End Patch\n") | ANYTHING,
        },
    )
    | ANYTHING
)
BLOCKS = (
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["toolCall", "toolCall", "text", 5]),
            "name": st.sampled_from(["read", "edit", "write", "bash", "Edit", "apply_patch"]) | ANYTHING,
            "arguments": ARGUMENTS,
        }
    )
    | ANYTHING
)
REPLIES = st.fixed_dictionaries(
    {"role": st.just("assistant"), "content": st.lists(BLOCKS, max_size=3) | ANYTHING, "usage": USAGE},
    optional={"timestamp": st.integers(1, 2**44) | ANYTHING},
)
SPOILT: list[tuple[bytes, bytes]] = [
    (b"", b""),
    (b"}}", b'},"usage":{"totalTokens":5,"cost":{"total":1}}}'),
    (b'"usage"', b'"usage":{"totalTokens":1},"usage"'),
    (b"2026-01-05T08:00:01.000Z", b"2026-01-05T08:00:99.000Z"),
    (b"2026-01-05T08:00:01.000Z", b"2026-01-05T09:00:01.000+01:00"),
    (b'"timestamp":"2026', b'"x":"\xff","timestamp":"2026'),
    (b'"timestamp":"2026', b'"x":NaN,"timestamp":"2026'),
    (b"}}", b"}}x"),
    (b"}}", b"}"),
]
"""Faults of a line."""


def decoded(*lines: bytes) -> Replies:
    """The same from whole objects."""
    taken = Replies(Meter(1_767_600_000_000), replies_in(HEADER).files)
    for line in lines:
        body = decode_line(line)
        if body is not None:
            taken.add_body(body)
    taken.settle()
    return taken


def agree(lines: list[bytes]) -> None:
    taken, whole = replies_in(HEADER, *lines), decoded(*lines)
    assert taken.meter.days() == whole.meter.days()
    assert (list(taken.files.changed), list(taken.files.read)) == (
        list(whole.files.changed),
        list(whole.files.read),
    )
    assert taken.spoken == whole.spoken


@example(
    [
        ({"role": "assistant", "usage": None, "timestamp": 1}, (b"", b"")),
        (
            {"role": "assistant", "usage": {"totalTokens": 1, "cost": {"total": 0}}, "timestamp": -3},
            (b"", b""),
        ),
    ]
)
@settings(max_examples=300 if THOROUGH else 100, deadline=None)
@given(st.lists(st.tuples(REPLIES, st.sampled_from(SPOILT)), min_size=1, max_size=4))
def test_replies_of_any_shape_say_what_decoding_says(replies: list[tuple[Any, tuple[bytes, bytes]]]) -> None:
    lines = []
    for number, (reply, (was, now)) in enumerate(replies):
        text = json.dumps(reply, separators=(",", ":"))
        lines.append((START % (number + 1, number) + text.encode() + b"}").replace(was, now, 1))
    agree(lines)


def test_every_line_may_say_what_it_used() -> None:
    usage = b'"usage":{"totalTokens":5,"cost":{"total":0.5}}'
    lines = [
        START % (1, 0) + b'{"role":"toolResult","content":[],' + usage + b',"timestamp":1767600001000}}',
        START % (2, 1) + b'{"role":"assistant","content":[],' + usage + b',"timestamp":1767600002000}}',
        b'{"type":"compaction","id":"00000003","parentId":"00000002","timestamp":"2026-01-05T08:00:01.000Z",'
        + usage
        + b"}",
        START % (4, 3) + b'{"role":"user","content":"of \\"usage\\" only","timestamp":1767600003000}}',
    ]
    [day] = replies_in(HEADER, *lines).meter.days()
    assert (day.tokens, day.cost, day.priced) == (15, 1.5, 3)


def test_files_are_named_by_calls_and_not_by_text_about_calls() -> None:
    draft = Draft(cwd="/home/ada")
    draft.user('say {"type":"toolCall","name":"edit","arguments":{"path":"no.py"}}')
    calls = (("read", "a.py"), ("edit", 'odd "name"\\.py'), ("write", "/home/ada/ä.py"), ("bash", "b.py"))
    draft.assistant(calls=calls, total=7)
    files = replies_in(*draft.lines).files
    assert (list(files.read), list(files.changed)) == (["a.py"], ['odd "name"\\.py', "ä.py"])


@pytest.mark.parametrize("size", [1, 64, 200, 500])
def test_a_file_read_in_pieces_says_the_same(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [
        START
        % (number + 1, number)
        + b'{"role":"assistant","content":[{"type":"toolCall","name":"edit","arguments":{"path":"/home/ada/%d.py"}}],'
        b'"usage":{"totalTokens":7,"cost":{"total":0.25}},"timestamp":%d}}'
        % (number % 3, 1_767_600_001_000 + number)
        for number in range(9)
    ]
    data = b"\n".join([HEADER, *lines])
    monkeypatch.setattr(scan_module, "CHUNK", size)
    monkeypatch.setattr(scan_module, "_SMALLEST_CHUNK", 1)
    taken = Replies()
    Scan(taken.watch).advance(io.BytesIO(data))
    whole = replies_in(HEADER, *lines)
    assert taken.meter.days() == whole.meter.days()
    assert list(taken.files.changed) == list(whole.files.changed) == ["0.py", "1.py", "2.py"]
    assert taken.spoken == whole.spoken == 1_767_600_001_008
