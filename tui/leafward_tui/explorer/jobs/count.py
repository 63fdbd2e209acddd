"""Counting what rows show in numbers, and what filters go by."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING

from leafward.context.entry_metrics import FAILED, HAS_TEXT
from leafward.session.entries import Kind
from leafward.session.journal.operations import archived_branches
from leafward_tui.explorer.jobs.session import PUBLISH_EVERY
from leafward_tui.explorer.model.exploration import Findings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from leafward.context.entry_metrics import EntryMetrics
    from leafward.session.session import Session
    from leafward_tui.ui.services import Job

PAUSE = 0.15
"""Seconds that counting rests after a key."""
_NAP = 0.01
"""Seconds between two looks at whether it may go on."""
_CHUNK = 1024
"""Entries counted between two looks at what is wanted first."""


@dataclass(slots=True)
class CountOrder:
    """In which order the entries of a session are counted: what is on the screen first. Set from the screen's thread."""

    wanted: list[range] = field(default_factory=list)
    """What is on the screen."""
    paused_until: float = 0.0
    """By the monotonic clock."""

    def pause(self, seconds: float = PAUSE) -> None:
        """Leaves the interpreter to the keys for a moment; what is on the screen is counted all the same."""
        self.paused_until = time.monotonic() + seconds


def count_entries(
    session: Session, metrics: EntryMetrics, order: CountOrder, counted_more: Callable[[], object], job: Job
) -> Findings:
    """Counts all entries into the metrics; `counted_more` hears of it at most four times a second."""
    broken: list[int] = []
    reported = 0.0
    for span in _outward(session):
        while order.wanted or order.paused_until > time.monotonic():
            if order.wanted:
                urgent, order.wanted = order.wanted, []
                for one in urgent:
                    broken += metrics.fill(session, one, job.unwanted)
                job.report(counted_more)
                reported = time.monotonic()
            else:
                time.sleep(_NAP)
            if job.unwanted():
                return Findings()
        broken += metrics.fill(session, span, job.unwanted)
        if job.unwanted():
            return Findings()
        if time.monotonic() - reported >= PUBLISH_EVERY:
            job.report(counted_more)
            reported = time.monotonic()
    if broken:
        session.discredit(broken)
    return findings_of(session, metrics)


def _outward(session: Session) -> Iterable[range]:
    """All entries in chunks, outward from the leaf."""
    total = len(session)
    middle = max(0, session.leaf)
    for step in range(0, total, _CHUNK):
        below = range(max(0, middle - step - _CHUNK + 1), max(0, middle - step + 1))
        above = range(middle + 1 + step, min(total, middle + 1 + step + _CHUNK))
        if below:
            yield below
        if above:
            yield above


def findings_of(session: Session, metrics: EntryMetrics) -> Findings:
    """What the filters go by, once everything is counted."""
    total = len(metrics)
    kind, flags, parent = session.columns.kind, metrics.flags, session.columns.parent
    failed = list(compress(range(total), flags.translate(_flag_mask(FAILED))))
    edits = [index for index, number in enumerate(metrics.edits) if number]
    silent = bytearray(total)
    for index in compress(range(total), map(int, metrics.calls)):
        if kind[index] == Kind.ASSISTANT and not flags[index] & HAS_TEXT:
            result = index + 1
            silent[index] = result < total and kind[result] == Kind.TOOL_RESULT and parent[result] == index
    return Findings(failed, edits, silent, archived_branches(session))


def _flag_mask(flag: int) -> bytes:
    return bytes(bool(value & flag) for value in range(256))
