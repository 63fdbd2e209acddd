"""The folder in which a call names files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.files.file_names import in_folder
from leafward.summaries.facts.calls.call_arguments import FOLDER_ARGUMENTS, first_of
from leafward.summaries.facts.forms import forms

if TYPE_CHECKING:
    from leafward.session.entries import ToolCall


def folder_of(call: ToolCall) -> str:
    """The folder in which a call ran, as far as it was told; empty for the session's."""
    return in_folder(first_of(call.arguments, FOLDER_ARGUMENTS), call.folder)


def path_at(path: str, folder: str, cwd: str) -> str:
    """The canonical form of a path that was named in a folder, which is empty for the session's."""
    return forms.canonical_path(in_folder(path, folder), cwd)
