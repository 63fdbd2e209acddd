"""Cuts in a path: every position with the rule that allows or forbids a cut there.

The rules are pi 1.5.2's and hold for every strategy that keeps a tail: a tail begins with a message of the user or with a
reply, never with a result, and quiet entries right before it belong to it.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from leafward.base.errors import LeafwardError
from leafward.compaction.measure.measure import QUIET, STARTS, ContentKind, PathSizes
from leafward.session.entries import EntryIndex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.context.estimators import Estimator


class CutRule(IntEnum):
    """Reason why a cut before an entry is allowed or not."""

    TURN_START = 0
    MID_TURN = 1
    QUIET_BEFORE_TURN = 2
    QUIET_BEFORE_REPLY = 3
    NOTHING_BEFORE = 4
    RESULT = 5
    BETWEEN = 6
    SYSTEM = 7
    UNKNOWN_ROLE = 8
    QUIET_INSIDE = 9
    NOTHING_AFTER = 10
    NO_TAIL = 11


LEGAL = frozenset(
    {CutRule.TURN_START, CutRule.MID_TURN, CutRule.QUIET_BEFORE_TURN, CutRule.QUIET_BEFORE_REPLY}
)

RULE_CODE: dict[CutRule, str] = {
    CutRule.TURN_START: "turn-start",
    CutRule.MID_TURN: "mid-turn",
    CutRule.QUIET_BEFORE_TURN: "before-turn-start",
    CutRule.QUIET_BEFORE_REPLY: "before-reply",
    CutRule.NOTHING_BEFORE: "nothing-before",
    CutRule.RESULT: "result-without-call",
    CutRule.BETWEEN: "between-call-and-result",
    CutRule.SYSTEM: "system",
    CutRule.UNKNOWN_ROLE: "unknown-role",
    CutRule.QUIET_INSIDE: "quiet",
    CutRule.NOTHING_AFTER: "nothing-after",
    CutRule.NO_TAIL: "no-tail",
}
"""Names of the rules in JSON."""

RULE_TEXT: dict[CutRule, str] = {
    CutRule.TURN_START: "a turn begins here: no turn is split",
    CutRule.MID_TURN: "a reply: its turn is split",
    CutRule.QUIET_BEFORE_TURN: "has no text and goes with the turn that begins after it",
    CutRule.QUIET_BEFORE_REPLY: "has no text and goes with the reply after it, whose turn is split",
    CutRule.NOTHING_BEFORE: "nothing before it that could be summarised",
    CutRule.RESULT: "a result without its call",
    CutRule.BETWEEN: "between a call and its result",
    CutRule.SYSTEM: "the compaction itself carries the system prompt",
    CutRule.UNKNOWN_ROLE: "no context may begin with a message of this role",
    CutRule.QUIET_INSIDE: "has no text; the cut is at the first of these entries",
    CutRule.NOTHING_AFTER: "nothing after it that could be kept",
    CutRule.NO_TAIL: "this strategy keeps only the user's messages",
}
"""Texts of the rules for users, without a full stop."""

SHORT_RULE_TEXT: dict[CutRule, str] = {
    **RULE_TEXT,
    CutRule.TURN_START: "a turn begins, none is split",
    CutRule.QUIET_BEFORE_TURN: "no text, goes with the next turn",
    CutRule.QUIET_BEFORE_REPLY: "no text, its reply's turn is split",
    CutRule.NOTHING_BEFORE: "nothing before it",
    CutRule.RESULT: "result without call",
    CutRule.BETWEEN: "parts call and result",
    CutRule.SYSTEM: "the system prompt",
    CutRule.UNKNOWN_ROLE: "cannot come first",
    CutRule.QUIET_INSIDE: "no text",
    CutRule.NOTHING_AFTER: "nothing after it",
}
"""Reasons where there is little room."""


class IllegalCut(LeafwardError):
    """Raised if a cut is asked for where none is allowed."""


@dataclass(frozen=True, slots=True)
class CutLine:
    """A possible cut: right before an entry."""

    entry: EntryIndex
    rule: CutRule
    kept: int
    """Tokens that would be kept."""

    @property
    def legal(self) -> bool:
        """Whether the cut is allowed."""
        return self.rule in LEGAL

    @property
    def splits_turn(self) -> bool:
        """Whether the cut splits a turn."""
        return self.rule in (CutRule.MID_TURN, CutRule.QUIET_BEFORE_REPLY)


def first_said(sizes: PathSizes, position: int) -> int:
    """The first position at or after one whose message a plan divides; the end if there is none."""
    found = bisect_left(sizes.spoken, position)
    return sizes.spoken[found] if found < len(sizes.spoken) else len(sizes)


def _moved_back(sizes: PathSizes, position: int) -> int:
    """A cut moved back over the quiet entries before it, up to an earlier compaction (pi 1.5.2)."""
    parts = sizes.parts
    while position > 0 and parts[position - 1] in QUIET and parts[position - 1] != ContentKind.COMPACTION:
        position -= 1
    return position


def rules(sizes: PathSizes) -> bytes:
    """The rule at each position. It does not depend on settings."""
    parts = sizes.parts
    found = bytearray(len(sizes))
    ahead = CutRule.NOTHING_AFTER
    for position in range(len(sizes) - 1, -1, -1):
        part = parts[position]
        if part in QUIET:
            behind = parts[position - 1] if position else ContentKind.COMPACTION
            if ahead not in _QUIET_RULE:
                found[position] = ahead
            elif behind in QUIET and behind != ContentKind.COMPACTION:
                found[position] = CutRule.QUIET_INSIDE
            else:
                found[position] = _QUIET_RULE[ahead]
            continue
        if part in STARTS:
            ahead = CutRule.TURN_START
        elif part == ContentKind.REPLY:
            ahead = CutRule.MID_TURN
        elif part == ContentKind.RESULT:
            ahead = CutRule.RESULT
        else:
            ahead = CutRule.SYSTEM if part == ContentKind.SYSTEM else CutRule.UNKNOWN_ROLE
        found[position] = ahead
        if ahead is CutRule.RESULT:
            ahead = CutRule.BETWEEN
    lead = first_said(sizes, 0)
    for position in range(min(lead + 1, len(sizes))):
        found[position] = CutRule.NOTHING_BEFORE
    return bytes(found)


_QUIET_RULE = {CutRule.TURN_START: CutRule.QUIET_BEFORE_TURN, CutRule.MID_TURN: CutRule.QUIET_BEFORE_REPLY}


_RULES = tuple(CutRule)


def cut_lines(sizes: PathSizes, estimator: Estimator, *, tail: bool) -> Iterator[CutLine]:
    """Every possible cut in the path, oldest first; without a `tail`, none is legal."""
    counts = sizes.counts_by(estimator)
    end = len(sizes)
    system = sum(counts.tokens[position] for position in sizes.systems)
    for position, rule in enumerate(rules(sizes) if tail else bytes([CutRule.NO_TAIL]) * end):
        entry = EntryIndex(sizes.entries[position])
        yield CutLine(entry, _RULES[rule], counts.between(position, end) - system)
        if sizes.parts[position] == ContentKind.SYSTEM:
            system -= counts.tokens[position]


def legal_cut(sizes: PathSizes, entry: int) -> int:
    """The position of a cut that the user asks for. Raises IllegalCut, with the reason, if it is not allowed."""
    position = sizes.position(entry)
    if position < 0:
        raise IllegalCut(
            "that entry is not in the context here: a compaction replaced it, or it is on another branch"
        )
    rule = CutRule(rules(sizes)[position])
    if rule is CutRule.QUIET_INSIDE:
        position = _moved_back(sizes, position)
        rule = CutRule(rules(sizes)[position])
    if rule not in LEGAL:
        raise IllegalCut(f"no cut there: {RULE_TEXT[rule]}")
    return position
