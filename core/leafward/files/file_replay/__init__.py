"""Rebuilt contents: the files as the recorded calls of a path left them, each exact, partial or unknown."""

from __future__ import annotations

from leafward.files.file_operation import FileOperation
from leafward.files.file_replay.bases import Base, Bases, Committed, WorkspaceBases
from leafward.files.file_replay.knowledge import KNOWN, Certainty
from leafward.files.file_replay.path_files import EveryBranch, PathFiles, contradicted, proven, resting_on
from leafward.files.file_replay.remarks import CONTRADICTIONS, Remark
from leafward.files.file_replay.replay import Rebuilt, Replay, related, replay
from leafward.files.file_replay.step_reader import StepReader, steps
from leafward.files.file_replay.steps import Outcome, Step
from leafward.files.file_replay.storage import Stored, store, unfit_name
from leafward.files.file_replay.timeline import timeline

__all__ = [
    "CONTRADICTIONS",
    "KNOWN",
    "Base",
    "Bases",
    "Certainty",
    "Committed",
    "EveryBranch",
    "FileOperation",
    "Outcome",
    "PathFiles",
    "Rebuilt",
    "Remark",
    "Replay",
    "Step",
    "StepReader",
    "Stored",
    "WorkspaceBases",
    "contradicted",
    "proven",
    "related",
    "replay",
    "resting_on",
    "steps",
    "store",
    "timeline",
    "unfit_name",
]
