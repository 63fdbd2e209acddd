"""`survival`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.pi_file import PiFile, conversation

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run


@pytest.fixture
def compacted(tmp_path: Path) -> PiFile:
    file = PiFile(tmp_path / "s.jsonl")
    file.user("Never push to main. Work on src/parser.py and \x1b[31mfooBar\x1b[0m")
    file.reply("I look at parseLine")
    kept = file.user("now src/lexer.py")
    file.entry(
        "compaction", summary="Work on src/parser.py with lexLine", firstKeptEntryId=kept, tokensBefore=10
    )
    file.user("go on")
    return file


class TestSurvival:
    def test_facts_with_their_status(self, done: Run, compacted: PiFile) -> None:
        found = done("survival", compacted.path, "--json").document
        rows = {(fact["kind"], fact["text"]): (fact["entry"], fact["status"]) for fact in found["facts"]}
        assert found["compaction"] == "00000004"
        assert rows["path", "src/parser.py"] == ("00000001", "verbatim")
        assert rows["identifier", "parseLine"] == ("00000002", "lost")
        assert rows["constraint", "Never push to main."] == ("00000001", "lost")
        assert rows["identifier", "lexLine"] == ("00000004", "invented")
        assert found["score"]["path"] == 1.0
        assert found["score"]["constraint"] == 0.0
        assert 0 < found["overall"] < 1
        assert found["counts"]["identifier"]["invented"] == 1

    def test_the_same_for_people(self, done: Run, compacted: PiFile) -> None:
        out = done("survival", compacted.path).out
        assert "\x1b" not in out
        assert "compaction 00000004" in out
        assert "lost" in out
        assert "Never push to main." in out
        facts = done("survival", compacted.path, "--json").document["facts"]
        there = [fact["status"] for fact in facts if fact["status"] != "invented"]
        alive = sum(status not in ("lost", "contradicted") for status in there)
        assert re.search(rf"{alive} of {len(there)} facts survive, \d+ % by weight", out)

    def test_long_paths_lose_their_middle(self, done: Run, tmp_path: Path) -> None:
        """They differ at their ends."""
        file = PiFile(tmp_path / "s.jsonl")
        folder = f"/home/{'deep/' * 30}"
        file.user(f"read {folder}one.py and {folder}two.py")
        file.reply("done")
        file.entry("compaction", summary="## Goal\n- go on", firstKeptEntryId="x", tokensBefore=1)
        out = done("survival", file.path).out
        assert all(re.search(rf"path .*…/.*/{name}$", out, re.MULTILINE) for name in ("one.py", "two.py"))

    def test_a_compaction_by_name(self, done: Run, compacted: PiFile) -> None:
        compacted.entry("compaction", summary="", firstKeptEntryId="x", tokensBefore=1)
        assert done("survival", compacted.path, "--json").document["compaction"] == "00000006"
        assert done("survival", compacted.path, "00000004", "--json").document["compaction"] == "00000004"
        assert done("survival", compacted.path, "#3", "--json").document["compaction"] == "00000004"

    def test_where_there_is_none(self, run: Run, tmp_path: Path, compacted: PiFile) -> None:
        plain = conversation(tmp_path / "plain.jsonl")
        outcome = run("survival", plain.path)
        assert (outcome.code, outcome.out) == (1, "")
        assert "has no compaction" in outcome.err
        outcome = run("survival", compacted.path, "00000001")
        assert outcome.code == 1
        assert "is not a compaction" in outcome.err
        compacted.user("elsewhere", parent="00000001")
        outcome = run("survival", compacted.path)
        assert outcome.code == 1
        assert "00000004" in outcome.err
