"""Compaction: what it would do to a path, by the rules of pi, Codex or opencode.

`measure` reads a path once; `plan` is a pure function of that and of settings, fast enough to follow a slider. `exam`
asks what is known afterwards, `aftermath` what was done again.
"""

from __future__ import annotations

from leafward.compaction.cut_rules import RULE_CODE, RULE_TEXT, CutLine, IllegalCut, Rule
from leafward.compaction.division import Diagnostic, PiAnswer, Shortened
from leafward.compaction.filelists import FileLists
from leafward.compaction.measure import ALL_ESTIMATORS, Part, PathSizes, measure
from leafward.compaction.plan import Plan, PlanTokens, plan, plans
from leafward.compaction.settings import (
    VERSIONS,
    BadSettings,
    PlanSettings,
    Strategy,
    TriggerRule,
    strategy_of,
)
from leafward.compaction.trigger import Trigger, trigger_of

__all__ = [
    "ALL_ESTIMATORS",
    "RULE_CODE",
    "RULE_TEXT",
    "VERSIONS",
    "BadSettings",
    "CutLine",
    "Diagnostic",
    "FileLists",
    "IllegalCut",
    "Part",
    "PathSizes",
    "PiAnswer",
    "Plan",
    "PlanSettings",
    "PlanTokens",
    "Rule",
    "Shortened",
    "Strategy",
    "Trigger",
    "TriggerRule",
    "measure",
    "plan",
    "plans",
    "strategy_of",
    "trigger_of",
]
