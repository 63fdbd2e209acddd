"""Facts that compactions lost, and those that the next one would lose: counted beside the screen."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import Cancelled, LeafwardError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.base.config import Config
    from leafward.session.session import Session
    from leafward_tui.explorer.widgets.gauge import Forecast
    from leafward_tui.ui.services import Job

_NAP = 0.02
"""Seconds between two compactions whose lost facts are counted."""
MOST_BYTES = 24 << 20
"""Bytes of the path above a compaction beyond which its lost facts are counted only when somebody asks for them."""


class Counted(NamedTuple):
    """What is counted of one compaction."""

    lost: int | None
    """Facts; None where the summary is encrypted, so that nobody can say."""
    repeated: int
    """Things that were read, run, got wrong or said again within the next tool calls."""
    tokens: int
    """Of what was repeated; estimated."""
    entries: int
    """Those of the session then; -1 where more of them change nothing."""


def count_lost(
    session: Session,
    compactions: Sequence[int],
    counted_one: Callable[[int, Counted], object],
    job: Job,
) -> None:
    """Counts what compactions lost, and what followed them; `counted_one` hears each."""
    # Loaded here, beside the screen: what knows facts takes longer to load than a frame may.
    from leafward.compaction.aftermath import WINDOW
    from leafward.summaries.survival import is_encrypted
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
    """Bytes of the lines on the path to an entry, back to the compaction before the one before it."""
    columns, tree = session.columns, session.tree
    total = 0
    for run in tree.path_runs(columns.parent[entry]):
        stop = columns.start[run.stop] if run.stop < len(columns) else session.scan.end
        total += stop - columns.start[run.start]
    return total


def forecast(session: Session, config: Config, job: Job) -> Forecast:
    """What a compaction here would do, by the rules of the session's agent and with our own summary.

    Of an agent whose rules we do not have nothing is told. What `install` put into it is carried. Facts are not counted where
    the path is too long to be read each time it grows. Raises Cancelled, LeafwardError, OSError.
    """
    from leafward.agents import agent_behind
    from leafward.base.strategies import own_strategy
    from leafward.compaction.draft_assembly import draft
    from leafward.compaction.injection import inject
    from leafward.compaction.injection.configured import configured_settings
    from leafward.compaction.measure import measure
    from leafward.compaction.plan import plan
    from leafward.compaction.settings import PlanSettings
    from leafward.compaction.strategies import rules_of
    from leafward.context.model_context import context_window
    from leafward.export.installation import is_installed
    from leafward.summaries.summarizers.extractive import Extractive
    from leafward.summaries.survival import Status
    from leafward_tui.explorer.widgets.gauge import Forecast

    leaf = session.leaf
    agent = agent_behind(session).name
    strategy = own_strategy(agent)
    if strategy is None or bytes_above(session, leaf) > MOST_BYTES:
        return Forecast()
    sizes = measure(session, leaf, estimators=[rules_of(strategy).estimator])
    window = context_window(session, sizes.context, config).tokens
    settings = PlanSettings(strategy=strategy, window=window)
    if rules_of(strategy).configured:
        settings = replace(settings, keep_recent=config.keep_recent, reserve=config.reserve)
    made = plan(sizes, settings)
    if made.nothing:
        return Forecast(strategy.agent, nothing=True)
    carried = (
        inject(session, leaf, configured_settings(config), job.unwanted) if is_installed(agent) else None
    )
    drafted = draft(session, made, Extractive(), injection=carried, stop=job.unwanted)
    lost = sum(fate.status is Status.LOST for fate in drafted.survival.fates)
    return Forecast(strategy.agent, lost=lost)
