"""opencode's own list of models, which it fetches and keeps: limits of models that no settings name (1.18.33)."""

from __future__ import annotations

import json
import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leafward.agents.base import expanded
from leafward.agents.opencode.settings import FoundSetting
from leafward.base.regular_files import STORED_LIMIT, read_regular

if TYPE_CHECKING:
    from collections.abc import Mapping

_PATH = "OPENCODE_MODELS_PATH"
_URL = "OPENCODE_MODELS_URL"


def listed_limit(provider: str, model: str, name: str, env: Mapping[str, str]) -> FoundSetting | None:
    """A limit of a provider's model: `context`, `input` or `output`. None where the list is not there or has none."""
    place = _place(env)
    try:
        found = os.stat(place) if place is not None else None
    except (OSError, ValueError):
        found = None
    if place is None or found is None:
        return None
    value = _limits(str(place), found.st_mtime_ns, found.st_size, provider, model).get(name)
    return FoundSetting(value, place) if value is not None else None


def _place(env: Mapping[str, str]) -> Path | None:
    """The file of the list; None where it is fetched from elsewhere, for which opencode takes another name."""
    if env.get(_PATH):
        return Path(env[_PATH])
    if env.get(_URL):
        return None
    return expanded(os.path.join(env.get("XDG_CACHE_HOME") or "~/.cache", "opencode", "models.json"), env)


@lru_cache(maxsize=16)
def _limits(place: str, _changed: int, _size: int, provider: str, model: str) -> dict[str, Any]:
    """The limits of one model. The list has megabytes: it is read once until it changes, and only this is kept."""
    try:
        found = json.loads(read_regular(place, STORED_LIMIT))
    except (OSError, ValueError, RecursionError):
        return {}
    for key in (provider, "models", model, "limit"):
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}
