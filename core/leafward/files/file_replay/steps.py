"""What calls ask of files, and what became of it: the values of a step, and the rules by which a call says what it asks for."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from leafward.files.commands import parsed_patch, patches_in, texts_in
from leafward.files.edits import line_count, line_delta
from leafward.files.file_operation import FileOperation
from leafward.files.file_replay.texts import Replacement
from leafward.files.shell import Proof, Staging, Sweep, effects
from leafward.files.tool_calls import Action, command_in, path_in, plain_command, replacements
from leafward.session.command_text import script_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.files.commands import PatchPlace
    from leafward.files.tool_calls import ToolTable
    from leafward.session.entries import EntryIndex, ToolCall


class Outcome(StrEnum):
    """What became of a call."""

    DONE = "done"
    FAILED = "failed"
    UNANSWERED = "unanswered"
    """No result of it is on the path: nobody knows whether it was done."""


class FileRequest(NamedTuple):
    """What a call asks of one file."""

    operation: FileOperation
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
    by: Sweep | Staging | None = None
    """Of a sweep: what the command is called. Of a change: the sweep that tells of it."""
    whole: bool = False
    """Of a sweep: whether all of the repository is meant that the folder belongs to."""
    home: str | None = None
    """Where a command of git ran of which is understood what it does to the index, or does by it."""


class Step(NamedTuple):
    """What one call did to one file."""

    entry: EntryIndex
    """The reply that holds the call; the result, for a call made by a tool."""
    result: EntryIndex
    """The entry that answers it; `NO_ENTRY` where none does."""
    call_id: str
    order: int
    """Its place among what the call asks for."""
    operation: FileOperation
    path: str
    """As `file_names.locate` gives it: relative to the session's folder when inside it."""
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
    by: Sweep | Staging | None = None
    """Of a sweep, whose `path` is a folder: what the command is called. Of a change: the sweep that tells of it."""
    whole: bool = False
    """Of a sweep: whether all of the repository is meant that the folder belongs to."""
    home: str | None = None
    """Where a command of git ran of which is understood what it does to the index, or does by it."""

    @property
    def certainly_done(self) -> bool:
        """Whether the exit code of the call says that this part of it was done."""
        return self.proof is Proof.EXIT and self.outcome is Outcome.DONE


OF_ACTION = {
    Action.READ: FileOperation.READ,
    Action.WRITE: FileOperation.WRITE,
    Action.EDIT: FileOperation.EDIT,
}
NOTEBOOK = ".ipynb"
"""How the names of notebooks end, of which an edit may name a cell."""


def requests_in(call: ToolCall, table: ToolTable) -> list[FileRequest]:
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
    looks_into = table.looks_into(call.name)
    command = command_in(call, table) if looks_into else plain_command(call, table)
    folder = next((str(call.arguments[name]) for name in table.folder if call.arguments.get(name)), None)
    patches = list(patches_in(command)) if looks_into else []
    if patches:
        return [one for text in patches for one in _by_patch(text, folder)]
    return by_command(command, folder or "")


def by_command(command: object, folder: str = "") -> list[FileRequest]:
    """What a shell command does to files, as far as its words say."""
    script = script_of(command)
    return [
        FileRequest(
            one.effect,
            one.path,
            True,
            one.text,
            to=one.to,
            fresh=one.fresh,
            proof=one.proof,
            glob=one.glob,
            by=one.by,
            whole=one.whole,
            home=one.home,
        )
        for one in effects(script or "", folder)
    ]


def _by_tool(call: ToolCall, table: ToolTable, action: Action, path: str) -> FileRequest:
    if action is Action.READ:
        return FileRequest(FileOperation.READ, path)
    if action is Action.WRITE:
        return FileRequest(FileOperation.WRITE, path, text=replacements(action, call.arguments, table)[0][1])
    everywhere = any(call.arguments.get(name) is True for name in ("replace_all", "replaceAll"))
    places = tuple(
        Replacement(old, new, everywhere) for old, new in replacements(action, call.arguments, table)
    )
    if path.endswith(NOTEBOOK) and not any(one.old for one in places):
        # An edit of a notebook names a cell, not a text of the file.
        return FileRequest(FileOperation.CHANGE, path, replacements=places)
    return FileRequest(FileOperation.EDIT, path, replacements=places)


def _by_program(program: str) -> Iterator[FileRequest]:
    """What a program that calls other tools does to files, as far as its texts say: what of it ran, and how often, is not known."""
    for text, is_command in texts_in(program):
        for file in parsed_patch(text):
            operation = FileOperation.DELETE if file.verb == "delete" else FileOperation.CHANGE
            yield FileRequest(operation, file.path, True, proof=Proof.NONE)
            if file.moved_to is not None:
                yield FileRequest(FileOperation.MOVE, file.path, True, to=file.moved_to, proof=Proof.NONE)
        if is_command and "*** Begin Patch" not in text:
            yield from (one._replace(proof=Proof.NONE) for one in by_command(text))


def _by_patch(text: str, folder: str | None) -> Iterator[FileRequest]:
    for file in parsed_patch(text):
        path = _within(file.path, folder)
        if file.verb == "add":
            yield FileRequest(FileOperation.WRITE, path, text=file.content)
        elif file.verb == "delete":
            yield FileRequest(FileOperation.DELETE, path)
        else:
            if file.replaced or file.moved_to is None:
                changed = tuple(Replacement(old, new) for old, new in file.replaced)
                yield FileRequest(FileOperation.EDIT, path, replacements=changed, places=tuple(file.places))
            if file.moved_to is not None:
                yield FileRequest(FileOperation.MOVE, path, to=_within(file.moved_to, folder))


def _within(path: str, folder: str | None) -> str:
    if not folder or path.startswith(("~", "/")):
        return path
    return f"{folder.rstrip('/')}/{path}"


def lines_changed(one: FileRequest) -> tuple[int, int]:
    """Lines added and removed, as far as the call says."""
    if one.text is not None:
        return line_count(one.text), 0
    added = removed = 0
    for place in one.replacements:
        more, fewer = line_delta(place.old, place.new)
        added, removed = added + more, removed + fewer
    return added, removed
