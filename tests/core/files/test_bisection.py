"""Bisection: the turn that it names is the one that planted the fault, and what it is not sure of it does not name."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import time
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING

import pytest

from leafward.base.errors import Cancelled, Refused
from leafward.files.bisection.base import EmptyBase, FolderBase, GitBase
from leafward.files.bisection.session_search import bisect
from leafward.files.bisection.trial import Trial, Verdict
from leafward.files.bisection.versions import FileVersions, Version, points
from leafward.session.session import Session
from tests.acting import Acting, call, reading
from tests.folder_contents import Contents, contents
from tests.pi_file import HEADER
from tests.surroundings import THOROUGH
from tests.workbench import NAMES, Workbench

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.files.bisection.base import ProjectBase

FAULT = "planted"
CHECK = ("sh", "-c", f"! grep -rq {FAULT} .")


def planted(bench: Workbench, rng: random.Random) -> None:
    """A turn of the agent's puts the fault into a file, in one of the ways in which agents change files."""
    name = rng.choice(NAMES)
    text = bench.text(name)
    way = rng.randrange(3)
    if way == 0 and text:
        line = rng.choice([one for one in text.split("\n") if text.count(one) == 1 and one] or ["nowhere"])
        bench.edit(name, line, f"{line} {FAULT}")
    elif way == 1:
        bench.run(f"mkdir -p src/deep && echo {FAULT} >> {name}")
    else:
        bench.write(name, f"{FAULT}\n")


def recorded(
    tmp_path: Path, seed: int, *, git: bool = False
) -> tuple[Path, ProjectBase, list[tuple[str, Contents]]]:
    """Work of twelve turns with a fault in one of them; what lay in the folder after each, and before."""
    rng = random.Random(seed)
    folder = tmp_path / f"work{seed}"
    bench = Workbench(tmp_path / f"{seed}.jsonl", folder, seed)
    before: ProjectBase
    if git:
        quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "PATH": os.environ["PATH"]}
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        for words in (("init", "-q"), ("add", "-A"), (*who, "commit", "-qm", "begin")):
            subprocess.run(["git", *words], cwd=folder, env=quiet, check=True)
        before = GitBase(folder, "HEAD")
    else:
        shutil.copytree(folder, tmp_path / f"base{seed}")
        before = FolderBase(tmp_path / f"base{seed}")
    bench.file.said("ready")
    shots = [(str(bench.file.leaf), contents(folder))]
    at = rng.randrange(12)
    for turn in range(12):
        bench.file.user(f"turn {turn}")
        for _ in range(rng.randint(0, 3)):
            bench.step()
        if turn == at:
            planted(bench, rng)
        bench.file.said("done")
        shots.append((str(bench.file.leaf), contents(folder)))
    return bench.file.path, before, shots


def fails(shot: Contents) -> bool:
    return any(FAULT.encode() in data for data in shot.values())


def verdict_of(trial: Trial, version: Version) -> Verdict:
    return Verdict.CANNOT_TELL if version.doubts else trial.run(version, CHECK).verdict


def test_no_planted_fault_is_laid_at_another_turn(tmp_path: Path) -> None:
    """Versions that are said to be certain are the bytes that lay there, and a turn that is named planted the fault."""
    faults = 200 if THOROUGH else 20
    tried = found = exact = seed = 0
    while tried < faults:
        seed += 1
        path, base, shots = recorded(tmp_path, seed, git=seed % 10 == 0)
        bad = next((at for at, (_, shot) in enumerate(shots) if fails(shot)), -1)
        if bad < 1:
            continue
        # As far behind it as the fault stays.
        last = next((at for at in range(bad, len(shots)) if not fails(shots[at][1])), len(shots)) - 1
        tried += 1
        session = Session.open(path)
        every = points(session, session.find(shots[0][0]), session.find(shots[last][0]))
        assert [session.columns.id(one.entry) for one in every] == [entry for entry, _ in shots[: last + 1]]
        files = FileVersions(session, every[-1].entry, base)
        versions = [files.at(one.entry) for one in every]
        session.close()
        for version, (_, shot) in zip(versions, shots, strict=False):
            assert {name: shot.get(name) for name in version.files} == version.files, seed
            exact += len(version.files)
        with Trial(base) as trial:
            verdicts = partial(verdict_of, trial)
            # Both ends are what they are said to be, or cannot be told.
            assert verdicts(versions[0]) is not Verdict.BAD
            assert verdicts(versions[-1]) is not Verdict.GOOD
            result = bisect(len(every), lambda at, made=versions, tell=verdicts: tell(made[at]))  # type: ignore[misc]
        assert bad in result.candidates, seed
        found += len(result.candidates) == 1
        shutil.rmtree(tmp_path / f"work{seed}")
    assert found > 0.3 * faults, (found, exact)
    assert exact > 10 * faults, (found, exact)


