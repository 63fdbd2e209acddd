"""What the command line and whoever starts it tell each other: how the application opens, and that a reader went away."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leafward.base.config import Config

OpenApp = Callable[[Sequence[Path]], "int | None"]
"""Opens the full-screen application on session files or folders; no path means the catalogue. Returns its exit code."""

CheckApp = Callable[["Config"], "Iterable[tuple[str, str]]"]
"""What the application finds wrong with its part of the settings: a code that does not change, and a sentence."""


@dataclass(frozen=True, slots=True)
class Application:
    """What the full-screen application brings along, if it does: the core knows nothing of it."""

    open: OpenApp | None = None
    check: CheckApp | None = None


class ReaderGone(Exception):
    """Whoever reads stdout has enough. No OSError, because click would take that for itself."""
