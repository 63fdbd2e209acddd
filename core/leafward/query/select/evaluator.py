"""Evaluation of queries: columns first, then bodies of the entries that are still in question."""

from __future__ import annotations

import operator
import time
from typing import TYPE_CHECKING

from leafward.agents.recognition import agent_behind
from leafward.base.errors import Cancelled, NotFound
from leafward.query import patterns
from leafward.query.conditions import check, text_of
from leafward.query.grammar import (
    AllOf,
    AnyOf,
    Compare,
    Not,
    QueryCall,
    QueryPattern,
    QueryWord,
    SearchedText,
    Without,
    parse,
)
from leafward.query.lexer import QueryError
from leafward.query.select import sets
from leafward.query.select.predicates import Bodies, numbers, times
from leafward.query.vocabulary import moment_of, part_of
from leafward.session.entries import BOOKKEEPING_BYTES, PROMPTS, EntryIndex, Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.query.grammar import Expression
    from leafward.query.select.sets import Members
    from leafward.session.session import Session


_KINDS = {
    "prompts": PROMPTS,
    "replies": frozenset({Kind.ASSISTANT}),
    "results": frozenset({Kind.TOOL_RESULT}),
    "compactions": frozenset({Kind.COMPACTION}),
    "summaries": frozenset({Kind.COMPACTION, Kind.BRANCH_SUMMARY}),
    "injected": frozenset({Kind.INJECTED}),
}
_SIGNS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}
_DECODES = frozenset({"tool", "file", "changed", "error", "lost", "since", "in"})


def select(
    session: Session, query: str, stop: Callable[[], bool] = lambda: False, now: int | None = None
) -> tuple[EntryIndex, ...]:
    """The entries that a query chooses, in file order. `now` (milliseconds since 1970) is the base of `age`.

    Raises QueryError where the query is not readable or names something that does not exist, Cancelled once `stop` turns
    true.
    """
    return tuple(sets.entries(members_of(session, parse(query), stop, now)))


def members_of(
    session: Session, expression: Expression, stop: Callable[[], bool], now: int | None = None
) -> Members:
    """The entries that an expression chooses, as a set. Raises QueryError, Cancelled."""
    check(expression)
    return _Evaluation(session, stop, now).of(expression, b"\1" * len(session))


