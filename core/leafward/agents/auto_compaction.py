"""When an agent compacts a session by itself: each agent's package has its own rule, as its source says it."""

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
    """What the agent's own settings say of its compactions, in a file that is there now."""

    source: Path
    """The file."""
    off: bool = False
    """Whether it compacts nothing by itself."""
    reserve: int | None = None
    """Tokens that it leaves free; None where it does not say."""
    limit: int | None = None
    """The size from which it compacts at the latest; None where it does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoCompaction:
    """The rule of one agent. Sizes in tokens."""

    source: str
    """The agent and its version whose source says so."""
    rule: str
    """The rule in words."""
    changed_by: str
    """What changes it: settings and variables of the agent that no session records."""
    settings: Callable[[Session], OwnSettings | None] = lambda _session: None
    """What of them the agent's own files say for a session that lies in its store; None where they say nothing plain."""
    threshold: Callable[[Window, str | None, int], int]
    """The size from which it compacts, by the window, the model and the configured reserve."""
    inclusive: bool
    """Whether a context that equals its threshold is compacted, not only one beyond it."""
    about: bool = True
    """Whether the threshold is no certainty, as what changes it is not read."""
    unasked: Callable[[Session, EntryIndex], bool] = lambda _session, _compaction: False
    """Whether nobody asked for a stored compaction; False where the session does not tell."""
