"""Codex: files as crashes, full disks and other programs leave them. All of it is shown, counted and explained."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from leafward.agents.codex.entries.current_path import START
from leafward.agents.codex.entries.entry_builder import EntryBuilder
from leafward.agents.codex.rollout import lines_in
from leafward.agents.recognition import agent_of
from leafward.base import unpacking
from leafward.base.config import Config
from leafward.base.errors import NotASession
from leafward.catalogue.listing import Catalogue
from leafward.doctor.session_problems import check
from leafward.session.entries import Damage, Kind
from tests.codex_rollout import CODEX, DATA, THREADS, Rollout, opened, zstd
from tests.core.damaged import passes_over_its_mark, tells_of_nul_bytes_at_its_end
from tests.core.linear_time import in_linear_time
from tests.foreign_sessions import problems, read_whole, said, texts

if TYPE_CHECKING:
    from pathlib import Path


def talk(path: Path) -> Rollout:
    rollout = Rollout(path)
    rollout.turn("one", "first")
    return rollout


def test_a_line_torn_in_the_middle_is_marked_and_the_rest_goes_on(tmp_path: Path) -> None:
    rollout = talk(tmp_path)
    at = rollout.raw(rollout.text_of("response_item", type="message", role="assistant")[:60].encode() + b"\n")
    rollout.turn("two", "second")
    session = rollout.opened()
    assert texts(session) == ["one", "first", "two", "second"]
    [(index, damage)] = session.columns.damage.items()
    assert (damage, session.entry(index).offset) == (Damage.MALFORMED, at)
    assert problems(session) == {"malformed": 1}


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    passes_over_its_mark(talk(tmp_path), CODEX, tmp_path)


def test_two_records_on_one_line_are_two(tmp_path: Path) -> None:
    rollout = talk(tmp_path)
    first = rollout.text_of("event_msg", type="user_message", message="two")
    at = rollout.raw(first.encode())
    rollout.reply("second")
    rollout.turn("three", "third")
    session = rollout.opened()
    assert texts(session) == ["one", "first", "two", "second", "three", "third"]
    glued = next(index for index, damage in session.columns.damage.items() if damage is Damage.GLUED)
    assert session.origin(glued).offset == at + len(first)
    assert problems(session) == {"glued": 1}


def test_a_record_that_begins_no_entry_is_told_of_on_the_line_of_another(tmp_path: Path) -> None:
    rollout = talk(tmp_path)
    reply = rollout.text_of("event_msg", type="agent_message", message="more")
    rollout.raw(reply.encode())
    rollout.count(500)
    rollout.turn("two", "second")
    session = rollout.opened()
    assert texts(session)[-2:] == ["two", "second"]
    assert problems(session) == {"glued": 1}


def test_two_records_on_one_line_are_two_beside_a_line_that_is_none(tmp_path: Path) -> None:
    """There are as many beginnings as lines then."""
    rollout = talk(tmp_path)
    rollout.prompt("two")
    piece = rollout.text_of("response_item", type="message", role="assistant", text="Seven pears")
    rollout.raw(piece[: -len(' pears"}}')].encode())
    rollout.said("Eight.", "assistant")
    rollout.raw(b"nothing\n")
    session = rollout.opened()
    assert texts(session)[:4] == ["one", "first", "two", "Eight."]
    assert problems(session) == {"malformed": 2, "glued": 1}


def test_nul_bytes_at_the_end_are_told_of(tmp_path: Path) -> None:
    tells_of_nul_bytes_at_its_end(talk(tmp_path))


def test_a_first_line_that_is_broken_is_one_damaged_line(tmp_path: Path) -> None:
    rollout = talk(tmp_path / ".codex")
    whole = rollout.path.read_bytes()
    rollout.path.write_bytes(whole[40:])
    assert agent_of(rollout.path).name == "codex", "the store it lies in says whose it is"
    session = rollout.opened()
    assert texts(session) == ["one", "first"]
    assert problems(session)["malformed"] == 1


def test_a_torn_record_with_a_whole_one_behind_it(tmp_path: Path) -> None:
    rollout = talk(tmp_path)
    torn = rollout.text_of("response_item", type="function_call_output", call_id="1", output="x")[:90]
    rollout.raw(torn.encode())
    rollout.prompt("two")
    session = rollout.opened()
    assert said(session)[-1] == ("user", "two")
    assert problems(session) == {"malformed": 1, "glued": 1}


@pytest.mark.parametrize("torn", ["message", "function_call", "reasoning"])
def test_a_torn_piece_of_a_reply_with_a_whole_record_behind_it_is_shown(tmp_path: Path, torn: str) -> None:
    """Both begin as records do, and the line ends as one: only its middle tells."""
    rollout = talk(tmp_path)
    rollout.prompt("two")
    piece = rollout.text_of("response_item", type=torn, role="assistant", name="shell", text="Seven pears")
    rollout.raw(piece[: -len(' pears"}}')].encode())
    rollout.said("Eight.", "assistant")
    rollout.turn("three", "third")
    session = rollout.opened()
    assert texts(session) == ["one", "first", "two", "Eight.", "three", "third"]
    assert problems(session) == {"malformed": 1, "glued": 1}


def test_a_record_of_a_reply_that_cannot_be_read_is_told_of(tmp_path: Path) -> None:
    rollout = talk(tmp_path)
    rollout.prompt("two")
    rollout.said("Seven.", "assistant")
    broken = rollout.text_of("response_item", type="function_call", name="shell", call_id="1", arguments="{}")
    rollout.raw(broken.replace('"1"', '"1').encode() + b"\n")
    rollout.turn("three", "third")
    session = rollout.opened()
    assert texts(session) == ["one", "first", "two", "Seven.", "three", "third"]
    assert problems(session) == {"malformed": 1}


def test_nul_bytes_are_told_of_and_what_stands_around_them_is_read(tmp_path: Path) -> None:
    rollout = talk(tmp_path)
    rollout.raw(b"\0" * 300)
    rollout.turn("two", "second")
    rollout.raw(b"\0" * 40 + b"\n")
    rollout.turn("three", "third")
    session = rollout.opened()
    assert texts(session) == ["one", "first", "two", "second", "three", "third"]
    assert problems(session)["malformed"] == 2


def test_a_last_line_without_an_end_is_pending_until_it_is_whole(tmp_path: Path) -> None:
    rollout = talk(tmp_path)
    text = rollout.text_of("event_msg", type="user_message", message="two").encode()
    at = rollout.raw(text[:50])
    session = rollout.opened()
    assert session.scan.pending is not None
    assert (session.scan.pending.offset, session.scan.pending.size) == (at, 50)
    assert problems(session) == {"torn-tail": 1}
    rollout.raw(text[50:])
    growth = session.refresh()
    assert growth is not None
    assert not growth.replaced
    assert said(session)[-1] == ("user", "two")
    assert problems(session) == {"unterminated": 1}
    rollout.raw(b"\n")
    session.refresh()
    assert not problems(session)


def test_unknown_records_are_kept_and_shown(tmp_path: Path) -> None:
    rollout = talk(tmp_path)
    at = rollout.line("brand_new_thing", some="value")
    rollout.event("never_seen_before", some="value")
    rollout.item("odd_item", some="value")
    rollout.turn("two", "second")
    session = rollout.opened()
    unknown = [
        session.entry(index) for index, kind in enumerate(session.columns.kind) if kind == Kind.UNKNOWN
    ]
    assert [entry.type for entry in unknown] == [
        "codex.brand_new_thing",
        "codex.event_msg never_seen_before",
        "codex.response_item odd_item",
    ]
    assert [entry.body["data"]["some"] for entry in unknown] == ["value"] * 3
    (note,) = [one for one in session.source.notes if one.code == "unknown-record"]
    assert note.text.endswith(
        "brand_new_thing (1), event_msg never_seen_before (1), response_item odd_item (1)"
    )
    assert note.offset == at
    assert texts(session) == ["one", "first", "two", "second"]


def test_a_text_in_the_place_of_a_type_is_told_by_its_beginning(tmp_path: Path) -> None:
    rollout = talk(tmp_path)
    rollout.line("brand new\n" * 100_000, some="value")
    (note,) = [one for one in rollout.opened().source.notes if one.code == "unknown-record"]
    assert note.text == f"unknown records, kept as they are: {'brand new ' * 6} (1)"


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\0" * 900, b"not json\n", b"[]\n", b"\x28\xb5\x2f\xfd"])
def test_a_file_that_holds_no_record_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    rollout = Rollout(tmp_path)
    rollout.path.write_bytes(content)
    with pytest.raises(NotASession) as refused:
        CODEX.open(rollout.path)
    assert "\n" not in str(refused.value)
    catalogue = Catalogue(Config(roots={"codex": (str(tmp_path),), "pi": ()}), index_path=tmp_path / "i")
    catalogue.refresh()
    [card] = catalogue.cards()
    assert card.agent == "codex"
    assert card.problem


def test_a_compressed_file_that_ends_too_early_shows_what_it_holds(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    cold = rollout.path.with_name(rollout.path.name + ".zst")
    for number in range(40):
        rollout.turn(str(number), random.Random(number).randbytes(20_000).hex())
    cold.write_bytes(zstd.compress(rollout.path.read_bytes())[:-2000])
    rollout.path.unlink()
    session = opened(cold)
    assert said(session)[0] == ("user", "0")
    assert problems(session)["torn-archive"] == 1


def test_a_small_file_that_unpacks_to_a_huge_one_shows_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unpacking, "_FREE", 1 << 20)
    rollout = Rollout(tmp_path)
    rollout.turn("first", "answered")
    cold = rollout.path.with_name(rollout.path.name + ".zst")
    cold.write_bytes(zstd.compress(rollout.path.read_bytes() + b"\n" + b"x" * (8 << 20)))
    rollout.path.unlink()
    session = opened(cold)
    assert said(session)[0] == ("user", "first")
    (problem,) = (one for one in check(session) if one.code == "torn-archive")
    assert "it holds more than 1 MB, in a file of" in problem.text


def test_ids_that_occur_twice_and_times_that_are_none(tmp_path: Path) -> None:
    rollout = talk(tmp_path)
    again = rollout.path.read_bytes()
    rollout.raw(again)
    rollout.raw(b'{"timestamp":null,"type":"event_msg","payload":{"type":"user_message","message":"odd"}}\n')
    rollout.raw(b'{"timestamp":[1],"type":"turn_context","payload":{"model":7,"effort":{}}}\n')
    rollout.raw(
        b'{"timestamp":1e999,"type":"compacted","payload":{"message":3,"replacement_history":[1,null,{}]}}\n'
    )
    rollout.raw(b'{"timestamp":"x","type":"response_item","payload":[]}\n')
    session = rollout.opened()
    assert len({session.columns.id(index) for index in range(len(session))}) == len(session)
    read_whole(session)


def test_surrogates_and_bytes_that_are_no_text(tmp_path: Path) -> None:
    rollout = talk(tmp_path)
    rollout.raw(
        b'{"timestamp":"t","type":"event_msg","payload":{"type":"user_message","message":"a \\ud800 \xff b"}}\n'
    )
    session = rollout.opened()
    assert said(session)[-1][1].startswith("a \ud800 ")
    assert not problems(session)


@pytest.mark.parametrize("at_once", [True, False], ids=["in_a_block", "line_by_line"])
def test_ids_of_calls_that_are_no_text(tmp_path: Path, at_once: bool) -> None:
    rollout = talk(tmp_path)
    line = rollout.text_of(
        "response_item", type="function_call_output", call_id="c#1", output="done"
    ).encode()
    end = rollout.text_of("event_msg", type="exec_command_end", call_id="c#1", exit_code=0).encode()
    rollout.raw(
        end.replace(b"#", b"\xff") + b"\n" + line.replace(b"#", b"\xff") + (b"\n" if at_once else b"")
    )
    session = rollout.opened()
    assert session.columns.kind[-1] == Kind.TOOL_RESULT
    assert session.entry(len(session) - 1).message["toolCallId"] == "c\ufffd1"


def test_line_ends_of_another_system(tmp_path: Path) -> None:
    rollout = talk(tmp_path)
    rollout.path.write_bytes(rollout.path.read_bytes().replace(b"\n", b"\r\n"))
    session = rollout.opened()
    assert texts(session) == ["one", "first"]
    assert not problems(session)


def test_lines_that_were_joined_are_taken_apart_in_little_time(tmp_path: Path) -> None:
    """As an old Mac ends lines: each record is decoded once, and not up to every other that may end it."""
    rollout = talk(tmp_path / "joined")
    for number in range(500):
        rollout.turn(f"plant row {number}: " + "onions and leeks " * 30, "planted")
    content = rollout.path.read_bytes()
    rollout.path.write_bytes(content.replace(b"\n", b"\r", content.count(b"\n") - 1))
    with in_linear_time(2.5):
        assert len(rollout.opened()) > 1_000


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_a_file_in_another_encoding_is_refused_in_little_time(tmp_path: Path, encoding: str) -> None:
    """As an editor or shell of Windows saves it: a letter of it is no damaged line by itself."""
    rollout = talk(tmp_path)
    for number in range(200):
        rollout.turn(f"plant row {number}: " + "onions and leeks " * 30, "planted")
    rollout.path.write_bytes(rollout.path.read_bytes().decode().encode(encoding))
    with in_linear_time(), pytest.raises(NotASession):
        opened(rollout.path)


def test_a_line_of_many_megabytes_is_one_entry(tmp_path: Path) -> None:
    rollout = talk(tmp_path)
    big = "x" * (12 << 20)
    rollout.item("function_call_output", call_id="1", output=big)
    rollout.turn("two", "second")
    session = rollout.opened()
    index = session.columns.kind.index(Kind.TOOL_RESULT)
    assert len((session.body(index) or {})["message"]["content"][0]["text"]) == len(big)
    assert problems(session)["long-line"] == 1
    assert said(session)[-1] == ("assistant", "second")


def test_no_mutilation_is_too_much(tmp_path: Path) -> None:
    chance = random.Random(20261121)
    sources = [path.read_bytes() for path in DATA.rglob("*.jsonl") if "rollout" in path.name]
    for number in range(150):
        data = bytearray(chance.choice(sources))
        for _ in range(chance.randint(1, 8)):
            at = chance.randrange(len(data))
            what = chance.randrange(5)
            if what == 0:
                del data[at : at + chance.randint(1, 400)]
            elif what == 1:
                data[at:at] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 40)))
            elif what == 2:
                data[at : at + 1] = b"\n"
            elif what == 3:
                data[at:at] = b"\0" * chance.randint(1, 200)
            else:
                newline = data.find(b"\n", at)
                if newline >= 0:
                    del data[newline]
        rollout = Rollout(tmp_path / str(number), THREADS[number % 20])
        rollout.path.write_bytes(data)
        try:
            session = rollout.opened()
        except NotASession:
            continue
        read_whole(session)
        session.close()


def test_a_block_at_once_gives_what_line_by_line_gives() -> None:
    for path in (path for path in DATA.rglob("*.jsonl") if "rollout" in path.name):
        data = path.read_bytes()
        at_once, singly = EntryBuilder(), EntryBuilder()
        at_once.begin(0, "x", START)
        singly.begin(0, "x", START)
        at_once.feed(data, len(data), 0)
        for buffer, start, end, at in lines_in(data, len(data), 0):
            singly.take(buffer, start, end, at)
        singly.link()
        assert at_once.columns == singly.columns
        assert (at_once.models, at_once.responses.stale, at_once.compactions.kept) == (
            singly.models,
            singly.responses.stale,
            singly.compactions.kept,
        )


def test_cut_anywhere_and_read_on(tmp_path: Path) -> None:
    chance = random.Random(7)
    [source] = DATA.rglob("*c1f8*.jsonl")
    data = source.read_bytes()
    newlines = [at + 1 for at, byte in enumerate(data) if byte == 10]
    for number in range(40):
        cut = chance.choice(newlines) + chance.choice([-1, 0, 0, 1, 50])
        rollout = Rollout(tmp_path / str(number), source.name[28:64])
        rollout.path.write_bytes(data[: max(2, cut)])
        try:
            session = rollout.opened()
        except NotASession:
            continue
        rollout.raw(data[max(2, cut) :])
        session.refresh()
        fresh = rollout.opened()
        assert fresh.columns == session.columns
        assert said(fresh) == said(session)
        assert problems(fresh) == problems(session)
