"""Rebuilt contents: the files as the recorded calls of a path left them, exact, partial or unknown, and which of these."""

from __future__ import annotations

from leafward.rebuilding.bases import Base, Bases, WorkspaceBases
from leafward.rebuilding.knowledge import KNOWN, Certainty
from leafward.rebuilding.nodes import EveryBranch, NodeFiles, contradicted, proven, resting_on
from leafward.rebuilding.reading import StepReader, steps
from leafward.rebuilding.remarks import Remark
from leafward.rebuilding.replay import Rebuilt, Replay, related, replay
from leafward.rebuilding.spans import Span
from leafward.rebuilding.steps import Deed, Outcome, Step
from leafward.rebuilding.storing import Stored, store, unfit_name
from leafward.rebuilding.timeline import timeline

__all__ = [
    "KNOWN",
    "Base",
    "Bases",
    "Certainty",
    "Deed",
    "EveryBranch",
    "NodeFiles",
    "Outcome",
    "Rebuilt",
    "Remark",
    "Replay",
    "Span",
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
