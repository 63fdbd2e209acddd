"""When an agent compacts a session by itself: each agent's package has its own rule, as its source says it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.base.model_windows import Window
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoCompaction:
    """The rule of one agent. Sizes in tokens."""

    source: str
    """The agent and its version whose source says so."""
    rule: str
    """The rule in words."""
    changed_by: str
    """What changes it: settings and variables of the agent that no session records."""
    threshold: Callable[[Window, str | None, int], int]
    """The size from which it compacts, by the window, the model and the configured reserve."""
    inclusive: bool
    """Whether a context that equals its threshold is compacted, not only one beyond it."""
    about: bool = True
    """Whether the threshold is no certainty, as what changes it is not read."""
    unasked: Callable[[Session, EntryIndex], bool] = lambda _session, _compaction: False
    """Whether nobody asked for a stored compaction; False where the session does not tell."""
