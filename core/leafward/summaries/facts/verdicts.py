"""How a check ended by what it printed, where the shell tells how another program ended.

Of `make test 2>&1 | tail` the shell tells how `tail` ended, of `make test || true` and `make test; date` what came last.
"""

from __future__ import annotations

import re

from leafward.files.checks import check_of
from leafward.summaries.facts.outcomes import counts_in

_HIDDEN = re.compile(r"\||;\s*\S")
"""In a command whose last program is not the only one whose end may be told."""
_END = 20_000
"""Characters at the end that are looked at."""
_WORDS = ("fail", "err", "***", "elifecycle")
"""In small letters: without one of these no line below says that anything failed."""
_DIGIT = re.compile(r"\d")
"""What no count is without."""
_LAST = 12
"""Lines at the end in which a verdict is looked for: above them stands what the tests themselves print."""
_COUNTED = re.compile(r"(?<![\d,])[1-9][\d,]* (?:fail|error)")
_FAILED = re.compile(
    r"\s*(?:"
    r"FAIL(?:ED)?(?:\s|$)|--- FAIL: "  # go, jest, pytest
    r"|(?:\[[^\]\n]{1,80}\] ){0,2}ERROR task failed"  # mise
    r"|make(?:\[\d+\])?: \*\*\* "
    r"|(?:npm (?:ERR!|error)|.{0,3}\bELIFECYCLE\b)"
    r"|error: (?:script|[Rr]ecipe) .{1,120} (?:exited|failed|terminated)\b"  # bun, just
    r"|test result: FAILED|error: (?:test failed|could not compile|aborting due to)"  # cargo
    r"|=+ .{0,120}\b[1-9]\d* (?:failed|errors?)\b"  # pytest
    r"|FAILED \((?:failures|errors)="  # unittest
    r"|Found [1-9]\d* errors?\b"  # mypy, tsc, ruff
    r"|.{0,200}\berror TS\d{3,5}:"
    r"|(?:\[ERROR\] )?BUILD FAIL(?:ED|URE)\b"
    r")"
)


def says_failed(command: str, printed: str) -> bool:
    """Whether a check, whose own end the shell does not tell, printed that it failed. False for any other command."""
    if not _HIDDEN.search(command):
        return False
    end = printed[-_END:]
    low = end.lower()
    if not _may_fail(low) or check_of(command) is None:
        return False
    lines = [line for line in end.split("\n") if line.strip()][-_LAST:]
    counted = max(
        (at for at, line in enumerate(lines) if _DIGIT.search(line) is not None and counts_in(line)),
        default=-1,
    )
    if counted >= 0 and _COUNTED.search(counts_in("\n".join(lines[: counted + 1]))):
        return True
    return any(_may_fail(line.lower()) and _FAILED.match(line) for line in lines[counted + 1 :])


def _may_fail(low: str) -> bool:
    return any(map(low.__contains__, _WORDS))
