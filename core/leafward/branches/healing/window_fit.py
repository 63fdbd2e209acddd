"""A context over the window of its model: the messages that a compaction keeps, behind an offline summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.conversation import ConversationMessage
from leafward.agents.model_window import context_window
from leafward.base.errors import Cancelled, LeafwardError
from leafward.base.model_windows import Window, WindowSource
from leafward.compaction.draft.draft_assembly import draft
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.context.model_context import context_at
from leafward.summaries.summarizers.extractive.summarizer import Extractive

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.base.config import Config
    from leafward.branches.healing.refusals import Excess
    from leafward.session.session import Session

_SUMMARY = "Summary of how this conversation went on before:"


class WindowMessages(NamedTuple):
    """Messages for the window of a model."""

    messages: list[ConversationMessage]
    change: str
    """The change made to them, on one line; empty where there is none."""
    obstacle: str
    """Why they are over the window even so; empty where they fit."""


def fitted(
    session: Session,
    messages: Sequence[ConversationMessage],
    config: Config,
    stop: Callable[[], bool] = lambda: False,
    refused: Excess | None = None,
) -> WindowMessages:
    """The messages of the context at the leaf; a summary replaces the earliest ones where they exceed the window.

    An assumed window is not a real limit, so an excess over it is only reported. The provider's own figures in a refusal
    take precedence over the known window. Raises Cancelled.
    """
    context = context_at(session, session.place)
    window, total = context_window(session, context, config), context.size.total
    if refused is not None:
        window = Window(refused.window or window.tokens, WindowSource.RECORDED)
        total = max(total, refused.sent, window.tokens + 1)
    if total <= window.tokens:
        return WindowMessages([*messages], "", "")
    over = f"the context of ~{total:,} tokens is over the window of {window.tokens:,}"
    if window.source is WindowSource.ASSUMED:
        return WindowMessages(
            [*messages], "", f"{over} that is assumed; say the model's in `windows` of config.toml"
        )
    keep = min(config.keep_recent, window.tokens // 2)
    try:
        settings = PlanSettings(window=window.tokens, keep_recent=keep)
        planned = plan(measure(session, session.place), settings)
        made = draft(session, planned, Extractive(), stop=stop)
    except Cancelled:
        raise
    except LeafwardError as error:
        return WindowMessages([*messages], "", f"{over}, and it cannot be compacted: {error}")
    kept = [one for one in messages if one.entry >= planned.first_kept >= 0]
    if not kept or len(kept) == len(messages):
        return WindowMessages([*messages], "", f"{over}, and no cut leaves less")
    text = {"type": "text", "text": f"{_SUMMARY}\n\n{made.text}"}
    summary = ConversationMessage("user", (text,), planned.first_kept, kept[0].time)
    after = planned.tokens.after
    change = f"{over}: {len(messages) - len(kept):,} messages become a summary, ~{after:,} tokens are left"
    obstacle = "" if after <= window.tokens else f"~{after:,} tokens are still over the window"
    return WindowMessages([summary, *kept], change, obstacle)
