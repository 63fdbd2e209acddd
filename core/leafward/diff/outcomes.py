"""What came of a branch: checks that ran, commands that failed, errors, cost, tokens, time."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from leafward.edits import command_text, table_of
from leafward.entries import NO_ENTRY, Body, EntryIndex, Kind, Usage, text_of
from leafward.messages import usage_of, written_at
from leafward.tally import outcome

if TYPE_CHECKING:
    from leafward.entries import ToolCall
    from leafward.session import Session


class Check(StrEnum):
    """What a command proves when it ends well."""

    TEST = "test"
    BUILD = "build"
    TYPES = "types"
    LINT = "lint"


_RUNNER = r"(?:npm|pnpm|yarn|bun)(?:\s+(?:run|exec|--?\S+|-w\s+\S+))*\s+"
_CHECKS: tuple[tuple[Check, re.Pattern[str]], ...] = tuple(
    (
        check,
        re.compile(
            rf"(?:^|[;&|(\n]\s*|\b(?:npx|bunx|uv run|poetry run|python3?\s+-m|time|timeout\s+\S+)\s+)(?:{words})(?=$|[\s;&|)])"
        ),
    )
    for check, words in (
        (
            Check.TEST,
            _RUNNER
            + r"(?:test|t|vitest|jest)[\w:.-]*|npm\s+t|pytest|py\.test|unittest|nose2|tox|nox|vitest|jest|mocha|ava|tsx\s+--test|"
            r"node\s+--test|go\s+test|cargo\s+(?:test|nextest)|(?:mvn|gradle|\./gradlew)\s+\S*test|make\s+(?:test|check)|rspec|"
            r"(?:dotnet|swift|deno|zig|mix|flutter)\s+test|phpunit|ctest|bats",
        ),
        (
            Check.TYPES,
            _RUNNER
            + r"(?:check|typecheck|type-check|tsc)[\w:.-]*|tsc|tsgo|mypy|pyright|pyre|cargo\s+check|go\s+vet",
        ),
        (
            Check.BUILD,
            _RUNNER
            + r"build[\w:.-]*|make(?:\s+(?:all|build))?|cargo\s+build|go\s+build|cmake\s+--build|ninja|"
            r"(?:mvn|gradle|\./gradlew)\s+(?:package|build|assemble)|vite\s+build|docker\s+build",
        ),
        (
            Check.LINT,
            _RUNNER
            + r"(?:lint|format|biome)[\w:.-]*|eslint|ruff|flake8|pylint|biome|prettier|clippy|cargo\s+clippy|golangci-lint",
        ),
    )
)


def check_of(command: str) -> Check | None:
    """What a command checks, the weightiest where it does several; None for any other command."""
    head = command[:2000]
    return next((check for check, pattern in _CHECKS if pattern.search(head)), None)


@dataclass(frozen=True, slots=True)
class Checked:
    """A check, as it ended the last time it ran."""

    check: Check
    ok: bool
    runs: int
    failed: int
    entry: EntryIndex
    """The result of the last run."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What came of the entries of a branch."""

    checks: tuple[Checked, ...]
    """In the order test, types, build, lint."""
    commands: int
    """Commands that ran."""
    failed_commands: int
    last_exit: int | None
    """Exit code of the last command that failed; None where none did or it is not known."""
    errors: int
    """Calls that failed, commands among them, and replies that ended in an error."""
    calls: int
    replies: int
    usage: Usage
    costs_known: bool
    """Whether a reply says what it cost."""
    seconds: float | None
    """From the first entry with a time to the last."""
    last_reply: EntryIndex
    """The last reply that says something; -1 where none does."""
    last_words: str
    """How it begins: its first line that is not empty, not safe to show."""


