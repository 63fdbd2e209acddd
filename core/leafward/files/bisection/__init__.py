"""The turn after which a command fails: versions of the files along a path, tried in a folder of their own."""

from __future__ import annotations

from leafward.files.bisection.base import FolderBase, GitBase
from leafward.files.bisection.search import Bisection, Verdict, bisect
from leafward.files.bisection.session_search import SessionSearch, Step, base_of, outcome, turn_name
from leafward.files.bisection.trial import Ran, Trial
from leafward.files.bisection.versions import FileVersions, Point, Version, points

__all__ = [
    "Bisection",
    "FileVersions",
    "FolderBase",
    "GitBase",
    "Point",
    "Ran",
    "SessionSearch",
    "Step",
    "Trial",
    "Verdict",
    "Version",
    "base_of",
    "bisect",
    "outcome",
    "points",
    "turn_name",
]
