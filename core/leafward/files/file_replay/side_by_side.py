"""Steps of calls that run beside others: those of one reply, and commands that still run when their result comes.

Works on the rows that `step_reader` makes, which hold the fields of a step until its result is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.files.file_names import matches, within
from leafward.files.file_operation import FileOperation
from leafward.files.file_replay.steps import ReplayStep
from leafward.files.file_request import Proof
from leafward.files.running_commands import POLLS, process_in
from leafward.session.entries import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from leafward.files.file_replay.steps import StepOutcome
    from leafward.session.entries import Body, ToolCall

StepRow = list[Any]
"""The fields of a step whose result may still follow."""
_CALL, _DEED, _PATH, _OUTCOME, _INFERRED, _TO, _PROOF, _GLOB, _WHOLE = map(
    ReplayStep._fields.index,
    ("call_id", "operation", "path", "outcome", "inferred", "to", "proof", "glob", "whole"),
)


def run_together(rows: Sequence[StepRow], cwd: str) -> Iterator[str]:
    """The files of which nothing is known behind the calls of one reply, which run at the same time; reads that tell nothing are marked.

    A read may have come before or after a change of its file; a command changes one before or after the other calls do, also one
    that it does not name: by a pattern, or with its folder. `cwd` is the session's folder.
    """
    calls: dict[str, set[str]] = {}
    changed: set[str] = set()
    by_command: set[str] = set()
    for row in rows:
        for path in _paths(row):
            calls.setdefault(path, set()).add(row[_CALL])
            if row[_DEED].changes:
                (by_command if row[_INFERRED] else changed).add(path)
    for row in rows:
        if row[_GLOB] or row[_DEED] is FileOperation.SWEEP or (row[_INFERRED] and row[_DEED].changes):
            for path, named in calls.items():
                if row[_CALL] not in named and _covers(row, path, cwd):
                    named.add(row[_CALL])
                    by_command.add(path)
    mixed = {path for path in changed | by_command if len(calls[path]) > 1}
    for row in rows:
        if row[_PATH] in mixed and row[_DEED] is FileOperation.READ:
            row[_PROOF] = Proof.LATER
    yield from sorted(mixed & by_command)


def _paths(row: StepRow) -> Iterable[str]:
    return (row[_PATH],) if row[_TO] is None else (row[_PATH], row[_TO])


def _covers(row: StepRow, path: str, cwd: str) -> bool:
    """Whether a command may change a file that it does not name."""
    if row[_GLOB]:
        return matches(path, row[_PATH].split("/"))
    if row[_DEED] is FileOperation.SWEEP:
        return within(path, row[_PATH], cwd, repository=row[_WHOLE])
    return any(path.startswith(f"{name}/") for name in _paths(row))


class RunningCommands:
    """Commands on one path that still ran at their result. Only when they end it is known whether their changes were made."""

    def __init__(self, rows: Sequence[StepRow]) -> None:
        """`rows` are those of the path, to which others append."""
        self._rows = rows
        self._running: dict[str, tuple[int, list[tuple[StepRow, Proof]]]] = {}
        """By a process, the rows by its result, and its changes with the evidence for them once it ends."""
        self._polls: dict[str, str] = {}
        """By a call that waits for a process, that process."""

    def called(self, call: ToolCall) -> None:
        """Notes a call that waits for a process."""
        if call.name == POLLS:
            self._polls[call.id] = str(call.arguments.get("session_id"))

    def answered(
        self, call_id: str, message: Body, waiting: Iterable[StepRow], outcome: StepOutcome
    ) -> Iterator[str]:
        """Takes the result of a call; the files that a command which ended here may have changed behind what others did to them."""
        changes = [row for row in waiting if row[_INFERRED] and row[_DEED].changes]
        polled = self._polls.pop(call_id, "")
        if not changes and polled not in self._running:
            return
        process = process_in(text_of(message.get("content")))
        if process is not None and changes:
            self._running[process] = len(self._rows), [(row, row[_PROOF]) for row in changes]
            for row in changes:
                row[_PROOF] = Proof.LATER
        elif process is None and polled in self._running:
            since, ended = self._running.pop(polled)
            touched = {path for row in self._rows[since:] for path in _paths(row)}
            for row, proof in ended:
                row[_PROOF], row[_OUTCOME] = proof, outcome
                yield from touched.intersection(_paths(row))
