"""The facts that compactions lost, counted one compaction after the other."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from leafward.base.errors import Cancelled, LeafwardError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.session.session import Session
    from leafward_tui.ui.services import Job

_NAP = 0.02
"""Seconds between two compactions whose lost facts are counted."""
MOST_BYTES = 24 << 20
"""Bytes of the path above a compaction beyond which its lost facts are counted only when somebody asks for them."""


def count_lost(
    session: Session, compactions: Sequence[int], counted_one: Callable[[int, int], object], job: Job
) -> None:
    """Counts the facts that compactions lost; `counted_one` hears each with its number."""
    # Loaded here, beside the screen: what knows facts takes longer to load than a frame may.
    from leafward.summaries.survival import Status
    from leafward_tui.ui.survival_cache import survivals_of

    reports = survivals_of(session)
    for head in compactions:
        if bytes_above(session, head) > MOST_BYTES:
            continue
        try:
            report = reports.report(session, head, job.unwanted)
        except Cancelled:
            return
        except (LeafwardError, OSError):
            continue
        lost = sum(1 for fate in report.fates if fate.status is Status.LOST)
        job.report(partial(counted_one, head, lost))
        time.sleep(_NAP)


def bytes_above(session: Session, entry: int) -> int:
    """Bytes of the lines on the path to an entry, back to the compaction before the one before it."""
    columns, tree = session.columns, session.tree
    total = 0
    for run in tree.path_runs(columns.parent[entry]):
        stop = columns.start[run.stop] if run.stop < len(columns) else session.scan.end
        total += stop - columns.start[run.start]
    return total