class OutcomeReader:
    """Takes the bodies of a path one after the other and gives what came of it."""

    KINDS = frozenset({Kind.USER, Kind.ASSISTANT, Kind.TOOL_RESULT, Kind.BASH})
    """Kinds that are looked at."""

    def __init__(self, session: Session) -> None:
        self._kinds = session.columns.kind
        self._table = table_of(session)
        self._calls: dict[str, ToolCall] = {}
        self._checks: dict[Check, Checked] = {}
        self._commands = self._failed = self._errors = self._made = self._replies = 0
        self._exit: int | None = None
        self._usage = Usage()
        self._cost = 0.0
        self._sums = [0, 0, 0, 0, 0]
        self._first: int | None = None
        self._last: Body | None = None
        self._reply = NO_ENTRY
        self._said: object = None

    def take(self, index: EntryIndex, body: Body, message: Body, calls: list[ToolCall]) -> None:
        """The next entry of the path: its body, the message in it, and the calls of that which were run."""
        if self._first is None:
            self._first = written_at(body)
        self._last = body
        kind = self._kinds[index]
        if kind == Kind.ASSISTANT:
            self._replied(index, body, message, calls)
        elif kind == Kind.TOOL_RESULT:
            self._answered(index, body, message)
        elif kind == Kind.BASH:
            self._ran(index, body, str(message.get("command") or ""))

    def outcomes(self) -> Outcomes:
        """What came of everything that was taken."""
        last = written_at(self._last) if self._last is not None else None
        span = (last - self._first) / 1000 if self._first is not None and last is not None else None
        words = text_of(self._said).split("\n")
        usage = self._usage + _summed(self._sums, self._cost)
        return Outcomes(
            tuple(self._checks[check] for check in Check if check in self._checks),
            self._commands,
            self._failed,
            self._exit,
            self._errors,
            self._made,
            self._replies,
            usage,
            usage.cost > 0,
            span if span is None or span >= 0 else None,
            self._reply,
            next((line.strip() for line in words if line.strip()), ""),
        )

    def _replied(self, index: EntryIndex, body: Body, message: Body, calls: list[ToolCall]) -> None:
        self._replies += 1
        self._spend(body, message)
        if message.get("stopReason") == "error":
            self._errors += 1
        content = message.get("content")
        if _says(content):
            self._reply, self._said = index, content
        self._made += len(calls)
        for call in calls:
            self._calls[call.id] = call

    def _spend(self, body: Body, message: Body) -> None:
        usage = message.get("usage")
        if not isinstance(usage, dict):
            return
        parts = [part for name in _COUNTED if type(part := usage.get(name)) is int]
        cost = usage.get("cost")
        dollars = cost.get("total") if isinstance(cost, dict) else None
        # As providers report it; anything else takes the long way.
        if len(parts) == len(_COUNTED) and isinstance(dollars, (int, float)) and math.isfinite(dollars):
            self._sums = [known + part for known, part in zip(self._sums, parts, strict=True)]
            self._cost += dollars
        else:
            self._usage += usage_of(body) or Usage()

    def _answered(self, index: EntryIndex, body: Body, message: Body) -> None:
        call = self._calls.pop(str(message.get("toolCallId")), None)
        if call is not None and call.name in self._table.shells:
            self._ran(index, body, command_text(call, self._table))
        elif message.get("isError"):
            self._errors += 1

    def _ran(self, index: EntryIndex, body: Body, command: str) -> None:
        self._commands += 1
        came = outcome(body, self._table)
        if not came.ok:
            self._failed += 1
            self._errors += 1
            self._exit = came.exit_code
        check = check_of(command)
        if check is not None:
            before = self._checks.get(check)
            runs, failed = (before.runs, before.failed) if before is not None else (0, 0)
            self._checks[check] = Checked(check, came.ok, runs + 1, failed + (not came.ok), index)


_COUNTED = ("input", "output", "cacheRead", "cacheWrite", "totalTokens")


def _summed(parts: list[int], cost: float) -> Usage:
    sent, said, read, written, total = parts
    return Usage(sent, said, read, written, total, cost)


def _says(content: object) -> bool:
    """Whether a reply says something besides thinking and calling tools."""
    if isinstance(content, str):
        return bool(content.strip())
    if not isinstance(content, list):
        return False
    return any(
        isinstance(block, dict) and block.get("type") == "text" and str(block.get("text", "")).strip()
        for block in content
    )
