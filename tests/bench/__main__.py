"""`python -m tests.bench`: every figure beside what it is compared with, three times. Takes half an hour and 5 GB of temporary space."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from tests.bench import agents, application, compare, core, listing, need, plan, search
from tests.bench.generate import write_session, write_store
from tests.bench.report import Report

SMALL, SHORT, MEDIUM, LARGE = 1_000, 10_000, 100_000, 1_000_000
SESSIONS = 10_000
FEW = 300
"""Sessions of a megabyte each."""
ALONE = 190_000
"""Entries of a session that is listed alone: 238 MB."""
FOREIGN = 300 << 20
"""Bytes of a session of another agent."""

GROUPS = (
    "index",
    "start",
    "context",
    "large",
    "keys",
    "follow",
    "listing",
    "search",
    "plan",
    "compare",
    "need",
    "agents",
)


class _Data:
    """Sessions, made when first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def session(self, entries: int) -> Path:
        path = self.folder / f"{entries}.jsonl"
        if not path.exists():
            write_session(path, entries)
        return path

    def path_of(self, entries: int) -> Path:
        """One long path: no branches, no compactions."""
        path = self.folder / f"{entries}-path.jsonl"
        if not path.exists():
            write_session(path, entries, branch_every=0, compact_every=0)
        return path

    def branches_of(self, entries: int) -> Path:
        """Two branches of so many entries each."""
        path = self.folder / f"{entries}-branches.jsonl"
        if not path.exists():
            compare.write_branches(path, entries)
        return path

    def store(self, sessions: int) -> Path:
        folder = self.folder / f"store-{sessions}"
        if not folder.exists():
            write_store(folder, sessions)
        return folder

    def few_large(self, sessions: int) -> Path:
        """A store of sessions of a megabyte each."""
        folder = self.folder / f"large-{sessions}"
        if not folder.exists():
            write_store(folder, sessions, entries=(700, 900))
        return folder

    def alone(self, entries: int) -> Path:
        """A store of one session."""
        folder = self.folder / f"alone-{entries}"
        if not folder.exists():
            write_store(folder, 1, entries=(entries, entries))
        return folder


def measure(groups: set[str], folder: Path, report: Report) -> None:
    """Measures and prints once; what held its bar is in the report."""
    data = _Data(folder)
    home = folder / "home"
    home.mkdir(exist_ok=True)
    # Processes of ours load modules that are compiled, as those of an installed package are.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    os.environ["PYTHONPYCACHEPREFIX"] = str(home / "compiled")
    report.heading()
    if "index" in groups:
        core.index_and_layout(report, data.session(MEDIUM), MEDIUM)
    if "start" in groups:
        application.start(report, data.session(SMALL), SMALL, home, None)
        application.start(report, data.session(MEDIUM), MEDIUM, home, 1.3)
        application.modules(report, data.session(MEDIUM), MEDIUM, home)
    if "context" in groups:
        core.context(report, data.path_of(MEDIUM), MEDIUM)
    if "large" in groups:
        core.memory(report, data.session(LARGE), LARGE)
        core.process_memory(report, data.session(SHORT), data.session(LARGE))
        core.folds_and_filters(report, data.session(LARGE), LARGE)
        application.start(report, data.session(LARGE), LARGE, home, 0.9)
    if "keys" in groups:
        application.keys(report, data.session(SMALL), data.session(LARGE), (SMALL, LARGE), home)
        application.keys_while_loading(report, data.session(LARGE), LARGE, home)
        application.keys_while_drafting(report, data.path_of(SHORT), SHORT, home)
    if "follow" in groups:
        application.following(report, data.session(MEDIUM), MEDIUM, home)
    if "listing" in groups:
        index = folder / "catalogue.json"
        listing.listing(report, data.store(SESSIONS), index, SESSIONS)
        listing.by_processes(report, data.store(SESSIONS), index)
        listing.beside_pi(report, data.few_large(FEW), index, FEW)
        listing.one_session(report, data.alone(ALONE), index)
        listing.memory(report, data.store(SESSIONS), home)
        listing.memory(report, data.alone(ALONE), home)
    if "search" in groups:
        search.searching(report, data.store(SESSIONS), folder / "catalogue.json", SESSIONS)
        search.held(report, data.store(SESSIONS), folder / "catalogue.json")
    if "plan" in groups:
        paths = data.path_of(MEDIUM), data.path_of(SHORT)
        plan.compaction_plans(report, *paths, (MEDIUM, SHORT))
        plan.offline_summary(report, data.path_of(SHORT), SHORT)
    if "compare" in groups:
        compare.branches(report, data.branches_of(SHORT), SHORT)
    if "need" in groups:
        need.need(report)
    if "agents" in groups:
        agents.opening(report, folder, FOREIGN)
        agents.opening_short_lines(report, folder, FOREIGN)


def main(argv: list[str]) -> int:
    """Returns 1 where a figure missed its bar."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--only", metavar="GROUP", nargs="+", choices=GROUPS, help=", ".join(GROUPS))
    parser.add_argument(
        "--runs", type=int, default=3, help="runs at most; a figure has to hold in two of them"
    )
    parser.add_argument("--skip", metavar="GROUP", nargs="+", choices=GROUPS, default=[])
    parser.add_argument(
        "--data", type=Path, help="folder that keeps what was generated; else a temporary one"
    )
    given = parser.parse_args(argv)
    groups = set(given.only or GROUPS) - set(given.skip)
    print(f"Python {platform.python_version()}, {platform.machine()}, medians of at least five in this run\n")
    report = Report()
    with ExitStack() as stack:
        if given.data is not None:
            given.data.mkdir(parents=True, exist_ok=True)
            folder = given.data
        else:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="leafward-bench-")))
        for _ in range(given.runs):
            measure(groups, folder, report)
            if not report.undecided:
                break
            print()
    print(
        f"\n{len(report.missed)} over the bar in two runs" + "".join(f"\n  {what}" for what in report.missed)
    )
    return bool(report.missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
