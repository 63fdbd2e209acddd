"""The rule by which Claude Code compacts by itself."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents.auto_compaction import AutoCompaction, OwnSettings
from leafward.agents.claude.store import config_folder_above
from leafward.agents.storage.settings_file import json_settings, whole_number
from leafward.session.entries import object_at

if TYPE_CHECKING:
    from leafward.base.model_windows import Window
    from leafward.session.entries import Body, EntryIndex
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


_ENABLED, _WINDOW = "autoCompactEnabled", "autoCompactWindow"
_OFF = ("DISABLE_AUTO_COMPACT", "DISABLE_COMPACT")
_VARIABLE = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"
_SHARE = "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE"
_LEAST = 100_000
"""The smallest window that Claude Code takes; a smaller one in the variable counts as this."""
_TRUE = frozenset({"1", "true", "yes", "on"})
_SIZE = re.compile(r"(?a)\s*(\d{1,9}(?:\.\d{1,9})?)\s*([km]?)\s*", re.IGNORECASE)
_UNITS = {"": 1, "k": 1_000, "m": 1_000_000}
_PERCENT = re.compile(r"(?a)\s*(\d{1,9}(?:\.\d{1,9})?)")
_DATED = re.compile(r"-\d{8}$|\[1m\]$")


def _settings(
    session: Session, window: Window, _provider: str | None, model: str | None
) -> OwnSettings | None:
    """What `settings.json` in the transcript's configuration folder says: whether it is off, a window, a share of it (2.1.332)."""
    home = config_folder_above(os.path.dirname(os.path.abspath(session.path)))
    if home is None:
        return None
    file = Path(home) / "settings.json"
    said = json_settings(file)
    variables = object_at(said, "env")
    if any(str(variables.get(name, "")).lower() in _TRUE for name in _OFF):
        return OwnSettings(file, off=True)
    switch = file if _ENABLED in said else _older_file(Path(home))
    if json_settings(switch).get(_ENABLED) is False:
        return OwnSettings(switch, off=True)
    named, share = _window_named(said, variables, model), _share(variables)
    if named is None and share is None:
        return None
    room = min(named or window.tokens, window.tokens) - _ANSWER
    by_share = room if share is None else math.floor(room * share / 100)
    return OwnSettings(file, limit=min(room - _BUFFER, by_share))


def _older_file(home: Path) -> Path:
    """The file that has the switch where no settings do, as it was before they had it; it lies beside the usual folder."""
    inside = home / ".claude.json"
    return home.parent / inside.name if home.name == ".claude" and not inside.exists() else inside


def _window_named(said: Body, variables: Body, model: str | None) -> int | None:
    size = _SIZE.fullmatch(str(variables.get(_VARIABLE, "")))
    if size is not None and (tokens := round(float(size[1]) * _UNITS[size[2].lower()])):
        return max(_LEAST, tokens)
    models = object_at(said, "modelSettings")
    own = object_at(models, model or "") or object_at(models, _DATED.sub("", model or ""))
    window = whole_number(own.get(_WINDOW, said.get(_WINDOW)))
    return window if window and window >= _LEAST else None


def _share(variables: Body) -> float | None:
    """The share of the room for a context at which it compacts, in percent; None where it names none."""
    found = _PERCENT.match(str(variables.get(_SHARE, "")))
    share = float(found[1]) if found is not None else 0.0
    return share if 0 < share <= 100 else None


RULE = AutoCompaction(
    source="Claude Code 2.1.332",
    rule=f"about at the window less {_ANSWER + _BUFFER:,}; its service may say otherwise, or nothing: then at {_ANSWER + _LAST:,} less",
    changed_by=(
        f"`{_ENABLED}`, `DISABLE_AUTO_COMPACT`, `DISABLE_COMPACT`, `{_WINDOW}` (that of a model too), `{_VARIABLE}` and `{_SHARE}`, "
        "read from `settings.json` beside the transcripts, the first also from `.claude.json`; settings of a project are not"
    ),
    threshold=lambda window, _model, _reserve: window.tokens - _ANSWER - _BUFFER,
    inclusive=True,
    settings=_settings,
    unasked=_unasked,
)
