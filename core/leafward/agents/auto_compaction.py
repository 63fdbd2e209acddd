"""Rules of automatic compaction: each agent's package has its own rule, taken from the agent's source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from leafward.base.model_windows import Window
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session


class OwnSettings(NamedTuple):
    """The agent's own settings for compactions, from a file that exists now."""

    source: Path
    off: bool = False
    """Whether automatic compaction is off."""
    reserve: int | None = None
    """Tokens left free; None where the setting is missing."""
    limit: int | None = None
    """The size at which it compacts at the latest; None where the setting is missing."""
    size: int | None = None
    """The size at which it compacts, where its settings name limits of the model; None where they name none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoCompaction:
    """The rule of one agent. Sizes are in tokens."""

    source: str
    """The agent and the version of its source with this rule."""
    rule: str
    """The rule in words."""
    changed_by: str
    """The agent's settings and variables that change the rule and that no session records."""
    settings: Callable[[Session, Window, str | None, str | None], OwnSettings | None] = (
        lambda _session, _window, _provider, _model: None
    )
    """The agent's settings for a session in its store, and for a provider's model; None where its files hold no plain value."""
    window: Callable[[Session, str | None, str | None], int | None] = lambda _session, _provider, _model: None
    """The window that the agent's settings give a provider's model; None where they name none."""
    threshold: Callable[[Window, str | None, int], int]
    """The size from which it compacts, from the window, the model and the configured reserve."""
    inclusive: bool
    """Whether a context of exactly the threshold is compacted."""
    about: bool = True
    """Whether the threshold is uncertain, since the settings that change it are not read."""
    unasked: Callable[[Session, EntryIndex], bool] = lambda _session, _compaction: False
    """Whether a stored compaction was automatic; False where the session does not tell."""
