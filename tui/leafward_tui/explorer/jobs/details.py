"""What follows the cursor and the leaf: the price of a move, the context at the leaf, the overview of the path."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import Cancelled
from leafward.context.model_context import context_at, context_window, lacks_prompt
from leafward.context.price import price_of_move
from leafward_tui.explorer.model.overview import Overview

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from leafward.base.config import Config
    from leafward.context.basis import Count
    from leafward.context.entry_metrics import EntryMetrics
    from leafward.context.price import Price
    from leafward.session.session import Session
    from leafward_tui.ui.services import Job


class LeafContext(NamedTuple):
    """The size of the context at the leaf, and the window of the model it is for."""

    size: Count
    window: int
    lacks_prompt: bool
    """Whether the session does not hold the prompt that its agent sends."""


def price_move(session: Session, target: int, metrics: EntryMetrics, job: Job) -> Price:
    """The price of a move of the leaf to an entry."""
    return price_of_move(session, target, tallies=metrics, stop=job.stop)


def survey(
    session: Session,
    metrics: EntryMetrics,
    archived: Collection[int],
    config: Config,
    measured: Callable[[LeafContext], object],
    job: Job,
) -> Overview:
    """The overview of the path to the leaf; `measured` hears of the context there first. Raises Cancelled."""
    context = context_at(session)
    window = context_window(session, context, config).tokens
    at_leaf = LeafContext(context.count, window, lacks_prompt(session, context))
    job.report(partial(measured, at_leaf))
    overview = Overview.of(session, metrics, archived, job.stop)
    if overview is None:
        raise Cancelled("cancelled")
    return overview
