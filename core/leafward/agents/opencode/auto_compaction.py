"""The rule by which opencode compacts by itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leafward.agents.auto_compaction import AutoCompaction, OwnSettings
from leafward.agents.opencode.listed_models import listed_limit
from leafward.agents.opencode.settings import FoundSetting, is_set, last_of, settings_of
from leafward.agents.opencode.storage.data_root import usual_root
from leafward.agents.storage.settings_file import whole_number
from leafward.base.model_windows import longest_answer

if TYPE_CHECKING:
    from leafward.base.model_windows import Window
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session

_ANSWER = 32_000
"""The longest answer that opencode requests."""
_BUFFER = 20_000
"""Most of the longest input that it leaves free, for a model with a limit of that."""
_LONGEST = "OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX"
_OFF = "OPENCODE_DISABLE_AUTOCOMPACT"


def _threshold(window: Window, model: str | None, _reserve: int) -> int:
    # Without opencode's list of models it is not known which ones have a limit for the input, of which 20,000 stay free instead.
    return window.tokens - min(longest_answer(model) or _ANSWER, _ANSWER)


def _unasked(session: Session, compaction: EntryIndex) -> bool:
    """Whether the request for the summary, right above it, was automatic."""
    request = session.body(session.columns.parent[compaction]) or {}
    details = request.get("details")
    return isinstance(details, dict) and details.get("auto") is True


def _settings(
    session: Session, window: Window, provider: str | None, model: str | None
) -> OwnSettings | None:
    """Whether its settings switch it off, and the size by the limits that they give the model."""
    every = _every(session)
    if every is None:
        return None
    auto = last_of(every, "compaction", "auto")
    if is_set(os.environ, _OFF):
        auto = FoundSetting(False, Path(_OFF))
    if auto is not None and auto.value is False:
        return OwnSettings(auto.source, off=True)
    limits = [_limit(every, provider, model, name) for name in ("context", "input", "output")]
    source = next((one.source for one in limits if one is not None), None)
    if source is None:
        return None
    context, most_input, output = (whole_number(one.value) if one is not None else None for one in limits)
    if context == 0:
        return OwnSettings(source, off=True)
    longest = int(said) if (said := os.environ.get(_LONGEST, "")).isdecimal() and int(said) else _ANSWER
    answer = min(output or longest_answer(model) or longest, longest)
    if most_input:
        reserved = last_of(every, "compaction", "reserved")
        free = whole_number(reserved.value) if reserved is not None else None
        return OwnSettings(source, size=max(0, most_input - (min(_BUFFER, answer) if free is None else free)))
    return OwnSettings(source, size=max(0, (context or window.tokens) - answer))


def _window(session: Session, provider: str | None, model: str | None) -> int | None:
    every = _every(session)
    found = _limit(every, provider, model, "context") if every is not None else None
    return whole_number(found.value) if found is not None else None


def _every(session: Session) -> list[tuple[Path, dict[str, Any]]] | None:
    """The settings for a session of the usual store; None for one that lies elsewhere."""
    env = os.environ
    if not Path(os.path.abspath(session.path)).is_relative_to(usual_root(env)):
        return None
    return settings_of(session.cwd, env)


def _limit(
    every: list[tuple[Path, dict[str, Any]]], provider: str | None, model: str | None, name: str
) -> FoundSetting | None:
    if not provider or not model:
        return None
    said = last_of(every, "provider", provider, "models", model, "limit", name)
    return said or listed_limit(provider, model, name, os.environ)


RULE = AutoCompaction(
    source="opencode 1.18.33",
    rule="at the window less the longest answer, at most 32,000",
    changed_by=(
        "`compaction.auto`, `compaction.reserved` and limits of models in its settings (`opencode.json`, `opencode.jsonc`, `OPENCODE_CONFIG`, "
        "`OPENCODE_CONFIG_CONTENT`) and in its list of models (`models.json` of its cache), which are read"
    ),
    threshold=_threshold,
    inclusive=True,
    settings=_settings,
    window=_window,
    unasked=_unasked,
)
