"""What a test may need around it: the checkout, real sessions beside it, a user whom permissions hold."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent

CORPORA = REPOSITORY.parent / "shared" / "corpora"
"""Real session files by agent, where they lie beside the checkout."""

needs_corpora = pytest.mark.skipif(not CORPORA.is_dir(), reason="no ../shared/corpora beside this checkout")

as_any_user = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads and writes everything"
)
