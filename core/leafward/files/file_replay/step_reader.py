"""The file steps of a path, read in one pass.

Each entry is decoded once, or not at all where the bytes of its line tell enough. Texts to be written are not kept;
`requests_in` gives them again for one call.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable
from itertools import compress, islice
from typing import TYPE_CHECKING

from leafward.files.call_lines import NO_CALL, CallShapes, result_in, string
from leafward.files.edits import delta_in, delta_of, delta_told, line_count
from leafward.files.file_names import in_folder, locate
from leafward.files.file_operation import FileOperation
from leafward.files.file_replay.side_by_side import RunningCommands, StepRow, run_together
from leafward.files.file_replay.steps import (
    NOTEBOOK,
    OF_ACTION,
    ReplayStep,
    StepOutcome,
    by_command,
    lines_changed,
    requests_in,
)
from leafward.files.file_request import BulkCommand, FileRequest, Proof
from leafward.files.reads import lists_folder
from leafward.files.tool_calls import FileAction, path_in, table_of
from leafward.session.entries import NO_ENTRY, Body, EntryIndex, Kind, ToolCall, text_of, tool_calls
from leafward.session.messages import MAY_HAVE_RUN, did_run, nested_calls

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.session.session import Session

_PLAIN = tuple(ReplayStep._field_defaults.values())
"""The default values of a step's last fields, for calls other than commands."""
_ENTRY, _ANSWER, _DEED, _OUTCOME, _ADDED, _REMOVED = map(
    ReplayStep._fields.index, ("entry", "result", "operation", "outcome", "added", "removed")
)

# Looking up a member of an enumeration costs a noticeable part of an entry's work here.
_READ, _EDIT = FileOperation.READ, FileOperation.EDIT
_DONE, _FAILED, _UNANSWERED = StepOutcome.DONE, StepOutcome.FAILED, StepOutcome.UNANSWERED
_ASSISTANT, _RESULT, _COMMAND = int(Kind.ASSISTANT), int(Kind.TOOL_RESULT), int(Kind.BASH)
_KINDS = bytes(kind in (_ASSISTANT, _RESULT, _COMMAND) for kind in range(256))
Decoded = Callable[[EntryIndex, Body, Body, list[ToolCall]], object]


def _ignored(*_: object) -> None:
    """Ignores a decoded entry."""


_AT_ONCE = 512
"""Entries between two checks of `stop`."""


