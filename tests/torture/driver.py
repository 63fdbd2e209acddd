"""The process that is tortured: it has the library of faults preloaded, and forks once for every fault.

`python -m tests.torture.driver FOLDER OTHER SEED LIMIT SECONDS` writes one JSON document: counts, and what did not hold.
"""

from __future__ import annotations

import errno
import gc
import json
import os
import random
import sys
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leafward.cli.main import main
from tests.torture.checks import Broken, Run, check, described, entries
from tests.torture.faults import FAULTS, WITH_AN_AGENT, Fault, Faults, Mode
from tests.torture.mutations import mutated
from tests.torture.scenes import AGENTS_LINE, Scene, World, scenes
from tests.torture.worlds import Moment

if TYPE_CHECKING:
    from collections.abc import Iterator

_SHOWN = 40
"""Failures that are described; all are counted."""


@dataclass
class Tally:
    """A call that was tried, and its outcome."""

    injections: int = 0
    mutations: int = 0
    failures: list[dict[str, Any]] = field(default_factory=list)
    by_fault: Counter[str] = field(default_factory=Counter)
    by_call: Counter[str] = field(default_factory=Counter)
    by_end: Counter[str] = field(default_factory=Counter)
    scenes: int = 0
    points: int = 0
    failed: int = 0

    def broken(self, found: dict[str, Any]) -> None:
        self.failed += 1
        if len(self.failures) < _SHOWN:
            self.failures.append(found)


@dataclass(frozen=True)
class Stage:
    """A scene with all that is there before it, and the calls of the system that it makes."""

    scene: Scene
    path: Path
    arguments: list[str]
    before: Moment
    ids: set[str]
    calls: list[str]


