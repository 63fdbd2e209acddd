"""What the next compaction of a session that grows would lose, worked out beside the screen as the lab works out a draft."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.explorer.jobs.lost_facts import MOST_BYTES, bytes_above

if TYPE_CHECKING:
    from leafward.base.config import Config
    from leafward.session.session import Session
    from leafward_tui.ui.services import Job

__all__ = ["lost_at_leaf"]


def lost_at_leaf(session: Session, config: Config, job: Job) -> int | None:
    """How many facts a compaction here would lose, by the rules of the session's agent and with our own summary.

    What `install` put into that agent is carried. None where there is nothing to compact or the path is too long to be read
    each time it grows. Raises Cancelled, LeafwardError, OSError.
    """
    from leafward.agents import agent_behind
    from leafward.compaction.injection import inject
    from leafward.compaction.injection.configured import configured_settings
    from leafward.compaction.measure import measure
    from leafward.compaction.plan import plan
    from leafward.compaction.run import draft
    from leafward.compaction.settings import PlanSettings, strategy_of
    from leafward.context.model_context import context_window
    from leafward.export.installation import is_installed
    from leafward.summaries.summarizers.extractive import Extractive
    from leafward.summaries.survival import Status

    leaf = session.leaf
    if bytes_above(session, leaf) > MOST_BYTES:
        return None
    agent = agent_behind(session).name
    settings = PlanSettings(strategy=strategy_of(config.strategy, agent))
    sizes = measure(session, leaf, estimators=[settings.counting])
    window = context_window(session, sizes.context, config).tokens
    made = plan(sizes, PlanSettings(strategy=settings.strategy, window=window))
    if made.nothing:
        return None
    carried = (
        inject(session, leaf, configured_settings(config), job.unwanted) if is_installed(agent) else None
    )
    drafted = draft(session, made, Extractive(), injection=carried, stop=job.unwanted)
    return sum(fate.status is Status.LOST for fate in drafted.survival.fates)
