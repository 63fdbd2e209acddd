"""File requests of calls and their outcomes: the values of a step, and the rules that derive requests from a call."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from leafward.files.edits import line_count, line_delta
from leafward.files.file_names import in_folder
from leafward.files.file_operation import FileOperation
from leafward.files.file_replay.string_literals import texts_in
from leafward.files.file_request import FileRequest, Proof
from leafward.files.patch_format import parsed_patch, patches_in
from leafward.files.shell.effects import LONGEST, effects
from leafward.files.shell.powershell import effects as powershell_effects
from leafward.files.text_replacement import Replacement
from leafward.files.tool_calls import (
    FileAction,
    command_in,
    names_powershell,
    path_in,
    plain_command,
    replacements,
    working_folder,
)
from leafward.session.command_text import begins_as_powershell, shown_command

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from leafward.files.file_request import BulkCommand, Staging
    from leafward.files.tool_calls import ToolTable
    from leafward.session.entries import EntryIndex, ToolCall


class StepOutcome(StrEnum):
    """The outcome of a call."""

    DONE = "done"
    FAILED = "failed"
    UNANSWERED = "unanswered"
    """The path has no result of it: it is not known whether it was done."""


class ReplayStep(NamedTuple):
    """The effect of one call on one file."""

    entry: EntryIndex
    """The reply that holds the call; the result, for a call made by a tool."""
    result: EntryIndex
    """The entry that answers it; `NO_ENTRY` where none does."""
    call_id: str
    order: int
    """Its position among the requests of the call."""
    operation: FileOperation
    path: str
    """As `file_names.locate` gives it: relative to the session's folder when inside it."""
    outcome: StepOutcome
    inferred: bool
    added: int
    """Lines."""
    removed: int
    to: str | None
    fresh: bool = False
    """Whether nothing can have existed under `to` before."""
    proof: Proof = Proof.EXIT
    """The evidence that this part of the call was done, where the call was."""
    glob: bool = False
    """Whether `path` is a shell's pattern: its files are not known."""
    by: BulkCommand | Staging | None = None
    """For a sweep, whose `path` is a folder, the command. For a change, the sweep that tells of it."""
    whole: bool = False
    """For a sweep, whether it covers the whole repository that the folder belongs to."""
    home: str | None = None
    """The folder of a git command whose use of the index is understood."""

    @property
    def certainly_done(self) -> bool:
        """Whether the exit code of the call proves that this part of it was done."""
        return self.proof is Proof.EXIT and self.outcome is StepOutcome.DONE


OF_ACTION = {
    FileAction.READ: FileOperation.READ,
    FileAction.WRITE: FileOperation.WRITE,
    FileAction.EDIT: FileOperation.EDIT,
}
_LONGEST = 4 << 20
"""Characters of a patch beyond which its requests are not remembered."""
NOTEBOOK = ".ipynb"
"""The ending of notebook names; an edit may name a notebook's cell."""


def requests_in(call: ToolCall, table: ToolTable) -> list[FileRequest]:
    """The file requests of a call, in the order in which they are done."""
    action = table.actions.get(call.name)
    if action is not None and call.name not in table.patches:
        path = path_in(call.arguments, table)
        return [_by_tool(call, table, action, in_folder(path, call.folder))] if path is not None else []
    if call.name in table.patches:
        texts = [
            text for name in table.patches[call.name] if isinstance(text := call.arguments.get(name), str)
        ]
        return [one for text in texts for one in _by_patch(text, call.folder)]
    if call.name in table.scripts:
        programs = (call.arguments.get(name) for name in table.scripts[call.name])
        return [one for text in programs if isinstance(text, str) for one in _by_program(text, call.folder)]
    if call.name not in table.shells:
        return []
    looks_into = table.looks_into(call.name)
    command = command_in(call, table) if looks_into else plain_command(call, table)
    folder = working_folder(call, table)
    patches = list(patches_in(command)) if looks_into else []
    if patches:
        return [one for text in patches for one in _by_patch(text, folder)]
    return by_command(command, folder, powershell=names_powershell(call, command))


def by_command(command: object, folder: str = "", *, powershell: bool = False) -> list[FileRequest]:
    """The file requests of a shell command, as far as its words tell them."""
    script = shown_command(command) if isinstance(command, (str, list)) else ""
    if len(script) <= LONGEST and (powershell or begins_as_powershell(script)):
        return list(powershell_effects(script, folder))
    return effects(script, folder)


def _by_tool(call: ToolCall, table: ToolTable, action: FileAction, path: str) -> FileRequest:
    if action is FileAction.READ:
        return FileRequest(FileOperation.READ, path)
    if action is FileAction.WRITE:
        return FileRequest(FileOperation.WRITE, path, text=replacements(action, call.arguments, table)[0][1])
    everywhere = any(call.arguments.get(name) is True for name in ("replace_all", "replaceAll"))
    places = tuple(
        Replacement(old, new, everywhere) for old, new in replacements(action, call.arguments, table)
    )
    if path.endswith(NOTEBOOK) and not any(one.old for one in places):
        # An edit of a notebook names a cell, not a text of the file.
        return FileRequest(FileOperation.CHANGE, path, replacements=places)
    return FileRequest(FileOperation.EDIT, path, replacements=places)


def _by_program(program: str, folder: str) -> Iterator[FileRequest]:
    """The file requests of a program that calls other tools, by its texts.

    It is not known which of its parts ran, or how many times.
    """
    for text, is_command in texts_in(program):
        for file in parsed_patch(text):
            operation = FileOperation.DELETE if file.verb == "delete" else FileOperation.CHANGE
            path = in_folder(file.path, folder)
            yield FileRequest(operation, path, True, proof=Proof.NONE)
            if file.moved_to is not None:
                there = in_folder(file.moved_to, folder)
                yield FileRequest(FileOperation.MOVE, path, True, to=there, proof=Proof.NONE)
        if is_command and "*** Begin Patch" not in text:
            yield from (one._replace(proof=Proof.NONE) for one in by_command(text, folder))


def _by_patch(text: str, folder: str) -> Iterable[FileRequest]:
    return _remembered(text, folder) if len(text) <= _LONGEST else _of_patch(text, folder)


@lru_cache(maxsize=8)
def _remembered(text: str, folder: str) -> tuple[FileRequest, ...]:
    """The file requests of a patch. A replay asks for them once for each file in it."""
    return tuple(_of_patch(text, folder))


def _of_patch(text: str, folder: str) -> Iterator[FileRequest]:
    for file in parsed_patch(text):
        path = in_folder(file.path, folder)
        if file.verb == "add":
            yield FileRequest(FileOperation.WRITE, path, text=file.content)
        elif file.verb == "delete":
            yield FileRequest(FileOperation.DELETE, path)
        else:
            if file.replaced or file.moved_to is None:
                changed = tuple(Replacement(old, new) for old, new in file.replaced)
                yield FileRequest(FileOperation.EDIT, path, replacements=changed, places=tuple(file.places))
            if file.moved_to is not None:
                yield FileRequest(FileOperation.MOVE, path, to=in_folder(file.moved_to, folder))


def lines_changed(one: FileRequest) -> tuple[int, int]:
    """Lines added and removed, as far as the call tells them."""
    if one.text is not None:
        return line_count(one.text), 0
    added = removed = 0
    for place in one.replacements:
        more, fewer = line_delta(place.old, place.new)
        added, removed = added + more, removed + fewer
    return added, removed
