"""What calls ask of files, and what became of it: the steps of a path, in order.

One pass decodes each entry once. What a call wants to write is not kept; `asked` gives it again for one call.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from leafward.commands import parsed_patch, patches_in, script_of, texts_in
from leafward.edits import Action, command_in, delta_in, line_delta, lines_of, path_in, replacements, table_of
from leafward.entries import NO_ENTRY, Body, EntryIndex, Kind, ToolCall, tool_calls
from leafward.files import did_run, locate, nested_calls
from leafward.rebuilding.texts import Replacement
from leafward.shell import Effect, Proof, effects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from leafward.commands import PatchPlace
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
    places: tuple[PatchPlace, ...] = ()
    """Of a patch, which replaces nothing else."""
    to: str | None = None
    """Where it is moved or copied to."""
    fresh: bool = False
    """Whether nothing can have lain there before."""
    proof: Proof = Proof.EXIT
    """What tells that it was done, where the call was."""
    glob: bool = False
    """Whether `path` is a shell's pattern."""


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
    proof: Proof = Proof.EXIT
    """What tells that this part of the call was done, where the call was."""
    glob: bool = False
    """Whether `path` is a shell's pattern: which files that were is not known."""


_OF_EFFECT = {
    Effect.READ: Deed.READ,
    Effect.WRITE: Deed.WRITE,
    Effect.APPEND: Deed.APPEND,
    Effect.CHANGE: Deed.CHANGE,
    Effect.DELETE: Deed.DELETE,
    Effect.MOVE: Deed.MOVE,
    Effect.COPY: Deed.COPY,
}


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
    if call.name in table.scripts:
        programs = (call.arguments.get(name) for name in table.scripts[call.name])
        return [one for text in programs if isinstance(text, str) for one in _by_program(text)]
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
        Asked(
            _OF_EFFECT[one.effect],
            one.path,
            True,
            one.text,
            to=one.to,
            fresh=one.fresh,
            proof=one.proof,
            glob=one.glob,
        )
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
    if path.endswith(".ipynb") and not any(one.old for one in places):
        # An edit of a notebook names a cell, not a text of the file.
        return Asked(Deed.CHANGE, path, replacements=places)
    return Asked(Deed.EDIT, path, replacements=places)


def _by_program(program: str) -> Iterator[Asked]:
    """What a program that calls other tools does to files, as far as its texts say: what of it ran, and how often, is not known."""
    for text, is_command in texts_in(program):
        for file in parsed_patch(text):
            deed = Deed.DELETE if file.verb == "delete" else Deed.CHANGE
            yield Asked(deed, file.path, True, proof=Proof.NONE)
            if file.moved_to is not None:
                yield Asked(Deed.MOVE, file.path, True, to=file.moved_to, proof=Proof.NONE)
        if is_command and "*** Begin Patch" not in text:
            yield from (one._replace(proof=Proof.NONE) for one in by_command(text))


def _by_patch(text: str, folder: str | None) -> Iterator[Asked]:
    for file in parsed_patch(text):
        path = _within(file.path, folder)
        if file.verb == "add":
            yield Asked(Deed.WRITE, path, text=file.content)
        elif file.verb == "delete":
            yield Asked(Deed.DELETE, path)
        else:
            if file.replaced or file.moved_to is None:
                changed = tuple(Replacement(old, new) for old, new in file.replaced)
                yield Asked(Deed.EDIT, path, replacements=changed, places=tuple(file.places))
            if file.moved_to is not None:
                yield Asked(Deed.MOVE, path, to=_within(file.moved_to, folder))


def _within(path: str, folder: str | None) -> str:
    if not folder or path.startswith(("~", "/")):
        return path
    return f"{folder.rstrip('/')}/{path}"


def lines_changed(one: Asked) -> tuple[int, int]:
    """Lines added and removed, as far as the call says."""
    if one.text is not None:
        return len(lines_of(one.text)), 0
    added = removed = 0
    for place in one.replacements:
        more, fewer = line_delta(place.old, place.new)
        added, removed = added + more, removed + fewer
    return added, removed


class _Waiting(NamedTuple):
    entry: EntryIndex
    order: int
    asked: Asked
    place: int


# As plain integers: looking a member of an enumeration up costs as much as a part of an entry's work here.
_ASSISTANT, _RESULT, _COMMAND = int(Kind.ASSISTANT), int(Kind.TOOL_RESULT), int(Kind.BASH)


