"""Calls of tools that touch files: the file that a call names, and the texts of its change.

The tools, and the arguments that hold a file and a change, are in a `ToolTable`, so that nothing here knows an agent.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from leafward.files.file_names import in_folder
from leafward.files.reads import PLAIN, PRINTED, ReadForm
from leafward.session.command_text import begins_as_powershell, runs_powershell, script_of, shown_command
from leafward.session.entries import ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from leafward.files.patch_format import FilePatch
    from leafward.session.session import Session


class FileAction(StrEnum):
    """The action of an operation on its file."""

    READ = "read"
    WRITE = "write"
    EDIT = "edit"


@dataclass(frozen=True, slots=True)
class ToolTable:
    """The tools of an agent that name files. Arguments are searched under each of the given names, the first found counts."""

    actions: Mapping[str, FileAction]
    """Tools that touch a file, by name."""
    shells: frozenset[str] = frozenset()
    """Tools that run a command."""
    path: tuple[str, ...] = ("path",)
    """The argument that holds the path."""
    content: tuple[str, ...] = ("content",)
    """The argument of a write that holds the whole text."""
    old: tuple[str, ...] = ("oldText",)
    new: tuple[str, ...] = ("newText",)
    """The argument of an edit with the new text; `old` holds the replaced one."""
    edits: tuple[str, ...] = ("edits",)
    """The argument with a list of edits: objects with an old and a new text, or such a list as JSON."""
    command: tuple[str, ...] = ()
    """The argument of a shell with the command. Without a name commands are not parsed (pi 1.5.2)."""
    folder: tuple[str, ...] = ()
    """The argument of a shell with its folder."""
    patches: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Tools that take a patch, and the arguments that may hold it."""
    scripts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Tools that run a program which calls other tools, and the arguments that may hold it."""
    searches: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Tools that search for files or in them, with the arguments that hold the pattern. They search `path`, or the folder."""
    keeps_ends: bool = True
    """Whether added lines get the file's line ends, in every version."""
    tidies_paths: bool = False
    """Whether an `@` in front of a path is dropped, and odd spaces in it become plain ones."""
    stopped: str = ""
    """A pattern for the result of a call that was stopped at its work, and may have been done all the same."""
    stand_in: str = ""
    """The text that the model receives in the place of a missing result; empty where it is not known."""
    read_form: ReadForm = PLAIN
    """The form of files in results of the read tools."""
    shell_form: ReadForm = PRINTED
    """The form of output in results of shells."""
    markers: frozenset[str] = frozenset()
    """Names among the actions that are not tools: the agent's reader uses them for a file without a known call."""
    runs_together: bool = False
    """Whether calls made together run at the same time, or at least a command beside the others."""
    plain_shells: frozenset[str] = frozenset()
    """Shells whose commands are not parsed, although the argument that holds them has a name."""
    parts: tuple[ToolTable, ...] = ()
    """For a table with the tools of several agents, the table of each, its own agent's first."""

    @property
    def own(self) -> ToolTable:
        """The table without the tools of other agents."""
        return self.parts[0] if self.parts else self

    @property
    def names(self) -> frozenset[str]:
        """Every tool in the table."""
        return frozenset((*self.actions, *self.shells, *self.patches, *self.scripts, *self.searches))

    def looks_into(self, name: object) -> bool:
        """Whether the commands of a tool tell the files that they read and patch."""
        return bool(self.command) and name in self.shells and name not in self.plain_shells

    @property
    def touching(self) -> frozenset[str]:
        """Tools whose calls may touch files."""
        return frozenset(name for name in self.names if self.touches(name))

    def touches(self, name: object) -> bool:
        """Whether calls of a tool may touch files."""
        return name in self.actions or name in self.patches or self.looks_into(name)

    def changes(self, name: object) -> bool:
        """Whether calls of a tool may change files."""
        action = self.actions.get(name) if isinstance(name, str) else None
        return (action is not None and action is not FileAction.READ) or (
            action is None and self.touches(name)
        )

    def part_of(self, call: ToolCall) -> ToolTable:
        """The table of the agent whose tool a call uses, judged by its name and the argument that names its file.

        Several agents have a tool `read`. A converted session keeps the calls of the agent that made them.
        """
        known = [part for part in self.parts if call.name in part.names]
        if len(known) < 2:
            return known[0] if known else self.own
        if known[0] is self.own and path_in(call.arguments, known[0]) is not None:
            return known[0]
        return next((part for part in known if part.path[0] in call.arguments), known[0])

    def joined(self, others: Iterable[ToolTable]) -> ToolTable:
        """A table that also reads the calls of other agents, where this one does not know the tool.

        A converted session has such calls. Names of arguments are searched after this table's own.
        """
        parts = (self, *others)
        known = self.names
        actions, patches = dict(self.actions), dict(self.patches)
        scripts, searches, shells = dict(self.scripts), dict(self.searches), set(self.shells)
        for part in parts[1:]:
            fresh = part.names - known - part.markers
            actions |= {name: action for name, action in part.actions.items() if name in fresh}
            for into, tools in ((patches, part.patches), (scripts, part.scripts), (searches, part.searches)):
                # Both have the name, such as `apply_patch`: its argument may have the name of either agent.
                into |= {
                    name: _names((into.get(name, ()), arguments))
                    for name, arguments in tools.items()
                    if name in fresh or name in into
                }
            shells |= part.shells & fresh
            known |= fresh
        return replace(
            self,
            actions=actions,
            shells=frozenset(shells),
            path=_names(part.path for part in parts),
            content=_names(part.content for part in parts),
            old=_names(part.old for part in parts),
            new=_names(part.new for part in parts),
            edits=_names(part.edits for part in parts),
            command=_names(part.command for part in parts),
            folder=_names(part.folder for part in parts),
            patches=patches,
            scripts=scripts,
            searches=searches,
            # Several agents call their shell `bash`: the cut mark of any of them is not output.
            shell_form=replace(
                self.shell_form, cut="|".join(part.shell_form.cut for part in parts if part.shell_form.cut)
            ),
            plain_shells=self.plain_shells if self.command else self.shells,
            parts=parts,
        )