class StepReader:
    """A reader of the file steps of paths that caches the parsed form of recurring paths and commands.

    Lines are read as bytes where these tell enough, else decoded. Calls of a reply that was aborted were not run (pi 1.5.2)
    and are not steps. Without `counts` the changed lines of an edit stay 0 where only its call tells them.
    """

    def __init__(self, session: Session, *, counts: bool = True) -> None:
        self._session = session
        self._counts = counts
        self._decoded: Decoded = _ignored
        self._kinds = session.columns.kind
        self._table = table = table_of(session)
        self._shapes = CallShapes(table)
        self._one_call = self._shapes.one_call
        self._actions = {
            name: (one, OF_ACTION[one]) for name, one in table.actions.items() if name not in table.patches
        }
        self._folder = session.cwd
        self._located: dict[str, str] = {}
        """Located paths, by the path that a tool names."""
        self._spoken: dict[str, str] = {}
        """Located paths in commands, which no tool tidies."""
        self._paths: dict[bytes, str] = {}
        """Located paths, by the bytes of a line."""
        self._scripts: dict[bytes, list[FileRequest]] = {}
        """Requests of commands, by the bytes of a line."""
        self._rows: list[StepRow] = []
        self._waiting: dict[str, list[StepRow]] = {}
        """Rows by the call whose result has not come yet."""
        self._running = RunningCommands(self._rows)
        self._edits: dict[str, ToolCall | None] = {}
        """The edits among these, None where the reply was not decoded.

        Counting their lines takes long, and results may tell them.
        """

    def read(
        self, entries: Iterable[int], stop: Callable[[], bool] = lambda: False, decoded: Decoded = _ignored
    ) -> list[ReplayStep]:
        """The steps of entries of one path, in the order in which they were done. Empty once `stop` turns true.

        Calls without a result on the path are `UNANSWERED`. `decoded` receives what had to be decoded: an entry, its body,
        its message, and the message's calls that were run.
        """
        self._rows, self._waiting, self._edits, self._decoded = [], {}, {}, decoded
        self._running = RunningCommands(self._rows)
        rest = iter(entries)
        while some := array("q", islice(rest, _AT_ONCE)):
            if stop():
                return []
            chosen = compress(some, bytes(map(self._kinds.__getitem__, some)).translate(_KINDS))
            for index, body in self._session.bodies(chosen, self._needs):
                if body is not None:
                    self._take(index, body)
        for call_id, waiting in self._waiting.items():
            self._count(call_id, waiting)
        return list(map(ReplayStep._make, self._rows))

    def _needs(self, index: int, line: bytes) -> bool:
        """Whether a line of a native file has to be decoded; if not, its bytes are processed here."""
        kind = self._kinds[index]
        if kind == _ASSISTANT:
            call = self._one_call(line)
            return call is None or not (call is NO_CALL or self._note_call(index, *call))
        result = result_in(line) if kind == _RESULT else None
        if result is None:
            return True
        call_id, fails, diff = result
        waiting = self._waiting.get(call_id)
        if waiting is None:
            return False
        if fails and b"aborted" in line:
            return True
        if diff is None and (waiting[-1][_DEED] is not _READ or len(waiting) > 1):
            return True
        delta = delta_told(diff) if diff else None
        self._answer(index, call_id, _FAILED if fails else _DONE, delta)
        return False

    def _take(self, index: EntryIndex, body: Body) -> None:
        """Processes the next entry of the path, decoded."""
        message = body.get("message")
        if not isinstance(message, dict):
            return
        kind, calls = self._kinds[index], list[ToolCall]()
        if kind == _RESULT:
            failed = message.get("isError") or lists_folder(message.get("content"), self._table.own.read_form)
            outcome = _FAILED if failed else _DONE
            if failed and self._was_stopped(message):
                outcome = _UNANSWERED
            call_id = str(message.get("toolCallId"))
            waiting = self._waiting.get(call_id, ())
            self._unknown_behind(self._running.answered(call_id, message, waiting, outcome), index)
            self._answer(index, call_id, outcome, delta_in(body))
            for call in nested_calls(message):
                self._rows += self._rows_of(
                    requests_in(call, self._table), index, index, call.id, StepOutcome.DONE
                )
        elif kind == _COMMAND:
            outcome = _FAILED if message.get("cancelled") or message.get("exitCode") else _DONE
            self._rows += self._rows_of(by_command(message.get("command")), index, index, "", outcome)
        elif kind == _ASSISTANT and did_run(message):
            calls, begin = tool_calls(message), len(self._rows)
            for call in calls:
                self._called(index, call)
            if len(calls) > 1 and self._table.runs_together:
                self._unknown_behind(run_together(self._rows[begin:], self._folder), index)
        self._decoded(index, body, message, calls)

    def _was_stopped(self, message: Body) -> bool:
        """Whether a failed result tells only that somebody stopped the call, which may have been done by then."""
        stopped = self._table.own.stopped
        return message.get(MAY_HAVE_RUN) is True or (
            bool(stopped) and re.match(stopped, text_of(message.get("content"))) is not None
        )

    def _unknown_behind(self, paths: Iterable[str], index: EntryIndex) -> None:
        """Adds a change of unknown content to each of some files."""
        for path in paths:
            change = FileRequest(FileOperation.CHANGE, path, inferred=True, proof=Proof.NONE)
            self._rows += self._rows_of([change], index, NO_ENTRY, "", _DONE)

    def _note_call(self, index: int, call_id: str, tool: str, literal: bytes, text: str | None) -> bool:
        """Processes a call by its bytes (`CallShapes`); False where they do not tell enough."""
        does = self._actions.get(tool)
        if does is None:
            made = self._scripts.get(literal)
            if made is None:
                call = self._shapes.as_call((call_id, tool, literal, text))
                if call is None:
                    return False
                made = self._scripts[literal] = requests_in(call, self._table)
            self._names_some(index, call_id, made)
            return True
        place = self._paths.get(literal)
        if place is None:
            path = string(literal)
            if not path or path.endswith(NOTEBOOK):
                return False
            place = self._paths[literal] = self._located.get(path) or self._locate(path)
        self._names_one(index, call_id, does[1], place, line_count(text) if text else 0)
        if does[1] is _EDIT:
            self._edits[call_id] = None
        return True

    def _called(self, index: int, call: ToolCall) -> None:
        """Processes a call."""
        self._running.called(call)
        does = self._actions.get(call.name)
        if does is None:
            self._names_some(index, call.id, requests_in(call, self._table))
            return
        path = path_in(call.arguments, self._table)
        if path is None:
            return
        path = in_folder(path, call.folder)
        action, operation = does
        if path.endswith(NOTEBOOK):
            operation = requests_in(call, self._table)[0].operation
        place = self._located.get(path) or self._locate(path)
        if action is FileAction.EDIT:
            self._names_one(index, call.id, operation, place, 0)
            self._edits[call.id] = call
        else:
            self._names_one(
                index, call.id, operation, place, delta_of(action, call.arguments, self._table)[0]
            )

    def _names_one(self, index: int, call_id: str, operation: FileOperation, path: str, added: int) -> None:
        """Adds a call of a tool that names its one file."""
        row = [index, NO_ENTRY, call_id, 0, operation, path, _UNANSWERED, False, added, 0, None, *_PLAIN]
        self._rows.append(row)
        if call_id in self._waiting:
            self._again(call_id, [row])
        else:
            self._waiting[call_id] = [row]

    def _names_some(self, index: int, call_id: str, made: list[FileRequest]) -> None:
        """Adds a call of a shell, a patch, or a tool without files."""
        if not made:
            return
        rows = self._rows_of(made, index, NO_ENTRY, call_id, _UNANSWERED)
        self._rows += rows
        self._again(call_id, rows)

    def _again(self, call_id: str, rows: list[StepRow]) -> None:
        """Adds a call whose id may occur again: a result answers the latest one."""
        before = self._waiting.get(call_id, [])
        self._count(call_id, before)
        same = before and before[0][_ENTRY] == rows[0][_ENTRY]
        self._waiting[call_id] = [*before, *rows] if same else rows

    def _rows_of(
        self, made: list[FileRequest], entry: int, result: int, call_id: str, outcome: StepOutcome
    ) -> list[StepRow]:
        rows = []
        for order, one in enumerate(made):
            added, removed = lines_changed(one)
            path = self._place(one.path, inferred=one.inferred)
            to = self._place(one.to, inferred=one.inferred) if one.to is not None else None
            rows.append(
                [
                    entry,
                    result,
                    call_id,
                    order,
                    one.operation,
                    path,
                    outcome,
                    one.inferred,
                    added,
                    removed,
                    to,
                    one.fresh,
                    one.proof,
                    one.glob,
                    one.by,
                    one.whole,
                    self._place(one.home, inferred=one.inferred) if one.home is not None else None,
                ]
            )
        return rows

    def _answer(self, result: int, call_id: str, outcome: StepOutcome, delta: tuple[int, int] | None) -> None:
        """Applies the outcome of a call, and its changed lines where the result tells them."""
        waiting = self._waiting.pop(call_id, [])
        changed: StepRow | None = None
        for row in waiting:
            row[_ANSWER], row[_OUTCOME] = result, outcome
            if row[_DEED] is not _READ:
                # The diff in a result covers the whole call.
                delta = delta if changed is None else None
                changed = row
        if changed is not None:
            if delta is None:
                self._count(call_id, waiting)
            else:
                changed[_ADDED], changed[_REMOVED] = delta
                self._edits.pop(call_id, None)

    def _count(self, call_id: str, rows: list[StepRow]) -> None:
        """Counts the lines of an edit by its call."""
        if call_id in self._edits and self._counts:
            call = self._edits.pop(call_id) or self._call(rows[-1][_ENTRY])
            rows[-1][_ADDED], rows[-1][_REMOVED] = delta_of(FileAction.EDIT, call.arguments, self._table)

    def _call(self, index: EntryIndex) -> ToolCall:
        """The one call of a reply that was not decoded."""
        body = self._session.body(index) or {}
        message = body["message"]
        calls = tool_calls(message)
        self._decoded(index, body, message, calls)
        return calls[0]

    def _locate(self, path: str) -> str:
        found = self._located[path] = locate(path, self._folder, tidy=self._table.tidies_paths)
        return found

    def _place(self, path: str, *, inferred: bool) -> str:
        if not inferred or not self._table.tidies_paths:
            return self._located.get(path) or self._locate(path)
        found = self._spoken.get(path)
        if found is None:
            found = self._spoken[path] = locate(path, self._folder)
        return found


