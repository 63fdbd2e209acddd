"""Errors in printed texts, and the outcome of the command that printed a text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.files.running_commands import process_in
from leafward.summaries.facts.calls.declined_calls import is_declined
from leafward.summaries.facts.calls.outcomes import counts_in, ran_no_tests
from leafward.summaries.facts.calls.verdicts import hides_outcome, says_failed, status_in
from leafward.summaries.facts.sentences.content_words import content_words

if TYPE_CHECKING:
    from collections.abc import Iterator

UNTOLD = "untold"
"""The outcome of a check that ended, where neither its exit code nor its output tells how."""
NO_TESTS = "no tests"
"""The outcome of a run of tests that ended well and ran none."""
_IN_WORDS = {"failed": "failed", NO_TESTS: "ran no tests"}

_EXIT = late(r"(?i)\bexit(?:ed with)?(?: (?:code|status))?[:=]? {0,2}(-?\d{1,3})\b")
_RECORD = late(r"\AExit code:? (-?\d{1,3})\b|(?:\A|\n)(?:Command|Process) exited with code (-?\d{1,3})\s*\Z")
"""The exit code as an agent writes it around an output: at its beginning, or alone in its last line (pi)."""
_ERROR_LINE = late(
    # turbo writes the task before each line: `web:lint: `.
    r"^\s*(?:@?[\w./-]{1,60}:[\w-]{1,40}: )?(?:[\w./\\@-]{1,200}(?:[:(]\d{1,7}(?:[:,]\d{1,7}\)?|\))?)[:\s-]{1,4})?"
    r"(?:\S{1,3} )?\[?"
    r"(?:(?:npm |make(?:\[\d+\])?: \*\*\* )?(?:error|ERR!|fatal|FATAL|panic|E {3,}|ERROR|Error|FAIL|FAILED|fail)\b[ :!(\[\]A-Z]"
    r"|[A-Za-z_.\d]{0,60}(?:Error|Exception|Warning: unhandled)(?::| \[|$)|error\[?[A-Z]{1,3}\d+"
    r"|(?:bash|sh|zsh): .{1,120}(?:not found|No such file|Permission denied)|E[A-Z]{4,12}: |Traceback \(most recent"
    r"|.{0,120}(?:command not found|No such file or directory|Permission denied|Segmentation fault|is not assignable to|Cannot find (?:module|name)))"
)
_MAYBE_ERROR = late(
    # Each begins with one letter and not a class, so that the search skips all other letters quickly.
    r"error|Error|E(?:RR|xception| {3}|[A-Z]{4,12}: )|fail|Fail|F(?:AIL|ATAL)|fatal|panic|xception|Warning: unhandled|not found"
    r"|No such file|Permission denied|Traceback|Segmentation|is not assignable|Cannot find"
)
"""Words of error lines: every line that is an error holds at least one."""
_ERROR_FRAME = late(
    r"(?i)^\s*npm (?:error|err!) *(?:path|location|workspace|command|code|lifecycle|errno|syscall|dest|a complete log|$)|.*\berrors?: 0\b|.*\b0 errors?\b"
    r"|\s*[#ℹ] fail 0\s*$|\s*FAIL(?:ED)?\s*$|\s*(?:\[[^\]\n]{1,80}\] )?error:? (?:task failed|command failed with exit code \d+)"
    r"|\s*ERROR +run failed: |\s*error: (?:test failed, to rerun|could not compile `|aborting due to|build failed|script \"|recipe `)"
    r"|\s*make(?:\[\d+\])?: \*\*\* \[.{1,200}\] error \d+|\s*Ran all test suites\b"
)
"""Lines of a runner around the error of its program, whatever that was, and a count of no errors."""
_FAILED_ROW = late(r"[^\t\n]{1,120}?(?:\t| {2,80})(?:fail(?:ed|ure)?|timed_out)(?:\t| {2,80}|$)")
"""A row in a table of checks that reports a failed one."""
_PASSES = late(
    r"\s*(?:ok|PASS(?:ED)?|[✓✔√✅])(?:[\s:]|$)|\W{0,3}\d{1,9} (?:tests? )?pass(?:ed|ing)\b(?!.{0,200}\bfail)"
    r"|\?\s+\S{1,200}\s+\[no test files\]|.{1,200}(?:\t| {2,80})(?:pass(?:ed)?|success|skipping|skipped|pending|neutral)(?:\t| {2,80}|$)|.{1,200}\s(?:\.\.\. ok|PASSED)(?:\s|$)"
)
"""A line that reports success, or a check that has not ended: it is not an error, whatever the final outcome."""
_SAYS_NOTHING = late(
    # What it begins with is taken at once: tried in every number, blanks take quadratic time.
    r"\s*+(?:(?:Output|stdout|stderr):|(?:Chunk ID|Wall time|Original token count|Total output lines): \S++(?: seconds)?"
    r"|\(no output\)|\$ .*|[\W\d_]*+)\s*+$"
)
"""A line that only heads or ends an output, repeats its command, or has no word."""
_PLACE = late(r"[:(]\d{1,7}(?:[:,]\d{1,7})?\)?|0x[0-9a-f]+|\b\d+(?:\.\d+)?m?s\b")
_PLACED = late(
    r"(?m)^[ \t]*[\w./@-]{1,200}\.\w{1,10}:\d{1,7}:\d{1,7}: (?!(?i:warning|note|info)\b)\S.{2,300}$"
)
"""What a compiler says of a place in a file."""
_COULD_NOT = late(
    r"(?m)^[ \t]*[\w./-]{1,60}: (?:could not|cannot|can['’]t|unable to|failed to|failed)\b.{2,300}$"
)
"""What a program says that it could not do."""
_TIMED_OUT = late(
    r"(?im)^[^\S\n]*(?:command timed out after \d[^\n]{0,60}|.{0,40}\bterminated command after exceeding timeout\b.{0,40})"
)
"""What an agent says of a command that it ended after its time (Claude Code, Codex and pi, opencode)."""
_INTERRUPTED = 130
"""The exit code of a shell's program that somebody stopped (SIGINT)."""
_IN_BACKGROUND = late(r"[^&]&\s*$")
"""A command that the shell does not wait for."""
_GIVEN_UP = late(r"(?i)\b(?:abort|cancel|interrupt)")
_NOT_RUN = late(
    r"[^\n]{1,120}, so auto mode cannot determine the safety of |(?:<tool_use_error>)?(?:Sibling tool call errored|Cancelled: parallel tool call )"
    r"|Claude requested permissions to |Permission to use \w+ |This command requires approval\b"
)
"""The beginning of a result whose call Claude Code did not make: a call beside it failed, or nothing and nobody allowed it."""
_NAMED_ERROR = late(
    # Each begins with one of few characters, so that the search skips all others quickly.
    r"[`A-Z](?:(?<=`)[^`\n]{0,80}(?:Error|Exception)[^`\n]{0,80}`|(?<!\w[A-Z])(?:(?<!`)[A-Za-z]{2,40}(?:Error|Exception)"
    r"|(?<=T)S\d{4}|(?<=E)[A-Z]{4,12}|(?<=S)IG[A-Z]{3,6})\b)"
)
_NAMED_CODE = late(r"[TES](?<!\w[A-Z])(?:(?<=T)S\d{4}|(?<=E)[A-Z]{4,12}|(?<=S)IG[A-Z]{3,6})\b")
"""Those without a word for an error: most texts hold no such word."""
_PLAIN_ERRORS = frozenset(
    {
        "Error",
        "Exception",
        "EVENT",
        "EVENTS",
        "EXPORT",
        "ENTRY",
        "EVERY",
        "ERROR",
        "ERRORS",
        "EDITOR",
        "ENGLISH",
    }
)
_ERROR_WORDS = 16
_END = 4_000
"""Characters at the end of an output that tell how its program ended."""
_STACK_CALL = late(r"(?m)^\s+at [\w.$<>/ \[\]]{3,200}\([^()\n]{1,120}\)")
"""A call of a stack as Java and JavaScript print it."""


