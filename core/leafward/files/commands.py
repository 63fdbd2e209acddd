"""The effects of shell commands and patches on files.

A command counts as a read only where it is just one of the few programs that print a file; a patch is the format that Codex
and opencode share. Nothing here is run, and work is bounded by the length of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.late_pattern import late
from leafward.files.shell.lexer import simple_words
from leafward.session.command_text import script_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_WITH_VALUE = {
    "head": ("-n", "-c"),
    "tail": ("-n", "-c"),
    "nl": tuple(f"-{one}" for one in "bdfhilnsvw"),
    "cat": (),
}

_PRINTERS = ("sed", *_WITH_VALUE)
"""Programs that print files: most commands name none of them and are not parsed."""

_PATCH = late(r"(?s)\*\*\* Begin Patch[^\n]*\n(.*?)(?:\n\*\*\* End Patch|\Z)")
_FILE = late(r"\*\*\* (Add|Update|Delete) File: (.+)")
_MOVE = late(r"\*\*\* Move to: (.+)")


class PatchPlace(NamedTuple):
    """A place of a file that a patch changes."""

    context: str | None
    """A line above it from which the search for it starts."""
    lines: tuple[tuple[str, str], ...]
    """Its lines, each with its sign: `+`, `-`, or a space for an unchanged one."""
    at_end: bool
    """Whether the search is at the end of the file."""


@dataclass(slots=True)
class FilePatch:
    """The changes of a patch to one file."""

    path: str
    verb: str
    """`add`, `update` or `delete`."""
    moved_to: str | None = None
    content: str = ""
    """The whole text of an added file."""
    replaced: list[tuple[str, str]] = field(default_factory=list)
    """Old and new text of each place that changes, context lines in both."""
    places: list[PatchPlace] = field(default_factory=list)
    """The places of an updated file."""


def files_read(command: object) -> list[str]:
    """The files that a command prints where it is a lone `cat`, `sed -n`, `nl`, `head` or `tail`; none for any other."""
    script = script_of(command)
    if script is None:
        words = [str(word) for word in command] if isinstance(command, list) else []
    elif any(map(script.__contains__, _PRINTERS)):
        words = simple_words(script) or []
    else:
        words = []
    return _printed(words)


def _printed(words: Sequence[str]) -> list[str]:
    if not words:
        return []
    program = words[0].rpartition("/")[2]
    if program == "sed":
        return _printed_by_sed(words[1:])
    if program not in _WITH_VALUE:
        return []
    files: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        if word == "--":
            files += rest
        elif word in _WITH_VALUE[program]:
            next(rest, None)
        elif word == "-":
            return []
        elif not word.startswith("-") and not (program == "tail" and re.fullmatch(r"\+\d+", word)):
            files.append(word)
    return files


def _printed_by_sed(words: Sequence[str]) -> list[str]:
    quiet = False
    scripts = 0
    files: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in ("-n", "--quiet", "--silent", "-nE", "-En", "-ne"):
            quiet = True
            if word == "-ne":
                scripts += next(rest, None) is not None
        elif word in ("-e", "-f", "--expression"):
            scripts += next(rest, None) is not None
        elif word.startswith(("-i", "--in-place")):
            return []
        elif not word.startswith("-"):
            files.append(word)
    if not scripts:
        files = files[1:]
    return files if quiet else []


def patches_in(command: object) -> Iterator[str]:
    """The patches that a command passes to `apply_patch`."""
    if isinstance(command, list) and script_of(command) is None:
        if command and str(command[0]).rpartition("/")[2] in _APPLIERS:
            yield from (word for word in command[1:] if isinstance(word, str))
        return
    script = script_of(command) or ""
    if any(name in script for name in _APPLIERS):
        yield from (found[0] for found in _PATCH.finditer(script))


_APPLIERS = ("apply_patch", "applypatch")


def parsed_patch(text: str) -> list[FilePatch]:
    """The files of a patch, in order; empty for a text that is not a patch."""
    found: list[FilePatch] = []
    for patch in _PATCH.finditer(text.replace("\r\n", "\n")):
        lines: list[tuple[str, str]] = []
        context: str | None = None
        for line in patch[1].split("\n"):
            file = _FILE.fullmatch(line.rstrip())
            if file is not None:
                _close(found, context, lines)
                found.append(FilePatch(file[2].strip(), file[1].lower()))
                context = None
            elif not found:
                continue
            elif found[-1].verb == "update" and (move := _MOVE.fullmatch(line.rstrip())) is not None:
                found[-1].moved_to = move[1].strip()
            elif line.startswith("@@"):
                _close(found, context, lines)
                context = line[3:] if line.startswith("@@ ") else None
            elif line.startswith("*** "):
                if line.rstrip() == _END:
                    _close(found, context, lines, at_end=True)
                    context = None
            else:
                sign = line[:1]
                lines.append((sign if sign in ("+", "-") else " ", line[1:]))
        _close(found, context, lines)
    return found


_END = "*** End of File"


def _close(
    found: list[FilePatch], context: str | None, lines: list[tuple[str, str]], *, at_end: bool = False
) -> None:
    """Ends a place that changes."""
    if found and found[-1].verb == "add":
        found[-1].content += "".join(f"{line}\n" for sign, line in lines if sign != "-")
    elif found and lines:
        found[-1].places.append(PatchPlace(context, tuple(lines), at_end))
        old, new = ("\n".join(line for sign, line in lines if sign != other) for other in "+-")
        if old != new:
            found[-1].replaced.append((old, new))
    lines.clear()


_LITERAL = late(
    r"""(?s)(?:\b(cmd|command)["']?\s*:\s*)?("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`)"""
)
_ESCAPE = late(r"(?s)\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r?\n|.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "f": "\f", "v": "\v", "\n": "", "\r\n": ""}
_LONGEST_PROGRAM = 200_000


def texts_in(program: str) -> Iterator[tuple[str, bool]]:
    """The string literals of a JavaScript program, each with whether its name is that of a command.

    Computed texts are not known.
    """
    if len(program) > _LONGEST_PROGRAM:
        return
    for name, literal in _LITERAL.findall(program):
        if literal[0] != "`" or "${" not in literal:
            yield _ESCAPE.sub(_escaped, literal[1:-1]), bool(name)


def _escaped(found: re.Match[str]) -> str:
    sign = found[1]
    if sign[0] in "ux" and len(sign) > 1:
        return chr(int(sign[1:], 16))
    return _ESCAPED.get(sign, sign)
