"""The outcome of a branch: checks that ran, commands that failed, errors, cost, tokens, time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from leafward.context.call_status import CallOutcome, outcome
from leafward.files.call_lines import result_in
from leafward.files.checks import Check, check_of
from leafward.files.tool_calls import command_text, table_of
from leafward.session.entries import NO_ENTRY, Body, EntryIndex, Kind, Usage, read_usage, text_of, tool_calls
from leafward.session.messages import did_run, usage_of, written_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from leafward.session.entries import ToolCall
    from leafward.session.session import Session


@dataclass(frozen=True, slots=True)
class Checked:
    """A check with the outcome of its last run."""

    check: Check
    ok: bool
    runs: int
    failed: int
    entry: EntryIndex
    """The result of the last run."""

    def as_json(self) -> dict[str, Any]:
        """The outcome and the numbers of runs."""
        return {"check": self.check.value, "ok": self.ok, "runs": self.runs, "failed": self.failed}


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The outcome of the entries of a branch."""

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
    aborted: int
    """Replies that were stopped; their calls were not run (pi 1.5.2)."""
    usage: Usage
    costs_known: bool
    """Whether it records its cost; a branch without requests to a model cost nothing."""
    seconds: float | None
    """From the first entry with a time to the last."""
    last_reply: EntryIndex
    """The last reply with text; -1 without one."""
    last_words: str
    """Its first line that is not empty, not safe to show."""


_ASSISTANT, _RESULT, _COMMAND = int(Kind.ASSISTANT), int(Kind.TOOL_RESULT), int(Kind.BASH)
_COSTING = frozenset({int(Kind.COMPACTION), int(Kind.BRANCH_SUMMARY), int(Kind.USAGE)})
"""Kinds besides replies that record a cost."""
_CHARGED = _COSTING | {_ASSISTANT}


class _Note(NamedTuple):
    """The facts of one entry that count for the outcome, taken from its body while that is decoded for something else."""

    entry: EntryIndex
    call_id: str = ""
    """The call that a result answers."""
    failed: bool = False
    came: CallOutcome | None = None
    """The outcome of a command."""
    command: str = ""
    """Of an entry that is a command itself."""
    commands: Sequence[tuple[str, ToolCall]] = ()
    """Of a reply: its shell calls by id."""
    calls: int = 0
    words: object = None
    """Of a reply: its blocks of text."""
    usage: object = None
    aborted: bool = False
    """Of a reply: whether it was stopped."""


