"""The window of the model at an entry, from the user, the session, the agent's own settings, or the model's name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.agents.recognition import agent_behind
from leafward.agents.registry import auto_compaction_of
from leafward.base.model_windows import Window, WindowSource

if TYPE_CHECKING:
    from leafward.base.config import Config
    from leafward.context.model_context import Context
    from leafward.session.session import Session


def context_window(session: Session, context: Context, config: Config) -> Window:
    """The window of the model at an entry.

    It is configured, else recorded by the agent, else named in the agent's own settings, else known by the model's name, else assumed.
    """
    model = f"{context.provider}/{context.model}" if context.provider and context.model else context.model
    found = config.window_for(model, session.source.recorded_window(context.at), context.size.from_usage)
    if found.source in (WindowSource.KNOWN, WindowSource.ASSUMED):
        named = named_window(session, context.provider, context.model)
        if named:
            return Window(named, WindowSource.NAMED)
    return found


def named_window(session: Session, provider: str | None, model: str | None) -> int | None:
    """The window in tokens that the agent's own settings name for a provider's model; None where they name none."""
    return auto_compaction_of(agent_behind(session).name).window(session, provider, model)
