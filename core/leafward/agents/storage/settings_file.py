"""An agent's own settings file, read only, and only where it is small and plain."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from leafward.base.regular_files import read_regular

if TYPE_CHECKING:
    from pathlib import Path

_LARGEST = 1 << 20
"""Bytes of a settings file; nobody writes a larger one by hand."""
_STRING = r'"(?:[^"\\]++|\\.)*+"?'
"""A text, also one without an end: it is read once, however many quotes are in it."""
_COMMENTS = re.compile(_STRING + r"|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMMAS = re.compile(_STRING + r"|,(?=\s*[}\]])", re.DOTALL)


def json_settings(path: Path) -> dict[str, Any]:
    """The object in a JSON file; empty where the file is missing or has comments, which only its agent understands."""
    try:
        found = json.loads(read_regular(path, _LARGEST))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def commented_settings(path: Path) -> dict[str, Any]:
    """The object in a JSON file that may have comments and commas before a closing bracket; empty where it cannot be read."""
    try:
        return settings_in(read_regular(path, _LARGEST).decode("utf-8-sig"))
    except (OSError, ValueError):
        return {}


def settings_in(text: str) -> dict[str, Any]:
    """The object in such a text; empty where it has none."""
    for left_out in (_COMMENTS, _COMMAS):
        text = left_out.sub(lambda one: one.group() if one.group()[0] == '"' else " ", text)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def toml_settings(path: Path) -> dict[str, Any]:
    """The settings in a TOML file; empty where it cannot be read."""
    import tomllib

    try:
        return tomllib.loads(read_regular(path, _LARGEST).decode())
    except (OSError, ValueError, RecursionError):
        return {}


def whole_number(value: object) -> int | None:
    """A number of tokens in settings; None for anything else."""
    return value if type(value) is int and 0 <= value < 1 << 53 else None
