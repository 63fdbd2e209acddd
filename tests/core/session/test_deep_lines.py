"""A line that is nested too deeply for a parser is made less deep once, however often it is decoded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.session import abridged_lines, line_decoding
from leafward.session.line_decoding import decode_line

if TYPE_CHECKING:
    import pytest

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