def _names(names: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Names of arguments, each once, in order."""
    return tuple(dict.fromkeys(name for some in names for name in some))


NATIVE_TOOLS = ToolTable(
    {"read": FileAction.READ, "write": FileAction.WRITE, "edit": FileAction.EDIT},
    frozenset({"bash", "powershell"}),
    searches={"grep": ("pattern",), "find": ("pattern",), "ls": ()},
    tidies_paths=True,
    runs_together=True,
    stopped=r"Operation aborted\Z",
    stand_in="No result provided",
)
"""The tools of pi: `edit` had one `oldText` and `newText` until 0.5x and has had a list of `edits` since."""


_POWERSHELL = "powershell"
"""The name, in lower case, of tools that run a command of PowerShell, in several agents."""


class FileCall(NamedTuple):
    """The effect of a call on one file."""

    call: ToolCall
    """The call itself where it names the one file; else a call with the same id and only this file's part."""
    action: FileAction
    path: str
    """The path as the agent wrote it; relative to the folder of the command where that was named."""


def table_of(session: Session) -> ToolTable:
    """The tools of a session: those of the agent that wrote it, and of others where it was converted (`ToolTable.joined`)."""
    found = session.source.tools
    return found if isinstance(found, ToolTable) else NATIVE_TOOLS


def listed_tools(session: Session) -> ToolTable:
    """The tools whose files a session's summaries list: in pi's sessions only pi's own, as in pi (1.5.2)."""
    table = table_of(session)
    return NATIVE_TOOLS if table.own is NATIVE_TOOLS else table


def file_calls(call: ToolCall, table: ToolTable) -> list[FileCall]:
    """The files of a call: the one it names, those of its patch, those its command prints or patches."""
    action = table.actions.get(call.name)
    if action is not None and call.name not in table.patches:
        path = path_in(call.arguments, table)
        return [FileCall(call, action, in_folder(path, call.folder))] if path is not None else []
    texts: list[str] = []
    if call.name in table.patches:
        texts = [
            text for name in table.patches[call.name] if isinstance(text := call.arguments.get(name), str)
        ]
    command = command_in(call, table)
    if command is None and not texts:
        return []
    # Sessions without commands and patches need no parser of shell scripts, and a listing starts sooner without it.
    from leafward.files.patch_format import parsed_patch, patches_in
    from leafward.files.printed_files import files_read

    folder = working_folder(call, table)
    if command is not None:
        texts = list(patches_in(command))
        if not texts:
            printed = (
                files_read(command) if not is_powershell_call(call, command) else _read_by_powershell(command)
            )
            reads = [in_folder(path, folder) for path in printed]
            return [FileCall(_derived(call, table, path), FileAction.READ, path) for path in reads]
    return [
        made for text in texts for file in parsed_patch(text) for made in _patched(call, table, file, folder)
    ]


def is_powershell_call(call: ToolCall, command: object) -> bool:
    """Whether a command is one of PowerShell, by its tool, its program, or how it begins."""
    if names_powershell(call, command):
        return True
    script = script_of(command)
    return script is not None and begins_as_powershell(script)


def names_powershell(call: ToolCall, command: object) -> bool:
    """Whether a command is one of PowerShell by its tool or its program."""
    return call.name.lower() == _POWERSHELL or runs_powershell(command)


def _read_by_powershell(command: object) -> list[str]:
    from leafward.files.shell.powershell import LONGEST_READ, file_read

    script = script_of(command) or ""
    read = file_read(script) if len(script) <= LONGEST_READ else None
    return [read] if read is not None else []


def command_in(call: ToolCall, table: ToolTable) -> object:
    """The command of a shell's call, a text or a list of words; None for any other call, and for an unparsed shell."""
    if not table.looks_into(call.name):
        return None
    return next((call.arguments[name] for name in table.command if call.arguments.get(name)), None)


def command_text(call: ToolCall, table: ToolTable) -> str:
    """The command as a person would type it; empty for a call without one."""
    found = command_in(call, table) if table.looks_into(call.name) else plain_command(call, table)
    return shown_command(found) if isinstance(found, (str, list)) else ""


def plain_command(call: ToolCall, table: ToolTable) -> object:
    """The command of a call whose shell is not parsed; None for a call of another shell."""
    return None if table.command and call.name not in table.plain_shells else call.arguments.get("command")


def _derived(call: ToolCall, table: ToolTable, path: str, **arguments: object) -> ToolCall:
    return ToolCall(call.id, call.name, {table.path[0]: path, **arguments})


def _patched(call: ToolCall, table: ToolTable, file: FilePatch, folder: str) -> list[FileCall]:
    path = in_folder(file.path, folder)
    if file.verb == "add":
        made = _derived(call, table, path, **{table.content[0]: file.content})
        return [FileCall(made, FileAction.WRITE, path)]
    edits = [{table.old[0]: old, table.new[0]: new} for old, new in file.replaced]
    found = [FileCall(_derived(call, table, path, **{table.edits[0]: edits}), FileAction.EDIT, path)]
    if file.moved_to is not None:
        there = in_folder(file.moved_to, folder)
        found.append(FileCall(_derived(call, table, there), FileAction.EDIT, there))
    return found


def working_folder(call: ToolCall, table: ToolTable) -> str:
    """The folder in which a call ran, as far as it was told; empty for the session's."""
    return in_folder(_argument(call.arguments, table.folder) or "", call.folder)


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
    """The old and new texts of an edit. A text that is missing from a truncated call is empty."""
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


def replacements(action: FileAction, arguments: Mapping[str, Any], table: ToolTable) -> list[tuple[str, str]]:
    """Old and new texts of a call that changes a file; the text that a write replaces is not known."""
    if action is FileAction.WRITE:
        return [("", _argument(arguments, table.content) or "")]
    return _replacements(arguments, table) if action is FileAction.EDIT else []
