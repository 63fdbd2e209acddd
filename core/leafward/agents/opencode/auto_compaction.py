"""When opencode compacts by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.agents.auto_compaction import AutoCompaction
from leafward.base.model_windows import longest_answer

if TYPE_CHECKING:
    from leafward.base.model_windows import Window
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session

_ANSWER = 32_000
"""The longest answer that opencode asks for."""


def _threshold(window: Window, model: str | None, _reserve: int) -> int:
    # Models with a limit of their own for the input leave 20,000 of that free instead; which do is not known here.
    return window.tokens - min(longest_answer(model) or _ANSWER, _ANSWER)


def _unasked(session: Session, compaction: EntryIndex) -> bool:
    """The request for a summary stands right above it."""
    request = session.body(session.columns.parent[compaction]) or {}
    details = request.get("details")
    return isinstance(details, dict) and details.get("auto") is True


RULE = AutoCompaction(
    source="opencode 1.18.33",
    rule="at the window less the longest answer, at most 32,000",
    changed_by="`compaction.auto`, `compaction.reserved` and limits of models in `opencode.json`",
    threshold=_threshold,
    inclusive=True,
    unasked=_unasked,
)
