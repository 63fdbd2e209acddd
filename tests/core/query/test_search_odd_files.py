"""Searching files that are odd: junk, very long lines, needles across two reads, a ripgrep that fails."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from leafward.query.search.prefilter import ripgrep
from leafward.query.search.text_search import TextSearch
from tests.pi_file import PiFile
from tests.searched import ROADS, cards_in, found, searching


@pytest.mark.parametrize("road", ROADS)
def test_junk_is_no_obstacle(tmp_path: Path, road: str) -> None:
    file = PiFile(tmp_path / "junk.jsonl")
    file.user("one needle")
    file.path.write_bytes(file.path.read_bytes() + b"\0" * 5000 + b'\n\xff\xfe\x80needle\n{"needle\n')
    file.raw(
        '{"type":"message","id":"0000000a","parentId":null,"message":{"role":"user","content":"lone \\ud83d needle"}}'
    )
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "noise.jsonl").write_bytes(os.urandom(4000) + b"needle\n")
    search = searching("needle", cards_in(tmp_path), road)
    (session,) = search.run()
    assert [hit.entry for hit in session.hits] == ["00000001", "0000000a"]
    # A file without a needle is not opened, so what else it is stays unsaid.
    assert {Path(one.path).name for one in search.unread} - {"empty.jsonl"} == {"noise.jsonl"}


@pytest.mark.parametrize("road", ROADS)
def test_a_line_of_many_megabytes(tmp_path: Path, road: str) -> None:
    file = PiFile(tmp_path / "huge.jsonl")
    file.user("x" * 9_000_000 + " needle " + "y" * 3_000_000)
    (session,) = found("needle", tmp_path, road=road)
    assert (
        session.hits[0].spans == ((81, 87),)
        or session.hits[0].text[slice(*session.hits[0].spans[0])] == "needle"
    )
    assert len(session.hits[0].text) < 400


def test_a_needle_across_two_reads_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = PiFile(tmp_path / "a.jsonl")
    file.user("x" * 500 + "needle" + "y" * 500)
    for size in (7, 64, 100, 333):
        monkeypatch.setattr("leafward.query.search.prefilter._CHUNK", size)
        assert len(found("needle", tmp_path)) == 1


def test_a_ripgrep_that_fails_loses_nothing(tmp_path: Path) -> None:
    PiFile(tmp_path / "a.jsonl").user("needle")
    for text in ("#!/bin/sh\nexit 2\n", "#!/bin/sh\nkill -9 $$\n"):
        broken = tmp_path / "rg"
        broken.write_text(text)
        broken.chmod(0o755)
        base = searching("needle", cards_in(tmp_path))
        for program in (str(broken), str(tmp_path / "nowhere")):
            search = TextSearch(base.corpus, base.query, program=program)
            assert len(list(search.run())) == 1


def test_ripgrep_is_looked_for_in_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ripgrep() is None
