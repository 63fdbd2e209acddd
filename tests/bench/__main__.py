"""`python -m tests.bench`: every figure beside what it is compared with. Takes some minutes and 3 GB of temporary space."""

from __future__ import annotations

import argparse
import platform
import sys
import tempfile
from pathlib import Path

from tests.bench import agents, application, compare, core, listing, need, plan, search
from tests.bench.generate import write_session, write_store
from tests.bench.report import Report

SMALL, SHORT, MEDIUM, LARGE = 1_000, 10_000, 100_000, 1_000_000
SESSIONS = 10_000
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


def measure(groups: set[str], folder: Path) -> Report:
    """Measures and prints; what missed its bar is in the report."""
    data, report = _Data(folder), Report()
    home = folder / "home"
    home.mkdir(exist_ok=True)
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
        core.folds_and_filters(report, data.session(LARGE), LARGE)
        application.start(report, data.session(LARGE), LARGE, home, 0.9)
    if "keys" in groups:
        application.keys(report, data.session(SMALL), data.session(LARGE), (SMALL, LARGE), home)
        application.keys_while_loading(report, data.session(LARGE), LARGE, home)
    if "follow" in groups:
        application.following(report, data.session(MEDIUM), MEDIUM, home)
    if "listing" in groups:
        listing.listing(report, data.store(SESSIONS), folder / "catalogue.json", SESSIONS)
    if "search" in groups:
        search.searching(report, data.store(SESSIONS), folder / "catalogue.json", SESSIONS)
    if "plan" in groups:
        paths = data.path_of(MEDIUM), data.path_of(SHORT)
        plan.compaction_plans(report, *paths, (MEDIUM, SHORT))
    if "compare" in groups:
        compare.branches(report, data.branches_of(SHORT), SHORT)
    if "need" in groups:
        need.need(report)
    if "agents" in groups:
        agents.opening(report, folder, FOREIGN)
    return report


def main(argv: list[str]) -> int:
    """Returns 1 where a figure missed its bar."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--only", metavar="GROUP", nargs="+", choices=GROUPS, help=", ".join(GROUPS))
    parser.add_argument("--skip", metavar="GROUP", nargs="+", choices=GROUPS, default=[])
    parser.add_argument(
        "--data", type=Path, help="folder that keeps what was generated; else a temporary one"
    )
    given = parser.parse_args(argv)
    groups = set(given.only or GROUPS) - set(given.skip)
    print(f"Python {platform.python_version()}, {platform.machine()}, medians of at least five in this run\n")
    if given.data is not None:
        given.data.mkdir(parents=True, exist_ok=True)
        report = measure(groups, given.data)
    else:
        with tempfile.TemporaryDirectory(prefix="leafward-bench-") as folder:
            report = measure(groups, Path(folder))
    print(f"\n{len(report.missed)} over the bar" + "".join(f"\n  {what}" for what in report.missed))
    return bool(report.missed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
