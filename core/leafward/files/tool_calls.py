"""Calls of tools that touch files: which file a call names, and with which texts it changes it.

Which tools those are, and how their arguments name a file and a change, is a `ToolTable`, so that nothing here knows an agent.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from leafward.files.reads import PLAIN, PRINTED, ReadForm
from leafward.session.command_text import shown_command
from leafward.session.entries import ToolCall

if TYPE_CHECKING:
    from collections.abc import Mapping

    from leafward.files.commands import FilePatch
    from leafward.session.session import Session


class Action(StrEnum):
    """What an operation does to its file."""

    READ = "read"
    WRITE = "write"
    EDIT = "edit"


@dataclass(frozen=True, slots=True)
class ToolTable:
    """How an agent's tools name files. Arguments are looked for under each of the given names, the first found counts."""

    actions: Mapping[str, Action]
    """Tools that touch a file, by name."""
    shells: frozenset[str] = frozenset()
    """Tools that run a command."""
    path: tuple[str, ...] = ("path",)
    """The argument that holds the path."""
    content: tuple[str, ...] = ("content",)
    """The argument of a write that holds the whole text."""
    old: tuple[str, ...] = ("oldText",)
    new: tuple[str, ...] = ("newText",)
    """The text an edit replaces, and what by."""
    edits: tuple[str, ...] = ("edits",)
    """Where there are several: the argument that holds a list of edits: objects with an old and a new text, or such a list as JSON."""
    command: tuple[str, ...] = ()
    """The argument of a shell that holds the command. Without a name commands are not looked into (pi 1.5.2)."""
    folder: tuple[str, ...] = ()
    """The argument of a shell that holds the folder it runs in."""
    patches: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Tools that take a patch, and the arguments that may hold it."""
    scripts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Tools that run a program which calls other tools, and the arguments that may hold it."""
    searches: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Tools that look for files or in them, and the arguments that say what for. Where they look is `path`, or the folder."""
    keeps_ends: bool = True
    """Whether lines that an edit adds end as those of the file do, in every version."""
    tidies_paths: bool = False
    """Whether an `@` in front of a path is dropped, and odd spaces in it are taken for plain ones."""
    stand_in: str = ""
    """What the model is sent in the place of a result that is missing; empty where that is not known."""
    read_form: ReadForm = PLAIN
    """How results of the tools that read show a file."""
    shell_form: ReadForm = PRINTED
    """How results of shells show what was printed."""

    def touches(self, name: object) -> bool:
        """Whether calls of a tool may touch files."""
        return name in self.actions or name in self.patches or (bool(self.command) and name in self.shells)

    def changes(self, name: object) -> bool:
        """Whether calls of a tool may change files."""
        action = self.actions.get(name) if isinstance(name, str) else None
        return (action is not None and action is not Action.READ) or (action is None and self.touches(name))


NATIVE_TOOLS = ToolTable(
    {"read": Action.READ, "write": Action.WRITE, "edit": Action.EDIT},
    frozenset({"bash", "powershell"}),
    searches={"grep": ("pattern",), "find": ("pattern",), "ls": ()},
    tidies_paths=True,
    stand_in="No result provided",
)
"""The tools of pi: `edit` had one `oldText` and `newText` until 0.5x and has had a list of `edits` since."""


class FileCall(NamedTuple):
    """What a call does to one file."""

    call: ToolCall
    """The call itself where it names the one file; else one of the same id that says what of it concerns this file."""
    action: Action
    path: str
    """As the agent wrote it; relative to the folder the command ran in where that was named."""


def table_of(session: Session) -> ToolTable:
    """The tools of a session: those of the agent that wrote it."""
    found = session.source.tools
    return found if isinstance(found, ToolTable) else NATIVE_TOOLS


def file_calls(call: ToolCall, table: ToolTable) -> list[FileCall]:
    """The files a call touches: the one it names, those of its patch, those its command prints or patches."""
    action = table.actions.get(call.name)
    if action is not None and call.name not in table.patches:
        path = path_in(call.arguments, table)
        return [FileCall(call, action, path)] if path is not None else []
    texts: list[str] = []
    if call.name in table.patches:
        texts = [
            text for name in table.patches[call.name] if isinstance(text := call.arguments.get(name), str)
        ]
    command = command_in(call, table)
    if command is None and not texts:
        return []
    # Sessions without commands and patches need no reader of shell scripts, and a listing starts sooner without it.
    from leafward.files.commands import files_read, parsed_patch, patches_in

    folder = _argument(call.arguments, table.folder)
    if command is not None:
        texts = list(patches_in(command))
        if not texts:
            reads = [_within(path, folder) for path in files_read(command)]
            return [FileCall(_derived(call, table, path), Action.READ, path) for path in reads]
    return [
        made for text in texts for file in parsed_patch(text) for made in _patched(call, table, file, folder)
    ]


def command_in(call: ToolCall, table: ToolTable) -> object:
    """The command that a call of a shell runs, a text or a list of words; None for any other call."""
    if call.name not in table.shells:
        return None
    return next((call.arguments[name] for name in table.command if call.arguments.get(name)), None)


def command_text(call: ToolCall, table: ToolTable) -> str:
    """The same as a person would type it; empty for a call that runs none."""
    found = call.arguments.get("command") if not table.command else command_in(call, table)
    return shown_command(found) if isinstance(found, (str, list)) else ""


def _derived(call: ToolCall, table: ToolTable, path: str, **arguments: object) -> ToolCall:
    return ToolCall(call.id, call.name, {table.path[0]: path, **arguments})


def _within(path: str, folder: str | None) -> str:
    return posixpath.join(folder, path) if folder and not path.startswith("~") else path


def _patched(call: ToolCall, table: ToolTable, file: FilePatch, folder: str | None) -> list[FileCall]:
    path = _within(file.path, folder)
    if file.verb == "add":
        made = _derived(call, table, path, **{table.content[0]: file.content})
        return [FileCall(made, Action.WRITE, path)]
    edits = [{table.old[0]: old, table.new[0]: new} for old, new in file.replaced]
    found = [FileCall(_derived(call, table, path, **{table.edits[0]: edits}), Action.EDIT, path)]
    if file.moved_to is not None:
        there = _within(file.moved_to, folder)
        found.append(FileCall(_derived(call, table, there), Action.EDIT, there))
    return found


def _argument(arguments: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    for name in names:
        value = arguments.get(name)
        if isinstance(value, str):
            return value
    return None


def path_in(arguments: object, table: ToolTable) -> str | None:
    """The path a call names; None where it names none."""
    return (_argument(arguments, table.path) or None) if isinstance(arguments, dict) else None


def _replacements(arguments: Mapping[str, Any], table: ToolTable) -> list[tuple[str, str]]:
    """The old and new texts of an edit. A text left out by a call that was cut off is empty."""
    found: list[tuple[str, str]] = []
    listed: object = None
    for name in table.edits:
        listed = arguments.get(name, listed)
    if isinstance(listed, str):
        try:
            listed = orjson.loads(listed)
        except ValueError:
            listed = None
    for edit in listed if isinstance(listed, list) else (listed,):
        if isinstance(edit, dict):
            _add_replacement(found, edit, table)
    _add_replacement(found, arguments, table)
    return found


def _add_replacement(found: list[tuple[str, str]], edit: Mapping[str, Any], table: ToolTable) -> None:
    old, new = _argument(edit, table.old), _argument(edit, table.new)
    if old is not None or new is not None:
        found.append((old or "", new or ""))


def replacements(action: Action, arguments: Mapping[str, Any], table: ToolTable) -> list[tuple[str, str]]:
    """Old and new texts of a call that changes a file; a write replaces nothing that is known."""
    if action is Action.WRITE:
        return [("", _argument(arguments, table.content) or "")]
    return _replacements(arguments, table) if action is Action.EDIT else []
