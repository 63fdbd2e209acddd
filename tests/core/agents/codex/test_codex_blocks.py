"""Codex: what a block of lines is told by at one go is what decoding each of them says."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from leafward.agents.codex.entries import entry_builder as weaving
from leafward.agents.codex.entries.current_path import START
from leafward.agents.codex.entries.entry_builder import EntryBuilder
from leafward.agents.codex.entries.records import (
    BEGINNING,
    KINDS,
    THOUGHTS,
    Role,
    RolloutLine,
    line_of,
    records,
    records_of,
)
from leafward.agents.codex.rollout import Rollout as Opened
from leafward.agents.codex.rollout import lines_in
from leafward.agents.storage.lines import CHUNK
from leafward.session.entries import Damage, Kind
from leafward.session.lines.line_decoding import decode_line
from tests.codex_rollout import DATA, Rollout
from tests.surroundings import CORPORA, THOROUGH

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def sources() -> list[bytes]:
    """All rollouts there are, whoever wrote them."""
    paths = {
        path
        for folder in (DATA, CORPORA)
        for path in folder.rglob("*.jsonl")
        if "codex" in str(path.relative_to(folder.parent))
    }
    return [path.read_bytes() for path in sorted(paths) if path.stat().st_size]


def made(builder: EntryBuilder) -> tuple[object, ...]:
    builder.settle()
    # Not the count of tokens: it is wanted where another branch begins, and files with such places are read line by line.
    state, kept = builder.state(), builder.compactions
    return (
        builder.columns, builder.parts, kept.kept, kept.literals, kept.budgets, builder.models,
        builder.responses.stale, builder.responses.counts,
        builder.system, builder.unknown, builder.first_unknown, state.path, state.model, state.effort,
    )  # fmt: skip


def at_once(data: bytes, size: int | None = None) -> tuple[object, ...]:
    """In blocks of about so many bytes."""
    builder = EntryBuilder()
    builder.begin(0, "x", START)
    at = 0
    while at < len(data):
        block = data[at : at + size] if size is not None else data[at:]
        whole = block.rfind(b"\n") + 1
        if not whole:
            whole = data.find(b"\n", at) + 1 - at
            block = data[at : at + whole]
        builder.feed(block, whole, at)
        at += whole
    return made(builder)


def decoded(data: bytes) -> tuple[object, ...]:
    """By decoding every line."""

    def full(data: bytes, start: int, end: int) -> RolloutLine | None:
        body = decode_line(data[start:end])
        return line_of(body) if body is not None else None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weaving, "line_at", full)
        builder = EntryBuilder()
        builder.begin(0, "x", START)
        for buffer, start, end, at in lines_in(data, len(data), 0):
            builder.take(buffer, start, end, at)
        return made(builder)


def whole_lines(data: bytes) -> bytes:
    return data[: data.rfind(b"\n") + 1]


def test_every_rollout_there_is_reads_as_if_each_line_were_decoded() -> None:
    for data in sources():
        expected = decoded(whole_lines(data))
        assert at_once(whole_lines(data)) == expected
        assert at_once(whole_lines(data), 20_000) == expected


def _shuffled(value: Any, chance: random.Random) -> Any:
    if isinstance(value, list):
        return [_shuffled(item, chance) for item in value]
    if not isinstance(value, dict):
        return value
    keys = list(value)
    chance.shuffle(keys)
    return {key: _shuffled(value[key], chance) for key in keys}


def _dumped(body: Any) -> bytes:
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")


def reordered(line: bytes, chance: random.Random) -> bytes:
    return _dumped(_shuffled(json.loads(line), chance))


def payload_reordered(line: bytes, chance: random.Random) -> bytes:
    body = json.loads(line)
    return _dumped({**body, "payload": _shuffled(body.get("payload"), chance)})


def spaced(line: bytes, chance: random.Random) -> bytes:
    return json.dumps(json.loads(line), indent=chance.choice([None, None, 0])).replace("\n", " ").encode()


def ids_escaped(line: bytes, chance: random.Random) -> bytes:
    mark = chance.choice([b"call_", b"msg_", b"01a1", b"2026", b"turn", b"exec"])
    return line.replace(b'"' + mark, b'"\\u%04x' % mark[0] + mark[1:])


def ids_quoted(line: bytes, chance: random.Random) -> bytes:
    """A quote and a backslash in strings near the beginning."""
    mark = chance.choice([b'"call_', b'"id":"', b'"timestamp":"', b'"thread_id":"', b'"turn_id":"'])
    return line.replace(mark, mark + chance.choice([b'\\"', b"\\\\", b'a\\\\\\",\\"type\\":\\"']))


def ends_in_backslash(line: bytes, chance: random.Random) -> bytes:
    body = json.loads(line)
    payload = body.get("payload")
    for holder in (body, payload, payload.get("item") if isinstance(payload, dict) else None):
        if isinstance(holder, dict):
            for key in ("timestamp", "id", "call_id", "thread_id", "turn_id"):
                if isinstance(holder.get(key), str) and chance.random() < 0.5:
                    holder[key] += "\\"
    return _dumped(body)


def another_call_inside(line: bytes, chance: random.Random) -> bytes:
    """A `call_id` of something else, before or after the call's own."""
    body = json.loads(line)
    payload = body.get("payload")
    if isinstance(payload, dict):
        other = {"meta": {"call_id": "other", "type": "message", "role": "assistant"}}
        first = {"type": payload["type"]} if "type" in payload else {}
        body["payload"] = {**first, **other, **payload} if chance.random() < 0.5 else {**payload, **other}
    return _dumped(body)


