"""The Raw tab: a line, a record or a row as it is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest

from leafward.agents.registry import agent_named
from leafward.session.headlines.entry_headline import place_words
from leafward_tui.inspector.model.raw import escaped
from leafward_tui.inspector.tab import Tab
from tests.codex_rollout import Rollout
from tests.foreign_stores import make
from tests.tui.inspector_data import (
    line_with,
    opened,
    page,
    single,
    turn,
    user,
    write_session,
)

if TYPE_CHECKING:
    from pathlib import Path


def unfolded(text: str) -> object:
    """The JSON of a page whose strings are not broken over lines."""
    return orjson.loads(text[text.index("{") :])


def test_raw_is_the_line_as_it_stands(tmp_path: Path) -> None:
    entry = {"type": "custom", "customType": "x", "data": {"a": [1, 2.5, True, None, {}, []], "s": 'q"\\'}}
    session = write_session(tmp_path / "s.jsonl", user("a"), entry)
    shown = page(single(session, 1), Tab.RAW, width=100)
    assert unfolded(shown.text) == orjson.loads(session.raw(1))
    assert f"starts at byte {session.columns.start[1]:,}, {len(session.raw(1)):,} bytes long" in shown.text
    assert orjson.loads(shown.copy) == orjson.loads(session.raw(1))


def test_raw_shows_version_1_lines_unmigrated(repository: Path) -> None:
    session = opened(repository / "tests" / "data" / "pi" / "sessions" / "version-1.jsonl")
    assert '"parentId"' not in page(single(session, 0), Tab.RAW).text


@pytest.mark.parametrize("agent", ["codex", "claude", "opencode", "opencode-files"])
def test_raw_shows_every_record_that_an_entry_was_made_of(tmp_path: Path, agent: str) -> None:
    store = make(agent, tmp_path)
    session = store.open()
    several = 0
    for index in range(len(session)):
        records = session.records(index)
        several += len(records) > 1
        shown = page(single(session, index), Tab.RAW, width=400)
        assert "not a JSON object" not in shown.text
        for record in records:
            for key in orjson.loads(record):
                assert f'"{key}":' in shown.text
        origin = session.origin(index)
        assert (f"row {origin.offset:,}" in shown.text) == (agent == "opencode")
        assert b"\n".join(records) == session.raw(index)
    assert several or agent == "claude"
    store.close()


def test_raw_of_very_many_records_ends(tmp_path: Path) -> None:
    rollout = Rollout(tmp_path)
    rollout.prompt("one?")
    for _ in range(400):
        rollout.event("agent_message", message="more")
    session = rollout.opened()
    reply = next(index for index in range(len(session)) if len(session.records(index)) > 300)
    shown = page(single(session, reply), Tab.RAW)
    assert "more records" in shown.text
    assert " records, " in shown.text
    assert len(shown.lines) < 2_200
    session.close()


def test_raw_names_the_file_where_there_are_several(tmp_path: Path) -> None:
    base = Rollout(tmp_path / ".codex", first=0)
    base.turn("one?", "one.")
    end = base.ordinal
    child = Rollout(
        tmp_path / ".codex",
        segment="01a1ffe0-0000-7000-8000-00000000aaaa",
        minute=5,
        first=end,
        history_mode="paginated",
        history_base={
            "thread_id": base.thread,
            "end_ordinal_exclusive": end,
            "end_byte_offset": base.path.stat().st_size,
        },
    )
    child.turn("two?", "two.")
    session = agent_named("codex").open(child.path)
    elsewhere = {
        index for index in range(len(session)) if session.origin(index).path.name != session.path.name
    }
    assert elsewhere
    assert len(elsewhere) < len(session)
    for index in range(len(session)):
        assert (
            "\nin rollout-" in "\n" + page(single(session, index), Tab.RAW).text.replace("  in ", "\nin ")
        ) == (index in elsewhere)
        assert (" of rollout-" in place_words(session, index)) == (index in elsewhere)
    session.close()


def test_long_strings_fold_and_open(tmp_path: Path) -> None:
    session = write_session(tmp_path / "s.jsonl", user("\n".join(f"line {number}" for number in range(50))))
    shown = page(turn(session), Tab.RAW)
    fold = line_with(shown, "the rest of 389 characters")
    assert "line 5\\n" in shown.text
    assert "line 49" not in shown.text
    opened = page(turn(session), Tab.RAW, toggled={shown.lines[fold].toggle})
    assert 'line 49"' in opened.text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", "\\u001b[31m"),
        ("\ud800", "\\ud800"),
        ("\u202e\x85\x7f", "\\u202e\\u0085\\u007f"),
        ('a"b\\c\n\t', 'a\\"b\\\\c\\n\\t'),
        ("漢字 é 👍", "漢字 é 👍"),
    ],
)
def test_what_cannot_be_seen_is_an_escape(text: str, shown: str) -> None:
    assert escaped(text) == shown


def test_deep_nesting_and_long_lists_end(tmp_path: Path) -> None:
    deep = b'{"type":"custom","id":"0000000a","parentId":null,"data":' + b"[" * 300 + b"]" * 300 + b"}"
    wide = (
        b'{"type":"custom","id":"0000000b","parentId":"0000000a","data":['
        + b",".join([b"1"] * 50_000)
        + b"]}"
    )
    session = write_session(tmp_path / "s.jsonl", deep, wide)
    assert "nested deeper than is shown" in page(single(session, 0), Tab.RAW).text
    shown = page(single(session, 1), Tab.RAW)
    assert "only the first 2,000 lines are shown" in shown.text
    assert len(shown.lines) < 2020


def test_a_malformed_line_is_shown_as_bytes(tmp_path: Path) -> None:
    session = write_session(tmp_path / "s.jsonl", user("a"), b"\xff\xfe not json", user("b"))
    shown = page(single(session, 1), Tab.RAW)
    assert "! the line is not a JSON object" in shown.text
    assert "\\xff\\xfe not json" in shown.text