class _Evaluation:
    """Answers the conditions of a query for one session. The method of a function or term is `_` before its name."""

    def __init__(self, session: Session, stop: Callable[[], bool], now: int | None) -> None:
        self.session = session
        self.size = len(session)
        self.bodies = Bodies(session, stop)
        self.stop = stop
        self.now = now

    def of(self, expression: Expression, within: Members) -> Members:
        """The entries of a set that an expression chooses."""
        if self.stop():
            raise Cancelled
        match expression:
            case AllOf(parts):
                failed = any(isinstance(part, QueryCall) and part.name == "error" for part in parts)
                # Parts that need no body go first and leave fewer entries to decode.
                for part in sorted(parts, key=_weight):
                    match part:
                        case QueryCall("file", (SearchedText(name),), _, True) if failed:
                            within = sets.both(within, self.bodies.failed_on(name, within))
                        case _:
                            within = self.of(part, within)
                return within
            case AnyOf(parts):
                found: Members = bytes(self.size)
                for part in parts:
                    found = sets.either(found, self.of(part, within))
                return found
            case Without(parts):
                first, *rest = parts
                found = self.of(first, within)
                for part in rest:
                    found = sets.both(found, sets.complement(self.of(part, found)))
                return found
            case Not(inner):
                return sets.both(within, sets.complement(self.of(inner, within)))
            case SearchedText(text):
                return self.bodies.saying(text, within)
            case QueryPattern(source, column):
                return self.bodies.matching(patterns.Pattern(source), within, column)
            case Compare():
                return self._compare(expression, within)
            case QueryWord(text, column):
                return sets.both(within, sets.of([self._entry(text, column)], self.size))
            case QueryCall():
                return sets.both(within, self._call(expression, within))

    def _entry(self, selector: str, column: int) -> EntryIndex:
        try:
            return self.session.find(selector)
        except NotFound as error:
            raise QueryError(str(error), column) from error

    def _compare(self, condition: Compare, within: Members) -> Members:
        sign = _SIGNS[condition.sign]
        if condition.field in ("time", "age"):
            return times(self.session, condition, sign, within, self.now)
        return numbers(self.session, self.bodies, condition, sign, within)

    def _call(self, call: QueryCall, within: Members) -> Members:
        if call.name in _KINDS:
            return self._of_kinds(_KINDS[call.name])
        rule: Callable[[QueryCall, Members], Members] = getattr(self, f"_{call.name}")
        return rule(call, within)

    def _of_kinds(self, kinds: frozenset[Kind]) -> bytes:
        table = bytes(1 if kind in kinds else 0 for kind in range(256))
        return bytes(self.session.columns.kind).translate(table)

    def _set(self, call: QueryCall, place: int = 0) -> Members:
        return self.of(call.arguments[place], b"\1" * self.size)

    def _all(self, _of: QueryCall, within: Members) -> Members:
        return within

    def _ancestors(self, call: QueryCall, _within: Members) -> Members:
        return sets.above(self.session.tree, self._set(call))

    def _descendants(self, call: QueryCall, _within: Members) -> Members:
        return sets.below(self.session.tree, self._set(call), itself=True)

    def _parents(self, call: QueryCall, _within: Members) -> Members:
        return sets.parents(self.session.tree, self._set(call))

    def _children(self, call: QueryCall, _within: Members) -> Members:
        return sets.children(self.session.tree, self._set(call))

    def _siblings(self, call: QueryCall, _within: Members) -> Members:
        chosen = self._set(call)
        tree = self.session.tree
        around = sets.children(tree, sets.parents(tree, chosen))
        return sets.both(around, sets.complement(chosen))

    def _between(self, call: QueryCall, _within: Members) -> Members:
        tree = self.session.tree
        down = sets.below(tree, self._set(call, 0), itself=True)
        return sets.both(down, sets.above(tree, self._set(call, 1)))

    def _turn(self, call: QueryCall, _within: Members) -> Members:
        return self.bodies.turns(self._set(call))

    def _context(self, call: QueryCall, _within: Members) -> Members:
        return self.bodies.context(self._nodes(call))

    def _hidden(self, call: QueryCall, _within: Members) -> Members:
        nodes = self._nodes(call)
        path = sets.above(self.session.tree, sets.of(nodes, self.size))
        kinds = self.session.columns.kind
        silent = sets.of((at for at in sets.entries(path) if kinds[at] in BOOKKEEPING_BYTES), self.size)
        return sets.both(path, sets.complement(sets.either(self.bodies.context(nodes), silent)))

    def _nodes(self, call: QueryCall) -> list[EntryIndex]:
        return list(sets.entries(self._set(call))) if call.arguments else [self.session.leaf]

    def _roots(self, _of: QueryCall, _within: Members) -> Members:
        return sets.of(self.session.tree.children(-1), self.size)

    def _leaves(self, _of: QueryCall, _within: Members) -> Members:
        return sets.of(self.session.tree.leaves(), self.size)

    def _branchpoints(self, _of: QueryCall, _within: Members) -> Members:
        return sets.of(self.session.tree.branch_points(), self.size)

    def _labelled(self, call: QueryCall, _within: Members) -> Members:
        part = text_of(call).casefold() if call.arguments else ""
        labels = self.session.labels
        return sets.of((at for at, label in labels.items() if part in label.casefold()), self.size)

    def _damaged(self, _of: QueryCall, _within: Members) -> Members:
        return sets.of(self.session.columns.damaged_entries(), self.size)

    def _tool(self, call: QueryCall, within: Members) -> Members:
        return self.bodies.tool(text_of(call), within)

    def _file(self, call: QueryCall, within: Members) -> Members:
        return sets.both(within, self.bodies.file(text_of(call), within, changing=False, part=call.term))

    def _changed(self, call: QueryCall, within: Members) -> Members:
        pattern = text_of(call) if call.arguments else "*"
        return sets.both(within, self.bodies.file(pattern, within, changing=True))

    def _error(self, _of: QueryCall, within: Members) -> Members:
        return self.bodies.failed(within)

    def _lost(self, call: QueryCall, _within: Members) -> Members:
        kinds = self.session.columns.kind
        chosen = self._set(call) if call.arguments else None
        path = self.session.tree.path(self.session.leaf)
        compactions = sets.entries(chosen) if chosen is not None else map(EntryIndex, path)
        return self.bodies.lost([at for at in compactions if kinds[at] == Kind.COMPACTION])

    # --- terms without a function ---

    def _since(self, call: QueryCall, within: Members) -> Members:
        now = self.now if self.now is not None else int(time.time() * 1000)
        return self.bodies.since(moment_of(text_of(call), now) or 0, within)

    def _in(self, call: QueryCall, within: Members) -> Members:
        return self.bodies.part(part_of(text_of(call)) or "", within)

    def _agent(self, call: QueryCall, within: Members) -> Members:
        return (
            within if agent_behind(self.session).name.startswith(text_of(call).lower()) else bytes(self.size)
        )

    def _project(self, call: QueryCall, within: Members) -> Members:
        return within if text_of(call).lower() in self.session.cwd.lower() else bytes(self.size)


def _weight(expression: Expression) -> int:
    """The cost of an expression: 0 where columns answer, 1 where bodies are decoded, 2 where texts are searched."""
    match expression:
        case SearchedText() | QueryPattern():
            return 2
        case Compare(field):
            return 0 if field in ("index", "depth") else 1
        case QueryCall(name, arguments):
            return max((1 if name in _DECODES else 0, *(_weight(part) for part in arguments)))
        case Not(inner):
            return _weight(inner)
        case AllOf(parts) | AnyOf(parts) | Without(parts):
            return max(_weight(part) for part in parts)
        case _:
            return 0
