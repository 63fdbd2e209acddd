"""Files that git brought back to what was committed: their changes since the last commit are undone.

A restoration counts where the command succeeded, or failed only in what followed it: git then reported no error of its own.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.late_pattern import late
from leafward.files.file_operation import FileOperation
from leafward.files.file_request import BulkCommand
from leafward.files.shell.effects import effects
from leafward.session.entries import text_of
from leafward.summaries.facts.calls.call_arguments import command_of
from leafward.summaries.facts.calls.named_folders import folder_of
from leafward.summaries.facts.forms import forms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from leafward.session.entries import Body, ToolCall

_RESTORES = late(r"\bgit\b[^|;&\n]{0,80}\b(?:checkout|restore|reset|stash)\b")
_BEGINS = late(r"^\s*git (?:checkout|restore|reset)\b")
_COMPLAINT = late(r"(?m)^(?:error|fatal|usage): ")
"""The beginning of a line by which git says that it did nothing."""
_COMMITS = late(r"\bgit\b[^|;&\n]{0,80}\bcommit\b")
_WHOLE = frozenset({BulkCommand.RESET, BulkCommand.STASH, BulkCommand.POP})


class Restoration(NamedTuple):
    """What one command brings back."""

    by: BulkCommand
    path: str
    """The file or folder, absolute where the project's folder is known; empty for the whole repository."""
    is_file: bool
    """Whether it can only be a file: as a folder's name it may be that of a branch."""

    def covers(self, path: str, cwd: str) -> bool:
        """Whether a file, by its canonical path, is among what is brought back."""
        if not self.path:
            return True
        whole = posixpath.normpath(posixpath.join(cwd, path))
        return whole == self.path or (
            not self.is_file and (self.path == "." or whole.startswith(self.path.removesuffix("/") + "/"))
        )


class BroughtBack:
    """What git brought back in a span, in order: an edit since the commit before that is undone."""

    def __init__(self) -> None:
        self._done: list[tuple[range, Restoration]] = []
        self._committed = 0

    def add(self, one: Restoration, place: int) -> None:
        """Adds what a call at a position brought back, or put back."""
        if one.by is BulkCommand.POP:
            stashes = [one for one in self._done if one[1].by is BulkCommand.STASH]
            if stashes:
                self._done.remove(stashes[-1])
        else:
            self._done.append((range(self._committed, place), one))

    def commit(self, place: int) -> None:
        """Records a commit at a position."""
        self._committed = place + 1

    def covers(self, path: str, place: int, cwd: str) -> bool:
        """Whether an edit of a file at a position, by its canonical path, is undone."""
        return any(place in span and one.covers(path, cwd) for span, one in self._done)


def commits(command: str) -> bool:
    """Whether a command commits."""
    return "commit" in command and _COMMITS.search(command) is not None


def refused(messages: Iterable[Body]) -> frozenset[str]:
    """The ids of the failed calls in whose output git itself reports an error."""
    return frozenset(
        str(message.get("toolCallId"))
        for message in messages
        if message.get("isError")
        and message.get("role") == "toolResult"
        and _COMPLAINT.search(text_of(message.get("content")))
    )


def restorations(call: ToolCall, cwd: str, *, failed: bool = False) -> Iterator[Restoration]:
    """What a call's command brings back; of a `failed` one, what it begins with. A name alone may be that of a branch."""
    command = command_of(call.arguments)
    if "git" not in command or _RESTORES.search(command) is None:
        return
    if failed and _BEGINS.match(command) is None:
        return
    for one in effects(command, folder_of(call)):
        if one.operation is not FileOperation.SWEEP or not isinstance(one.by, BulkCommand):
            continue
        if one.by in _WHOLE:
            yield Restoration(one.by, "", is_file=False)
        elif one.by in (BulkCommand.CHECKOUT, BulkCommand.RESTORE):
            if one.whole and posixpath.normpath(one.path) == ".":
                # A pattern, or no path at all.
                continue
            path = posixpath.join(cwd, forms.canonical_path(one.path, cwd))
            yield Restoration(one.by, posixpath.normpath(path), is_file=one.whole)
        if failed:
            return
