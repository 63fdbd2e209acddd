"""The folder in which a call names files, where that is not the session's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.files.file_names import in_folder
from leafward.summaries.facts.calls.call_arguments import FOLDER_ARGUMENTS, first_of
from leafward.summaries.facts.forms import forms
from leafward.summaries.facts.values import FactKind, Sighting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from leafward.session.entries import ToolCall

_ROOTS = ("/", "~")


def folder_of(call: ToolCall) -> str:
    """The folder in which a call ran, as far as it was told; empty for the session's."""
    return in_folder(first_of(call.arguments, FOLDER_ARGUMENTS), call.folder)


def path_at(path: str, folder: str, cwd: str) -> str:
    """The canonical form of a path that was named in a folder, which is empty for the session's."""
    return forms.canonical_path(in_folder(path, folder), cwd)


def in_its_folder(sightings: Iterable[Sighting], folder: str, cwd: str) -> Iterator[Sighting]:
    """What a text of a call holds, its paths from the folder of the call."""
    if not folder or forms.canonical_path(folder, cwd) == ".":
        yield from sightings
        return
    for one in sightings:
        if one.kind is not FactKind.PATH or one.text.startswith(_ROOTS) or one.text[1:2] == ":":
            yield one
        else:
            yield one._replace(key=path_at(one.text, folder, cwd), about=folder)
