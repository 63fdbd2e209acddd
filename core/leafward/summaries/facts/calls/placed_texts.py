"""The parts of a script by the folder in which they name files: its own, and those that it goes into."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.late_pattern import late
from leafward.files.file_names import in_folder
from leafward.files.shell.lexer import Unreadable
from leafward.files.shell.script_walk import placed
from leafward.summaries.facts.calls.named_folders import path_at
from leafward.summaries.facts.forms import forms
from leafward.summaries.facts.values import FactKind, Sighting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from leafward.files.shell.script_walk import PlacedCommand

_GOES = late(
    r"\s*cd +(\"[^\"$`\\\n]+\"|'[^'\n]+'|[^\s;&|()<>$`\"'*?\\-][^\s;&|()<>$`\"'*?\\]*)\s*(?:&&|;|\n)"
)
"""The beginning of a script that goes into a folder first."""
_ROOTS = ("/", "~")


class PlacedText(NamedTuple):
    """A part of a script that names files in one folder."""

    text: str
    folder: str | None
    """Empty for the session's folder, None where it is not known."""
    way: str = ""
    """The beginning of the text, which leads into that folder."""


def _entered(script: str, folder: str) -> tuple[str, int]:
    """The folder that a script goes into first, and the position behind that."""
    end = 0
    while "cd " in script and (found := _GOES.match(script, end)) is not None:
        folder, end = in_folder(found[1].strip("\"'"), folder), found.end()
    return folder, end


def first_folder(script: str, folder: str) -> str | None:
    """The folder in which the first command of a script runs that does more than go there; None where it is not known."""
    entered, end = _entered(script, folder)
    return None if script.startswith(("cd ", "pushd "), end) else entered


def placed_texts(script: str, folder: str) -> Iterator[PlacedText]:
    """The parts of a script by the folder in which they name files; `folder` is that in which it begins."""
    begin = folder
    folder, end = _entered(script, folder)
    commands: list[PlacedCommand] = []
    if script.find("cd ", end) >= 0 or "pushd " in script:
        with suppress(Unreadable):
            commands += placed(script[end:], folder)
    yield PlacedText(script[:end], begin) if commands else PlacedText(script, folder, script[:end])
    for one in commands:
        for word in one.command.words:
            # Without quotes the blanks in a path would cut it.
            yield PlacedText(f'"{word.text}"' if " " in word.text else word.text, one.folder)
        for redirection in one.command.redirections:
            yield PlacedText(redirection.document or redirection.target.text, one.folder)


def in_its_folder(sightings: Iterable[Sighting], part: PlacedText, cwd: str) -> Iterator[Sighting]:
    """What a part of a call's text names, its paths from its folder; none of these where that is not known."""
    folder = part.folder
    if folder == "" or (folder and forms.canonical_path(folder, cwd) == "."):
        yield from sightings
        return
    for one in sightings:
        if (
            one.kind is not FactKind.PATH
            or one.text.startswith(_ROOTS)
            or one.text[1:2] == ":"
            or one.text in part.way
        ):
            yield one
        elif folder is not None:
            yield one._replace(key=path_at(one.text, folder, cwd), about=folder)
