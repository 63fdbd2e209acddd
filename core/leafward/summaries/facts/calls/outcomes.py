"""Outcomes of calls: the failed ones, the changed files, the counts of test runs."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from leafward.base.late_pattern import late
from leafward.files.checks import Check, check_of
from leafward.files.patch_format import parsed_patch
from leafward.session.entries import Body, tool_calls
from leafward.summaries.facts.calls.call_arguments import (
    PATH_ARGUMENTS,
    changes_text,
    command_of,
    is_silent,
    searches,
)
from leafward.summaries.facts.calls.named_folders import folder_of, path_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from leafward.files.patch_format import FilePatch
    from leafward.session.entries import ToolCall

_PATCH = "*** Begin Patch\n"
"""The beginning of a patch in a call that changes files by one, as Codex does."""
_COUNT = late(
    # It begins with one class, so that the search passes over all other characters quickly.
    r"(?i)([0-9](?<!\w.)(?<!\d\d\d,.)(?:\d{0,2}(?:,\d{3})+|\d{0,8})) (?:tests? |specs? |examples? )?(pass(?:ed|ing|es)?|fail(?:ed|ing|ures?|s)?|errors?|skipped|ok|todo)\b"
)
_LABELLED = late(r"(?i)\b(tests(?: run)?|passed|failed|failures|errors|skipped) ?: {1,12}(\d{1,9})\b")
"""A count behind its word, as .NET and Maven print it."""
_OK = late(r"(?m)^OK \((\d{1,9}) tests?, ")
"""The last line of PHPUnit."""
_EXAMPLES = late(r"(?m)^(\d{1,9}) examples?, (\d{1,9}) failures?")
"""The last line of RSpec."""
_LABELS = 2
"""Such counts in a line of results."""
_IN_BRACKETS = late(r"(?m)^PASS \((\d{1,9})\) FAIL \((\d{1,9})\)")
"""The line with which rtk, which shortens what test programs print, tells their counts."""
_ANY = late(r"(?<![\d,])[1-9]")
_NO_TESTS = late(
    r"(?im)\bno tests? (?:files? |cases? |suites? )?(?:(?:were |was |is )?(?:found|ran|run|executed|collected|available|specified)|to run|match\w*)\b"
    r"|\[no test files\]|\bcollected 0 items\b|\b(?:ran|executed) 0 tests\b|(?<![\d,])0 (?:tests? )?(?:pass|ok)|\b0 examples, |\btests(?: run)?: 0\b"
    r"|^[^\S\n]*[#ℹ] tests 0$|PASS \(0\) FAIL \(0\)"
)
"""Words by which a test program says that it ran none."""
_ZERO = late(r"0(?<![\d,.]0)(?!\d|\.\d)")
"""A count of none: such words hold one, or `no test`."""
_END = 4_000
"""Characters at the end of an output that are searched for them."""
_SOME_TESTS = late(r"(?m)^(?:ok\s+\S+\s(?!.*\[no tests to run\])|[^\S\n]*(?:[✓✔]|PASS(?:ED)? (?!\(0\))))")
"""Lines that tell of tests that passed, whose program prints no counts."""
_COUNTS_ALL = late(
    r"\b(?:pytest|unittest|vitest|jest|mocha|ava|bun (?:run )?test|node --test|rspec|phpunit|pest|playwright)\b"
)
"""Test programs whose last lines tell of all tests; others say it of each package."""
_CARGO = late(r"(?m)^test result: \w+\. (\d{1,9}) passed; (\d{1,9}) failed;")
"""The result of one of the test programs that cargo runs."""
_LISTS = late(
    r"\s(?:--no-run|--collect-only|--co|--list(?:-tests)?|-list|--listTests|-run[= ]['\"]?(?:\^?\$|XXX|NONE)['\"]?|-DskipTests)(?=[\s=]|$)"
)
"""Options with which a runner of tests only compiles or lists them."""
_OF_TESTS = late(r"\s*Tests?(?::| {2,})")
"""The line of jest and vitest that counts tests, beside those that count their files."""
_OF_FILES = late(r"\s*(?:Test (?:Suites|Files)|Snapshots)(?::| {2,})")
"""The line of these, and that of snapshots."""
_COUNT_LINE = 40
"""Characters of a line that holds only a count."""
_TAP = late(r"(?m)^[^\S\n]*[#ℹ] (pass|fail|skipped|todo) (\d{1,9})\b")
_LOOKING = late(
    r"^(?:cat|ls|sed|cd|true|echo|printf|rg|grep|head|tail|pwd|find|wc|which|nl|git (?:status|log|diff|show|ls-files|blame))\b"
)
"""Commands that only read, which nobody takes for tests."""
STEPS = late(r"&&|\|\||[;\n]")
"""What stands between the commands of a script."""
_TYPED = late(r"^[^\n]{4,200}$")


def failed_calls(messages: Iterable[Body]) -> frozenset[str]:
    """The ids of the calls with a failed result, and of those without any: nothing tells that these were done."""
    made, done, failed = set[str](), set[str](), set[str]()
    for message in messages:
        role = message.get("role")
        if role == "toolResult":
            (failed if message.get("isError") else done).add(str(message.get("toolCallId")))
        elif role == "assistant" and isinstance(content := message.get("content"), list):
            made.update(
                str(block.get("id", ""))
                for block in content
                if isinstance(block, dict) and block.get("type") == "toolCall"
            )
    return frozenset(failed | (made - done))


def files_changed(message: Body, failed: frozenset[str], cwd: str) -> Iterator[str]:
    """The files that a message's calls changed, in order, each by its canonical path; `failed` calls are left out."""
    if message.get("role") != "assistant":
        return
    for call in tool_calls(message):
        if call.id not in failed:
            yield from files_changed_by(call, cwd)


