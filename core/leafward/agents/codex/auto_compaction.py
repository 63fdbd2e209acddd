"""The rule by which Codex compacts by itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents.auto_compaction import AutoCompaction, OwnSettings
from leafward.agents.codex.configuration import configuration, setting
from leafward.agents.codex.store import home_of
from leafward.agents.storage.settings_file import whole_number
from leafward.base.model_windows import WindowSource

if TYPE_CHECKING:
    from leafward.base.model_windows import Window
    from leafward.session.session import Session

_PERCENT = 90
"""The share of a model's window."""
_RECORDED_PERCENT = 95
"""The share of the window that a rollout records as the window."""


def _threshold(window: Window, _model: str | None, _reserve: int) -> int:
    of = _RECORDED_PERCENT if window.source is WindowSource.RECORDED else 100
    return window.tokens * _PERCENT // of


_LIMIT = "model_auto_compact_token_limit"
_BEHIND_A_TURN = "model_post_turn_compact_threshold_percent"
"""A share of the recorded window: at the end of a turn a context of this size is compacted too (0.171; 0.153 passes it over)."""


def _settings(
    session: Session, window: Window, _provider: str | None, _model: str | None
) -> OwnSettings | None:
    """The smaller one of both limits in the configuration of the thread's store and project."""
    home = home_of(os.path.abspath(session.path))
    if home is None:
        return None
    every = configuration(Path(home), session.cwd)
    limits = []
    limit, scope = setting(every, _LIMIT), setting(every, f"{_LIMIT}_scope")
    # The other scope counts without the beginning of the context, which no session tells apart.
    if limit is not None and (scope is None or scope.value == "total"):
        limits.append(OwnSettings(limit.source, limit=whole_number(limit.value) or None))
    percent = setting(every, _BEHIND_A_TURN)
    if percent is not None and (share := whole_number(percent.value)) and share <= 100:
        recorded = 100 if window.source is WindowSource.RECORDED else _RECORDED_PERCENT
        most = window.tokens * recorded // 100
        limits.append(OwnSettings(percent.source, limit=-(-most * share // 100)))
    named = [one for one in limits if one.limit is not None]
    return min(named, key=lambda one: one.limit or 0, default=None)


RULE = AutoCompaction(
    source="Codex 0.171",
    rule=f"at {_PERCENT} % of the model's window, of which a session records {_RECORDED_PERCENT} %",
    changed_by=(
        f"`{_LIMIT}` and `{_BEHIND_A_TURN}`, which can only lower it: read from `config.toml` of its folder and of a trusted project; "
        "in the file of a profile, which no session records, they are not"
    ),
    threshold=_threshold,
    inclusive=True,
    settings=_settings,
)
