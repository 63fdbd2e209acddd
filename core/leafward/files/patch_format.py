"""Patches in the format that Codex and opencode share: those in a command, and the changes of one to each file."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.late_pattern import late
from leafward.session.command_text import script_of

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def patches_in(command: object) -> Iterator[str]:
    """The patches that a command passes to `apply_patch`."""
    if isinstance(command, list) and script_of(command) is None:
        if command and str(command[0]).rpartition("/")[2] in _APPLIERS:
            yield from (word for word in command[1:] if isinstance(word, str))
        return
    script = script_of(command) or ""
    if any(map(script.__contains__, _APPLIERS)):
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