def files_changed_by(call: ToolCall, cwd: str) -> Iterator[str]:
    """The files that a call changes if it succeeds, each by its canonical path."""
    arguments = call.arguments
    if changes_text(arguments):
        for name in PATH_ARGUMENTS:
            if isinstance(path := arguments.get(name), str) and path:
                yield path_at(path, call.folder, cwd)
                return
        return
    for patch in patches_of(arguments):
        if patch.verb != "delete":
            yield path_at(patch.moved_to or patch.path, folder_of(call), cwd)


def patches_of(arguments: Mapping[str, Any]) -> Iterator[FilePatch]:
    """The files of the patches in a call's arguments, as Codex writes them: a text, or among the words of a command (0.46)."""
    for value in arguments.values():
        if isinstance(value, str):
            if _PATCH in value:
                yield from parsed_patch(value)
        elif isinstance(value, list):
            for text in value:
                if isinstance(text, str) and _PATCH in text:
                    yield from parsed_patch(text)


def is_typed(command: str) -> bool:
    """Whether somebody would type a command to do something: it is not a script, a patch or a mere reading."""
    return not _LOOKING.match(command) and _TYPED.search(command) is not None and "<<" not in command


def looks(arguments: Mapping[str, Any]) -> bool:
    """Whether a call with these arguments only shows files, or searches them."""
    if command := command_of(arguments):
        return all(map(_LOOKING.match, filter(None, map(str.strip, STEPS.split(command)))))
    return is_silent(arguments) or searches(arguments)


@lru_cache(maxsize=1 << 12)
def runs_tests(command: str) -> bool:
    """Whether a command is a run of tests that somebody would type."""
    return (
        is_typed(command)
        and not command.startswith("git ")
        and check_of(command) is Check.TEST
        and _LISTS.search(command) is None
    )


def counts_in(printed: str) -> str:
    """The counts at the end of a test run's output: `2 failed, 32 passed`; empty where it has none."""
    if "test result: " in printed and (programs := _CARGO.findall(printed)):
        sums = (sum(map(int, column)) for column in zip(*programs, strict=True))
        return ", ".join(f"{number} {word}" for number, word in zip(sums, ("passed", "failed"), strict=True))
    if labelled := _labelled(printed):
        return labelled
    if " example" in printed and (examples := _EXAMPLES.findall(printed)):
        run, failures = map(int, examples[-1])
        return f"{failures} failed, {run - failures} passed" if failures else f"{run} passed"
    if _COUNT.search(printed) is not None:
        lines = printed.rstrip().split("\n")
        first = last = next(at for at in range(len(lines) - 1, -1, -1) if _COUNT.search(lines[at]))
        while (
            first
            and (
                len(before := lines[first - 1]) <= _COUNT_LINE
                or _OF_TESTS.match(before)
                or _OF_FILES.match(before)
            )
            and _COUNT.search(before)
        ):
            first -= 1
        block = [line for line in lines[first : last + 1] if _OF_FILES.match(line) is None]
        of_tests = [line for line in block if _OF_TESTS.match(line)]
        counted = [
            f"{number} {word.lower()}" for line in of_tests or block for number, word in _COUNT.findall(line)
        ]
        return ", ".join(dict.fromkeys(counted))
    if "PASS (" in printed and (both := _IN_BRACKETS.findall(printed)):
        passed, failed = both[-1]
        return f"{failed} failed, {passed} passed"
    if "OK (" in printed and (ok := _OK.search(printed)):
        return f"{ok[1]} passed"
    if "# " not in printed and "ℹ " not in printed:
        return ""
    counted = [f"{number} {word}" for word, number in _TAP.findall(printed)]
    return ", ".join(dict.fromkeys(counted))


def ran_no_tests(command: str, printed: str) -> bool:
    """Whether the output of a run of tests says that none ran, and counts none either: such a run proves nothing.

    Of an output that another program cut, the rest may count some.
    """
    if check_of(command) is not Check.TEST:
        return False
    end = printed[-_END:]
    return (
        # Most outputs hold neither, and the words are slow to look for.
        (_ZERO.search(end) is not None or "no test" in end.lower())
        and _NO_TESTS.search(end) is not None
        and ("|" not in command or _COUNTS_ALL.search(command) is not None)
        and _ANY.search(counts_in(printed)) is None
        and _SOME_TESTS.search(printed) is None
    )


def _labelled(printed: str) -> str:
    """The counts of an output that has them behind their words; empty where others follow, or where there are none."""
    if "Failed:" not in printed and "Failures:" not in printed:
        return ""
    for line in reversed(printed.split("\n")):
        if len(found := _LABELLED.findall(line)) >= _LABELS:
            return ", ".join(f"{number} {word.lower().removesuffix(' run')}" for word, number in found)
        if _COUNT.search(line):
            break
    return ""
