"""Reading a session, and what it has gained since."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import LeafwardError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from leafward.base.config import Config
    from leafward.context.entry_metrics import EntryMetrics
    from leafward.session.columns import Columns
    from leafward.session.density import Density
    from leafward.session.prefetch import Ahead
    from leafward.session.session import Session
    from leafward_tui.explorer.model.exploration import Exploration
    from leafward_tui.ui.services import Job

    Progress = Callable[[int, int], object]
    """Hears the bytes read so far, and of how many."""

PUBLISH_EVERY = 0.25
"""Seconds between two reports while something loads."""


class OpenedSession(NamedTuple):
    """A session that was read and laid out."""

    exploration: Exploration
    metrics: EntryMetrics


class Growth(NamedTuple):
    """What a look at the file of a session found."""

    before: Columns
    """What was known of the file before."""
    added: int = 0
    replaced: bool = False
    """Whether it shrank, was replaced or cannot be read: it has to be read anew."""


def open_session(
    path: Path,
    density: Density,
    height: int,
    config: Config,
    ahead: Ahead | None,
    progress: Progress,
    job: Job,
) -> OpenedSession:
    """Reads and lays out a session. What was scanned `ahead` is not scanned again. Raises LeafwardError."""
    # Loaded here, beside the screen: what reads sessions takes longer to load than everything before the first frame.
    from leafward.agents import agent_of, native
    from leafward.catalog import stores
    from leafward.context.entry_metrics import EntryMetrics
    from leafward.session.journal.operations import archived_branches
    from leafward.session.session import Session
    from leafward_tui.explorer.model.exploration import Exploration, Findings

    size = path.stat().st_size if path.exists() else 0
    reported = time.monotonic()

    def publish(end: int) -> None:
        nonlocal reported
        now = time.monotonic()
        if now - reported >= PUBLISH_EVERY:
            reported = now
            job.report(lambda: progress(end, size))

    scan = ahead.take(job.unwanted, lambda end, _entries: publish(end)) if ahead is not None else None
    agent = agent_of(path, lambda: stores(config, os.environ))
    if agent is native():
        session = Session.open(path, job.unwanted, lambda scan: publish(scan.end), scan)
    else:
        session = agent.open(path, job.unwanted)
    findings = Findings(archived=archived_branches(session))
    return OpenedSession(Exploration(session, density, height, findings), EntryMetrics(session))


def grow(session: Session, _job: Job) -> Growth:
    """Takes in what was appended to the file of a session."""
    before = session.columns
    try:
        grown = session.refresh()
    except (LeafwardError, OSError):
        return Growth(before, replaced=True)
    return Growth(before, grown.added, grown.replaced) if grown is not None else Growth(before)
