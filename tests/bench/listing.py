"""Figures of the catalogue over a store of many sessions."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from leafward.base.config import Config
from leafward.base.worker_processes import cores
from leafward.catalogue.cards import reading_processes
from leafward.catalogue.listing import Catalogue
from tests.bench import references
from tests.bench.report import ROUNDS, Report, median, seconds

if TYPE_CHECKING:
    from leafward.catalogue.listing import Update


def listing(report: Report, store: Path, index: Path, sessions: int) -> None:
    """Everything listed from the index, and the first page where there is none."""
    config = Config(roots={"pi": (str(store),)})
    what = f"listing {sessions:,} sessions"

    def catalogue() -> Catalogue:
        return Catalogue(config, index_path=index)

    first_pages: list[float] = []
    builds: list[float] = []
    decoding: list[float] = []
    for _ in range(ROUNDS):
        index.unlink(missing_ok=True)
        gc.collect()
        page, build = _first_page(catalogue)
        first_pages.append(page)
        builds.append(build)
        decoding.append(seconds(lambda: _decode_store(store)))
    reference = median(decoding)
    report.ratio(
        f"{what}, no index: first page", median(first_pages), "orjson.loads over all lines", reference, 0.08
    )
    report.ratio(
        f"{what}, no index: complete",
        median(builds),
        "orjson.loads over all lines",
        reference,
        1.0,
    )
    warm, bare = [], []
    for _ in range(2 * ROUNDS):
        bare.append(seconds(lambda: _stat_all(store)))
        gc.collect()
        warm.append(seconds(lambda: _list_all(catalogue)))
    report.ratio(f"{what}, warm", median(warm), "scandir and stat", median(bare), 2.0)
    report.ratio(f"{what}, warm", median(warm), "orjson.loads over all lines", reference, None)


def by_processes(report: Report, store: Path, index: Path) -> None:
    """The first listing by more and more processes, also by more than there are cores: what limits is seen in the processor time."""
    config = Config(roots={"pi": (str(store),)})
    given = reading_processes.process_count
    alone = 0.0
    try:
        for count in (0, 1, 2, 4, 8):
            reading_processes.process_count = lambda _candidates, count=count: count  # type: ignore[misc]
            index.unlink(missing_ok=True)
            before = _processor_seconds()
            taken = seconds(lambda: Catalogue(config, index_path=index).refresh())
            busy = _processor_seconds() - before
            alone = alone or taken
            report.ratio(
                f"first listing by {count or 'no'} processes, {busy:.1f} s of processor",
                taken,
                "by none",
                alone,
                None,
            )
    finally:
        reading_processes.process_count = given


def _processor_seconds() -> float:
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def beside_pi(report: Report, store: Path, index: Path, sessions: int) -> None:
    """The first listing of large sessions, beside pi's own of the same folder, which it makes at every start."""
    what = f"listing {sessions:,} sessions of 1 MB, no index"
    package = references.pi()
    config = Config(roots={"pi": (str(store),)})
    ours = []
    for _ in range(ROUNDS):
        index.unlink(missing_ok=True)
        gc.collect()
        ours.append(seconds(lambda: Catalogue(config, index_path=index).refresh()))
    if package is None:
        report.skipped(what, "LEAFWARD_PI names no package of pi, or node is missing")
        return
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sessions").symlink_to(store.resolve(), target_is_directory=True)
        theirs, found = references.pi_lists(package, Path(folder), ROUNDS)
    if found != sessions:
        raise AssertionError(f"pi lists {found} sessions, {sessions} expected")
    report.ratio(what, median(ours), "pi's own list", theirs, 0.6)


def one_session(report: Report, store: Path, index: Path) -> None:
    """The card of a single large session."""
    config = Config(roots={"pi": (str(store),)})
    ours, decoding = [], []
    for _ in range(ROUNDS):
        index.unlink(missing_ok=True)
        gc.collect()
        ours.append(seconds(lambda: Catalogue(config, index_path=index).refresh()))
        decoding.append(seconds(lambda: _decode_store(store)))
    size = sum(path.stat().st_size for path in store.rglob("*.jsonl")) >> 20
    report.ratio(
        f"listing one session of {size} MB, no index",
        median(ours),
        "orjson.loads over all lines",
        median(decoding),
        0.8 if cores() > 1 else 1.0,
    )


def memory(report: Report, store: Path, home: Path) -> None:
    """Peak memory of the first listing of a store by the command, its processes together; Linux only."""
    size = sum(path.stat().st_size for path in store.rglob("*.jsonl")) >> 20
    what = f"memory of the first listing of {size:,} MB, all processes"
    if not sys.platform.startswith("linux"):
        report.skipped(what, "read from /proc")
        return
    with tempfile.TemporaryDirectory(dir=home) as folder:
        command = [*references.command(), "ls", "--totals", str(store)]
        given = references.environment(Path(folder))
        with subprocess.Popen(command, env=given, stdout=subprocess.DEVNULL) as listed:
            peak = 0
            while listed.poll() is None:
                peak = max(peak, sum(map(_share_of_memory, _with_children(listed.pid))))
                time.sleep(0.02)
    if listed.returncode:
        raise AssertionError(f"the listing ended with {listed.returncode}")
    report.limit(what, peak / 1e6, "MB", 300)


def _with_children(process: int) -> list[int]:
    """A process and all that it has started; without those that have ended."""
    found, pending = [], [process]
    while pending:
        found.append(pending.pop())
        for children in Path(f"/proc/{found[-1]}/task").glob("*/children"):
            with suppress(OSError):
                pending += map(int, children.read_text().split())
    return found


def _share_of_memory(process: int) -> int:
    """Bytes in memory, of pages shared by several processes each its part; 0 where it has ended."""
    with suppress(OSError):
        rolled = Path(f"/proc/{process}/smaps_rollup").read_text()
        return 1024 * int(rolled.partition("\nPss:")[2].split()[0])
    return 0


def _list_all(make: object) -> None:
    catalogue = make()  # type: ignore[operator]  # a callable of this module
    catalogue.refresh()
    catalogue.cards()


def _first_page(make: object) -> tuple[float, float]:
    """Seconds until the first page is known, and until everything is."""
    started = time.perf_counter()
    first: list[float] = []

    def publish(update: Update) -> None:
        if not first and update.changed:
            first.append(time.perf_counter() - started)

    make().refresh(publish=publish)  # type: ignore[operator]  # a callable of this module
    return first[0], time.perf_counter() - started


def _stat_all(store: Path) -> None:
    pending = [str(store)]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                else:
                    entry.stat()


def _decode_store(store: Path) -> None:
    loads = orjson.loads
    for path in store.rglob("*.jsonl"):
        with path.open("rb") as file:
            for line in file:
                loads(line)
