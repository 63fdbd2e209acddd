"""The outcome of a check by its output, where the shell gives the exit code of another program.

For `make test 2>&1 | tail` the shell gives the exit code of `tail`, for `make test

true` and `make test; date` that of the last command.
"""

from __future__ import annotations

from itertools import islice

from leafward.base.late_pattern import late
from leafward.files.checks import check_of
from leafward.summaries.facts.outcomes import counts_in

_HIDDEN = late(r"\||;\s*\S")
"""A sign that the exit code may come from another program than the check."""
_CHAINED = late(r"&&|;\s*\S")
"""A sign of several commands, each with an output of its own."""
_END = 20_000
"""Characters at the end of the output that are read."""
_WORDS = ("fail", "err", "***", "elifecycle")
"""Lower-case parts of failure lines: every line that reports a failure holds at least one."""
_LAST = 12
"""Lines at the end that are searched for a verdict: the lines above are output of the tests themselves."""
_COUNTED = late(r"(?<![\d,])[1-9][\d,]* (?:fail|error)")
_FAILED = late(
    r"\s*(?:"
    r"FAIL(?:ED)?(?:\s|$)|--- FAIL: "  # go, jest, pytest
    r"|(?:\[[^\]\n]{1,80}\] ){0,2}ERROR task failed"  # mise
    r"|make(?:\[\d+\])?: \*\*\* "
    r"|(?:npm (?:ERR!|error)|.{0,3}\bELIFECYCLE\b)"
    r"|error: (?:script|[Rr]ecipe) .{1,120} (?:exited|failed|terminated)\b"  # bun, just
    r"|test result: FAILED|error: (?:test failed|could not compile|aborting due to)"  # cargo
    r"|=+ .{0,120}\b[1-9]\d* (?:failed|errors?)\b"  # pytest
    r"|FAILED \((?:failures|errors)="  # unittest
    r"|Failed! +- Failed:"  # .NET
    r"|Found [1-9]\d* errors?\b"  # mypy, tsc, ruff
    r"|.{0,200}\berror TS\d{3,5}:"
    r"|(?:\[ERROR\] )?BUILD FAIL(?:ED|URE)\b"
    r"|Failed: +\S{1,100}#\S|ERROR +run failed: "  # turbo
    r"|error during build:|.{0,3}\bBuild failed (?:in|with) |Failed to compile\b|> Build error occurred"  # vite, next
    r"|.{0,3}\bERR_PNPM_"
    r")"
)
_BY_RUNNER = late(
    r"\s*(?:make(?:\[\d+\])?: \*\*\* |npm (?:ERR!|error)|.{0,3}\bELIFECYCLE\b|error: (?:script|[Rr]ecipe) .{1,120} (?:exited|failed|terminated)\b"
    r"|Failed: +\S{1,100}#\S|ERROR +run failed: |.{0,200}\berror TS\d{3,5}:|(?:\[[^\]\n]{1,80}\] ){0,2}ERROR task failed)"
)
"""The failures among these that no test prints: amid the outputs of several commands, a count of a later one says nothing about them."""


def says_failed(command: str, printed: str) -> bool:
    """Whether a check, whose own exit code the shell does not give, reports a failure. False for any other command."""
    if not _HIDDEN.search(command):
        return False
    written = filter(str.strip, reversed(printed[-_END:].split("\n")))
    lines = list(islice(written, _LAST))[::-1]
    together = "\n".join(lines)
    if not _may_fail(together.lower()):
        return False
    counted = -1
    if counts_in(together):
        counted = next((at for at in range(len(lines) - 1, -1, -1) if counts_in(lines[at])), -1)
    failed = (counted >= 0 and _COUNTED.search(counts_in("\n".join(lines[: counted + 1])))) or any(
        _may_fail(line.lower()) and _FAILED.match(line) for line in lines[counted + 1 :]
    )
    if not failed and _CHAINED.search(command):
        failed = any(_may_fail(line.lower()) and _BY_RUNNER.match(line) for line in lines)
    # What a command runs is told last: that takes it apart, and few outputs say that anything failed.
    return bool(failed) and check_of(command) is not None


def hides_outcome(command: str) -> bool:
    """Whether a command is a check whose own exit code the shell does not give."""
    return _HIDDEN.search(command) is not None and check_of(command) is not None


def _may_fail(low: str) -> bool:
    return any(map(low.__contains__, _WORDS))
