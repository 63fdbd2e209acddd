"""What calls ask of files, and what became of it: the steps of a path, in order.

One pass decodes each entry once. What a call wants to write is not kept; `asked` gives it again for one call.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from enum import StrEnum
from itertools import compress, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from leafward.call_lines import NO_CALL, CallShapes, string, told_result
from leafward.commands import parsed_patch, patches_in, script_of
from leafward.edits import Action, command_in, delta_in, delta_of, delta_told, line_count, line_delta, path_in, replacements, table_of
from leafward.entries import NO_ENTRY, Body, EntryIndex, Kind, ToolCall, tool_calls
from leafward.files import did_run, locate, nested_calls
from leafward.rebuilding.texts import Replacement
from leafward.shell import Effect, effects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from leafward.edits import ToolTable
    from leafward.session import Session


class Deed(StrEnum):
    """What is done to a file."""

    READ = "read"
    WRITE = "write"
    """All of it is new."""
    EDIT = "edit"
    APPEND = "append"
    CHANGE = "change"
    """Changed in a way that the call does not tell: by a command, or a cell of a notebook."""
    DELETE = "delete"
    MOVE = "move"
    COPY = "copy"

    @property
    def changes(self) -> bool:
        """Whether a file is another afterwards."""
        return self is not Deed.READ


class Outcome(StrEnum):
    """What became of a call."""

    DONE = "done"
    FAILED = "failed"
    UNANSWERED = "unanswered"
    """No result of it is on the path: nobody knows whether it was done."""


class Asked(NamedTuple):
    """What a call asks of one file."""

    deed: Deed
    path: str
    """As the agent wrote it; relative to the folder of its command where that was named."""
    inferred: bool = False
    """Read off a shell command: it may have done something else."""
    text: str | None = None
    """What is written or appended; None where the call does not say it."""
    replacements: tuple[Replacement, ...] = ()
    in_order: bool = False
    """Whether the replacements are the places of a patch, one behind the other."""
    to: str | None = None
    """Where it is moved or copied to."""
    fresh: bool = False
    """Whether nothing can have lain there before."""


class Step(NamedTuple):
    """What one call did to one file."""

    entry: EntryIndex
    """The reply that holds the call; the result, for a call made by a tool."""
    result: EntryIndex
    """The entry that answers it; `NO_ENTRY` where none does."""
    call_id: str
    order: int
    """Its place among what the call asks for."""
    deed: Deed
    path: str
    """As `files.locate` gives it: relative to the session's folder when inside it."""
    outcome: Outcome
    inferred: bool
    added: int
    """Lines."""
    removed: int
    to: str | None
    fresh: bool = False
    """Whether nothing can have lain under `to` before."""


_OF_EFFECT = {
    Effect.READ: Deed.READ,
    Effect.WRITE: Deed.WRITE,
    Effect.APPEND: Deed.APPEND,
    Effect.CHANGE: Deed.CHANGE,
    Effect.DELETE: Deed.DELETE,
    Effect.MOVE: Deed.MOVE,
    Effect.COPY: Deed.COPY,
}


_OF_ACTION = {Action.READ: Deed.READ, Action.WRITE: Deed.WRITE, Action.EDIT: Deed.EDIT}
_NOTEBOOK = ".ipynb"


def asked(call: ToolCall, table: ToolTable) -> list[Asked]:
    """What a call asks of files, in the order in which it is done."""
    action = table.actions.get(call.name)
    if action is not None and call.name not in table.patches:
        path = path_in(call.arguments, table)
        return [_by_tool(call, table, action, path)] if path is not None else []
    if call.name in table.patches:
        texts = [
            text for name in table.patches[call.name] if isinstance(text := call.arguments.get(name), str)
        ]
        return [one for text in texts for one in _by_patch(text, None)]
    if call.name not in table.shells:
        return []
    command = command_in(call, table) if table.command else call.arguments.get("command")
    folder = next((str(call.arguments[name]) for name in table.folder if call.arguments.get(name)), None)
    patches = list(patches_in(command)) if table.command else []
    if patches:
        return [one for text in patches for one in _by_patch(text, folder)]
    return by_command(command, folder or "")


