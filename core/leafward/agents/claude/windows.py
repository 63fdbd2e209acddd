"""Context windows that Claude Code gives to models, where the model's name alone does not tell."""

from __future__ import annotations

import re

from leafward.base.model_windows import native_window

_WHOLE_SINCE = (2, 1, 285)
"""From this version on, models with a long window (4.7 and later) get it unasked; before, 2.1 gave all of them 200,000."""
_ASKED_FOR = re.compile(r"claude-(?:\d|[a-z]+-4(?:-[0-6])?(?:-20\d{6})?\Z)")
"""Models up to 4.6, which get their long window only on request."""


def window_of(version: object, model: str) -> int | None:
    """The window of a model in a version of Claude Code, in tokens; None where the model's name alone tells it."""
    numbers = re.findall(r"\d+", version) if isinstance(version, str) else []
    if tuple(map(int, numbers[:3])) < _WHOLE_SINCE or _ASKED_FOR.match(model):
        return None
    return native_window(model)
