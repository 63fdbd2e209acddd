"""Faults that the real agents planted: the turn that bisection names did it, and where it cannot tell that turn is among those it lists.

Each turn of a session plants faults of its own, and each of them is bisected. What lay in the folder at the end of each turn is
kept: a version that is called certain has to be that. `LEAFWARD_FAULTS` says how many sessions each agent records.
"""

from __future__ import annotations

import os
import random
import shutil
from contextlib import closing
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import pytest

from leafward.agents.registry import agent_named
from leafward.files.bisection.base import FolderBase
from leafward.files.bisection.session_search import bisect
from leafward.files.bisection.trial import Trial, Verdict
from leafward.files.bisection.versions import FileVersions, points
from leafward.session.entries import PROMPTS, EntryIndex
from tests.folder_contents import Contents, contents
from tests.oracle.crew import AGENTS, Crew, Deed
from tests.workbench import NAMES, commands

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.files.bisection.versions import Version
    from leafward.session.session import Session

TURNS = 12
FAULTS = 5
"""In each turn, at most."""
SESSIONS = int(os.environ.get("LEAFWARD_FAULTS", "1"))


def fault(turn: int, number: int) -> str:
    return f"fault{turn:02}{number}."


class Sabotage:
    """Work in a folder whose every turn plants faults."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.random = random.Random(seed)
        for name in NAMES[:3]:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(
                "".join(f"{name} line {at}\n" for at in range(self.random.randint(2, 20)))
            )

    def deed(self, turn: int, work: int, number: int) -> Deed | None:
        """Some work, and behind it the faults."""
        if number >= work + FAULTS:
            return None
        name = self.random.choice(NAMES)
        path = self.folder / name
        text = path.read_text() if path.is_file() else ""
        if number >= work:
            return self._plant(name, text, fault(turn, number - work))
        pick = self.random.random()
        if pick < 0.4:
            return "read", {"path": name}
        if pick < 0.6 and text:
            return "edit", {"path": name, "old": text.split("\n")[0], "new": f"edited {turn} {number}"}
        mild = (
            f"cat {name}",
            "ls",
            f"mkdir -p src/deep && echo 'appended {number}' >> {name}",
            f"mkdir -p src/deep && cat > {name} <<'EOF'\nhere {number}\nEOF",
            f"sed -n '1,4p' {name}; true",
        )
        odd = commands(name, self.random.choice(NAMES), number)
        return "run", {"command": self.random.choice(odd if self.random.random() < 0.15 else mild)}

    def _plant(self, name: str, text: str, word: str) -> Deed:
        once = [line for line in text.split("\n") if line and text.count(line) == 1]
        pick = self.random.random()
        if pick < 0.5 and once:
            line = self.random.choice(once)
            return "edit", {"path": name, "old": line, "new": f"{line} {word}"}
        if pick < 0.75:
            return "run", {"command": f"mkdir -p src/deep && echo {word} >> {name}"}
        return "write", {"path": name, "text": f"{text}{word}\n"}


def tried(session: Session, shots: list[Contents], base: FolderBase) -> tuple[int, int, int]:
    """Bisects each fault; how many there were, how many were found, and how many files were certain."""
    prompts = [one for one in session.tree.path(session.leaf) if session.columns.kind[one] in PROMPTS]
    assert len(prompts) == len(shots)
    good = EntryIndex(session.columns.parent[prompts[1]])
    every = points(session, good, session.leaf)
    assert len(every) == len(shots)
    files = FileVersions(session, session.leaf, base)
    versions = [files.at(one.entry) for one in every]
    exact = 0
    for version, shot in zip(versions, shots, strict=True):
        assert {name: shot.get(name) for name in version.files} == version.files
        exact += len(version.files)
    faults = found = 0
    for turn, number in product(range(1, len(shots)), range(FAULTS)):
        word = fault(turn, number)
        has = [any(word.encode() in data for data in shot.values()) for shot in shots]
        if True not in has:
            continue
        bad = has.index(True)
        last = next((at for at in range(bad, len(shots)) if not has[at]), len(shots)) - 1
        check = ("sh", "-c", f"! grep -rqF {word} .")
        faults += 1
        with Trial(base) as trial:

            def verdict(version: Version, trial: Trial = trial, check: tuple[str, ...] = check) -> Verdict:
                return Verdict.CANNOT_TELL if version.doubts else trial.run(version, check).verdict

            assert verdict(versions[0]) is not Verdict.BAD
            assert verdict(versions[last]) is not Verdict.GOOD
            result = bisect(last + 1, lambda at, tell=verdict: tell(versions[at]))  # type: ignore[misc]
        assert bad in result.candidates, (word, bad, result)
        found += len(result.candidates) == 1
    return faults, found, exact


@pytest.mark.parametrize("kind", AGENTS)
@pytest.mark.parametrize("seed", range(SESSIONS))
def test_no_fault_is_laid_at_a_turn_that_did_not_plant_it(kind: str, seed: int, tmp_path: Path) -> None:
    if not AGENTS[kind]:
        pytest.skip(f"the environment names no {kind}")
    folder = tmp_path / "orchard"
    work = Sabotage(folder, seed)
    shutil.copytree(folder, tmp_path / "base")
    with Crew(tmp_path) as crew:
        agent = crew.hire(kind)
        session = agent.ask(folder, "Begin.", lambda _: None)
        shots = [contents(folder)]
        for turn in range(1, TURNS + 1):
            task = partial(work.deed, turn, work.random.randint(0, 2))
            agent.ask(folder, f"Turn {turn:02} of the work.", task, session)
            shots.append(contents(folder))
        path = agent.file(session)
    with closing(agent_named(kind).open(path)) as opened:
        faults, found, exact = tried(opened, shots, FolderBase(tmp_path / "base"))
    print(f"{kind} {seed}: {faults} faults, {found} found, {exact} certain files")
    assert faults > 2 * TURNS