def steps(
    session: Session,
    entries: Iterable[int],
    stop: Callable[[], bool] = lambda: False,
    *,
    sweeps: bool = False,
    counts: bool = True,
) -> list[ReplayStep]:
    """The file steps of entries of one path, in the order in which they were done. Empty once `stop` turns true.

    `sweeps` adds commands that may have changed any file below a folder, and name none; `counts` as in `StepReader`.
    """
    path = array("q", entries)
    made = StepReader(session, counts=counts).read(path, stop)
    if not sweeps:
        return [step for step in made if step.operation not in (FileOperation.SWEEP, FileOperation.STAGE)]
    return _with_notices(session, path, made)


def _with_notices(session: Session, path: array[int], made: list[ReplayStep]) -> list[ReplayStep]:
    """Steps, and between them the places at which the agent noticed that a file had changed or was not there."""
    source = session.source
    told = [(entry, name, BulkCommand.NOTICED) for entry, name in source.changed_outside.items()]
    told += [(entry, name, BulkCommand.MISSED) for entry, names in source.missing.items() for name in names]
    places = {entry: place for place, entry in enumerate(path)} if told else {}
    notices = [
        ReplayStep(
            entry,
            entry,
            "",
            0,
            FileOperation.SWEEP,
            locate(name, session.cwd, tidy=table_of(session).tidies_paths),
            StepOutcome.DONE,
            inferred=True,
            added=0,
            removed=0,
            to=None,
            by=by,
        )
        for entry, name, by in told
        if entry in places
    ]
    return sorted([*made, *notices], key=lambda step: places[step.entry]) if notices else made
