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
from leafward.compaction.measure import QUIET, STARTS, ContentKind, PathSizes
from leafward.session.entries import EntryIndex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.context.estimators import Estimator


class Rule(IntEnum):
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


LEGAL = frozenset({Rule.TURN_START, Rule.MID_TURN, Rule.QUIET_BEFORE_TURN, Rule.QUIET_BEFORE_REPLY})

RULE_CODE: dict[Rule, str] = {
    Rule.TURN_START: "turn-start",
    Rule.MID_TURN: "mid-turn",
    Rule.QUIET_BEFORE_TURN: "before-turn-start",
    Rule.QUIET_BEFORE_REPLY: "before-reply",
    Rule.NOTHING_BEFORE: "nothing-before",
    Rule.RESULT: "result-without-call",
    Rule.BETWEEN: "between-call-and-result",
    Rule.SYSTEM: "system",
    Rule.UNKNOWN_ROLE: "unknown-role",
    Rule.QUIET_INSIDE: "quiet",
    Rule.NOTHING_AFTER: "nothing-after",
    Rule.NO_TAIL: "no-tail",
}
"""Names of the rules in JSON."""

RULE_TEXT: dict[Rule, str] = {
    Rule.TURN_START: "a turn begins here: no turn is split",
    Rule.MID_TURN: "a reply: its turn is split",
    Rule.QUIET_BEFORE_TURN: "has no text and goes with the turn that begins after it",
    Rule.QUIET_BEFORE_REPLY: "has no text and goes with the reply after it, whose turn is split",
    Rule.NOTHING_BEFORE: "nothing before it that could be summarised",
    Rule.RESULT: "a result without its call",
    Rule.BETWEEN: "between a call and its result",
    Rule.SYSTEM: "the compaction itself carries the system prompt",
    Rule.UNKNOWN_ROLE: "no context may begin with a message of this role",
    Rule.QUIET_INSIDE: "has no text; the cut is at the first of these entries",
    Rule.NOTHING_AFTER: "nothing after it that could be kept",
    Rule.NO_TAIL: "this strategy keeps only the user's messages",
}
"""Texts of the rules for users, without a full stop."""

SHORT_RULE_TEXT: dict[Rule, str] = {
    **RULE_TEXT,
    Rule.TURN_START: "a turn begins, none is split",
    Rule.QUIET_BEFORE_TURN: "no text, goes with the next turn",
    Rule.QUIET_BEFORE_REPLY: "no text, its reply's turn is split",
    Rule.NOTHING_BEFORE: "nothing before it",
    Rule.RESULT: "result without call",
    Rule.BETWEEN: "parts call and result",
    Rule.SYSTEM: "the system prompt",
    Rule.UNKNOWN_ROLE: "cannot come first",
    Rule.QUIET_INSIDE: "no text",
    Rule.NOTHING_AFTER: "nothing after it",
}
"""Reasons where there is little room."""


class IllegalCut(LeafwardError):
    """Raised if a cut is asked for where none is allowed."""


@dataclass(frozen=True, slots=True)
class CutLine:
    """A possible cut: right before an entry."""

    position: int
    entry: EntryIndex
    rule: Rule
    kept: int
    """Tokens that would be kept."""

    @property
    def legal(self) -> bool:
        """Whether the cut is allowed."""
        return self.rule in LEGAL

    @property
    def splits_turn(self) -> bool:
        """Whether the cut splits a turn."""
        return self.rule in (Rule.MID_TURN, Rule.QUIET_BEFORE_REPLY)


def first_said(sizes: PathSizes, position: int) -> int:
    """The first position at or after one whose message a plan divides; the end if there is none."""
    found = bisect_left(sizes.spoken, position)
    return sizes.spoken[found] if found < len(sizes.spoken) else len(sizes)


def moved_back(sizes: PathSizes, position: int) -> int:
    """A cut moved back over the quiet entries before it, up to an earlier compaction (pi 1.5.2)."""
    parts = sizes.parts
    while position > 0 and parts[position - 1] in QUIET and parts[position - 1] != ContentKind.COMPACTION:
        position -= 1
    return position


def rules(sizes: PathSizes) -> bytes:
    """The rule at each position. It does not depend on settings."""
    parts = sizes.parts
    found = bytearray(len(sizes))
    ahead = Rule.NOTHING_AFTER
    for position in range(len(sizes) - 1, -1, -1):
        part = parts[position]
        if part in QUIET:
            behind = parts[position - 1] if position else ContentKind.COMPACTION
            if ahead not in _QUIET_RULE:
                found[position] = ahead
            elif behind in QUIET and behind != ContentKind.COMPACTION:
                found[position] = Rule.QUIET_INSIDE
            else:
                found[position] = _QUIET_RULE[ahead]
            continue
        if part in STARTS:
            ahead = Rule.TURN_START
        elif part == ContentKind.REPLY:
            ahead = Rule.MID_TURN
        elif part == ContentKind.RESULT:
            ahead = Rule.RESULT
        else:
            ahead = Rule.SYSTEM if part == ContentKind.SYSTEM else Rule.UNKNOWN_ROLE
        found[position] = ahead
        if ahead is Rule.RESULT:
            ahead = Rule.BETWEEN
    lead = first_said(sizes, 0)
    for position in range(min(lead + 1, len(sizes))):
        found[position] = Rule.NOTHING_BEFORE
    return bytes(found)


_QUIET_RULE = {Rule.TURN_START: Rule.QUIET_BEFORE_TURN, Rule.MID_TURN: Rule.QUIET_BEFORE_REPLY}


_RULES = tuple(Rule)


def cut_lines(sizes: PathSizes, estimator: Estimator, *, tail: bool) -> Iterator[CutLine]:
    """Every possible cut in the path, oldest first; without a `tail`, none is legal."""
    counts = sizes.counted(estimator)
    end = len(sizes)
    system = sum(counts.tokens[position] for position in sizes.systems)
    for position, rule in enumerate(rules(sizes) if tail else bytes([Rule.NO_TAIL]) * end):
        entry = EntryIndex(sizes.entries[position])
        yield CutLine(position, entry, _RULES[rule], counts.between(position, end) - system)
        if sizes.parts[position] == ContentKind.SYSTEM:
            system -= counts.tokens[position]


def legal_cut(sizes: PathSizes, entry: int) -> int:
    """The position of a cut that the user asks for. Raises IllegalCut, with the reason, if it is not allowed."""
    position = sizes.position(entry)
    if position < 0:
        raise IllegalCut(
            "that entry is not in the context here: a compaction replaced it, or it is on another branch"
        )
    rule = Rule(rules(sizes)[position])
    if rule is Rule.QUIET_INSIDE:
        position = moved_back(sizes, position)
        rule = Rule(rules(sizes)[position])
    if rule not in LEGAL:
        raise IllegalCut(f"no cut there: {RULE_TEXT[rule]}")
    return position