def glued(line: bytes, chance: random.Random) -> bytes:
    # Nothing torn behind a brace: what ends like a record is taken for one unread.
    return (
        line
        + chance.choice([line, line[: len(line) // 2].rstrip(b"}"), b""])
        + chance.choice([line, b"\0\0\0"])
    )


def torn(line: bytes, chance: random.Random) -> bytes:
    return line[: chance.randrange(len(line))].rstrip(b"}") if chance.random() < 0.7 else b"\0" * 40 + line


def ended_otherwise(line: bytes, chance: random.Random) -> bytes:
    return line + chance.choice([b"\r", b" ", b"\n", b"\n\r"])


MUTATIONS: list[Callable[[bytes, random.Random], bytes]] = [
    reordered, payload_reordered, spaced, ids_escaped, ids_quoted, ends_in_backslash, another_call_inside, glued, torn,
    ended_otherwise,
]  # fmt: skip


@pytest.mark.parametrize("change", MUTATIONS, ids=lambda change: str(change.__name__))
def test_lines_in_any_other_shape_read_as_if_each_were_decoded(
    change: Callable[[bytes, random.Random], bytes],
) -> None:
    chance = random.Random(change.__name__)
    for data in sources():
        lines = data.splitlines()[: 400 if THOROUGH else 100]
        for share in (0.1, 1.0):
            changed = [
                change(line, chance) if chance.random() < share and decode_line(line) is not None else line
                for line in lines
            ]
            text = b"".join(line + b"\n" for line in changed)
            # A glued line makes the whole block be looked at line by line; what follows is another block.
            assert at_once(text, 5_000) == decoded(text)


@pytest.mark.parametrize("change", MUTATIONS, ids=lambda change: str(change.__name__))
def test_records_of_some_roles_are_those_that_decoding_finds(
    change: Callable[[bytes, random.Random], bytes],
) -> None:
    chance = random.Random(change.__name__)
    replies, results = frozenset({Role.REPLY, Role.ECHO}), frozenset({Role.RESULT, Role.ANSWER})
    for data in sources():
        for line in data.splitlines()[: 200 if THOROUGH else 50]:
            changed = line if decode_line(line) is None else change(line, chance)
            there = [(line_of(record).role, record) for record in records(changed)]
            for wanted in (replies, results):
                assert list(records_of(changed, wanted)) == [one for one in there if one[0] in wanted]
            spoken = [
                (role, record)
                for role, record in there
                if role in replies and not any(name in orjson.dumps(record) for name in THOUGHTS)
            ]
            found = list(records_of(changed, replies, but=THOUGHTS))
            assert [one for one in found if one in spoken] == spoken


def test_heads_that_only_look_like_one_are_decoded(tmp_path: Path) -> None:
    """Strings that hold what Codex writes around them, and numbers that are none."""
    rollout = Rollout(tmp_path)
    rollout.turn("one", "first")
    before = rollout.path.read_bytes()
    head = b'{"timestamp":"2026-11-21T10:00:09.000Z",'
    for line in (
        head + b'"ordinal":{"a":1,"type":"event_msg","payload":{"type":"task_started"}}}',
        head[:-2] + b'\\",","type":"event_msg","payload":{"type":"task_started"}}',
        b'{"timestamp":"a\\\\","type":"event_msg","payload":{"type":"task_started"}}',
        head + b'"type":"event_msg\\",","payload":{"type":"task_started"}}',
        head + b'"type":"turn_context","payload":{"turn_id":"x\\"","model":"m"}}',
        head
        + b'"type":"response_item","payload":{"type":"message","id":"\\",","role":"assistant","content":[]}}',
        head
        + b'"type":"response_item","payload":{"type":"function_call_output","output":"\\"call_id\\":\\"x","call_id":"1"}}',
    ):
        data = before + line + b"\n" + before
        assert at_once(data) == decoded(data), line


def test_a_turns_context_is_decoded_again_where_it_says_something_else(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    for model, effort in (
        ("a", "low"),
        ("a", "low"),
        ("b", "low"),
        ("b", "high"),
        ("a", "low"),
        ("a", "low"),
    ):
        rollout.line("turn_context", turn_id=str(rollout.second), cwd="/x", model=model, effort=effort)
        rollout.turn("say", "said")
    rollout.event("thread_rolled_back", num_turns=5)
    rollout.line("turn_context", turn_id="last", cwd="/x", model="a", effort="low")
    data = rollout.path.read_bytes()
    assert at_once(data) == decoded(data) == at_once(data, 100)
    builder = EntryBuilder()
    builder.feed(data, len(data), 0)
    kinds = builder.columns.kind
    assert (kinds.count(Kind.MODEL_CHANGE), kinds.count(Kind.THINKING_CHANGE)) == (4, 4)


def test_only_what_says_something_is_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rollout = Rollout(tmp_path)
    rollout.line("turn_context", turn_id="1", cwd="/x", model="m", effort="low")
    for number in range(50):
        rollout.line("turn_context", turn_id=str(number), cwd="/x", model="m", effort="low")
        rollout.event("task_started", turn_id=str(number))
        rollout.prompt(f"ask {number}")
        rollout.call("shell", {"n": number}, "done", f"call_{number}")
        rollout.event("exec_command_end", call_id=f"call_{number}", exit_code=0)
        rollout.reply("answered")
        rollout.event("item_completed", thread_id="t", turn_id="u", item={"type": "AgentMessage", "id": "m"})
    data = rollout.path.read_bytes()
    calls: list[bytes] = []

    def counted(line: bytes) -> Any:
        calls.append(line)
        return decode_line(line)

    monkeypatch.setattr(weaving, "decode_line", counted)
    for module in ("records", "settings"):
        monkeypatch.setattr(f"leafward.agents.codex.entries.{module}.decode_line", counted)
    at_once(data)
    # The description, one context, and what the user typed, which is written twice.
    assert len(calls) == 1 + 1 + 2 * 50


def test_an_event_of_reasoning_is_decoded_only_beside_an_item_of_reasoning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rollout = Rollout(tmp_path)
    thought = {"type": "Reasoning", "id": "r", "summary_text": ["I look."], "raw_content": []}
    for number in range(20):
        rollout.reply(f"answered {number}")
        rollout.event("task_started", turn_id=str(number))
        rollout.event("item_completed", thread_id="t", turn_id="u", item=thought)
    rollout.item("reasoning", id="r", summary=[{"type": "summary_text", "text": "I look."}])
    rollout.event("task_started", turn_id="last")
    rollout.event("item_completed", thread_id="t", turn_id="u", item=thought)
    data = rollout.path.read_bytes()
    looked_into: list[bytes] = []

    def counted(line: bytes) -> Any:
        looked_into.append(line)
        return decode_line(line)

    monkeypatch.setattr("leafward.agents.codex.entries.responses.decode_line", counted)
    assert at_once(data) == decoded(data)
    # The last event and the item that it says again, once each way.
    assert len(looked_into) == 2 * 2


def test_a_glued_line_among_many_is_told_apart(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    for number in range(30):
        rollout.turn(f"ask {number}", "said")
    data = rollout.path.read_bytes()
    cut = data.index(b"\n", len(data) // 2)
    joined = data[:cut] + data[cut + 1 :]
    assert b"}" + BEGINNING in joined
    assert b"}" + BEGINNING not in data
    builder = EntryBuilder()
    builder.feed(joined, len(joined), 0)
    assert list(builder.columns.damage.values()) == [Damage.GLUED]
    assert at_once(joined) == decoded(joined) == at_once(joined, 300)


@pytest.mark.parametrize("key", sorted(KINDS))
def test_a_line_of_many_megabytes_of_any_kind_is_read_in_one_look(key: bytes) -> None:
    filler = b"x" * (1 << 20)
    line = b'{"timestamp":"2026-11-21T10:00:00.000Z","ordinal":7,"type":"' + key
    line += b',"pad":"' if b'"type":' in key.partition(b"payload")[2] else b'"pad":"'
    line += filler + b'"}}\n'
    assert orjson.loads(line)
    assert at_once(line) == decoded(line)


def test_long_lines_are_read_at_most_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rollout = Rollout(tmp_path)
    for number, megabytes in enumerate((12, 8, 0.6, 0.6, 12, 12)):
        rollout.item("function_call_output", call_id=str(number), output="}{" * int(megabytes * (1 << 19)))
    rollout.turn("last", "said")
    read: list[int] = []
    whole = Opened.at

    def counted(self: Opened, offset: int, size: int) -> bytes:
        data = whole(self, offset, size)
        read.append(len(data))
        return data

    monkeypatch.setattr(Opened, "at", counted)
    session = rollout.opened()
    assert session.columns.kind.count(Kind.TOOL_RESULT) == 6
    assert sum(read) < 2 * rollout.size + 2 * CHUNK
    assert max(read) < 2 * (13 << 20)
