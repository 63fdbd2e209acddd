"""Drafts of branch summaries: what is to be summarised, what a model would be sent, the summary itself."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import Cancelled
from leafward.compaction.branch_summary import left_branch, summarize_branch
from leafward.session.journal import busy
from leafward.summaries.summarizers import tokens_of
from leafward.summaries.summarizers.choice import CONFIGURED, model_settings
from leafward.summaries.summarizers.extractive import Extractive
from leafward_tui.explorer.model.branch_summary import Growth

if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Event

    from leafward.base.config import Config
    from leafward.compaction.branch_summary import Branch, BranchDraft
    from leafward.session.session import Session
    from leafward.summaries.summarizers.model import Outgoing
    from leafward_tui.explorer.model.branch_summary import SummaryRequest
    from leafward_tui.ui.services import Job

OFFLINE = Extractive.name
MODEL = CONFIGURED


class Prospect(NamedTuple):
    """What is to be summarised, None where there is nothing, and what the configured model would be sent."""

    branch: Branch | None = None
    outgoing: Outgoing | None = None


def look_over(session: Session, request: SummaryRequest, config: Config, stop: Event, _job: Job) -> Prospect:
    """Decodes a branch, and makes the requests for the configured model; nothing leaves the machine.

    Finds nothing where it is stopped. Raises LeafwardError, OSError.
    """
    window = config.window_of(config.model)
    try:
        branch = left_branch(
            session, request.start, request.to, window=window, reserve=config.reserve, stop=stop.is_set
        )
    except Cancelled:
        return Prospect()
    if branch is None or config.model is None:
        return Prospect(branch)
    from leafward.summaries.summarizers.model import outgoing

    settings = model_settings(CONFIGURED, config)
    return Prospect(branch, outgoing(branch.span(request.focus), branch.budget(), settings))


def summarise(
    session: Session,
    branch: Branch,
    focus: str,
    name: str,
    config: Config,
    stop: Event,
    grown: Callable[[Growth], object],
    job: Job,
) -> BranchDraft | None:
    """A summary by the summariser of a name, `OFFLINE` or `MODEL`; None where it is stopped. Writes nothing.

    `grown` hears how it grows. Raises LeafwardError, OSError.
    """
    try:
        with busy(session.path, "a summary"):
            return _drafted(
                session, branch, focus, name, config, stop, lambda now: job.report(partial(grown, now))
            )
    except Cancelled:
        return None


def _drafted(
    session: Session,
    branch: Branch,
    focus: str,
    name: str,
    config: Config,
    stop: Event,
    grown: Callable[[Growth], object],
) -> BranchDraft:
    if name == OFFLINE:
        return summarize_branch(
            session,
            branch,
            Extractive(),
            focus=focus,
            progress=lambda text: grown(Growth(text, tokens_of(text))),
            stop=stop.is_set,
        )
    from leafward.summaries.summarizers.model import Model, Progress

    def watch(now: Progress) -> None:
        grown(Growth(now.text, now.tokens, now.rate, now.stage))

    model = Model(model_settings(name, config), watch)
    return summarize_branch(session, branch, model, focus=focus, stop=stop.is_set)
