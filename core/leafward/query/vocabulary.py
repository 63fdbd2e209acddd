"""The words of the query language with their meanings: functions, fields, terms, parts of an entry.

A term is a function in another notation: `name:value` is `name("value")`.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from leafward.base.times import parse_time

FUNCTIONS: dict[str, str] = {
    "all()": "every entry, metadata too",
    "ancestors(x)": "the paths to x, x itself included",
    "descendants(x)": "everything below x, x itself included",
    "parents(x)": "the parents of x",
    "children(x)": "the children of x",
    "siblings(x)": "the other children of x's parents",
    "between(a, b)": "from a down to b, both included",
    "turn(x)": "the turns that x lies in, from prompt to prompt",
    "context(x)": "what the model reads at x",
    "hidden(x)": "on the path to x, but not in its context",
    "roots()": "entries without a parent",
    "leaves()": "the last entries of branches",
    "branchpoints()": "branch points",
    "prompts()": "what the user wrote or ran",
    "replies()": "what the model said",
    "results()": "results of tools",
    "compactions()": "compactions",
    "summaries()": "compactions and branch summaries",
    "injected()": "text that the agent added in your name",
    "labelled()": 'entries with a label; labelled("x") with x in it',
    "tool(name)": "calls of a tool, and its results; * for any characters",
    "file(path)": "calls that read or change a file; a glob",
    "changed(path)": "calls that change a file; a glob",
    "error()": "failed calls, replies that ended in an error",
    "damaged()": "entries that are damaged",
    "lost(x)": "entries with facts that the compactions x lost; without x, all compactions on the path to the leaf",
}
"""Functions and the entries that they choose."""

FIELDS: dict[str, str] = {
    "tokens": "estimated, of the entry; such as 2k or 1M",
    "calls": "calls of tools in a reply",
    "edits": "calls of a reply that changed a file",
    "added": "lines that its edits added",
    "removed": "lines that its edits removed",
    "cost": "US dollars, as the provider reported",
    "index": "place in file order, from 0",
    "depth": "entries above it",
    "time": "when it was written: 2026-11-22 or an ISO time",
    "age": "how long ago: 30m, 12h, 7d",
}
"""Fields that can be compared, with their meanings."""

TERMS = {
    "file": "part of the name of a file read or changed",
    "since": "30m, 12h, 7d, 6w, 3mo, 1y, today or a date",
    "agent": "an agent's name, or its beginning",
    "project": "part of the project's path",
    "not": "a word or phrase that must not be there",
}
"""Terms of every query, with their values."""

TEXT_TERMS = {
    "tool": "a tool's name, * for any characters: its calls and results",
    "in": "summary, prompt, reply, thinking, call, result, name, added or system",
    "error": "what failed; error:TEXT only where its text has TEXT; with file: what failed on that file",
    "re": "a pattern, case ignored, in quotes where it has spaces; /pattern/ is the same",
}
"""Further terms, except in a filter of sessions."""

ANY_OF = frozenset({"tool", "in", "agent"})
"""Terms that may repeat with any value matching; repeats of the others must all match."""

PARTS = ("summary", "prompt", "reply", "thinking", "call", "result", "name", "added", "system")
"""The parts of an entry, as `in:` and texts name them."""
_ADDED, _INJECTED = "added", "injected"
"""Text that the agent added in the user's name, as texts call it, and as JSON does; `in:` takes both."""

FUNCTION_NAMES = frozenset(name.partition("(")[0] for name in FUNCTIONS)
TERM_NAMES = frozenset({*TERMS, *TEXT_TERMS})

_SPAN = re.compile(r"(\d{1,6})(mo|[mhdwy])")
_MINUTES = {"m": 1, "h": 60, "d": 1440, "w": 10_080, "mo": 43_200, "y": 525_600}


def moment_of(value: str, now: int) -> int | None:
    """The moment that `since:` names, as `now` in milliseconds since 1970; None where it names none."""
    value = value.lower()
    span = _SPAN.fullmatch(value)
    if span is not None:
        return now - int(span[1]) * _MINUTES[span[2]] * 60_000
    if value == "today":
        value = datetime.fromtimestamp(now / 1000, UTC).astimezone().date().isoformat()
    return parse_time(value + "T00:00") if re.fullmatch(r"\d{4}-\d\d-\d\d", value) else None


def part_of(value: str) -> str | None:
    """The part of an entry that `in:` names by its beginning, as JSON calls it; None where there is none."""
    named = next((part for part in (*PARTS, _INJECTED) if part.startswith(value.lower())), None)
    return _INJECTED if named == _ADDED else named


def part_word(part: str) -> str:
    """The word of texts for a part of an entry, given as JSON calls it."""
    return _ADDED if part == _INJECTED else part


def value_problem(name: str, value: str) -> str | None:
    """The error in the value of a term, on one line; None where it has none."""
    if name == "since" and moment_of(value, 0) is None:
        return f"since: takes 12h, 7d, 3mo, today or a date, not {value}"
    if name == "in" and part_of(value) is None:
        return f"in: takes {TEXT_TERMS['in']}, not {value}"
    if name == "agent":
        from leafward.agents.registry import agent_names

        names = agent_names()
        if not any(one.startswith(value.lower()) for one in names):
            *others, last = names
            return f"agent: takes {', '.join(others)} or {last}, not {value}"
    return None
