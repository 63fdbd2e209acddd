"""Context windows of models that are known by name. The table is in `data/windows.tsv`; there is no other source."""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import NamedTuple

from leafward.base.late_pattern import late

_TABLE = Path(__file__).parent.parent / "data" / "windows.tsv"
_DATED = late(r"(?:[-@](?:20\d{6}|20\d\d-\d\d-\d\d|latest|preview)|-v\d+(?::\d+)?|:[\w.-]+)$")
"""Suffix of a model's name: a date, a version, a tag."""
_LONG = "[1m]"
"""The suffix by which Claude Code marks a model with its long window."""
_USUAL = 200_000
"""The window of Claude models without a request for the long one."""
_MILLION = 1_000_000
_WINDOW, _ANSWER = 0, 1
"""The columns of the table."""


class WindowSource(StrEnum):
    """The source of the size of a context window."""

    CONFIGURED = "configured"
    RECORDED = "recorded"
    """The agent recorded it in the session, or its recorded version implies it."""
    NAMED = "agent's settings"
    """The agent's own settings name it for the model."""
    KNOWN = "known model"
    ASSUMED = "assumed"


class Window(NamedTuple):
    """A context window."""

    tokens: int
    source: WindowSource


def known_window(model: str | None, used: int) -> int | None:
    """The context window of a model in tokens, by its name with or without a provider; None for an unknown model.

    `used` are tokens already sent to it: a Claude model that accepted more than its usual window has the long one.
    """
    if not model:
        return None
    name = _bare(model)
    found = _found(name)
    if "claude" in name and (found is None or found >= _USUAL):
        return _MILLION if used > _USUAL or model.strip().lower().endswith(_LONG) else _USUAL
    return found


def native_window(model: str) -> int | None:
    """The window that the provider gives a model, in tokens; None for an unknown model."""
    return _found(_bare(model))


def longest_answer(model: str | None) -> int | None:
    """The longest answer that a model gives, in tokens; None where that is not known."""
    return _found(_bare(model), _ANSWER) or None if model else None


def _bare(model: str) -> str:
    return model.strip().lower().removesuffix(_LONG).rpartition("/")[2]


def _found(name: str, column: int = _WINDOW) -> int | None:
    table = _table()
    while name:
        if name in table:
            return table[name][column]
        short = _DATED.sub("", name)
        if short == name:
            return None
        name = short
    return None


@cache
def _table() -> dict[str, tuple[int, int]]:
    try:
        lines = _TABLE.read_text("utf-8").splitlines()
    except OSError:
        return {}
    rows = (line.split("\t") for line in lines if not line.startswith("#"))
    return {row[0]: (int(row[1]), int(row[2])) for row in rows}
