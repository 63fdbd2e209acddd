"""The rule by which Claude Code compacts by itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents.auto_compaction import AutoCompaction, OwnSettings
from leafward.agents.claude.store import config_folder_above
from leafward.agents.storage.settings_file import json_settings, whole_number
from leafward.session.entries import object_at

if TYPE_CHECKING:
    from leafward.base.model_windows import Window
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session

_ANSWER = 20_000
"""Left free for a summary."""
_BUFFER = 13_000
"""Left free in addition. Versions 2.1.7 to 2.1.14 seem to leave 45,000 in all: they compact at 155,066 and more of 200,000."""

_LAST = 3_000
"""Left free in addition where the service switches no threshold on: no larger request is sent (2.1.332, tried at a million)."""


def _unasked(session: Session, compaction: EntryIndex) -> bool:
    details = (session.body(compaction) or {}).get("details")
    return isinstance(details, dict) and details.get("trigger") == "auto"


_OFF = ("DISABLE_AUTO_COMPACT", "DISABLE_COMPACT")
_VARIABLE = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"
_LEAST = 100_000
"""The smallest window that Claude Code takes."""
_TRUE = frozenset({"1", "true", "yes", "on"})


def _settings(
    session: Session, _window: Window, _provider: str | None, _model: str | None
) -> OwnSettings | None:
    """Whether `settings.json` in the transcript's configuration folder switches it off, and the window that it names."""
    home = config_folder_above(os.path.dirname(os.path.abspath(session.path)))
    if home is None:
        return None
    file = Path(home) / "settings.json"
    said = json_settings(file)
    variables = object_at(said, "env")
    off = said.get("autoCompactEnabled") is False or any(
        str(variables.get(name, "")).lower() in _TRUE for name in _OFF
    )
    if off:
        return OwnSettings(file, off=True)
    named = str(variables.get(_VARIABLE, ""))
    # Longer digits are no window.
    window = (
        int(named) if named.isdecimal() and len(named) < 10 else whole_number(said.get("autoCompactWindow"))
    )
    return OwnSettings(file, limit=window - _ANSWER - _BUFFER) if window and window >= _LEAST else None


RULE = AutoCompaction(
    source="Claude Code 2.1.332",
    rule=f"about at the window less {_ANSWER + _BUFFER:,}; its service may say otherwise, or nothing: then at {_ANSWER + _LAST:,} less",
    changed_by=(
        f"`autoCompactEnabled`, `DISABLE_AUTO_COMPACT`, `DISABLE_COMPACT`, `autoCompactWindow` and `{_VARIABLE}`, read from "
        "`settings.json` beside the transcripts; `CLAUDE_AUTOCOMPACT_PCT_OVERRIDE`, which is not"
    ),
    threshold=lambda window, _model, _reserve: window.tokens - _ANSWER - _BUFFER,
    inclusive=True,
    settings=_settings,
    unasked=_unasked,
)