class OutcomeReader:
    """Notes facts from the bodies of a path and adds them up only on request, since adding up takes longer.

    Entries that were not noted are decoded then.
    """

    KINDS = frozenset({int(Kind.USER), _ASSISTANT, _RESULT, _COMMAND})
    """Kinds of entries that it notes."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._noted: dict[int, _Note | bool] = {}
        """Notes by entry; for a result without a command only whether it failed."""
        self._kinds = session.columns.kind
        self._table = table_of(session)
        self._shells = [b'"toolName":"%b"' % name.encode() for name in self._table.shells]
        """Marks of a shell's result in its line."""
        self._calls: dict[str, ToolCall] = {}
        self._checks: dict[Check, Checked] = {}
        self._commands = self._failed = self._errors = self._made = self._replies = self._aborted = 0
        self._exit: int | None = None
        self._usage = Usage()
        self._cost = 0.0
        self._sums = [0, 0, 0, 0, 0]
        self._reply = NO_ENTRY
        self._words: object = None

    def take(self, index: EntryIndex, body: Body, message: Body, calls: list[ToolCall]) -> None:
        """Notes the next entry of the path: its body, the message in it, and those calls of the message that were run."""
        kind = self._kinds[index]
        if kind == _ASSISTANT:
            content = message.get("content")
            if isinstance(content, list):
                content = [one for one in content if isinstance(one, dict) and one.get("type") == "text"]
            shells = self._table.shells
            note = _Note(
                index,
                "",
                message.get("stopReason") == "error",
                None,
                "",
                [(call.id, call) for call in calls if call.name in shells],
                len(calls),
                content,
                message.get("usage"),
                message.get("stopReason") == "aborted",
            )
        elif kind == _RESULT:
            fails = bool(message.get("isError"))
            if str(message.get("toolName")) not in self._table.shells:
                self._noted[index] = fails
                return
            note = _Note(index, str(message.get("toolCallId")), fails, outcome(body, self._table))
        elif kind == _COMMAND:
            note = _Note(index, came=outcome(body, self._table), command=str(message.get("command") or ""))
        else:
            return
        self._noted[index] = note

    def _needs(self, index: int, line: bytes) -> bool:
        """Whether a line of a native file has to be decoded; facts that its bytes already show are noted here."""
        result = result_in(line) if self._kinds[index] == _RESULT else None
        if result is None or any(shell in line for shell in self._shells):
            return True
        self._noted[index] = result[1]
        return False

    def outcomes(self, entries: Sequence[int]) -> Outcomes:
        """The outcome of some entries of the path, which must include all that were taken. Call it only once."""
        kinds = self._kinds
        spoken = [at for at in entries if kinds[at] in self.KINDS]
        for index, body in self._session.bodies([at for at in spoken if at not in self._noted], self._needs):
            message = body.get("message") if body is not None else None
            if body is not None and isinstance(message, dict):
                ran = kinds[index] == _ASSISTANT and did_run(message)
                self.take(index, body, message, tool_calls(message) if ran else [])
        for at in spoken:
            note = self._noted.pop(at, None)
            if isinstance(note, _Note):
                self._add(note)
            elif note:
                self._errors += 1
        first, last = (self._time(order) for order in (spoken, reversed(spoken)))
        span = (last - first) / 1000 if first is not None and last is not None else None
        words = text_of(self._words).split("\n")
        usage = self._usage + _summed(self._sums, self._cost)
        # Summaries have a cost as well, and so do requests that left only their usage.
        for _, body in self._session.bodies([at for at in entries if kinds[at] in _COSTING]):
            usage += (usage_of(body) if body is not None else None) or Usage()
        return Outcomes(
            tuple(self._checks[check] for check in Check if check in self._checks),
            self._commands,
            self._failed,
            self._exit,
            self._errors,
            self._made,
            self._replies,
            self._aborted,
            usage,
            usage.cost > 0 or not any(kinds[at] in _CHARGED for at in entries),
            span if span is None or span >= 0 else None,
            self._reply,
            next((line.strip() for line in words if line.strip()), ""),
        )

    def _time(self, entries: Iterable[int]) -> int | None:
        """The time of the first of some entries that records one."""
        for at in entries:
            body = self._session.body(at)
            written = written_at(body) if body is not None else None
            if written is not None:
                return written
        return None

    def _add(self, note: _Note) -> None:
        kind = self._kinds[note.entry]
        if kind == _ASSISTANT:
            self._replies += 1
            self._errors += note.failed
            self._aborted += note.aborted
            self._spend(note.usage)
            if _says(note.words):
                self._reply, self._words = note.entry, note.words
            self._made += note.calls
            self._calls.update(note.commands)
        elif kind == _COMMAND:
            if note.came is not None:
                self._ran(note.entry, note.came, note.command)
        else:
            call = self._calls.pop(note.call_id, None)
            if call is not None:
                ended = note.came or CallOutcome(not note.failed, None, 0)
                self._ran(note.entry, ended, command_text(call, self._table))
            else:
                self._errors += note.failed

    def _spend(self, usage: object) -> None:
        if not isinstance(usage, dict):
            return
        parts = [part for name in _COUNTED if type(part := usage.get(name)) is int]
        cost = usage.get("cost")
        dollars = cost.get("total") if isinstance(cost, dict) else None
        # The usual form of providers; any other form takes the slow way.
        if len(parts) == len(_COUNTED) and isinstance(dollars, (int, float)) and math.isfinite(dollars):
            self._sums = [known + part for known, part in zip(self._sums, parts, strict=True)]
            self._cost += dollars
        else:
            self._usage += read_usage(usage) or Usage()

    def _ran(self, index: EntryIndex, came: CallOutcome, command: str) -> None:
        self._commands += 1
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
    sent, output, read, written, total = parts
    return Usage(sent, output, read, written, total, cost, priced=any(parts))


def _says(content: object) -> bool:
    """Whether a reply holds something besides thinking and tool calls."""
    if isinstance(content, str):
        return bool(content.strip())
    if not isinstance(content, list):
        return False
    return any(
        isinstance(block, dict) and block.get("type") == "text" and str(block.get("text", "")).strip()
        for block in content
    )
