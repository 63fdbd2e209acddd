"""The turn after which a command fails: versions of the files along a path, tried in a folder of their own."""

from __future__ import annotations

from leafward.files.bisection.base import FolderBase, GitBase
from leafward.files.bisection.search import Bisection, Verdict, bisect
from leafward.files.bisection.session_search import Report, SessionSearch, base_of
from leafward.files.bisection.trial import Trial
from leafward.files.bisection.versions import FileVersions, Point, Version, points

__all__ = [
    "Bisection",
    "FileVersions",
    "FolderBase",
    "GitBase",
    "Point",
    "Report",
    "SessionSearch",
    "Trial",
    "Verdict",
    "Version",
    "base_of",
    "bisect",
    "points",
]
