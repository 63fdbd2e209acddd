"""Rows of Claude Code that are told by their shapes are what decoding them whole says."""

from __future__ import annotations

import io
import json
import random
from array import array
from dataclasses import asdict
from typing import TYPE_CHECKING

import pytest

from leafward.agents.claude.entries.entry_builder import EntryBuilder
from leafward.agents.claude.entries.inferred_parents import settle
from leafward.agents.claude.entries.number_columns import words_for
from leafward.agents.claude.entries.records import RareByteNeedle, Role
from leafward.agents.claude.entries.transcript_rows import Rows
from leafward.agents.storage.lines import CHUNK
from tests.surroundings import CORPORA, THOROUGH

if TYPE_CHECKING:
    from collections.abc import Iterator

_FILES = sorted(path for path in CORPORA.rglob("*.jsonl") if "claude" in str(path).lower())


def _taken(data: bytes, *, told: bool, size: int = CHUNK) -> Rows:
    """The rows of a file, in blocks of about so many bytes; told by their shapes, or each decoded."""
    rows = Rows()
    rows.by_shapes = True
    at = 0
    while (end := data.rfind(b"\n", at, at + size) + 1 or data.find(b"\n", at) + 1) > at:
        (rows.feed if told else rows.decode)(data[at:end], end - at, at)
        at = end
    if at < len(data):
        rows.read_unterminated(data[at:], at)
    return rows


def _said(rows: Rows) -> dict[str, object]:
    damage = settle(rows)
    rows.spread()
    return {
        "start": list(rows.start),
        "role": list(rows.role),
        "flags": list(rows.flags),
        "keys": bytes(rows.keys),
        "parent": list(rows.parent),
        "reply": list(rows.reply),
        "parts": rows.parts,
        "names": rows.names,
        "boundaries": {row: asdict(one) for row, one in rows.notes.boundaries.items()},
        "pointers": list(reversed(rows.notes.pointers)),
        "costs": rows.notes.costs,
        "requests": rows.notes.requests.places(),
        "blobs": rows.notes.blobs.places(),
        "doubled": rows.doubled,
        "damage": damage,
        "facts": {
            **vars(rows.notes.facts),
            "ids": list(rows.notes.facts.ids),
            "folders": list(rows.notes.facts.folders),
        },
    }


def _alike(data: bytes, size: int = CHUNK) -> int:
    """Asserts that both ways say the same; returns how many lines were told without decoding."""
    told, decoded = _taken(data, told=True, size=size), _taken(data, told=False)
    spared = decoded.decoded - told.decoded
    left, right = _said(told), _said(decoded)
    for name, value in right.items():
        assert left[name] == value, name
    return spared


_HEAD = b'{"parentUuid":"%s","isSidechain":false,'
_END = b',"userType":"external","cwd":"/w","sessionId":"s","version":"2.1.330","gitBranch":"main"}\n'
_FIRST, _SECOND, _THIRD = (b"0000000%d-0000-4000-8000-000000000000" % number for number in (1, 2, 3))
_FIRST_ROW: dict[str, object] = {
    "parentUuid": None,
    "isSidechain": False,
    "type": "user",
    "message": {"role": "user", "content": "hi"},
    "uuid": _FIRST.decode(),
    "timestamp": "2026-11-21T10:00:00.000Z",
}


def test_a_line_of_many_megabytes_of_escapes_is_told() -> None:
    text = rb"\"\n\u0000" * (1 << 19)
    first = b'{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"hi"},"uuid":"%s",'
    rest = [
        _HEAD % _FIRST
        + b'"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"%s"}]},' % text
        + b'"uuid":"%s","timestamp":"2026-11-21T10:00:02.000Z","toolUseResult":{"stdout":"%s"},"sourceToolAssistantUUID":"%s"' % (_SECOND, text, _FIRST)
        + _END,
        _HEAD % _SECOND
        + b'"attachment":{"type":"file","text":"%s"},"type":"attachment","uuid":"%s","timestamp":"2026-11-21T10:00:03.000Z",' % (text, _THIRD)
        + b'"rendered":[{"content":"%s"}],"renderedRole":"user"' % text
        + _END,
    ]  # fmt: skip
    assert _alike(first % _FIRST + b'"timestamp":"1"' + _END + b"".join(rest)) == 2


def test_rows_whose_keys_stand_in_any_order_are_told() -> None:
    chance = random.Random(37)
    lines = [
        _FIRST_ROW,
        {
            "parentUuid": _FIRST.decode(),
            "isSidechain": False,
            "type": "assistant",
            "message": {"id": "m", "role": "assistant", "model": "c", "content": [{"type": "text", "text": "a"}]},
            "uuid": _SECOND.decode(),
            "timestamp": "2026-11-21T10:00:01.000Z",
            "cwd": "/w",
            "sessionId": "s",
        },
    ]  # fmt: skip
    for _ in range(20):
        body = lines[1]
        rest = [key for key in body if key != "parentUuid"]
        chance.shuffle(rest)
        data = _compact(lines[0]) + _compact({key: body[key] for key in ("parentUuid", *rest)})
        assert _alike(data) == 1


