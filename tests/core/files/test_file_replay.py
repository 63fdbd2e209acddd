"""Rebuilt contents, against files that were really written: every recorded call was made in a folder."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from leafward.branches.diff.contents import SideContents
from leafward.branches.diff.file_sets import compare_files
from leafward.branches.diff.patches import patch_of
from leafward.branches.diff.sides import sides
from leafward.files.file_replay.knowledge import Certainty
from leafward.files.file_replay.remarks import StepRemark
from leafward.files.file_replay.replay import replay
from tests.acting import reading
from tests.surroundings import THOROUGH
from tests.workbench import NAMES, Workbench

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("seed", range(60 if THOROUGH else 20))
def test_what_is_said_to_be_exact_is_what_lies_on_disk(tmp_path: Path, seed: int) -> None:
    bench = Workbench(tmp_path / "session.jsonl", tmp_path / "work", seed)
    states: list[dict[str, str | None]] = []
    ends: list[str] = []
    for _ in range(30):
        bench.step()
        states.append({name: bench.text(name) for name in NAMES})
        ends.append(str(bench.file.leaf))
    known = 0
    with reading(bench.file.path) as session:
        for end, state in zip(ends, states, strict=True):
            made = replay(session, session.find(end))
            for name, text in state.items():
                found = made.rebuilt(name)
                if found.certainty is Certainty.EXACT:
                    assert text is not None
                    # What a command printed does not tell of the newline at the end.
                    assert found.text == text or (
                        not found.newline and (found.text or "").rstrip("\n") == text.rstrip("\n")
                    )
                    known += 1
                elif found.certainty is Certainty.ABSENT:
                    assert text is None
                    known += 1
                lines = (text or "").split("\n")
                for span in found.spans:
                    assert tuple(lines[span.first - 1 : span.after - 1]) == span.lines
                for piece in found.pieces:
                    assert piece in (text or "")
                assert StepRemark.CHANGED_OUTSIDE not in [what for _, what in found.remarks]
    assert known > 10, "hardly anything was rebuilt"


@pytest.mark.parametrize("seed", range(12))
def test_the_patch_of_a_branch_is_applied_by_git(tmp_path: Path, seed: int) -> None:
    bench = Workbench(tmp_path / "session.jsonl", tmp_path / "work", seed)
    for name in NAMES:
        bench.read(name)
        bench.write(name, bench.text(name) or "begun\n")
    fork = str(bench.file.leaf)
    before = {name: bench.text(name) for name in NAMES}
    for _ in range(25):
        bench.step()
    after = {name: bench.text(name) for name in NAMES}
    with reading(bench.file.path) as session:
        compared = sides(session, session.find(fork), session.leaf)
        sets = compare_files(compared)
        patch = patch_of(compared, compared.b)
        contents = SideContents(compared)
        exact = {file.path for file in (*sets.both, *sets.only_b) if contents.of(file).exact}
    target = tmp_path / "target"
    target.mkdir()
    for name, text in before.items():
        if text is not None:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_bytes(text.encode())
    if patch.text:
        done = subprocess.run(
            ["git", "apply", "--whitespace=nowarn", "-"],
            cwd=target,
            input=patch.text.encode(),
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode() + patch.text
    told = {path for path, _ in patch.left_out}
    for name, text in after.items():
        if name in told or name not in exact:
            continue
        there = target / name
        assert (there.read_bytes().decode() if there.is_file() else None) == text
