"""A line that is nested too deeply for a parser is made less deep once, however often it is decoded."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from leafward.agents.recognition import agent_of
from leafward.files.file_replay.step_reader import steps
from leafward.session.headlines.entry_headline import row_text
from leafward.session.lines import abridged_lines, line_decoding
from leafward.session.lines.line_decoding import decode_line

if TYPE_CHECKING:
    from pathlib import Path

DEPTH = 40_000


def deep(name: str) -> bytes:
    return b'{"type":"%s","data":%s%s,"id":"1"}' % (name.encode(), b"[" * DEPTH, b"]" * DEPTH)


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the lines that are made less deep from now on."""
    read: list[int] = []
    shorter = abridged_lines.abridged

    def note(line: bytes, *, shorten: bool = True) -> bytes | None:
        read.append(len(line))
        return shorter(line, shorten=shorten)

    monkeypatch.setattr(line_decoding, "abridged", note)
    monkeypatch.setattr(line_decoding, "_shorter", {})
    return read


def test_a_deep_line_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = counted(monkeypatch)
    found = [decode_line(deep("a")) for _ in range(3)]
    assert [body and (body["type"], body["id"]) for body in found] == [("a", "1")] * 3
    assert len(read) == 1


def test_each_decoding_gives_an_object_of_its_own() -> None:
    first, second = decode_line(deep("a")), decode_line(deep("a"))
    assert first is not None
    assert second is not None
    first["type"] = "changed"
    assert second["type"] == "a"


def test_lines_do_not_stand_for_one_another_and_few_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    counted(monkeypatch)
    for number in range(40):
        body = decode_line(deep(f"line {number}"))
        assert body is not None
        assert body["type"] == f"line {number}"
    assert len(line_decoding._shorter) == 16


def test_a_deep_line_that_is_no_object_stays_none(monkeypatch: pytest.MonkeyPatch) -> None:
    read = counted(monkeypatch)
    broken = deep("a")[:-1]
    assert [decode_line(broken) for _ in range(2)] == [None, None]
    assert len(read) == 1


@pytest.mark.parametrize("levels", [900, 985, 1015, 1100])
@pytest.mark.parametrize(
    "lines",
    [
        (
            '{"type":"session","version":3,"id":"s","timestamp":"2026-11-01T10:00:00.000Z","cwd":"/w"}',
            (
                '{"type":"message","id":"a","parentId":null,"timestamp":"2026-11-01T10:00:01.000Z",'
                '"message":{"role":"assistant","content":[{"type":"toolCall","id":"1","name":DEEP,"arguments":DEEP}]}}'
            ),
            '{"type":DEEP,"id":"b","parentId":"a","timestamp":"2026-11-01T10:00:02.000Z"}',
        ),
        (
            (
                '{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","version":"2.0.1","cwd":"/w",'
                '"timestamp":"2026-11-01T10:00:00.000Z","message":{"role":"user","content":"Fix the pears"}}'
            ),
            '{"type":DEEP,"uuid":"b","parentUuid":"a","timestamp":"2026-11-01T10:00:01.000Z","content":DEEP}',
        ),
        (
            '{"timestamp":"2026-11-01T10:00:00.000Z","type":"session_meta","payload":{"id":"s","cwd":"/w"}}',
            '{"timestamp":"2026-11-01T10:00:01.000Z","type":"event_msg","payload":{"type":DEEP,"message":DEEP}}',
            (
                '{"timestamp":"2026-11-01T10:00:02.000Z","type":"response_item","payload":{"type":"function_call",'
                '"name":DEEP,"call_id":"1","arguments":DEEP}}'
            ),
        ),
    ],
    ids=["pi", "claude", "codex"],
)
def test_values_as_deep_as_the_parser_reads_are_shown(
    tmp_path: Path, lines: tuple[str, ...], levels: int
) -> None:
    path = tmp_path / "rollout-2026-11-01T10-00-00-01a20535-c1aa-7f82-968e-284e59b25d75.jsonl"
    deep_value = '{"a":' * levels + "1" + "}" * levels
    path.write_text("".join(f"{line.replace('DEEP', deep_value)}\n" for line in lines), "utf-8")
    with closing(agent_of(path).open(path)) as session:
        for index in range(len(session)):
            assert session.entry(index).kind
            assert isinstance(row_text(session, index), str)
            assert session.records(index)
        steps(session, range(len(session)), sweeps=True)
