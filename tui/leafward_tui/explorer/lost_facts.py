"""Facts that compactions lost, and those that the next one would lose; counted in a job."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import Cancelled, LeafwardError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from leafward.base.config import Config
    from leafward.session.session import Session
    from leafward_tui.explorer.model.gauge_lines import Forecast
    from leafward_tui.ui.jobs import Job

_NAP = 0.02
"""Seconds between two compactions whose lost facts are counted."""
MOST_BYTES = 24 << 20
"""Bytes of the path above a compaction beyond which its lost facts are counted only on request."""


class Counted(NamedTuple):
    """The counts of one compaction."""

    lost: int | None
    """Lost facts; None where the summary is encrypted, so that they cannot be counted."""
    repeated: int
    """Things that were read, run, got wrong or said again within the next tool calls."""
    tokens: int
    """Estimated tokens of the repeats."""
    entries: int
    """Entries of the session at the time of the count; -1 where more entries change nothing."""


def count_lost(
    session: Session,
    compactions: Sequence[int],
    counted_one: Callable[[int, Counted], object],
    job: Job,
) -> None:
    """Counts the facts that compactions lost, and the repeats after each; `counted_one` gets each."""
    # Imported here, in the job: the modules about facts take longer to load than a frame may.
    from leafward.compaction.aftermath.aftermath import WINDOW
    from leafward.summaries.fates.report import is_encrypted
    from leafward_tui.ui.survival_cache import survivals_of

    reports = survivals_of(session)
    for head in compactions:
        try:
            if bytes_above(session, head) > MOST_BYTES:
                if is_encrypted(session, head):
                    job.report(partial(counted_one, head, Counted(None, 0, 0, -1)))
                continue
            entries = len(session)
            report = reports.report(session, head, job.unwanted)
            later = reports.aftermath(session, head, job.unwanted)
        except Cancelled:
            return
        except (LeafwardError, OSError):
            continue
        lost = None if report.unreadable else report.lost
        found = Counted(lost, len(later.repeated), later.tokens, -1 if later.calls == WINDOW else entries)
        job.report(partial(counted_one, head, found))
        time.sleep(_NAP)


def bytes_above(session: Session, entry: int) -> int:
    """Bytes of the lines on the path to an entry, back to the last compaction but one."""
    columns, tree = session.columns, session.tree
    total = 0
    for run in tree.path_runs(columns.parent[entry]):
        stop = columns.start[run.stop] if run.stop < len(columns) else session.scan.end
        total += stop - columns.start[run.start]
    return total


def is_long(session: Session) -> bool:
    """Whether the path to the leaf is too long for a forecast in this process: keys would wait for it."""
    return bytes_above(session, session.leaf) > MOST_BYTES


def forecast(session: Session, config: Config, job: Job) -> Forecast:
    """The effect of a compaction at the leaf, by the rules of the session's agent and with our own summary.

    Claude Code, whose rules are not known, is taken to keep nothing, as it does where it compacts by itself. Context that `install`
    injects is included. A long path is read in a process of its own. Raises Cancelled, LeafwardError, OSError.
    """
    if not is_long(session):
        return _forecast(session, config, job.unwanted)
    from leafward.base.worker_processes import Stopped, WorkerProcesses, awaited
    from leafward_tui.explorer.model.gauge_lines import Forecast

    processes: WorkerProcesses[Path, Forecast] = WorkerProcesses(1, f"{__name__}:forecast_apart")
    with processes:
        try:
            found = awaited(processes.ask(session.path), job.unwanted)
        except Stopped:
            raise Cancelled from None
    return Forecast(why="facts not counted") if found is None else found


def forecast_apart(path: Path) -> Forecast:
    """The forecast for the session at a path, with the user's configuration. Runs in a worker process."""
    from contextlib import closing

    from leafward.agents.recognition import agent_of
    from leafward.base.config import load
    from leafward_tui.explorer.model.gauge_lines import Forecast

    try:
        with closing(agent_of(path).open(path)) as session:
            return _forecast(session, load()[0], lambda: False)
    except (LeafwardError, OSError):
        return Forecast(why="facts not counted")


def _forecast(session: Session, config: Config, stop: Callable[[], bool]) -> Forecast:
    from leafward.agents.model_window import context_window
    from leafward.agents.recognition import agent_behind
    from leafward.agents.registry import is_installed
    from leafward.base.strategies import Strategy, own_strategy
    from leafward.compaction.draft.draft_assembly import draft
    from leafward.compaction.injection.configured import configured_settings
    from leafward.compaction.injection.injection import inject
    from leafward.compaction.measure.measure import measure
    from leafward.compaction.plan.plan import plan
    from leafward.compaction.plan.settings import PlanSettings
    from leafward.compaction.strategies.by_name import rules_of
    from leafward.summaries.fates.report import Status
    from leafward.summaries.summarizers.extractive.summarizer import Extractive
    from leafward_tui.explorer.model.gauge_lines import Forecast

    leaf = session.leaf
    agent = agent_behind(session)
    own = own_strategy(agent.name)
    strategy = own or Strategy.PI
    sizes = measure(session, leaf, estimators=[rules_of(strategy).estimator])
    window = context_window(session, sizes.context, config).tokens
    settings = PlanSettings(strategy=strategy, window=window)
    if own is None:
        settings = replace(settings, keep_recent=0)
    elif rules_of(strategy).configured:
        settings = replace(settings, keep_recent=config.keep_recent, reserve=config.reserve)
    made = plan(sizes, settings)
    name = strategy.agent if own is not None else agent.title
    if made.nothing:
        return Forecast(name, nothing=own is not None)
    carried = inject(session, leaf, configured_settings(config), stop) if is_installed(agent.name) else None
    drafted = draft(session, made, Extractive(), injection=carried, stop=stop)
    lost = sum(fate.status is Status.LOST for fate in drafted.survival.fates)
    return Forecast(name, lost=lost)
