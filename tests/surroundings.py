"""Surroundings of a test: the checkout, real sessions beside it, a user to whom permissions apply."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent

THOROUGH = bool(os.environ.get("LEAFWARD_THOROUGH"))
"""Whether to run every case of the tests that try thousands, of which a run takes a sample otherwise."""

CORPORA = REPOSITORY.parent / "shared" / "corpora"
"""Real session files by agent, where they lie beside the checkout."""

needs_corpora = pytest.mark.skipif(not CORPORA.is_dir(), reason="no ../shared/corpora beside this checkout")

as_any_user = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads and writes everything"
)
