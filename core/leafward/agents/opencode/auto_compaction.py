"""The rule by which opencode compacts by itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents.auto_compaction import AutoCompaction, OwnSettings
from leafward.agents.opencode.data_root import usual_root
from leafward.agents.settings_file import json_settings
from leafward.base.model_windows import longest_answer
from leafward.session.entries import object_at

if TYPE_CHECKING:
    from leafward.base.model_windows import Window
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session

_ANSWER = 32_000
"""The longest answer that opencode requests."""


def _threshold(window: Window, model: str | None, _reserve: int) -> int:
    # Models with a limit of their own for the input leave 20,000 of that free instead; it is not known here which ones do.
    return window.tokens - min(longest_answer(model) or _ANSWER, _ANSWER)


def _unasked(session: Session, compaction: EntryIndex) -> bool:
    """Whether the request for the summary, right above it, was automatic."""
    request = session.body(session.columns.parent[compaction]) or {}
    details = request.get("details")
    return isinstance(details, dict) and details.get("auto") is True


def _settings(session: Session) -> OwnSettings | None:
    """Whether `opencode.json` switches it off, for a session of the usual store: the project's file goes before the user's."""
    env = os.environ
    if "OPENCODE_CONFIG" in env or not Path(os.path.abspath(session.path)).is_relative_to(usual_root(env)):
        return None
    own = Path(env.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")) / "opencode"
    for folder in (*((Path(session.cwd),) if session.cwd else ()), own):
        file = folder / "opencode.json"
        said = object_at(json_settings(file), "compaction").get("auto")
        if isinstance(said, bool):
            return None if said else OwnSettings(file, off=True)
    return None


RULE = AutoCompaction(
    source="opencode 1.18.33",
    rule="at the window less the longest answer, at most 32,000",
    changed_by=(
        "`compaction.auto`, read from `opencode.json` of the project and of the user; `compaction.reserved` and limits of models there, "
        "which are not"
    ),
    threshold=_threshold,
    inclusive=True,
    settings=_settings,
    unasked=_unasked,
)
