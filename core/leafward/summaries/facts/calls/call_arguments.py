"""The arguments of a call that name a file or a command, or hold text to be written, under every known agent's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PATH_ARGUMENTS = ("path", "file_path", "filePath", "filename", "notebook_path")
_PATHS = frozenset(PATH_ARGUMENTS)
COMMAND_ARGUMENTS = ("command", "cmd", "script")
"""Arguments that name a command; those of a file are in `PATH_ARGUMENTS`."""
FOLDER_ARGUMENTS = ("workdir", "working_directory", "cwd")
"""Arguments that name the folder in which a command runs."""
TEXT_ARGUMENTS = frozenset(
    {"content", "newText", "new_string", "newString", "oldText", "old_string", "oldString", "edits"}
)
"""Arguments that hold text of a file, or edits of it."""
OLD_ARGUMENTS = ("oldText", "old_string", "oldString")
NEW_ARGUMENTS = ("content", "newText", "new_string", "newString")


def paths_of(arguments: Mapping[str, Any]) -> Iterator[str]:
    """The files that the arguments of a call name, in no order."""
    for name in _PATHS.intersection(arguments):
        if isinstance(path := arguments[name], str):
            yield path


def is_silent(arguments: Mapping[str, Any]) -> bool:
    """Whether the result of such a call, unless it failed, is the content of a file or only confirms a change."""
    named = first_of(arguments, PATH_ARGUMENTS)
    return bool(named) and not searches(arguments) and not command_of(arguments)


def searches(arguments: Mapping[str, Any]) -> bool:
    """Whether a call with these arguments searches the files that it names, or their names."""
    return "pattern" in arguments


def changes_text(arguments: Mapping[str, Any]) -> bool:
    """Whether a call with these arguments writes a file, or a part of one."""
    return not TEXT_ARGUMENTS.isdisjoint(arguments)


def writes_whole(arguments: Mapping[str, Any]) -> bool:
    """Whether such a call gives the whole content of the file."""
    return (
        "content" in arguments
        and "edits" not in arguments
        and not any(name in arguments for name in OLD_ARGUMENTS)
    )


def edits_in(arguments: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The edits of a call that changes a file, each with its own old and new text: the call itself, then those it lists."""
    yield arguments
    listed = arguments.get("edits")
    if isinstance(listed, list):
        yield from (edit for edit in listed if isinstance(edit, dict))


def added_text(arguments: Mapping[str, Any]) -> str:
    """The lines that a call writes into a file and that are not in the text that they replace."""
    pieces = []
    for edit in edits_in(arguments):
        new, old = first_of(edit, NEW_ARGUMENTS), first_of(edit, OLD_ARGUMENTS)
        if old:
            kept = frozenset(old.split("\n"))
            new = "\n".join(line for line in new.split("\n") if line not in kept)
        pieces.append(new)
    return "\n".join(pieces)


def command_of(arguments: Mapping[str, Any]) -> str:
    """The command that a call runs; empty where it runs none."""
    return first_of(arguments, COMMAND_ARGUMENTS)


def first_of(arguments: Mapping[str, Any], names: tuple[str, ...]) -> str:
    """The first of some arguments that is a text, or the words of a command; empty where none is."""
    for name in names:
        if name not in arguments:
            continue
        value = arguments[name]
        if isinstance(value, str) and value:
            return value
        if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            # A command as a list of words; a shell's own words in front are left out.
            return value[-1] if len(value) == 3 and value[1] in {"-c", "-lc"} else " ".join(value)
    return ""


def strings_in(value: object) -> Iterator[str]:
    """All texts in a value of a call's arguments, however deep they lie."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