def by_command(command: object, folder: str = "") -> list[Asked]:
    """What a shell command does to files, as far as its words say."""
    script = script_of(command)
    return [
        Asked(_OF_EFFECT[one.effect], one.path, True, one.text, to=one.to, fresh=one.fresh)
        for one in effects(script or "", folder)
    ]


def _by_tool(call: ToolCall, table: ToolTable, action: Action, path: str) -> Asked:
    if action is Action.READ:
        return Asked(Deed.READ, path)
    if action is Action.WRITE:
        return Asked(Deed.WRITE, path, text=replacements(action, call.arguments, table)[0][1])
    everywhere = any(call.arguments.get(name) is True for name in ("replace_all", "replaceAll"))
    places = tuple(
        Replacement(old, new, everywhere) for old, new in replacements(action, call.arguments, table)
    )
    if path.endswith(_NOTEBOOK) and not any(one.old for one in places):
        # An edit of a notebook names a cell, not a text of the file.
        return Asked(Deed.CHANGE, path, replacements=places)
    return Asked(Deed.EDIT, path, replacements=places)


def _by_patch(text: str, folder: str | None) -> Iterator[Asked]:
    for file in parsed_patch(text):
        path = _within(file.path, folder)
        if file.verb == "add":
            yield Asked(Deed.WRITE, path, text=file.content)
        elif file.verb == "delete":
            yield Asked(Deed.DELETE, path)
        else:
            if file.replaced or file.moved_to is None:
                places = tuple(Replacement(old, new) for old, new in file.replaced)
                yield Asked(Deed.EDIT, path, replacements=places, in_order=True)
            if file.moved_to is not None:
                yield Asked(Deed.MOVE, path, to=_within(file.moved_to, folder), fresh=True)


def _within(path: str, folder: str | None) -> str:
    if not folder or path.startswith(("~", "/")):
        return path
    return f"{folder.rstrip('/')}/{path}"


def lines_changed(one: Asked) -> tuple[int, int]:
    """Lines added and removed, as far as the call says."""
    if one.text is not None:
        return line_count(one.text), 0
    added = removed = 0
    for place in one.replacements:
        more, fewer = line_delta(place.old, place.new)
        added, removed = added + more, removed + fewer
    return added, removed


_Row = list[Any]
"""The fields of a step whose result may still come."""
_ENTRY, _ANSWER, _DEED, _OUTCOME, _ADDED, _REMOVED = map(
    Step._fields.index, ("entry", "result", "deed", "outcome", "added", "removed")
)

# Looking a member of an enumeration up costs as much as a part of an entry's work here.
_READ, _EDIT = Deed.READ, Deed.EDIT
_DONE, _FAILED, _UNANSWERED = Outcome.DONE, Outcome.FAILED, Outcome.UNANSWERED
_ASSISTANT, _RESULT, _COMMAND = int(Kind.ASSISTANT), int(Kind.TOOL_RESULT), int(Kind.BASH)
_KINDS = bytes(kind in (_ASSISTANT, _RESULT, _COMMAND) for kind in range(256))
"""Kinds that have steps."""
Decoded = Callable[[EntryIndex, Body, Body, list[ToolCall]], object]


def _ignored(*_: object) -> None:
    """Nobody wants to know."""


_AT_ONCE = 512
"""Entries between two looks at `stop`."""


