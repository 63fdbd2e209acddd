"""The rule by which Codex compacts by itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents.auto_compaction import AutoCompaction, OwnSettings
from leafward.agents.codex.store import home_of
from leafward.agents.settings_file import toml_settings, whole_number
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


def _settings(
    session: Session, _window: Window, _provider: str | None, _model: str | None
) -> OwnSettings | None:
    """The limit in `config.toml` of the thread's store; None where a profile or a scope may override it."""
    home = home_of(os.path.abspath(session.path))
    if home is None:
        return None
    file = Path(home) / "config.toml"
    said = toml_settings(file)
    limit = whole_number(said.get(_LIMIT))
    if not limit or "profile" in said or f"{_LIMIT}_scope" in said:
        return None
    return OwnSettings(file, limit=limit)


RULE = AutoCompaction(
    source="Codex 0.154 (source), 0.169 (models it brings)",
    rule=f"at {_PERCENT} % of the model's window, of which a session records {_RECORDED_PERCENT} %",
    changed_by="`model_auto_compact_token_limit`, which can only lower it: read from `config.toml` where that names no profile",
    threshold=_threshold,
    inclusive=True,
    settings=_settings,
)
