"""Plans of compactions, and remarks on them, as JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from leafward.compaction.plan.settings import TriggerRule
from leafward.compaction.plan.trigger import Trigger, trigger_of
from leafward.compaction.strategies.cut_rules import RULE_CODE, RULE_TEXT
from leafward.context.estimators import ESTIMATOR_TEXT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.compaction.plan.plan import Plan
    from leafward.compaction.strategies.division import Diagnostic
    from leafward.session.session import Session

ALL_STRATEGIES = "all"
"""The name that means every strategy."""

_TOKENS = (
    "system",
    "previous_summary",
    "summarize",
    "turn_prefix",
    "kept",
    "pruned",
    "summary",
    "not_in_file",
    "error",
)


def plan_json(session: Session, made: Plan) -> dict[str, Any]:
    """The document of `plan --json`, without the texts to be injected and sent (`_plan_extras`)."""

    def ids(entries: Iterable[int]) -> list[str | None]:
        return [session.columns.id_at(entry) for entry in entries]

    settings, tokens, trigger, files = made.settings, made.tokens, made.trigger, made.files
    triggers = [trigger_of(made.sizes, replace(settings, trigger=rule)) for rule in TriggerRule]
    return {
        "at": session.columns.id_at(made.at),
        "strategy": settings.strategy.value,
        "behaviour": settings.behaviour,
        "corrected": settings.mends,
        "estimator": {"name": made.estimator.value, "text": ESTIMATOR_TEXT[made.estimator]},
        "trigger": {**_trigger_json(trigger), "rules": [_trigger_json(one) for one in triggers]},
        "keep_recent": settings.budget,
        "first_kept": session.columns.id_at(made.first_kept),
        "keeps": made.keeps,
        "split_turn": made.split_turn,
        "tokens_before": tokens.counted_before,
        "tokens_after": tokens.counted_before if made.nothing else tokens.counted_after,
        "as_pi": {
            "tokens_before": tokens.before,
            "tokens_after": tokens.before if made.nothing else tokens.after,
        },
        "tokens": {name: getattr(tokens, name) for name in _TOKENS},
        "summarize": ids(made.summarize),
        "turn_prefix": ids(made.turn_prefix),
        "kept": ids(made.kept),
        "pruned": ids(short.entry for short in made.pruned),
        "prunings": [
            {"entry": session.columns.id_at(short.entry), "tokens": short.tokens, "left": short.left}
            for short in made.pruned
        ],
        "previous_summary": made.previous_summary,
        "files": {
            "read": list(files.read),
            "modified": list(files.modified),
            "omitted": {"read": files.omitted_read, "modified": files.omitted_modified},
        },
        "why": made.why,
        "diagnostics": diagnostics_json(session, made.diagnostics),
        "cuts": [
            {
                "entry": session.columns.id_at(line.entry),
                "legal": line.legal,
                "rule": RULE_CODE[line.rule],
                "splits_turn": line.splits_turn,
                "kept": line.kept,
            }
            for line in made.cuts()
        ],
        "rules": {RULE_CODE[rule]: text for rule, text in RULE_TEXT.items()},
    }


def diagnostics_json(session: Session, remarks: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Remarks on a plan or a draft, with pi's behaviour if it differs."""
    return [
        {
            "code": remark.code,
            "text": remark.text,
            "pi_would": remark.pi_would,
            **(
                {
                    "pi": {
                        "first_kept": session.columns.id_at(remark.pi.first_kept),
                        "split_turn": remark.pi.split_turn,
                        "summarize": remark.pi.summarize,
                        "turn_prefix": remark.pi.turn_prefix,
                    }
                }
                if remark.pi is not None
                else {}
            ),
        }
        for remark in remarks
    ]


def _trigger_json(trigger: Trigger) -> dict[str, Any]:
    return {
        "rule": trigger.rule.value,
        "window": trigger.window,
        "reserve": trigger.reserve,
        "threshold": trigger.threshold,
        "about": trigger.about,
        "tokens": trigger.tokens,
        "source": trigger.source,
        "reached": trigger.reached,
    }


def all_json(plans: list[dict[str, Any]]) -> dict[str, Any]:
    """The document of `plan --strategy all --json`: the plan of each strategy."""
    return {"at": plans[0]["at"], "strategy": ALL_STRATEGIES, "plans": plans, "diagnostics": []}
