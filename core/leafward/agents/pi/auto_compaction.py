"""The rule by which pi compacts by itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents.auto_compaction import AutoCompaction, OwnSettings
from leafward.agents.storage.settings_file import commented_settings, json_settings, whole_number
from leafward.session.entries import object_at

if TYPE_CHECKING:
    from leafward.base.model_windows import Window
    from leafward.session.session import Session

_SESSIONS = "sessions"
_WINDOW = 128_000
"""The window of a model of the user's without one (pi 1.6.0)."""


def _settings(
    session: Session, _window: Window, provider: str | None, model: str | None
) -> OwnSettings | None:
    """`compaction` in the settings of pi's own folder; None where the project has some: pi uses these only if trusted."""
    home = _home(session)
    if home is None:
        return None
    file = home / "settings.json"
    said = object_at(json_settings(file), "compaction")
    if object_at(json_settings(Path(session.cwd) / ".pi" / "settings.json"), "compaction"):
        return None
    own = object_at(object_at(said, "modelOverrides"), f"{provider}/{model}")
    reserves = (whole_number(one.get("reserveTokens")) for one in (own, said))
    off, reserve = said.get("enabled") is False, next((one for one in reserves if one is not None), None)
    return OwnSettings(file, off, reserve) if off or reserve is not None else None


def _window(session: Session, provider: str | None, model: str | None) -> int | None:
    """The window in `models.json` of pi's own folder."""
    home = _home(session)
    if home is None or not provider or not model:
        return None
    said = object_at(object_at(commented_settings(home / "models.json"), "providers"), provider)
    models = said.get("models")
    for one in models if isinstance(models, list) else ():
        if isinstance(one, dict) and one.get("id") == model:
            return whole_number(one.get("contextWindow", _WINDOW))
    return whole_number(object_at(object_at(said, "modelOverrides"), model).get("contextWindow"))


def _home(session: Session) -> Path | None:
    """Pi's own folder above a session; None for one that lies elsewhere."""
    above = Path(os.path.abspath(session.path)).parents
    return above[2] if len(above) > 2 and above[1].name == _SESSIONS else None


RULE = AutoCompaction(
    source="pi 1.5.2",
    rule="beyond the window less 16,384",
    changed_by=(
        "`compaction.enabled`, `compaction.reserveTokens` and those of a model in `settings.json` of its folder, and windows in "
        "`models.json`, which are read; else `reserve` of our configuration"
    ),
    threshold=lambda window, _model, reserve: window.tokens - reserve,
    inclusive=False,
    about=False,
    settings=_settings,
    window=_window,
)