def test_a_block_with_an_odd_id_is_taken_in_from_its_beginning_again() -> None:
    rows = [_FIRST_ROW]
    for name in ("1", "2", "no UUID"):
        above = rows[-1]["uuid"]
        rows.append(
            {**_FIRST_ROW, "parentUuid": above, "uuid": name.rjust(36, "a") if len(name) == 1 else name}
        )
    lines = [_compact(row) for row in rows]
    told = _taken(b"".join(lines), told=True, size=len(lines[0]))
    assert list(told.jumps) == [0]
    assert list(_taken(b"".join(lines), told=False).jumps) == list(told.jumps)


def test_damage_inside_a_message_is_seen() -> None:
    whole = (
        _HEAD % _FIRST
        + b'"type":"user","message":{"role":"user","content":"Go\x01on"},"uuid":"%s",' % _SECOND
    )
    data = _compact(_FIRST_ROW) + whole + b'"timestamp":"2026-11-21T10:00:02.000Z"' + _END
    rows = _taken(data, told=True)
    assert list(rows.role) == [Role.PROMPT, Role.BROKEN]


def test_replies_of_a_side_line_begin_no_reply_of_the_main_line() -> None:
    rows = Rows()
    above = _FIRST_ROW["uuid"]
    data = _compact(_FIRST_ROW)
    for number, side in enumerate((True, False, False), start=2):
        name = f"0000000{number}-0000-4000-8000-000000000000"
        message = {"id": "m", "role": "assistant", "model": "c", "content": []}
        data += _compact(
            {"parentUuid": above, "isSidechain": side, "type": "assistant", "message": message, "uuid": name}
        )
        above = name
    rows.decode(data, len(data), 0)
    assert _said(rows)["reply"] == [0, 1, 2, 2]
    assert _alike(data) == 3


def test_thousands_of_late_results_of_one_call_make_one_line() -> None:
    count = 20_000
    rows = Rows()
    at = 0

    def put(number: int, above: int, **said: object) -> None:
        nonlocal at
        line = _compact({"parentUuid": f"row {above}", "uuid": f"row {number}", **said})
        rows.feed(line, len(line), at)
        at += len(line)

    put(0, -1, type="user", message={"content": "hi"})
    put(1, 0, type="assistant", message={"id": "a", "content": []})
    put(2, 1, type="user", message={"content": "go"})
    block = {"type": "tool_result", "tool_use_id": "c", "content": "late"}
    for late in range(count):
        put(3 + late, 1, type="user", message={"content": [block]})
    put(3 + count, 2, type="assistant", message={"id": "b", "content": []})
    parents = EntryBuilder(rows, 1, own=False).columns.parent
    assert list(parents[3:]) == [1, *range(3, 2 + count), 2]
    assert parents[2] == 2 + count


@pytest.mark.skipif(not _FILES, reason="there are no recorded sessions")
class TestRecorded:
    def test_every_recorded_transcript_says_the_same(self) -> None:
        assert sum(_alike(path.read_bytes()) for path in _FILES) > 400

    def test_rows_that_were_changed_say_the_same(self) -> None:
        chance = random.Random(33)
        files = [path.read_bytes() for path in _FILES]
        for data in files:
            for size in (1, 5_000, CHUNK) if THOROUGH else (chance.choice((1, 5_000, CHUNK)),):
                _alike(b"".join(_changed(data, chance)), size)

    @pytest.mark.parametrize(("which", "share"), [("v2.1.330", 0.85), ("subagents", 0.8), ("v2.0.65", 0.6)])
    def test_most_rows_of_every_version_are_not_decoded(self, which: str, share: float) -> None:
        # Transcripts of two lines are all beginning.
        files = [
            data for path in _FILES if which in str(path) and (data := path.read_bytes()).count(b"\n") > 9
        ]
        told = [_taken(data, told=True) for data in files]
        assert 1 - sum(rows.decoded for rows in told) / sum(map(len, told)) > share

    def test_what_is_placed_at_once_is_what_placing_each_row_gives(self) -> None:
        chance = random.Random(34)
        in_order = EntryBuilder._place_in_order

        def each(weaver: EntryBuilder) -> None:
            weaver.rows.spread()
            weaver._place_each()

        for data in [path.read_bytes() for path in _FILES]:
            lines = data.splitlines(keepends=True)
            for _ in range(2):
                woven = []
                for way in (in_order, each):
                    with pytest.MonkeyPatch.context() as patch:
                        patch.setattr(EntryBuilder, "_place_in_order", way)
                        weaver = EntryBuilder(_taken(b"".join(lines), told=True), 5, own=False)
                    woven.append(
                        (weaver.columns, weaver.more, weaver.compactions.kept, weaver.now, weaver.costs)
                    )
                assert woven[0] == woven[1]
                # Without some of its lines, rows hang on others than those before them.
                lines = [line for line in lines if chance.random() < 0.9]


