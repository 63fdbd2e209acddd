"""The turn after which a command fails: versions of the files along a path, each tried in a folder of its own."""

from __future__ import annotations

from leafward.files.bisection.base import ProjectBase
from leafward.files.bisection.session_search import (
    Bisection,
    Report,
    SessionSearch,
    TrialCommand,
    base_of,
    bisect_session,
)
from leafward.files.bisection.versions import Point

__all__ = [
    "Bisection",
    "Point",
    "ProjectBase",
    "Report",
    "SessionSearch",
    "TrialCommand",
    "base_of",
    "bisect_session",
]
