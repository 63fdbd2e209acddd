"""The context windows of models that are known by name. The table lies in `data/windows.tsv`; nothing else is asked."""

from __future__ import annotations

import re
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import NamedTuple

_TABLE = Path(__file__).parent.parent / "data" / "windows.tsv"
_DATED = re.compile(r"(?:[-@](?:20\d{6}|20\d\d-\d\d-\d\d|latest|preview)|-v\d+(?::\d+)?|:[\w.-]+)$")
"""What may stand behind the name of a model: a date, a version, a tag."""
_LONG = "[1m]"
"""How Claude Code marks a model that it uses with its long window."""
_USUAL = 200_000
"""The window that Claude models have unless the long one is asked for."""
_MILLION = 1_000_000
_WINDOW, _ANSWER = 0, 1
"""The columns of the table."""


class WindowSource(StrEnum):
    """Where the size of a context window is known from."""

    CONFIGURED = "configured"
    RECORDED = "recorded"
    """The agent wrote it down in the session, or its version that is written there tells."""
    KNOWN = "known model"
    ASSUMED = "assumed"


class Window(NamedTuple):
    """A context window."""

    tokens: int
    source: WindowSource


def known_window(model: str | None, used: int = 0) -> int | None:
    """The context window of a model in tokens, by its name with or without a provider; None for one that is not known.

    `used` are tokens that it was sent: a Claude model that took more than its usual window has the long one.
    """
    if not model:
        return None
    name = model.strip().lower()
    long = name.endswith(_LONG)
    name = name.removesuffix(_LONG).rpartition("/")[2]
    found = _found(name)
    if "claude" in name and (found is None or found >= _USUAL):
        return _MILLION if long or used > _USUAL else _USUAL
    return found


def native_window(model: str) -> int | None:
    """The window that the provider gives a model, in tokens; None for one that is not known."""
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
