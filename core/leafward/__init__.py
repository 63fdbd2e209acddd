"""Leafward's core: the sessions that coding agents leave on disk, read as the trees they are.

Nothing here imports Textual, Rich or litellm; the application in `leafward_tui` builds on this package, never the other way round.
"""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
"""Version of the distribution; the build reads it from this line."""
