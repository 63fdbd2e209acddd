"""When pi compacts by itself."""

from __future__ import annotations

from leafward.agents.auto_compaction import AutoCompaction

RULE = AutoCompaction(
    source="pi 1.5.2",
    rule="beyond the window less 16,384",
    changed_by="`reserve` of our configuration, which is to be pi's `compaction.reserveTokens`",
    threshold=lambda window, _model, reserve: window.tokens - reserve,
    inclusive=False,
    about=False,
)
