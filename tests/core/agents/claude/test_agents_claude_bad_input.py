"""Claude Code: files as crashes, full disks and other programs leave them. All of it is shown, counted and explained."""

from __future__ import annotations

import json
import random
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from leafward.agents.claude.entries.transcript_rows import Rows
from leafward.base.errors import NotASession
from leafward.context.model_context import context_at
from leafward.doctor.session_problems import check
from leafward.session.entries import Damage, Kind
from leafward.session.headlines.entry_headline import headline
from tests.claude_transcript import CLAUDE, DATA, IDS, Transcript, opened
from tests.core.catalogued import cards_by_id
from tests.core.damaged import passes_over_its_mark, tells_of_nul_bytes_at_its_end
from tests.foreign_sessions import problems, read_whole, said, texts

if TYPE_CHECKING:
    from pathlib import Path


def talk(path: Path) -> Transcript:
    transcript = Transcript(path)
    transcript.turn("one", "first")
    return transcript


def offset_of(transcript: Transcript, code: str) -> int | None:
    session = transcript.opened()
    return next(problem.offset for problem in check(session) if problem.code == code)


def test_a_line_torn_in_the_middle_is_marked_and_the_rest_goes_on(tmp_path: Path) -> None:
    transcript = talk(tmp_path)
    tip = transcript.tip
    at = transcript.raw(transcript.text_of("user", message={"content": "lost"})[:80].encode() + b"\n")
    transcript.tip = tip
    transcript.turn("two", "second")
    assert texts(transcript.opened()) == ["one", "first", "two", "second"]
    assert problems(transcript.opened()) == {"malformed": 1}
    assert offset_of(transcript, "malformed") == at


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    passes_over_its_mark(talk(tmp_path), CLAUDE, tmp_path)


def test_two_rows_on_one_line_are_two(tmp_path: Path) -> None:
    transcript = talk(tmp_path)
    first = transcript.text_of("user", message={"content": 'two {"type":"user"}'})
    at = transcript.raw(first.encode())
    transcript.reply("second")
    transcript.turn("three", "third")
    session = transcript.opened()
    assert texts(session)[2:] == ['two {"type":"user"}', "second", "three", "third"]
    assert problems(session) == {"glued": 1}
    assert offset_of(transcript, "glued") == at + len(first)
    assert session.columns.damage == {3: Damage.GLUED}


def test_rows_of_one_reply_glued_together(tmp_path: Path) -> None:
    transcript = talk(tmp_path)
    transcript.prompt("two")
    said_ = {"id": "m9", "role": "assistant", "content": [{"type": "text", "text": "a"}]}
    transcript.raw(transcript.text_of("assistant", message=said_).encode())
    transcript.block({"type": "text", "text": "b"}, "m9", "end_turn")
    assert texts(transcript.opened()) == ["one", "first", "two", "a\nb"]


def test_a_torn_row_with_a_whole_one_behind_it(tmp_path: Path) -> None:
    transcript = talk(tmp_path)
    tip = transcript.tip
    transcript.raw(transcript.text_of("user", message={"content": "lost"})[:90].encode())
    transcript.tip = tip
    transcript.turn("two", "second")
    assert texts(transcript.opened()) == ["one", "first", "two", "second"]
    assert problems(transcript.opened()) == {"malformed": 1, "glued": 1}


@pytest.mark.parametrize("where", ["line", "before", "behind"])
def test_runs_of_nul_bytes(tmp_path: Path, where: str) -> None:
    transcript = talk(tmp_path)
    row = transcript.text_of("user", message={"content": "two"}).encode()
    hole = b"\0" * 5000
    transcript.raw({"line": hole + b"\n" + row, "before": hole + row, "behind": row + hole}[where] + b"\n")
    transcript.reply("second")
    assert texts(transcript.opened()) == ["one", "first", "two", "second"]
    codes = problems(transcript.opened())
    assert set(codes) <= {"malformed", "glued"}
    assert codes


def test_nul_bytes_at_the_end_are_no_row_and_are_told_of(tmp_path: Path) -> None:
    tells_of_nul_bytes_at_its_end(talk(tmp_path))