class StepReader:
    """Reads the file steps of paths, and remembers what paths and commands mean that come again and again.

    Lines are taken as bytes where these tell enough, else decoded. Calls of a reply that was aborted were not run
    (pi 1.5.2) and are no steps.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._decoded: Decoded = _ignored
        self._kinds = session.columns.kind
        self._table = table = table_of(session)
        self._shapes = CallShapes(table)
        self._actions = {
            name: (one, _OF_ACTION[one]) for name, one in table.actions.items() if name not in table.patches
        }
        self._folder = session.cwd
        self._located: dict[str, str] = {}
        self._paths: dict[bytes, str] = {}
        """The same by what stands in a line."""
        self._scripts: dict[bytes, list[Asked]] = {}
        """What commands do, by what stands in a line."""
        self._rows: list[_Row] = []
        self._waiting: dict[str, list[_Row]] = {}
        """By the call whose result did not come yet."""
        self._edits: dict[str, ToolCall | None] = {}
        """Of these the edits, None where the reply was not decoded. Counting their lines takes long, and results may tell."""

    def read(
        self,
        entries: Iterable[int],
        stop: Callable[[], bool] = lambda: False,
        decoded: Decoded = _ignored,
    ) -> list[Step]:
        """The steps of entries of one path, in the order in which they were done. Empty once `stop` turns true.

        Calls that nothing answered on it are `UNANSWERED`. `decoded` is given what had to be decoded: an entry, its body,
        the message in it, and calls of that which were run.
        """
        self._rows, self._waiting, self._edits, self._decoded = [], {}, {}, decoded
        rest = iter(entries)
        while some := array("q", islice(rest, _AT_ONCE)):
            if stop():
                return []
            wanted = compress(some, bytes(map(self._kinds.__getitem__, some)).translate(_KINDS))
            for index, body in self._session.bodies(wanted, self._needs):
                if body is not None:
                    self._take(index, body)
        for call_id, waiting in self._waiting.items():
            self._count(call_id, waiting)
        return list(map(Step._make, self._rows))

    def _needs(self, index: int, line: bytes) -> bool:
        """Whether a line of a native file has to be decoded; what its bytes tell is taken here."""
        kind = self._kinds[index]
        if kind == _ASSISTANT:
            call = self._shapes.one_call(line)
            return call is None or not (call is NO_CALL or self._told(index, *call))
        told = told_result(line) if kind == _RESULT else None
        if told is None:
            return True
        call_id, fails, diff = told
        waiting = self._waiting.get(call_id)
        if waiting is None:
            return False
        if diff is None and (waiting[-1][_DEED] is not _READ or len(waiting) > 1):
            return True
        delta = delta_told(diff) if diff else None
        self._answer(index, call_id, _FAILED if fails else _DONE, delta)
        return False

    def _take(self, index: EntryIndex, body: Body) -> None:
        """The next entry of the path, decoded."""
        message = body.get("message")
        if not isinstance(message, dict):
            return
        kind, calls = self._kinds[index], list[ToolCall]()
        if kind == _RESULT:
            outcome = _FAILED if message.get("isError") else _DONE
            self._answer(index, str(message.get("toolCallId")), outcome, delta_in(body))
            for call in nested_calls(message):
                self._rows += self._rows_of(asked(call, self._table), index, index, call.id, Outcome.DONE)
        elif kind == _COMMAND:
            outcome = _FAILED if message.get("cancelled") or message.get("exitCode") else _DONE
            self._rows += self._rows_of(by_command(message.get("command")), index, index, "", outcome)
        elif kind == _ASSISTANT and did_run(message):
            calls = tool_calls(message)
            for call in calls:
                self._called(index, call)
        self._decoded(index, body, message, calls)

    def _told(self, index: int, call_id: str, tool: str, said: bytes, text: str | None) -> bool:
        """Takes in a call as its bytes tell it (`CallShapes`); False where that is not enough."""
        does = self._actions.get(tool)
        if does is None:
            made = self._scripts.get(said)
            if made is None:
                call = self._shapes.as_call((call_id, tool, said, text))
                if call is None:
                    return False
                made = self._scripts[said] = asked(call, self._table)
            self._names_some(index, call_id, made)
            return True
        place = self._paths.get(said)
        if place is None:
            path = string(said)
            if not path or path.endswith(_NOTEBOOK):
                return False
            place = self._paths[said] = self._located.get(path) or self._locate(path)
        self._names_one(index, call_id, does[1], place, line_count(text) if text else 0)
        if does[1] is _EDIT:
            self._edits[call_id] = None
        return True

    def _called(self, index: int, call: ToolCall) -> None:
        """Takes in a call."""
        does = self._actions.get(call.name)
        if does is None:
            self._names_some(index, call.id, asked(call, self._table))
            return
        path = path_in(call.arguments, self._table)
        if path is None:
            return
        action, deed = does
        if path.endswith(_NOTEBOOK):
            deed = asked(call, self._table)[0].deed
        place = self._located.get(path) or self._locate(path)
        if action is Action.EDIT:
            self._names_one(index, call.id, deed, place, 0)
            self._edits[call.id] = call
        else:
            self._names_one(index, call.id, deed, place, delta_of(action, call.arguments, self._table)[0])

    def _names_one(self, index: int, call_id: str, deed: Deed, path: str, added: int) -> None:
        """A call of a tool that names its one file."""
        row = [index, NO_ENTRY, call_id, 0, deed, path, _UNANSWERED, False, added, 0, None, False]
        self._rows.append(row)
        if call_id in self._waiting:
            self._again(call_id, [row])
        else:
            self._waiting[call_id] = [row]

    def _names_some(self, index: int, call_id: str, made: list[Asked]) -> None:
        """A call of a shell, a patch, or what is no tool of files."""
        if not made:
            return
        rows = self._rows_of(made, index, NO_ENTRY, call_id, _UNANSWERED)
        self._rows += rows
        self._again(call_id, rows)

    def _again(self, call_id: str, rows: list[_Row]) -> None:
        """A call of an id that may have been there before: the latest is the one that a result answers."""
        before = self._waiting.get(call_id, [])
        self._count(call_id, before)
        same = before and before[0][_ENTRY] == rows[0][_ENTRY]
        self._waiting[call_id] = [*before, *rows] if same else rows

    def _rows_of(
        self, made: list[Asked], entry: int, result: int, call_id: str, outcome: Outcome
    ) -> list[_Row]:
        rows = []
        for order, one in enumerate(made):
            added, removed = lines_changed(one)
            path = self._located.get(one.path) or self._locate(one.path)
            to = self._locate(one.to) if one.to is not None else None
            rows.append(
                [entry, result, call_id, order, one.deed, path, outcome, one.inferred, added, removed, to, one.fresh]
            )
        return rows

    def _answer(self, result: int, call_id: str, outcome: Outcome, delta: tuple[int, int] | None) -> None:
        """Takes in what became of a call, and the lines that it changed where the result tells."""
        waiting = self._waiting.pop(call_id, ())
        changed = None
        for row in waiting:
            row[_ANSWER], row[_OUTCOME] = result, outcome
            if row[_DEED] is not _READ:
                # The diff in a result is that of the whole call.
                changed, delta = row, None if changed is not None else delta
        if changed is not None:
            if delta is None:
                self._count(call_id, waiting)
            else:
                changed[_ADDED], changed[_REMOVED] = delta
                self._edits.pop(call_id, None)

    def _count(self, call_id: str, rows: list[_Row]) -> None:
        """Counts the lines of an edit as its call says."""
        if call_id in self._edits:
            call = self._edits.pop(call_id) or self._call(rows[-1][_ENTRY])
            rows[-1][_ADDED], rows[-1][_REMOVED] = delta_of(Action.EDIT, call.arguments, self._table)

    def _call(self, index: EntryIndex) -> ToolCall:
        """The one call of a reply that was not decoded."""
        body = self._session.body(index) or {}
        message = body["message"]
        calls = tool_calls(message)
        self._decoded(index, body, message, calls)
        return calls[0]

    def _locate(self, path: str) -> str:
        found = self._located[path] = locate(path, self._folder)
        return found


def steps(session: Session, entries: Iterable[int], stop: Callable[[], bool] = lambda: False) -> list[Step]:
    """The file steps of entries of one path, in the order in which they were done. Empty once `stop` turns true."""
    return StepReader(session).read(entries, stop)
