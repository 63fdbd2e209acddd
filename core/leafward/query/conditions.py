"""Checks of conditions that hold for every session: functions and arguments, fields and values, patterns.

A search of all sessions fails here once, and not again in each session.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

from leafward.base.times import milliseconds
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
)
from leafward.query.lexer import QueryError
from leafward.query.vocabulary import FIELDS, FUNCTION_NAMES

if TYPE_CHECKING:
    from leafward.query.grammar import Expression

_NUMBER = re.compile(r"(\d+(?:\.\d+)?)([kKmM]?)")
_SCALES = {"": 1, "k": 1_000, "m": 1_000_000}
_AGE = re.compile(r"(\d+(?:\.\d+)?)([smhdw])")
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_ARGUMENTS = {
    **dict.fromkeys(
        ("ancestors", "descendants", "parents", "children", "siblings", "turn", "tool", "file"), (1, 1)
    ),
    **dict.fromkeys(("context", "hidden", "labelled", "changed", "lost"), (0, 1)),
    "between": (2, 2),
}
"""The least and the most arguments of functions; functions that are not listed take none."""
_NAMING = frozenset({"tool", "file", "changed", "labelled"})
"""Functions whose argument is a name or a text, not entries."""


def check(expression: Expression) -> None:
    """Raises QueryError for a condition that no session can answer."""
    waiting = [expression]
    while waiting:
        one = waiting.pop()
        match one:
            case AllOf(parts) | AnyOf(parts) | Without(parts):
                waiting += parts
            case Not(inside):
                waiting.append(inside)
            case QueryPattern(source, column):
                from leafward.query.patterns import complaint

                if (wrong := complaint(source)) is not None:
                    raise QueryError(wrong, column)
            case Compare():
                limit_of(one)
            case QueryCall() if not one.term:
                _check_call(one)
                if one.name not in _NAMING:
                    waiting += one.arguments


def _check_call(call: QueryCall) -> None:
    if call.name not in FUNCTION_NAMES:
        close = get_close_matches(call.name, sorted(FUNCTION_NAMES), 1)
        hint = f"; did you mean {close[0]}()?" if close else ""
        raise QueryError(f"there is no {call.name}(){hint}", call.column)
    least, most = _ARGUMENTS.get(call.name, (0, 0))
    if not least <= len(call.arguments) <= most:
        expected = f"{least}" if least == most else f"{least} to {most}"
        noun = "argument" if expected == "1" else "arguments"
        raise QueryError(f"{call.name}() takes {expected} {noun}", call.column)
    if call.name in _NAMING and call.arguments:
        text_of(call)


def text_of(call: QueryCall) -> str:
    """The name or text that a function takes. Raises QueryError for anything else."""
    argument = call.arguments[0]
    if isinstance(argument, (SearchedText, QueryWord)):
        return argument.text
    raise QueryError(f"{call.name}() takes a name or a text", call.column)


def limit_of(condition: Compare) -> float:
    """The value that a field is compared with.

    It is a number; for `age` milliseconds, for `time` milliseconds since 1970. Raises QueryError.
    """
    name, value, column = condition.field, condition.value, condition.column
    if name not in FIELDS:
        raise QueryError(f"there is no field {name!r}; there are {', '.join(FIELDS)}", column)
    if name == "age":
        span = _AGE.fullmatch(value)
        if span is None:
            raise QueryError("age takes a span, such as 30m, 12h or 7d", column)
        return float(span[1]) * _SECONDS[span[2]] * 1000
    if name == "time":
        moment = milliseconds(value)
        if moment is None:
            raise QueryError("time takes a date, such as 2026-11-22, or an ISO time", column)
        return float(moment)
    number = _NUMBER.fullmatch(value.replace("_", "").replace("$", ""))
    if number is None:
        raise QueryError(f"{name} takes a number, such as 200, 2k or 1.5M", column)
    return float(number[1]) * _SCALES[number[2].lower()]