def test_a_torn_tail_waits_and_a_whole_one_counts(tmp_path: Path) -> None:
    transcript = talk(tmp_path)
    row = transcript.text_of("user", message={"content": "two"})
    at = transcript.raw(row[:70].encode())
    session = transcript.opened()
    assert session.scan.pending is not None
    assert (session.scan.pending.offset, session.scan.pending.size) == (at, 70)
    assert problems(session) == {"torn-tail": 1}
    transcript.raw(row[70:].encode())
    session = transcript.opened()
    assert session.scan.pending is None
    assert texts(session)[-1] == "two"
    assert problems(session) == {"unterminated": 1}


def test_one_id_twice_is_one_row_with_what_follows_either(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    first = transcript.prompt("one")
    reply = transcript.reply("first")
    transcript.raw(b"\n".join(transcript.path.read_bytes().splitlines()[:2]) + b"\n")
    transcript.prompt("two", parentUuid=reply)
    session = transcript.opened()
    assert texts(session) == ["one", "first", "two"]
    assert session.tree.branch_points() == []
    assert set(session.columns.damage.values()) == {Damage.DUPLICATE_ID}
    assert first[:8] in {str(session.columns.id(index)) for index in range(len(session))}
    assert len(list(session.tree.leaves())) == 1


def test_ids_that_begin_alike_stay_apart(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    for number in range(20):
        transcript.prompt(f"prompt {number}", uuid=f"abcdef01-0000-4000-8000-{number:012d}")
    session = transcript.opened()
    assert len({str(session.columns.id(index)) for index in range(20)}) == 20
    assert str(session.columns.id(0)) == "abcdef01"
    assert texts(transcript.opened()) == [f"prompt {number}" for number in range(20)]
    before = [str(session.columns.id(index)) for index in range(20)]
    transcript.prompt("another", uuid="abcdef02-0000-4000-8000-000000000000")
    session = transcript.opened()
    assert [str(session.columns.id(index)) for index in range(20)] == before


def test_ids_that_begin_with_numbers_in_a_row_are_told_apart_without_searches(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    for number in range(600):
        transcript.prompt(f"prompt {number}", uuid=f"{number // 2:08x}-0000-4000-8000-{number:012d}")
    session = transcript.opened()
    assert len({str(session.columns.id(index)) for index in range(600)}) == 600
    # A search for each of them took minutes where there are many.
    assert session.columns.searched < 10
    assert texts(session) == [f"prompt {number}" for number in range(600)]


def test_a_missing_parent_is_said_and_the_row_before_it_followed(tmp_path: Path) -> None:
    transcript = talk(tmp_path)
    transcript.prompt("two", parentUuid="0badcafe-0000-4000-8000-000000000000")
    transcript.reply("second")
    session = transcript.opened()
    # So does Claude Code: seen of 2.1.197 and 2.1.330.
    assert texts(session) == ["one", "first", "two", "second"]
    assert problems(session) == {"orphan": 1}
    assert session.branches == 0


def test_a_circle_of_parents_is_cut(tmp_path: Path) -> None:
    transcript = talk(tmp_path)
    one, two = (f"{number:08x}-1111-4111-8111-000000000000" for number in (7, 8))
    transcript.prompt("round", uuid=one, parentUuid=two)
    transcript.reply("and round", uuid=two, parentUuid=one)
    transcript.prompt(
        "itself",
        uuid="00000009-1111-4111-8111-000000000000",
        parentUuid="00000009-1111-4111-8111-000000000000",
    )
    session = transcript.opened()
    assert problems(session)["cycle"] == 2
    context_at(session)
    for index in range(len(session)):
        session.tree.path(index)


def test_a_parent_that_comes_later_in_the_file(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    rows = [transcript.text_of("user", message={"content": "one"})]
    rows.append(transcript.text_of("assistant", message={"id": "m", "content": "first"}))
    rows.append(transcript.text_of("user", message={"content": "two"}))
    transcript.raw("\n".join([rows[0], rows[2], rows[1], ""]).encode())
    assert texts(transcript.opened()) == ["one", "first", "two"]


def test_lone_surrogates_and_bytes_that_are_no_text(tmp_path: Path) -> None:
    transcript = talk(tmp_path)
    transcript.raw(
        transcript.text_of("user", message={"content": "half \ud83d here"}).encode(
            "ascii", "backslashreplace"
        )
        + b"\n"
    )
    row = transcript.text_of("user", message={"content": "X bytes"}).encode()
    transcript.raw(row.replace(b"X", b"\xff\xfe") + b"\n")
    told = texts(transcript.opened())
    assert told[2] == "half \ud83d here"
    assert told[3].endswith(" bytes")
    assert problems(transcript.opened()) == {}


def test_line_ends_of_other_systems_and_within_texts(tmp_path: Path) -> None:
    transcript = talk(tmp_path)
    transcript.raw(transcript.text_of("user", message={"content": "a\u2028b\u0085c\rd"}).encode() + b"\r\n")
    assert texts(transcript.opened())[-1] == "a\u2028b\u0085c\rd"


def test_unknown_records_are_kept_shown_and_counted(tmp_path: Path) -> None:
    transcript = talk(tmp_path)
    at = transcript.size
    transcript.row("quantum-state", superposition=True)
    transcript.row("quantum-state", superposition=False)
    transcript.turn("two", "second")
    session = transcript.opened()
    index = session.columns.kind.find(Kind.UNKNOWN)
    assert session.entry(index).type == "claude.quantum-state"
    assert (session.body(index) or {})["data"]["superposition"] is True
    assert texts(session) == ["one", "first", "two", "second"]
    [note] = session.source.notes
    assert (note.code, note.offset) == ("unknown-record", at)
    assert "quantum-state (2)" in note.text
    assert len(list(session.tree.leaves())) == 1


def test_a_text_in_the_place_of_a_type_is_told_by_its_beginning(tmp_path: Path) -> None:
    transcript = talk(tmp_path)
    transcript.row("quantum\n\x1b[2J" * 100_000, superposition=True)
    [note] = transcript.opened().source.notes
    assert note.code == "unknown-record"
    assert note.text.startswith("unknown records, kept as they are: quantum ")
    assert (len(note.text) < 120, note.text.isprintable()) == (True, True)


@pytest.mark.parametrize(
    "row",
    [
        {"type": "user", "message": None},
        {"type": "user", "message": "bare"},
        {"type": "user", "message": {"content": [1, None, {"type": "text"}, {"text": 5}]}},
        {"type": "user", "message": {"content": [{"type": "tool_result"}]}},
        {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": 5, "content": {}}]}},
        {"type": "assistant", "message": {"content": [{"type": "tool_use"}], "usage": "many", "id": 9}},
        {"type": "assistant", "message": {"content": None, "usage": {"input_tokens": -1}}},
        {"type": "attachment", "attachment": []},
        {"type": "attachment", "rendered": [5, {"content": [{}]}]},
        {"type": "system", "subtype": "compact_boundary", "compactMetadata": "x", "logicalParentUuid": 7},
        {
            "type": "system",
            "subtype": "compact_boundary",
            "compactMetadata": {"preservedMessages": {"uuids": [1]}},
        },
        {"type": "system", "subtype": ["x"]},
        {"type": "content-replacement", "replacements": [{"toolUseId": "none"}]},
        {"type": "custom-title", "customTitle": 5},
        {"type": "last-prompt", "leafUuid": {}},
        {"type": ["user"]},
        {"uuid": 5, "parentUuid": [], "type": "user", "message": {"content": "x"}},
        {"type": "cost-state", "totalCostUSD": "much"},
        {"type": "api-request", "id": "a", "base": "a", "keep": "x", "tail": 5},
        {},
    ],
)
def test_rows_of_the_wrong_shape_never_end_the_read(tmp_path: Path, row: dict[str, object]) -> None:
    transcript = talk(tmp_path)
    transcript.raw(json.dumps({**row, "sessionId": IDS[0]}).encode() + b"\n")
    transcript.turn("two", "second")
    session = transcript.opened()
    read_whole(session)
    assert texts(session)[-1] == "second"


def test_a_line_of_many_megabytes(tmp_path: Path) -> None:
    transcript = talk(tmp_path)
    transcript.prompt("x" * (9 << 20))
    transcript.reply("large")
    session = transcript.opened()
    assert [len(text) for _, text in said(session)][2:] == [9 << 20, 5]
    assert problems(session) == {"long-line": 1}


def test_what_is_no_transcript(tmp_path: Path) -> None:
    for name, content in (("blank", b"\n\n"), ("words", b"nothing of it\nis a row\n")):
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(content)
        with pytest.raises(NotASession):
            CLAUDE.open(path)
    with pytest.raises(NotASession, match="folder"):
        CLAUDE.open(tmp_path)
    with pytest.raises(NotASession):
        CLAUDE.open(tmp_path / "none.jsonl")


def test_no_mutilation_is_too_much(tmp_path: Path) -> None:
    chance = random.Random(7)
    [source] = (DATA / "2.1.330").rglob("d379888c*.jsonl")
    whole = source.read_bytes()
    path = tmp_path / f"{IDS[0]}.jsonl"
    for _ in range(40):
        data = bytearray(whole)
        for _ in range(chance.randrange(1, 6)):
            at, size = chance.randrange(len(data)), chance.choice([1, 3, 50, 4000])
            what = chance.randrange(4)
            if what == 0:
                del data[at : at + size]
            elif what == 1:
                data[at : at + size] = b"\0" * size
            elif what == 2:
                data[at:at] = chance.randbytes(size)
            else:
                data = data[:at] or data
        path.write_bytes(data)
        try:
            session = opened(path)
        except NotASession:
            continue
        read_whole(session)
        session.close()


def test_a_broken_session_never_hides_the_others(tmp_path: Path) -> None:
    talk(tmp_path)
    broken = tmp_path / "projects" / "-home-ada-orchard" / f"{IDS[1]}.jsonl"
    broken.write_bytes(b"\xff\xfe\x00broken\n" * 50)
    cards = cards_by_id(tmp_path, tmp_path / "index")
    assert cards[IDS[0]].problem is None
    assert cards[IDS[1]].problem is not None


def long_talk(path: Path, rows: int) -> Transcript:
    """So many rows, each under the one before it."""
    transcript = Transcript(path)
    lines: list[str] = []
    parent: str | None = None
    for number in range(rows):
        uuid = f"{number * 2654435761 % (1 << 32):08x}-0000-4000-8000-{number:012d}"
        message = {"content": "x" * 90} if number % 2 else {"id": f"m{number}", "content": "y" * 90}
        row = {"parentUuid": parent, "isSidechain": False, "uuid": uuid, "message": message}
        row["type"] = "user" if number % 2 else "assistant"
        lines.append(json.dumps(row, separators=(",", ":")))
        parent = uuid
    transcript.path.write_text("\n".join(lines) + "\n")
    return transcript


def test_a_hundred_thousand_rows_need_no_stack(tmp_path: Path) -> None:
    session = long_talk(tmp_path, 100_000).opened()
    assert len(session) == 100_000
    assert session.tree.branch_points() == []
    assert session.place == 99_999


def test_an_index_takes_little_memory(tmp_path: Path) -> None:
    transcript = long_talk(tmp_path, 20_000)
    transcript.opened()
    tracemalloc.start()
    try:
        session = transcript.opened()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept / len(session) < 96


@pytest.mark.parametrize("by_shapes", [True, False])
def test_a_second_session_in_the_same_file_is_a_conversation_of_its_own(
    tmp_path: Path, *, by_shapes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first row is the words of a hook, as since 2.1.3xx, and names no parent."""
    if not by_shapes:
        monkeypatch.setattr(Rows, "feed", Rows.decode)
    transcript = Transcript(tmp_path)
    transcript.turn("Count the pears", "Seven.")
    transcript.turn("And the plums", "Nine.")
    transcript.defaults = {"sessionId": IDS[5]}
    hook = {"type": "hook_success", "hookEvent": "SessionStart", "content": "It rains."}
    transcript.row("attachment", attachment=hook, parentUuid=None, rendered=[{"content": "It rains."}])
    transcript.turn("Prune the trees", "Pruned.")
    session = transcript.opened()
    sent = [one.entry for one in context_at(session).messages]
    assert [headline(session, at).text for at in sent][-2:] == ["Prune the trees", "Pruned."]
    assert "Count the pears" not in [headline(session, at).text for at in sent]
    assert problems(session) == {"another-session": 1}
    shown = [headline(session, at).text for at in range(len(session))]
    assert {"Count the pears", "And the plums"} <= set(shown), "nothing is lost"