@pytest.mark.parametrize("number", [2, 3, 7, 40])
def test_what_cannot_be_told_is_stepped_over_and_named(number: int) -> None:
    rng = random.Random(number)
    for _ in range(50):
        first = rng.randrange(1, number)
        blind = {at for at in range(1, number - 1) if rng.random() < 0.4}
        asked: list[int] = []

        def verdict(
            at: int, first: int = first, blind: set[int] = blind, asked: list[int] = asked
        ) -> Verdict:
            asked.append(at)
            return Verdict.CANNOT_TELL if at in blind else Verdict.BAD if at >= first else Verdict.GOOD

        found = bisect(number, verdict)
        assert first in found.candidates
        assert set(range(found.good + 1, found.bad)) <= blind
        assert len(asked) == len(set(asked)) <= len(blind) + number.bit_length()


@pytest.fixture
def base(tmp_path: Path) -> FolderBase:
    (tmp_path / "base" / "src").mkdir(parents=True)
    (tmp_path / "base" / "a.txt").write_text("base\n")
    (tmp_path / "base" / "tool").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "base" / "tool").chmod(0o755)
    (tmp_path / "base" / "src" / "link").symlink_to("/etc")
    return FolderBase(tmp_path / "base")


class TestTrial:
    @pytest.mark.parametrize(
        ("script", "verdict"),
        [
            ("exit 0", Verdict.GOOD),
            ("exit 1", Verdict.BAD),
            ("exit 125", Verdict.CANNOT_TELL),
            ("kill -9 $$", Verdict.CANNOT_TELL),
            ("test -x tool && test $(cat a.txt) = base", Verdict.GOOD),
        ],
    )
    def test_exit_codes_are_those_of_git_bisect(
        self, base: FolderBase, script: str, verdict: Verdict
    ) -> None:
        with Trial(base) as trial:
            assert trial.run(Version({}, {}), ("sh", "-c", script)).verdict is verdict

    def test_a_run_sees_nothing_of_the_one_before_and_nothing_stays(
        self, base: FolderBase, tmp_path: Path
    ) -> None:
        trial = Trial(base)
        leave = ("sh", "-c", "test ! -e left && touch left && chmod -w . && pwd")
        ran = [trial.run(Version({"a.txt": b"x\n"}, {}), leave) for _ in range(2)]
        assert [one.verdict for one in ran] == [Verdict.GOOD] * 2
        trial.close()
        assert not any((tmp_path / one.output.strip()).exists() for one in ran)
        assert (tmp_path / "base" / "a.txt").read_text() == "base\n"

    def test_what_runs_too_long_is_ended_with_all_that_it_started(
        self, base: FolderBase, tmp_path: Path
    ) -> None:
        marker = tmp_path / "marker"
        script = f"(trap '' TERM; sleep 3; touch {quote(str(marker))}) & sleep 60"
        with Trial(base) as trial:
            ran = trial.run(Version({}, {}), ("sh", "-c", script), 0.2)
        assert ran.verdict is Verdict.CANNOT_TELL
        assert "longer than" in ran.why
        time.sleep(3.2)
        assert not marker.exists()

    def test_stop_ends_a_run(self, base: FolderBase) -> None:
        asked = iter([False, False, True])
        with Trial(base, lambda: next(asked, True)) as trial, pytest.raises(Cancelled):
            trial.run(Version({}, {}), ("sleep", "60"))

    def test_a_command_that_is_not_there_is_refused(self, base: FolderBase) -> None:
        with Trial(base) as trial, pytest.raises(Refused, match="cannot be run"):
            trial.run(Version({}, {}), ("no-such-program",))

    def test_nothing_is_written_behind_a_link(self, base: FolderBase) -> None:
        with Trial(base) as trial:
            ran = trial.run(Version({"src/link/passwd": b"x"}, {}), ("true",))
        assert ran.verdict is Verdict.CANNOT_TELL
        assert "behind a link" in ran.why


def test_the_good_entry_leads_to_the_bad_one(tmp_path: Path) -> None:
    path, _, shots = recorded(tmp_path, 3)
    session = Session.open(path)
    first, last = (session.find(shots[at][0]) for at in (0, -1))
    with pytest.raises(Refused, match="before the good one"):
        points(session, last, first)
    with pytest.raises(Refused, match="the same"):
        points(session, last, last)
    session.close()


def test_what_was_noted_behind_the_last_turn_makes_its_version_no_other(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    file = Acting(tmp_path / "s.jsonl", {**HEADER, "cwd": str(folder)})
    file.user("begin")
    file.said(call("write", "a", path="a.txt", content="one\n"))
    good = file.answered("a", "write")
    file.user("go on")
    file.said(call("write", "b", path="a.txt", content="two\n"))
    bad = file.answered("b", "write")
    file.leaf = good
    file.user("another branch")
    file.said(call("write", "c", path="a.txt", content="three\n"))
    file.answered("c", "write")
    file.leaf = bad
    noted = file.entry("label", targetId=good, label="start here")
    with reading(file.path) as session:
        ends = [session.find(one) for one in (good, noted)]
        every = points(session, ends[0], ends[1])
        assert [session.columns.id(point.entry) for point in every] == [good, bad]
        versions = FileVersions(session, every[-1].entry, EmptyBase())
        assert versions.at(every[-1].entry).doubts == {}
        middle = points(session, session.find("#1"), session.find(bad))
        assert [point.midway for point in middle] == [True, False, False]