@pytest.mark.parametrize("letters", [b"ab", b"ab{}U", b"a{U"])
def test_a_needle_is_found_wherever_it_stands(letters: bytes) -> None:
    chance = random.Random(35)
    needle = RareByteNeedle(b"{aU", b"U")
    for _ in range(300):
        text = bytes(chance.choices(letters, k=chance.choice((5, 200, 9_000))))
        cut = chance.randrange(len(text))
        for data in (text, text[:cut] + b"{aU" + text[cut:]):
            start, end = sorted((chance.randrange(len(data) + 1), chance.randrange(len(data) + 1)))
            assert needle.first(data, start, end) == data.find(b"{aU", start, end)


def _changed(data: bytes, chance: random.Random) -> Iterator[bytes]:
    for line in io.BytesIO(data):
        if chance.random() < 0.5:
            yield line
            continue
        try:
            body = json.loads(line)
        except ValueError:
            yield line
            continue
        if not isinstance(body, dict):
            yield line
            continue
        yield _change(line, body, chance)


def _compact(body: object) -> bytes:
    return (
        json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass") + b"\n"
    )


def _moved(body: dict[str, object], chance: random.Random) -> dict[str, object]:
    """The same keys, one of them elsewhere."""
    items = list(body.items())
    one = items.pop(chance.randrange(len(items)))
    items.insert(chance.randrange(len(items) + 1), one)
    return dict(items)


_PAYLOAD: dict[str, object] = {
    "uuid": "0badc0de-0000-4000-8000-000000000000",
    "parentUuid": None,
    "type": "user",
    "a": [{}],
}


def _change(line: bytes, body: dict[str, object], chance: random.Random) -> bytes:
    match chance.randrange(10):
        case 0:
            items = list(body.items())
            chance.shuffle(items)
            return _compact(dict(items))
        case 1:
            return _compact(_moved(body, chance))
        case 2:
            return json.dumps(body).encode() + b"\n"
        case 3:
            key = chance.choice(
                (b'"uuid":"', b'"parentUuid":"', b'"leafUuid":"', b'"id":"', b'"sessionId":"')
            )
            head, found, tail = line.partition(key)
            escaped = b"".join(b"\\u%04x" % letter for letter in tail[:6]) + tail[6:]
            shorter = b"\\u00" + tail[4:] if chance.random() < 0.5 else escaped
            return head + found + shorter if found else line
        case 4:
            return line.rstrip(b"\n") + line
        case 5:
            return line[: chance.randrange(len(line))].rstrip(b"\n") + line
        case 6:
            at = chance.randrange(len(line))
            return line[:at].rstrip(b"\n") + b"\0" * 7 + line[at:]
        case 7:
            return line[: chance.randrange(len(line))] + b"\n"
        case 8:
            for name in ("toolUseResult", "attachment", "input"):
                inner = body.get(name)
                if isinstance(inner, dict):
                    inner.update(payload=_PAYLOAD, last=[_PAYLOAD])
            message = body.get("message")
            if isinstance(message, dict) and isinstance(message.get("content"), list):
                for block in message["content"]:
                    if isinstance(block, dict):
                        block["input"] = _PAYLOAD
            return _compact(body)
        case _:
            text = json.dumps({**body, **_PAYLOAD})
            message = body.get("message")
            if isinstance(message, dict) and isinstance(message.get("content"), list):
                for block in message["content"]:
                    if isinstance(block, dict):
                        for name in ("content", "text"):
                            if isinstance(block.get(name), str):
                                block[name] = text
            return _compact(body)


def test_a_made_up_word_that_an_id_has_is_seen_although_the_rows_before_had_other_words() -> None:
    """Words of rows without an id come from a seed: with another one, what was compared before says nothing."""
    seed = 7
    rows = Rows()
    nameless = _compact({"type": "queue-operation", "operation": "enqueue", "content": "go on"})
    word = words_for(array("q", [0]), seed).tobytes().hex()
    named = _compact({**_FIRST_ROW, "uuid": f"{word}-0000-4000-8000-000000000000"})
    rows.decode(nameless, len(nameless), 0)
    rows.decode(named, len(named), len(nameless))
    rows.name(seed + 1)
    assert rows.alike == []
    rows.name(seed)
    assert rows.alike == [0, 1]
