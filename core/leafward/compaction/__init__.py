"""Compaction of a path by the rules of pi, Codex or opencode: planned, carried out and judged.

`measure` reads a path once; `plan` is a pure function of that and of settings, fast enough to follow a slider. `draft` is a
compaction with its summary before it is written, `repair` the correction of one that is stored, `branch_summary` the summary of
a branch that a move leaves, `injection` the context beside a summary. `onset` tells when an agent compacts next by itself,
`gate` what a summary would lose, `xray` what one replaced; `exam` asks what the model still knows afterwards, `aftermath`
finds what it did again.
"""

from __future__ import annotations

from leafward.base.strategies import Strategy, strategy_of
from leafward.compaction.cut_rules import RULE_CODE, RULE_TEXT, CutLine, Rule
from leafward.compaction.division import Diagnostic
from leafward.compaction.measure import PathSizes, measure
from leafward.compaction.plan import Plan, plan
from leafward.compaction.settings import BadSettings, PlanSettings, TriggerRule
from leafward.compaction.strategies import ALL_ESTIMATORS, rules_of
from leafward.compaction.trigger import Trigger, trigger_of

__all__ = [
    "ALL_ESTIMATORS",
    "RULE_CODE",
    "RULE_TEXT",
    "BadSettings",
    "CutLine",
    "Diagnostic",
    "PathSizes",
    "Plan",
    "PlanSettings",
    "Rule",
    "Strategy",
    "Trigger",
    "TriggerRule",
    "measure",
    "plan",
    "rules_of",
    "strategy_of",
    "trigger_of",
]
