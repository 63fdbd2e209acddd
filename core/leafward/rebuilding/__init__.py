"""Rebuilt contents: the files as the recorded calls of a path left them, exact, partial or unknown, and which of these."""

from __future__ import annotations

from leafward.rebuilding.knowledge import KNOWN, Certainty, Remark, Span
from leafward.rebuilding.replay import Base, Rebuilt, Replay, related, replay
from leafward.rebuilding.steps import Deed, Outcome, Step, StepReader, steps
from leafward.rebuilding.storing import Stored, store
from leafward.rebuilding.timeline import timeline

__all__ = [
    "KNOWN",
    "Base",
    "Certainty",
    "Deed",
    "Outcome",
    "Rebuilt",
    "Remark",
    "Replay",
    "Span",
    "Step",
    "StepReader",
    "Stored",
    "related",
    "replay",
    "steps",
    "store",
    "timeline",
]
