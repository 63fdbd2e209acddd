"""Restoring files: what is written is what was there, and nothing that somebody else made is lost."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from leafward.files.file_replay.bases import WorkspaceBases
from leafward.files.restoration.plan import RestoreAction, plan_restore
from leafward.files.restoration.project_folder import FileKind, ProjectFolder
from leafward.files.restoration.record import last_left
from leafward.files.restoration.write import restore, undo
from leafward.session.entries import EntryIndex
from leafward.session.session import Session
from tests.folder_contents import Snapshot, snapshot
from tests.surroundings import THOROUGH
from tests.workbench import Workbench

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def hold_restores(
    session: Session, shots: Sequence[tuple[int, Snapshot]], folder: Path, rng: random.Random, number: int
) -> int:
    """Restores entries at random, each from where the last one left the files, and undoes some; returns the files written.

    `shots` are entries with what lay in the folder there.
    """
    written = 0
    for count in range(number):
        at, shot = shots[rng.randrange(len(shots))]
        before = snapshot(folder)
        with ProjectFolder(folder) as project:
            bases = WorkspaceBases(folder)
            plan = plan_restore(
                session, EntryIndex(at), project, last_left(project.path), bases.committed, bases
            )
            for one in plan.changes:
                if one.after is not None and one.action is not RestoreAction.LEAVE:
                    have = shot.get(one.path)
                    claimed = one.after.data if one.after.presence is FileKind.FILE else None
                    assert (have[0] if have else None) == claimed, (at, one)
            changes = plan.chosen()
            record = restore(project, "s", plan.entry, changes)
            after = snapshot(folder)
            named = {one.path for one in changes}
            assert {name: one for name, one in after.items() if name not in named} == {
                name: one for name, one in before.items() if name not in named
            }
            for one in changes:
                now, then = after.get(one.path), shot.get(one.path)
                assert (now and now[0]) == (then and then[0]), (at, one.path)
            written += len(changes)
            if count % 5 == 0:
                undo(project, record)
                assert snapshot(folder) == before
    return written


def test_restores_of_recorded_work_give_the_bytes_that_were_there(tmp_path: Path) -> None:
    """Work with tools and shell commands; each entry is restored from where the restore before left the files."""
    written, seeds = 0, 10 if THOROUGH else 4
    for seed in range(seeds):
        bench = Workbench(tmp_path / f"{seed}.jsonl", tmp_path / f"work{seed}", seed)
        shots = []
        for _ in range(30):
            bench.step()
            shots.append((str(bench.file.leaf), snapshot(bench.folder)))
        session = Session.open(tmp_path / f"{seed}.jsonl")
        try:
            found = [(session.find(entry), shot) for entry, shot in shots]
            written += hold_restores(session, found, bench.folder, random.Random(seed), 20)
        finally:
            session.close()
    assert written > 8 * seeds, written
