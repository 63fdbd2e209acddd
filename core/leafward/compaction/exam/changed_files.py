"""The files that the calls of a span changed, in the order of their last change, as far as that is certain."""

from __future__ import annotations

from collections import deque
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from leafward.compaction.exam.check_commands import formats
from leafward.files.file_operation import FileOperation
from leafward.files.file_request import BulkCommand, Proof
from leafward.files.shell.effects import effects
from leafward.summaries.facts.calls import restorations
from leafward.summaries.facts.calls.call_arguments import command_of
from leafward.summaries.facts.calls.named_folders import folder_of, path_at
from leafward.summaries.facts.calls.outcomes import files_changed_by, patches_of
from leafward.summaries.facts.forms import forms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.files.file_request import FileRequest
    from leafward.session.entries import EntryIndex, ToolCall

_GONE = frozenset({FileOperation.MOVE, FileOperation.DELETE})
_WRITTEN = frozenset({FileOperation.WRITE, FileOperation.APPEND, FileOperation.EDIT, FileOperation.CHANGE})


_OUTSIDE = ("/", "~", "..")
"""Beginnings of paths out of the project, where commands write what they print."""
_PATTERNS = 64
"""Most patterns of commands that are remembered, the last ones."""


class _Change(NamedTuple):
    """The last change of a file."""

    entry: EntryIndex
    """The entry of its reply."""
    at: int
    """Its place among all that was done."""


class ChangedFiles:
    """The files that calls changed, by their canonical paths.

    A command changes files too: one that it writes with a text of its own, or edits after it was changed before, if it is sure that it
    did. A file that it may have changed, or that it put in its place, was changed at an unknown time: it is left out until it is
    changed again.
    """

    def __init__(self, cwd: str) -> None:
        self._cwd = cwd
        self._last: dict[str, _Change] = {}
        """In the order of their last changes."""
        self._made: dict[str, _Change] = {}
        """The same, without what commands changed."""
        self._done = 0
        """Number of operations so far."""
        self._gone: dict[str, int] = {}
        """Files and folders that were deleted or renamed, each with the place of that."""
        self._doubted: dict[str, int] = {}
        """Files and folders that were changed by a command or by a call without a result, if it came to that."""
        self._patterns: deque[tuple[str, int]] = deque(maxlen=_PATTERNS)
        """Patterns of files that a command changed."""
        self._pending: set[str] = set()
        """Files changed since the last commit."""
        self._unformatted: set[str] = set()
        """Files changed since the last formatter."""

    def last(self) -> dict[str, EntryIndex]:
        """Those of which it is known when they were changed last, in that order, each with the entry of its reply."""
        return {
            path: entry
            for path, (entry, at) in self._last.items()
            if not any(
                since.get(one, 0) > at for one in _around(path) for since in (self._gone, self._doubted)
            )
            and not any(place > at and fnmatchcase(path, pattern) for pattern, place in self._patterns)
        }

    def there(self) -> list[str]:
        """All that are still there under their names, in the order of the last change by a tool."""
        return [
            path
            for path, (_, at) in self._made.items()
            if not any(self._gone.get(one, 0) > at for one in _around(path))
        ]

    def add(
        self, entry: EntryIndex, call: ToolCall, *, failed: bool, refused: bool, unanswered: bool = False
    ) -> None:
        """Adds a call of a reply; of a `refused` one git itself reports that it did nothing, of an `unanswered` one nobody knows."""
        if unanswered:
            for path in files_changed_by(call, self._cwd):
                self._note(self._doubted, path)
        elif not failed:
            for path in files_changed_by(call, self._cwd):
                self._change(path, entry)
                self._made.pop(path, None)
                self._made[path] = self._last[path]
                self._unformatted.add(path)
            for patch in patches_of(call.arguments):
                folder = folder_of(call)
                path = path_at(patch.path, folder, self._cwd)
                if patch.verb == "delete" or (
                    patch.moved_to and path_at(patch.moved_to, folder, self._cwd) != path
                ):
                    self._note(self._gone, path)
        if refused:
            return
        command = command_of(call.arguments)
        for one in effects(command, folder_of(call)) if command else ():
            self._take(entry, one, failed=failed)
        self._bring_back(call, failed=failed)
        if formats(command):
            # It may have changed any file that was written since the last one: these were changed last together.
            for path in self._unformatted.intersection(self._last):
                self._last[path] = self._last[path]._replace(entry=entry)
            self._unformatted.clear()

    def _change(self, path: str, entry: EntryIndex) -> None:
        self._done += 1
        self._last.pop(path, None)
        self._last[path] = _Change(entry, self._done)
        self._pending.add(path)

    def _note(self, paths: dict[str, int], path: str) -> None:
        self._done += 1
        paths[path] = self._done

    def _take(self, entry: EntryIndex, one: FileRequest, *, failed: bool) -> None:
        """Takes in what a command does to a file."""
        sure = not failed and one.proof > Proof.NONE and one.by is None
        path = forms.canonical_path(one.path, self._cwd)
        if one.operation not in _WRITTEN and one.operation not in _GONE and one.to is None:
            return
        if one.glob:
            self._done += 1
            self._patterns.append((path, self._done))
        elif one.operation in _WRITTEN and sure:
            if path in self._last or (one.text and not path.startswith(_OUTSIDE)):
                self._change(path, entry)
        elif one.operation in _GONE and sure:
            self._note(self._gone, path)
        elif one.operation is not FileOperation.COPY:
            self._note(self._doubted, path)
        if one.to is not None:
            self._note(self._doubted, forms.canonical_path(one.to, self._cwd))

    def _bring_back(self, call: ToolCall, *, failed: bool) -> None:
        """Forgets the changes that a command of git took back."""
        for one in restorations.restorations(call, self._cwd, failed=failed):
            if one.by not in (BulkCommand.STASH, BulkCommand.POP):
                for path in [path for path in self._pending if one.covers(path, self._cwd)]:
                    self._last.pop(path, None)
                    self._made.pop(path, None)
                    self._pending.discard(path)
        if not failed and restorations.commits(command_of(call.arguments)):
            self._pending.clear()


def _around(path: str) -> Iterator[str]:
    """A file and the folders that it is in."""
    while path:
        yield path
        path = path.rpartition("/")[0]
