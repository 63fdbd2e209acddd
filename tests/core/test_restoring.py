"""Restoring files: what is written is what was there, and nothing that somebody else made is lost."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest

from leafward.files.restoration import (
    Presence,
    ProjectFolder,
    last_left,
    plan_restore,
    restore,
    undo,
)
from leafward.session.session import Session
from tests.workbench import Workbench

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.files.restoration import RestorePlan

Snapshot = dict[str, tuple[bytes, int]]


def snapshot(folder: Path) -> Snapshot:
    """The files of a folder with their bytes and permissions; links by where they lead."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = (os.fsencode(os.readlink(path)), -1)
        elif path.is_file():
            found[name] = (path.read_bytes(), path.stat().st_mode & 0o777)
    return found


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEAFWARD_HOME", str(tmp_path / "leafward"))


def planned(session: Session, at: int, folder: Path) -> RestorePlan:
    with ProjectFolder(folder) as project:
        return plan_restore(session, at, project, last_left(project.path))  # type: ignore[arg-type]


def test_restores_of_recorded_work_give_the_bytes_that_were_there(tmp_path: Path) -> None:
    """Work with tools and shell commands; each entry is restored from where the restore before left the files."""
    restores = written = 0
    for seed in range(12):
        bench = Workbench(tmp_path / f"{seed}.jsonl", tmp_path / f"work{seed}", seed)
        shots = []
        for _ in range(30):
            bench.step()
            shots.append((bench.file.leaf, snapshot(bench.folder)))
        session = Session.open(tmp_path / f"{seed}.jsonl")
        try:
            order = list(range(len(shots)))
            random.Random(seed).shuffle(order)
            for number in order:
                entry, shot = shots[number]
                before = snapshot(bench.folder)
                plan = planned(session, session.find(str(entry)), bench.folder)
                for one in plan.changes:
                    if one.after is not None and not one.why:
                        have = shot.get(one.path)
                        assert (have[0] if have else None) == (
                            one.after.data if one.after.presence is Presence.FILE else None
                        ), (seed, number, one)
                changes = plan.chosen()
                with ProjectFolder(bench.folder) as project:
                    record = restore(project, "s", plan.entry, changes)
                after = snapshot(bench.folder)
                named = {one.path for one in changes}
                assert {name: one for name, one in after.items() if name not in named} == {
                    name: one for name, one in before.items() if name not in named
                }
                for one in changes:
                    now, then = after.get(one.path), shot.get(one.path)
                    assert (now and now[0]) == (then and then[0]), (seed, number, one.path)
                restores += 1
                written += len(changes)
                if number % 3 == 0:
                    with ProjectFolder(bench.folder) as project:
                        undo(project, record)
                    assert snapshot(bench.folder) == before
        finally:
            session.close()
    assert (restores, written > 150) == (360, True), (restores, written)
