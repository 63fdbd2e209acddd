"""`compact`, `summarize`, `plan` and `move --summary` on damaged files: done or refused in one line, and always appended only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.acting import Acting
from tests.cli.test_bad_input import OPENS, one_line
from tests.cli.test_field_types import JUNK, LINES, places, spoiled
from tests.surroundings import THOROUGH

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

VERBS = (
    ("plan", "--keep-recent", "0", "--json"),
    ("summarize", "--to", "root", "--json"),
    ("compact", "--strategy", "all", "--keep-recent", "0", "--inject", "--dry-run", "--json"),
    ("compact", "--keep-recent", "0", "--json"),
    ("move", "root", "--summary", "extractive", "--json"),
    ("compact", "--strategy", "codex", "--inject"),
    ("undo",),
)


def survives(run: Run, path: Path) -> None:
    for verb, *options in VERBS:
        before = path.read_bytes()
        outcome = run(verb, path, *options)
        assert outcome.code in (0, 1), (verb, options, outcome)
        assert "unforeseen" not in outcome.err, (verb, options, outcome.err)
        migrated = b'"backup":"' in outcome.out.encode() or "backup of the old file:" in outcome.err
        assert migrated or path.read_bytes().startswith(before), (verb, options)
        if outcome.code:
            assert one_line(outcome.err), (verb, options, outcome.err)
            assert path.read_bytes() == before


@pytest.mark.parametrize("case", OPENS)
def test_damage_of_every_kind(case: str, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(OPENS[case])
    survives(run, path)


@pytest.mark.parametrize("line", range(len(LINES)))
def test_fields_of_any_type(line: int, run: Run, tmp_path: Path) -> None:
    """Each field with some junk; by turns, so that each junk is tried at several fields."""
    for at, place in enumerate(places(LINES[line])):
        for junk in JUNK[:: max(1, len(JUNK) // 4)] if THOROUGH else (JUNK[(at + line) % len(JUNK)],):
            survives(run, spoiled(tmp_path, line, place, junk))


@pytest.mark.parametrize("junk", JUNK, ids=repr)
def test_details_of_ours_that_are_none(junk: Any, run: Run, tmp_path: Path) -> None:
    for details in (
        junk,
        {"leafward": junk},
        {"leafward": {"pins": junk, "sources": junk, "settings": junk}},
    ):
        file = Acting(tmp_path / "s.jsonl")
        kept = file.user("start with the parser and keep the tests green")
        made = file.compacted(kept, details=details, leafward=junk)
        file.user("go on with the printer and keep the tests green")
        assert "unforeseen" not in run("compact", file.path, "--repair", made, "--pin", "x", "--json").err
        assert "unforeseen" not in run("log", file.path, "--json").err
        survives(run, file.path)
