"""When an agent compacts by itself, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward_tui.ui.text.cells import count

if TYPE_CHECKING:
    from leafward.compaction.plan.onset import Onset


def compacts_at(onset: Onset, *, short: bool = False) -> str:
    """`compacts at about 167.0k`, in `short` `compacts at ~167.0k`; without the sign where the size is certain."""
    about = ("~" if onset.about else "") if short else _about(onset)
    return f"compacts at {about}{count(onset.tokens, zero='0')}"


def compacts_in(onset: Onset, tokens: int) -> str:
    """`compacts in about 12.4k`: the tokens left until then for a context of `tokens`."""
    return f"compacts in {_about(onset)}{count(onset.tokens - tokens, zero='0')}"


def compacts_now(onset: Onset) -> str:
    """`compacts about now`."""
    return f"compacts {_about(onset)}now"


def by_settings(onset: Onset, path: str) -> str:
    """The onset by the agent's own settings, and their file: `compacts at 150.0k, as ~/.codex/config.toml says`."""
    return f"{'does not compact by itself' if onset.off else compacts_at(onset)}, as {path} says"


def _about(onset: Onset) -> str:
    return "about " if onset.about else ""
