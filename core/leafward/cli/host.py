"""Interface between the command line and its caller: opening the application, and a reader that went away."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from leafward.base.config import Config

OpenApp = Callable[[Sequence[Path]], "int | None"]
"""Opens the full-screen application on session files or folders; no path means the catalogue. Returns its exit code."""

CheckApp = Callable[["Config"], "Iterable[tuple[str, str]]"]
"""Checks the application's part of the settings; each problem is a stable code and a sentence."""


class Application(NamedTuple):
    """Functions of the full-screen application, if there is one: the core does not know it."""

    open: OpenApp | None = None
    check: CheckApp | None = None


class ReaderGone(Exception):
    """The reader of stdout has gone away. Not an OSError, because click would handle that itself."""
