"""The rule by which pi compacts by itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents.auto_compaction import AutoCompaction, OwnSettings
from leafward.agents.settings_file import json_settings, whole_number
from leafward.session.entries import object_at

if TYPE_CHECKING:
    from leafward.session.session import Session

_SESSIONS = "sessions"


def _settings(session: Session) -> OwnSettings | None:
    """`compaction` in the settings of pi's own folder; None where the project has some: pi uses these only if trusted."""
    above = Path(os.path.abspath(session.path)).parents
    if len(above) < 3 or above[1].name != _SESSIONS:
        return None
    file = above[2] / "settings.json"
    said = object_at(json_settings(file), "compaction")
    project = object_at(json_settings(Path(session.cwd) / ".pi" / "settings.json"), "compaction")
    # pi alone knows which models have rules of their own.
    if project or said.get("modelOverrides"):
        return None
    off, reserve = said.get("enabled") is False, whole_number(said.get("reserveTokens"))
    return OwnSettings(file, off, reserve) if off or reserve is not None else None


RULE = AutoCompaction(
    source="pi 1.5.2",
    rule="beyond the window less 16,384",
    changed_by=(
        "`compaction.enabled` and `compaction.reserveTokens` in `settings.json` of its folder, which are read; else `reserve` of our "
        "configuration"
    ),
    threshold=lambda window, _model, reserve: window.tokens - reserve,
    inclusive=False,
    about=False,
    settings=_settings,
)
