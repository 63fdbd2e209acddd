"""Summaries of branches off the UI thread. Loaded when one is asked for: nothing of it is needed before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.compaction.branch import left_branch, summarize_branch
from leafward.summaries.summarizers import tokens_of
from leafward.summaries.summarizers.choice import CONFIGURED, model_settings
from leafward.summaries.summarizers.extractive import Extractive
from leafward_tui.explorer.model.branch_summary import Growth

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.base.config import Config
    from leafward.compaction.branch import Branch, BranchDraft
    from leafward.session.session import Session
    from leafward.summaries.summarizers.model import Outgoing
    from leafward_tui.explorer.model.branch_summary import Wanted

OFFLINE = Extractive.name
MODEL = CONFIGURED


def branch_of(session: Session, wanted: Wanted, config: Config, stop: Callable[[], bool]) -> Branch | None:
    """What is to be summarised; None where there is nothing. Decodes the branch. Raises Cancelled."""
    window = config.window_of(config.model)
    return left_branch(session, wanted.start, wanted.to, window=window, reserve=config.reserve, stop=stop)


def sent_for(branch: Branch, focus: str, config: Config) -> Outgoing | None:
    """What the configured model would be sent; None where none is configured. Nothing leaves the machine by asking."""
    if config.model is None:
        return None
    from leafward.summaries.summarizers.model import outgoing

    return outgoing(branch.span(focus), branch.budget(), model_settings(CONFIGURED, config))


def summarise(
    session: Session,
    branch: Branch,
    focus: str,
    name: str,
    config: Config,
    say: Callable[[Growth], object],
    stop: Callable[[], bool],
) -> BranchDraft:
    """A summary by the summariser of a name, `OFFLINE` or `MODEL`; `say` hears how it grows. Nothing is written.

    Raises Cancelled, and LeafwardError with the reason in one line.
    """
    if name == OFFLINE:
        made = Extractive()
        return summarize_branch(
            session,
            branch,
            made,
            focus=focus,
            progress=lambda text: say(Growth(text, tokens_of(text))),
            stop=stop,
        )
    from leafward.summaries.summarizers.model import Model, Progress

    def watch(now: Progress) -> None:
        say(Growth(now.text, now.tokens, now.rate, now.stage))

    model = Model(model_settings(name, config), watch)
    return summarize_branch(session, branch, model, focus=focus, stop=stop)
