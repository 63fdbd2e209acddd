"""Figures of the library: reading, laying out, folding, filtering, contexts, the memory that an index takes."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from leafward.context.model_context import context_at
from leafward.session.session import Session
from leafward.session.tree.tree_layout import arrange
from leafward_tui.explorer.model.exploration import Exploration, Filter
from leafward_tui.explorer.model.folds import LineKind
from tests.bench import references
from tests.bench.report import ROUNDS, Report, median, seconds

if TYPE_CHECKING:
    from pathlib import Path

_MEMORY = """
import gc, json, os, sys
from pathlib import Path
from leafward.session.session import Session
import leafward.context.model_context

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

gc.collect()
before = resident()
session = Session.open(Path(sys.argv[1]))
gc.collect()
kept = resident() - before
columns = session.columns
held = sum(map(sys.getsizeof, (columns.start, columns.kind, columns.ids, columns.parent)))
print(json.dumps([len(session), kept, held]))
"""

_OPENED = """
import json, re, sys
from pathlib import Path
from leafward.session.session import Session
from leafward.session.tree.tree_layout import arrange

session = Session.open(Path(sys.argv[1]))
rows = arrange(session.tree, session.leaf)
with open("/proc/self/status") as file:
    said = dict(re.findall(r"(\\w+):\\s+(\\d+) kB", file.read()))
print(json.dumps([len(session), int(said["VmRSS"]) * 1024, int(said["VmHWM"]) * 1024]))
"""


def index_and_layout(report: Report, path: Path, entries: int) -> None:
    """A session from its bytes to rows, beside decoding its lines."""
    ours: list[float] = []
    reference: list[float] = []
    lines: list[float] = []

    def work() -> None:
        with closing(Session.open(path)) as session:
            arrange(session.tree, session.leaf)

    for _ in range(ROUNDS):
        gc.collect()
        reference.append(references.decode_all(path))
        lines.append(references.decode_lines(path))
        gc.collect()
        ours.append(seconds(work))
    what = f"index and layout, {entries:,} entries"
    measured = median(ours)
    report.ratio(what, measured, "orjson.loads over the lines", median(reference), 0.60)
    report.ratio(f"{what}: the same", measured, "orjson.loads, lines in memory", median(lines), None)
    command = references.node()
    if command is None:
        report.skipped(what, "node is not installed")
    else:
        whole, parsing = references.node_decode_all(command, path, ROUNDS)
        report.ratio(what, measured, "node: JSON.parse over the lines", whole, 0.30)
        report.ratio(f"{what}: the same", measured, "node: JSON.parse, lines in memory", parsing, None)


def memory(report: Report, path: Path, entries: int) -> None:
    """Resident bytes an entry that an open session adds to a process; Linux only."""
    what = f"memory of the index, {entries:,} entries"
    if not sys.platform.startswith("linux"):
        report.skipped(what, "read from /proc")
        return
    kept, held = [], []
    for _ in range(ROUNDS):
        done = subprocess.run(
            [sys.executable, "-c", _MEMORY, str(path)], check=True, capture_output=True, text=True
        )
        count, resident, columns = json.loads(done.stdout)
        kept.append(resident / count)
        held.append(columns / count)
    report.limit(what, median(kept), "bytes an entry", 64, f"columns alone {median(held):.1f}")


def process_memory(report: Report, small: Path, large: Path) -> None:
    """The size of a process that opened a large session, beside one that opened a small one; Linux only."""
    what = f"process with a session of {large.stat().st_size >> 20:,} MB open"
    if not sys.platform.startswith("linux"):
        report.skipped(what, "read from /proc")
        return
    sizes: list[list[int]] = [[], []]
    peaks: list[int] = []
    entries = peak = 0
    for _ in range(ROUNDS):
        for path, found in zip((small, large), sizes, strict=True):
            done = subprocess.run(
                [sys.executable, "-c", _OPENED, str(path)], check=True, capture_output=True, text=True
            )
            entries, resident, peak = json.loads(done.stdout)
            found.append(resident)
        peaks.append(peak)
    few, many = map(median, sizes)
    against = f"twice that with {small.stat().st_size >> 20:,} MB, and 64 bytes an entry"
    report.ratio(what, many / 1e6, against, (2 * few + 64 * entries) / 1e6, 1.0, unit="MB")
    report.limit(f"{what}: at most", median(peaks) / 1e6, "MB", None)


def folds_and_filters(report: Report, path: Path, entries: int) -> None:
    """A fold toggled and a filter changed at the size at which that is slowest."""
    reference = median([references.decode_all(path) for _ in range(ROUNDS)])
    with closing(Session.open(path)) as session:
        exploration = Exploration(session)
        folded = [
            line
            for line in map(exploration.lines.line, range(len(exploration.lines)))
            if line.kind in (LineKind.FOLDED_RUN, LineKind.FOLDED_BRANCH)
        ]
        folds: list[float] = []
        for line in folded[:: max(1, len(folded) // (2 * ROUNDS))]:
            for change in (exploration.unfold, exploration.fold):
                now = exploration.lines.line(exploration.lines.y_of(line.row))
                folds.append(seconds(partial(change, now)))
        report.ratio(
            f"fold toggled, {entries:,} entries",
            median(folds),
            "orjson.loads over the lines",
            reference,
            0.01,
        )
        for wanted in (Filter.PROMPTS, Filter.COMPACTIONS, Filter.LABELLED):
            times: list[float] = []
            for _ in range(ROUNDS):
                exploration.filter = wanted
                times.append(seconds(exploration.fold_again))
                exploration.filter = Filter.CONVERSATION
                times.append(seconds(exploration.fold_again))
            report.ratio(
                f"filter changed to {wanted.value} and back, {entries:,} entries",
                median(times),
                "orjson.loads over the lines",
                reference,
                0.05,
            )
        relaid: list[float] = []
        for _ in range(ROUNDS):
            exploration.filter = Filter.NO_TOOLS
            relaid.append(seconds(exploration.lay_out))
            exploration.filter = Filter.CONVERSATION
            relaid.append(seconds(exploration.lay_out))
        report.ratio(
            f"filter that lays out anew ({Filter.NO_TOOLS.value}) and back, {entries:,} entries",
            median(relaid),
            "orjson.loads over the lines",
            reference,
            0.05,
        )


def context(report: Report, path: Path, entries: int) -> None:
    """The context at the end of one long path without a compaction."""
    ours: list[float] = []
    reference: list[float] = []
    with closing(Session.open(path)) as session:
        for _ in range(ROUNDS):
            reference.append(references.decode_all(path))
            ours.append(seconds(lambda: context_at(session)))
    report.ratio(
        f"context at the leaf of a path of {entries:,}",
        median(ours),
        "orjson.loads over the path",
        median(reference),
        2.5,
    )