def printed_errors(text: str, *, failed: bool) -> Iterator[str]:
    """The lines of a printed text that are errors.

    After a failure without any it is that the time was over, else the first with a place in a file, else what a program could not
    do, else the last meaningful one.
    """
    found = False
    for line in _maybe_errors(text):
        if 8 <= len(line) <= 600 and _is_error(line) and not _ERROR_FRAME.match(line):
            found = True
            yield line
    if failed and not found and not _GIVEN_UP.search(text[-200:]):
        not_done = (one for one in _COULD_NOT.finditer(text) if not _ERROR_FRAME.match(one[0]))
        told = _TIMED_OUT.search(text) or _PLACED.search(text) or next(not_done, None)
        if last := told[0].strip() if told is not None else _last_line(text):
            yield last


def _is_error(line: str) -> bool:
    return _ERROR_LINE.match(line) is not None or _FAILED_ROW.match(line) is not None


def _maybe_errors(text: str) -> Iterator[str]:
    """The lines that may be errors, because they hold a word of error lines."""
    found = _MAYBE_ERROR.search(text)
    while found is not None:
        at = found.start()
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        yield text[text.rfind("\n", 0, at) + 1 : end]
        found = _MAYBE_ERROR.search(text, end)


def tells_of_a_run(line: str) -> bool:
    """Whether an error is a row about a run that has an address of its own: printed again it is the same failure, seen again."""
    return "://" in line and _FAILED_ROW.match(line) is not None