class StepReader:
    """Takes the bodies of a path one after the other and gives its steps.

    Calls of a reply that was aborted were not run (pi 1.5.2) and are no steps.
    """

    KINDS = frozenset({_ASSISTANT, _RESULT, _COMMAND})
    """Kinds that have steps."""

    def __init__(self, session: Session) -> None:
        self._kinds = session.columns.kind
        self._table = table = table_of(session)
        self._touching = frozenset({*table.actions, *table.patches, *table.shells, *table.scripts})
        self._folder = session.cwd
        self._located: dict[str, str] = {}
        self._found: list[Step | None] = []
        self._waiting: dict[str, list[_Waiting]] = {}

    def needs(self, index: int, line: bytes) -> bool:
        """Whether a line of a native file has to be decoded. To be asked in the order of the path.

        A reply that calls nothing has not; of a result that tells no more than whether the call was done, that is taken here.
        """
        kind = self._kinds[index]
        if kind == _ASSISTANT:
            return _CALLS in line
        if kind != _RESULT:
            return True
        begin = line.find(_ANSWERS) + len(_ANSWERS)
        call_id = line[begin : line.find(b'"', begin)]
        if begin < len(_ANSWERS) or b"\\" in call_id or _NESTED in line or not line.endswith(b"}"):
            return True
        name = call_id.decode("utf-8", "replace")
        if line.count(_ANSWERS, begin):
            return True
        if name not in self._waiting:
            return False
        fine = line.count(_FINE)
        if fine + line.count(_FAILED) != 1 or line.count(b'"isError"') != 1 or (fine and _DIFF in line):
            return True
        self._answer(EntryIndex(index), name, Outcome.DONE if fine else Outcome.FAILED, None)
        return False

    def take(self, index: EntryIndex, body: Body, message: Body, calls: list[ToolCall]) -> None:
        """The next entry of the path: its body, the message in it, and the calls of that which were run."""
        kind = self._kinds[index]
        if kind == _RESULT:
            outcome = Outcome.FAILED if message.get("isError") else Outcome.DONE
            self._answer(index, str(message.get("toolCallId")), outcome, body)
            for call in nested_calls(message):
                for order, one in enumerate(asked(call, self._table)):
                    self._found.append(self._step(one, index, index, call.id, order, Outcome.DONE))
        elif kind == _COMMAND:
            outcome = Outcome.FAILED if message.get("cancelled") or message.get("exitCode") else Outcome.DONE
            for order, one in enumerate(by_command(message.get("command"))):
                self._found.append(self._step(one, index, index, "", order, outcome))
        elif kind == _ASSISTANT:
            for call in calls:
                if call.name not in self._touching:
                    continue
                made = asked(call, self._table)
                waiting = self._waiting.setdefault(call.id, []) if made else []
                if waiting and waiting[0].entry != index:
                    # A provider may use an id again in a later reply: the latest call is the one that a result answers.
                    self._unanswered(call.id, waiting)
                    waiting.clear()
                for order, one in enumerate(made):
                    waiting.append(_Waiting(index, order, one, len(self._found)))
                    self._found.append(None)

    def steps(self) -> list[Step]:
        """What was found, in the order in which it was done. Calls that nothing answered are `UNANSWERED`."""
        for call_id, unanswered in self._waiting.items():
            self._unanswered(call_id, unanswered)
        self._waiting.clear()
        return [one for one in self._found if one is not None]

    def _unanswered(self, call_id: str, left: list[_Waiting]) -> None:
        for one in left:
            self._found[one.place] = self._step(
                one.asked, one.entry, NO_ENTRY, call_id, one.order, Outcome.UNANSWERED
            )

    def _answer(self, result: EntryIndex, call_id: str, outcome: Outcome, body: Body | None) -> None:
        """Takes in what became of a call; `body` where the result may hold the diff of it."""
        answered = self._waiting.pop(call_id, None)
        if answered is None:
            return
        delta = None
        if body is not None and sum(one.asked.deed is not Deed.READ for one in answered) == 1:
            # The diff in a result is that of the whole call.
            delta = delta_in(body)
        for one in answered:
            lines = delta if one.asked.deed is not Deed.READ else None
            self._found[one.place] = self._step(
                one.asked, one.entry, result, call_id, one.order, outcome, lines
            )

    def _step(
        self,
        one: Asked,
        entry: EntryIndex,
        result: EntryIndex,
        call_id: str,
        order: int,
        outcome: Outcome,
        lines: tuple[int, int] | None = None,
    ) -> Step:
        added, removed = lines if lines is not None else lines_changed(one)
        to = self._locate(one.to) if one.to is not None else None
        path = self._located.get(one.path) or self._locate(one.path)
        return Step(
            entry,
            result,
            call_id,
            order,
            one.deed,
            path,
            outcome,
            one.inferred,
            added,
            removed,
            to,
            one.fresh,
            one.proof,
            one.glob,
        )

    def _locate(self, path: str) -> str:
        found = self._located[path] = locate(path, self._folder)
        return found


# As pi writes them, and JSON.stringify in general; anything else is decoded.
_CALLS, _ANSWERS, _NESTED, _DIFF = b'"toolCall"', b'"toolCallId":"', b'"nestedCalls"', b'"diff"'
_FINE, _FAILED = b'"isError":false', b'"isError":true'


def steps(session: Session, entries: Iterable[int], stop: Callable[[], bool] = lambda: False) -> list[Step]:
    """The file steps of entries of one path, in the order in which they were done. Empty once `stop` turns true."""
    kinds, reader = session.columns.kind, StepReader(session)
    for index, body in session.bodies((at for at in entries if kinds[at] in reader.KINDS), reader.needs):
        if stop():
            return []
        message = body.get("message") if body is not None else None
        if body is not None and isinstance(message, dict):
            ran = kinds[index] == _ASSISTANT and did_run(message)
            reader.take(index, body, message, tool_calls(message) if ran else [])
    return reader.steps()
