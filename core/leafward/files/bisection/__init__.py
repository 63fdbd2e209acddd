"""The turn after which a command fails: versions of the files along a path, tried in a folder of their own."""

from __future__ import annotations

from leafward.files.bisection.base import FolderBase, GitBase, ProjectBase
from leafward.files.bisection.session_search import (
    Bisection,
    Report,
    SessionSearch,
    TrialCommand,
    base_of,
    bisect,
    bisect_session,
)
from leafward.files.bisection.trial import Trial, Verdict
from leafward.files.bisection.versions import FileVersions, Point, Version, points

__all__ = [
    "Bisection",
    "FileVersions",
    "FolderBase",
    "GitBase",
    "Point",
    "ProjectBase",
    "Report",
    "SessionSearch",
    "Trial",
    "TrialCommand",
    "Verdict",
    "Version",
    "base_of",
    "bisect",
    "bisect_session",
    "points",
]
