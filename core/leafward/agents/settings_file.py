"""An agent's own settings file, read only, and only where it is small and plain."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from leafward.base.regular_files import read_regular

if TYPE_CHECKING:
    from pathlib import Path

_LARGEST = 1 << 20
"""Bytes of a settings file; nobody writes a larger one by hand."""


def json_settings(path: Path) -> dict[str, Any]:
    """The object in a JSON file; empty where the file is missing or has comments, which only its agent understands."""
    try:
        found = json.loads(read_regular(path, _LARGEST))
    except (OSError, ValueError, RecursionError):
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