def named_errors(text: str) -> Iterator[str]:
    """Errors that a sentence names: `TypeError`, `ENOENT`, one in backticks."""
    has_word = "Error" in text or "Exception" in text
    for match in (_NAMED_ERROR if has_word else _NAMED_CODE).finditer(text):
        found = match[0].strip("`")
        if found not in _PLAIN_ERRORS:
            yield found


def was_not_run(text: str) -> bool:
    """Whether the result of a failed call reports that it was not made."""
    return _NOT_RUN.match(text) is not None


def error_key(line: str) -> str:
    """An error in comparable form: its words, without positions in files, addresses and durations."""
    return " ".join(content_words(_PLACE.sub(" ", line))[:_ERROR_WORDS]) or line.strip()[:80]


def outcome_of(text: str, failed: bool, command: str, code: object = None) -> str:
    """The outcome of a command: `exit 0` where nothing tells otherwise, empty where it was stopped, or may still run.

    `code` is the exit code that its agent recorded, if any: the codes in an output are those of other programs.
    `UNTOLD` where a check whose exit code is hidden printed an error or calls of a stack, and no counts; `NO_TESTS` where no test ran.
    """
    if process_in(text) is not None or (not failed and _IN_BACKGROUND.search(command) is not None):
        return ""
    if not failed:
        if says_failed(command, text):
            return "failed"
        if ran_no_tests(command, text):
            return NO_TESTS
        if status := status_in(command, text):
            return status
        return UNTOLD if _shows_error(text) and hides_outcome(command) else "exit 0"
    if code is None and (written := _RECORD.search(text)):
        code = int(written[1] or written[2])
    if code == _INTERRUPTED:
        return ""
    if isinstance(code, int) and code:
        return f"exit {code}"
    # A command that was stopped or not allowed neither failed nor succeeded.
    return "" if _GIVEN_UP.search(text[-200:]) or is_declined(text) or was_not_run(text) else "failed"


def ended_with(outcome: str) -> str:
    """An outcome as the predicate of a sentence: `failed`, `ended with exit 2`."""
    return _IN_WORDS.get(outcome, f"ended with {outcome}")


def _shows_error(text: str) -> bool:
    """Whether an output ends without counts, and with an error or with calls of a stack."""
    end = text[-_END:]
    return (
        _STACK_CALL.search(end) is not None or next(printed_errors(end, failed=False), None) is not None
    ) and not counts_in(end)


def _last_line(text: str) -> str:
    """The last line that is more than a frame, a success or an exit code; empty where there is none."""
    lines = [
        line.strip()
        for line in text.split("\n")
        if not _SAYS_NOTHING.match(line) and not _PASSES.match(line) and not _ERROR_FRAME.match(line)
    ]
    return next((line for line in reversed(lines) if not _EXIT.search(line)), "".join(lines[-1:]))[:300]
