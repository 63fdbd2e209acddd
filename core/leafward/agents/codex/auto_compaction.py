"""When Codex compacts by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.agents.auto_compaction import AutoCompaction
from leafward.base.model_windows import WindowSource

if TYPE_CHECKING:
    from leafward.base.model_windows import Window

_PERCENT = 90
"""The share of a model's window."""
_RECORDED_PERCENT = 95
"""The share of it that a rollout records as the window."""


def _threshold(window: Window, _model: str | None, _reserve: int) -> int:
    of = _RECORDED_PERCENT if window.source is WindowSource.RECORDED else 100
    return window.tokens * _PERCENT // of


RULE = AutoCompaction(
    source="Codex 0.154 (source), 0.169 (models it brings)",
    rule="at 90 % of the model's window, of which a session records 95 %",
    changed_by="`model_auto_compact_token_limit`, which can only lower it",
    threshold=_threshold,
    inclusive=True,
)
