"""The outcome of a check or a request by its output, where the exit code does not tell it.

For `make test 2>&1 | tail` the shell gives the exit code of `tail`, for `make test

true` and `make test; date` that of the last command. `curl` succeeds with any answer that a server gives.
"""

from __future__ import annotations

from itertools import islice

from leafward.base.late_pattern import late
from leafward.files.checks import check_of
from leafward.summaries.facts.calls.outcomes import counts_in

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
_REQUEST = late(r"\bcurl\b")
_NOT_REACHED = late(r"curl: \((\d{1,3})\) ")
"""The line with which curl ends where it failed, and the exit code in it."""
_STATUS = late(r"(?m)^(?:< )?HTTP/[\d.]{1,3} (\d{3})\b")
"""The line of an answer's status."""
_CODE = late(r"[^\d\n]{0,40}(?<![\d.])(\d{3})(?![\d.])[^\d\n]{0,10}")
"""A line that tells a status alone, as `-w '%{http_code}'` prints it."""
REFUSED = "HTTP "
"""The beginning of an outcome where a server refused a request: that may be what was to be seen."""
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


def status_in(command: str, printed: str) -> str:
    """The outcome of a command whose only request failed or was refused, as the last line or the status tells; empty for any other."""
    if "curl" not in command or len(_REQUEST.findall(command)) != 1:
        return ""
    lines = printed.strip()[-_END:].split("\n")
    if failed := _NOT_REACHED.match(lines[-1]):
        return f"exit {failed[1]}"
    codes = _STATUS.findall(printed)
    if not codes and "%{http_code}" in command:
        # Of a loop each round prints one.
        codes = [found[1] for line in lines if (found := _CODE.fullmatch(line)) is not None]
        codes = codes if len(codes) == 1 and _CODE.fullmatch(lines[-1]) else []
    if not codes or any(code.startswith("2") for code in codes):
        return ""
    if codes[-1] == "000":
        # No server answered.
        return "failed"
    return f"{REFUSED}{codes[-1]}" if codes[-1] >= "400" else ""


def _may_fail(low: str) -> bool:
    return any(map(low.__contains__, _WORDS))