class Driver:
    """Puts scenes on, one fault at a time."""

    def __init__(self, folder: Path, other: Path, seed: int, seconds: float) -> None:
        self.world = World(folder, other)
        self.faults = Faults()
        self.random = random.Random(seed)
        self.tally = Tally()
        self.until = time.monotonic() + seconds

    def late(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() > self.until

    def stage(self, scene: Scene) -> Stage:
        """Prepares a scene, and runs it once with nothing going wrong."""
        Moment((self.world.root, self.world.other), {}).come_back()
        self.world.enter(two_disks=scene.two_disks)
        path = scene.session(self.world)
        arguments = scene.arguments(self.world, path)
        ids, _ = entries(path)
        for call in scene.before:
            with _quiet():
                code = main(call(self.world, path))
            if code:
                raise RuntimeError(f"{scene.name}: what comes before it failed")
        if path.exists():
            os.utime(path, (1_700_000_000, 1_700_000_000))
        before = Moment.of(self.world.root, self.world.other)
        # In this process, so that what it imports is there in all that are forked.
        with _quiet():
            code = main(arguments)
        if code:
            raise RuntimeError(f"{scene.name} failed by itself")
        before.come_back()
        stage = Stage(scene, path, arguments, before, ids, [])
        _, _, calls = self._forked(stage, Fault(Mode.COUNT), 0)
        before.come_back()
        return Stage(scene, path, arguments, before, ids, calls)

    def _forked(self, stage: Stage, fault: Fault, number: int) -> tuple[int, str, list[str]]:
        """Runs the verb in a child with a fault; how it ended, what it said, the calls that were counted."""
        said, saying = os.pipe()
        child = os.fork()
        if not child:
            code = 70
            try:
                os.close(said)
                null = os.open(os.devnull, os.O_RDWR)
                os.dup2(null, 0)
                os.dup2(null, 1)
                os.dup2(saying, 2)
                if not stage.scene.links:
                    os.link = _no_links
                self.faults.arm(fault, number, stage.path, AGENTS_LINE)
                code = main(stage.arguments)
                sys.stdout.flush()
                sys.stderr.flush()
                calls = self.faults.disarm()
                if fault.mode is Mode.COUNT:
                    os.write(saying, json.dumps(calls).encode())
            finally:
                os._exit(code)
        os.close(saying)
        with os.fdopen(said, "rb") as heard:
            text = heard.read().decode("utf-8", "replace")
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if fault.mode is Mode.COUNT:
            return code, "", json.loads(text[text.rindex("[") :])
        return code, text, []

    def inject(self, stage: Stage, fault: Fault, number: int) -> None:
        """One fault, and whether everything holds after it."""
        code, err, _ = self._forked(stage, fault, number)
        call = stage.calls[number - 1]
        run = Run(stage.scene, fault, number, call, stage.path, stage.before, code, err)
        self.tally.injections += 1
        self.tally.by_fault[str(fault)] += 1
        self.tally.by_call[call] += 1
        self.tally.by_end["killed" if code < 0 else "done" if code == 0 else "refused"] += 1
        try:
            check(self.world, run, stage.ids)
        except Broken as error:
            self.tally.broken(described(error, run))
        except Exception as error:  # whatever it is, it is what a user would see
            self.tally.broken(described(error, run))
        stage.before.come_back()

    def jobs(self, stage: Stage) -> Iterator[tuple[Fault, int]]:
        """Every fault at every call of a scene, in which it can happen."""
        with_agent = (
            stage.scene.native and stage.scene.appends and stage.before.files()[str(stage.path)][-1:] == b"\n"
        )
        for number, call in enumerate(stage.calls, start=1):
            writes = "write" in call or "sendfile" in call
            for fault in (
                *FAULTS,
                *(WITH_AN_AGENT if with_agent and "version" not in stage.scene.name else ()),
            ):
                if writes or not fault.cuts or fault == Fault(Mode.FULL):
                    yield fault, number

    def run(self, limit: int) -> None:
        """All scenes; of all their faults `limit` at most, shared out among the scenes, chosen by the seed."""
        every = scenes()
        if limit < len(every):
            every = self.random.sample(every, max(1, limit // 4))
        for number, scene in enumerate(every):
            if self.late():
                break
            stage = self.stage(scene)
            self.tally.scenes += 1
            self.tally.points += len(stage.calls)
            jobs = list(self.jobs(stage))
            # What a scene with few calls leaves over goes to those behind it.
            share = max(1, (limit - self.tally.injections) // (len(every) - number))
            if len(jobs) > share:
                jobs = self.random.sample(jobs, share)
            for fault, call in jobs:
                if self.late() or self.tally.injections >= limit:
                    break
                self.inject(stage, fault, call)

    def mutate(self, limit: int) -> None:
        """Sessions and sidecars with damaged bytes, each written to."""
        for found in mutated(self.world, self.random, limit):
            if found is not None:
                self.tally.broken(found)
            self.tally.mutations += 1
            if self.late():
                return


def _no_links(*_: object, **__: object) -> None:
    raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))


@contextmanager
def _quiet() -> Iterator[None]:
    kept = [os.dup(descriptor) for descriptor in (1, 2)]
    null = os.open(os.devnull, os.O_RDWR)
    sys.stdout.flush()
    sys.stderr.flush()
    for descriptor in (1, 2):
        os.dup2(null, descriptor)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, descriptor in enumerate(kept, start=1):
            os.dup2(descriptor, number)
        for descriptor in (*kept, null):
            os.close(descriptor)


def torture(folder: Path, other: Path, seed: int, limit: int, seconds: float) -> Tally:
    """Injections first, mutations with the rest of the time; a quarter as many."""
    driver = Driver(folder, other, seed, seconds)
    gc.freeze()
    driver.run(limit)
    driver.mutate(limit // 4)
    return driver.tally


if __name__ == "__main__":
    place, elsewhere, number, most, time_given = sys.argv[1:]
    came = torture(Path(place), Path(elsewhere), int(number), int(most), float(time_given))
    print(json.dumps(came.__dict__))
