"""Patterns that a user types: checked, and run with a time limit, so that none can hang.

Their syntax is that of Python's `re`. The engine is the `regex` package, because it takes a timeout and lets other threads
run meanwhile.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE = 0.5
"""Seconds that a pattern may take for one text."""

_LONGEST = 1000
"""Characters of a pattern; nobody types a longer one."""
_MOST_REPEATS = 10_000
_REPEAT = re.compile(r"\{(\d*)(?:,(\d*))?\}")
_PLAIN = re.compile(r"[A-Za-z0-9_ ,:;=%@#~!-]")
_CLASSES = frozenset("dDwWsSbBAZnrtfv")
_FOLDED_APART = frozenset("kKsSiI")
"""Letters that a pattern without case also matches as letters outside ASCII."""


class TooSlow(Exception):
    """A pattern exceeded its time limit."""


def complaint(pattern: str) -> str | None:
    """The error in a pattern with its character (from 0), on one line; None where it is valid."""
    if len(pattern) > _LONGEST:
        return f"the pattern is longer than {_LONGEST:,} characters"
    # This comes before compiling, which makes as many copies as nested repeats multiply to.
    nested = flat = 1
    for found in _REPEAT.finditer(pattern):
        times = max([1, *(int(number[:9]) for number in found.groups() if number)])
        if pattern[: found.start()].endswith(")"):
            nested *= times
        else:
            flat = max(flat, times)
        if nested * flat > _MOST_REPEATS:
            return f"invalid pattern at character {found.start()}: more than {_MOST_REPEATS:,} repeats"
    import regex

    try:
        _compiled(pattern)
    except regex.error as error:
        at = getattr(error, "pos", None)
        where = f" at character {at}" if isinstance(at, int) else ""
        return f"invalid pattern{where}: {getattr(error, 'msg', error)}"
    except (RecursionError, MemoryError, OverflowError, ValueError) as error:
        return f"invalid pattern: {str(error) or type(error).__name__}"
    return None


def _compiled(pattern: str) -> Any:
    import regex

    return regex.compile(pattern, regex.IGNORECASE | regex.MULTILINE)


class Pattern:
    """A compiled pattern. Case is ignored; `^` and `$` are the ends of a line."""

    def __init__(self, pattern: str) -> None:
        self.source = pattern
        self._compiled = _compiled(pattern)

    def spans(self, text: str, most: int) -> Iterator[tuple[int, int]]:
        """Its matches in a text, at most `most` of them, without empty ones. Raises TooSlow."""
        try:
            for found in self._compiled.finditer(text, timeout=PATIENCE, concurrent=True):
                start, end = found.span()
                if end > start:
                    yield start, end
                    most -= 1
                    if most <= 0:
                        return
        except TimeoutError:
            raise TooSlow(self.source) from None


def needed_runs(pattern: str) -> list[str]:
    """Runs of plain characters that every match of a pattern holds; empty where they are not known.

    Only text outside groups and classes counts, and the pattern must have no alternatives.
    """
    if "(?" in pattern and re.search(r"\(\?(?![:=!<])", pattern):
        # Flags change the meaning of the rest.
        return []
    runs = [""]
    depth = at = 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == "\\" and at < len(pattern):
            char = pattern[at]
            at += 1
            if char.isalnum() and char not in _CLASSES:
                # The next characters may belong to it, such as the digits of a code point.
                return []
            literal = char if not char.isalnum() and char.isascii() else ""
        elif char == "[":
            at = _end_of_class(pattern, at)
            literal = ""
        elif char == "(":
            depth += 1
            literal = ""
        elif char == ")":
            depth -= 1
            literal = ""
        elif char == "|" and not depth:
            return []
        elif char in "*?{":
            # The character before it is optional.
            if not depth:
                runs[-1] = runs[-1][:-1]
            if char == "{":
                at = pattern.find("}", at) + 1 or len(pattern)
            literal = ""
        else:
            literal = char if _PLAIN.fullmatch(char) and char not in _FOLDED_APART else ""
        if literal and not depth:
            runs[-1] += literal
        elif runs[-1]:
            runs.append("")
    return [run for run in runs if run]


def _end_of_class(pattern: str, at: int) -> int:
    """The place after a class that begins before `at`."""
    if at < len(pattern) and pattern[at] == "^":
        at += 1
    if at < len(pattern) and pattern[at] == "]":
        at += 1
    while at < len(pattern) and pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at + 1
