"""Summaries of branches: what is to be summarised, what a model would be sent, the summary itself."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import LeafwardError
from leafward.compaction.branch import left_branch, move_with_summary, summarize_branch
from leafward.session.journal import Writing, busy
from leafward.summaries.summarizers import Cancelled, tokens_of
from leafward.summaries.summarizers.choice import CONFIGURED, model_settings
from leafward.summaries.summarizers.extractive import Extractive
from leafward_tui.explorer.model.branch_summary import Growth

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from threading import Event

    from leafward.base.config import Config
    from leafward.compaction.branch import Branch, BranchDraft
    from leafward.session.journal import Write
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
    problem: str = ""
    """Why that is not known."""


class Summary(NamedTuple):
    """A summary that is whole, and written where that was wanted; or it is not, and `problem` says why."""

    draft: BranchDraft | None = None
    written: Write | None = None
    problem: str = ""


def look_over(session: Session, request: SummaryRequest, config: Config, stop: Event, _job: Job) -> Prospect:
    """Decodes a branch, and makes the requests for the configured model; nothing leaves the machine."""
    window = config.window_of(config.model)
    try:
        branch = left_branch(
            session, request.start, request.to, window=window, reserve=config.reserve, stop=stop.is_set
        )
        if branch is None or config.model is None:
            return Prospect(branch)
        from leafward.summaries.summarizers.model import outgoing

        settings = model_settings(CONFIGURED, config)
        return Prospect(branch, outgoing(branch.span(request.focus), branch.budget(), settings))
    except (LeafwardError, OSError) as error:
        return Prospect(problem=str(error))


def summarise(
    session: Session,
    branch: Branch,
    request: SummaryRequest,
    name: str,
    config: Config,
    clock: Callable[[], datetime],
    moves: bool,
    stop: Event,
    grown: Callable[[Growth], object],
    job: Job,
) -> Summary:
    """A summary by the summariser of a name, `OFFLINE` or `MODEL`; where it `moves`, the leaf goes along with it.

    `grown` hears how it grows.
    """
    draft: BranchDraft | None = None
    try:
        with busy(session.path, "a summary") as claim:
            draft = _drafted(
                session,
                branch,
                request.focus,
                name,
                config,
                stop,
                lambda now: job.report(partial(grown, now)),
            )
            if stop.is_set():
                raise Cancelled("cancelled")
            if not moves:
                return Summary(draft)
            return Summary(
                draft, move_with_summary(session, request.to, draft, Writing(claim=claim, now=clock))
            )
    except (LeafwardError, OSError) as error:
        return Summary(draft, problem=str(error))


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
