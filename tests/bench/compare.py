"""The first view of two branches, beside decoding the lines of both."""

from __future__ import annotations

import gc
import json
import time
from contextlib import closing
from typing import TYPE_CHECKING

from leafward.branches.diff.file_sets import compare_files
from leafward.branches.diff.sides import sides
from leafward.session.session import Session
from tests.bench import references
from tests.bench.generate import FILES, write_session
from tests.bench.report import ROUNDS, Report, median

if TYPE_CHECKING:
    from pathlib import Path

_SHARED = 100


def write_branches(path: Path, entries: int) -> None:
    """A session of two branches of so many entries, with a hundred above them."""
    write_session(path, _SHARED + 2 * entries, branch_every=0, compact_every=0)
    lines = path.read_bytes().splitlines(keepends=True)
    fork, first = _SHARED, _SHARED + entries + 1
    above, below = (json.loads(lines[at]) for at in (fork, first))
    lines[first] = lines[first].replace(
        f'"parentId":"{below["parentId"]}"'.encode(), f'"parentId":"{above["id"]}"'.encode(), 1
    )
    path.write_bytes(b"".join(lines))


def branches(report: Report, path: Path, entries: int) -> None:
    """From an open session to the three columns of files; beside it what each branch came to, when it is asked for."""
    ours: list[float] = []
    outcomes: list[float] = []
    reference: list[float] = []
    files = 0
    with closing(Session.open(path)) as session:
        a, b = sorted(session.tree.leaves())[-2:]
        for _ in range(2 * ROUNDS):
            gc.collect()
            reference.append(references.decode_all(path))
            gc.collect()
            started = time.perf_counter()
            compared = sides(session, a, b)
            files = len(compare_files(compared))
            shown = time.perf_counter()
            for side in (compared.a, compared.b):
                assert side.outcomes.replies
            ours.append(shown - started)
            outcomes.append(time.perf_counter() - shown)
    assert files == FILES
    against = "orjson.loads of all lines, nothing kept"
    what = f"two branches of {entries:,} entries, {files} files"
    report.ratio(what, median(ours), against, median(reference), 1.5)
    report.ratio("what came of them, when asked", median(outcomes), against, median(reference), None)
