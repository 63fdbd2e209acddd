"""Which rules of the user a summary tells in other words, and which it loses: the gate stops for those alone."""

from __future__ import annotations

import pytest

from leafward.session.entries import EntryIndex
from leafward.summaries.facts.sentences.negation import sentence_key
from leafward.summaries.facts.values import Fact, FactKind, Voice
from leafward.summaries.survival.text_match import FactMatch, FactText
from tests.rule_pairs import LOST, TOLD

HELD = frozenset({FactMatch.VERBATIM, FactMatch.PARAPHRASED})


def is_told(rule: str, *lines: str) -> bool:
    fact = Fact(
        FactKind.CONSTRAINT, sentence_key(rule) or rule, rule, EntryIndex(0), Voice.USER, [EntryIndex(0)]
    )
    return FactText("\n".join(("## Constraints", *(f"- {line}" for line in lines)))).holds(fact) in HELD


def others(rule: str) -> list[str]:
    """Lines of a summary about other rules."""
    return [line for other, line in TOLD if other != rule]


@pytest.mark.parametrize(("rule", "line"), LOST)
def test_a_rule_that_is_lost_is_not_told(rule: str, line: str) -> None:
    """Ten of these sixty passed before a line had to bind as the rule does."""
    assert not is_told(rule, line)
    assert not is_told(rule, line, *others(rule)[:30])


def test_most_rules_in_other_words_are_told() -> None:
    """Thirty of sixty before words that bind were told from what a rule is about. Of the rest, the words are others too."""
    told = [(rule, line) for rule, line in TOLD if is_told(rule, line)]
    assert len(told) >= 50


@pytest.mark.parametrize(
    ("rule", "line", "is_it"),
    [
        ("Use at most 3 workers for an import.", "An import may have three workers at most.", True),
        ("Use at most 3 workers for an import.", "An import needs at least 3 workers.", False),
        ("The queue must hold no more than 1000 jobs.", "The queue holds 1000 jobs or fewer.", True),
        ("Never push to main.", "Never push; main has no tests.", False),
        ("Use red, never blue, and no green.", "Red is used, never blue, no green either.", True),
        ("Keep `run()` as it is.", "The function must stay as it is.", False),
        (
            "Schreibe niemals in den Ordner data.",
            "Schreibe niemals in den Ordner data, auch nicht in Tests.",
            True,
        ),
    ],
)
def test_direction_figures_and_names_of_a_rule(rule: str, line: str, is_it: bool) -> None:
    assert is_told(rule, line) == is_it
