"""Names of the files of a summary where its span ends: moved files by their new name, removed files not at all."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from leafward.files.file_names import locate
from leafward.files.shell.moves import may_move, moves
from leafward.session.entries import tool_calls
from leafward.session.messages import did_run
from leafward.summaries.facts.calls.call_arguments import PATH_ARGUMENTS, command_of, first_of
from leafward.summaries.facts.calls.named_folders import folder_of
from leafward.summaries.facts.calls.outcomes import failed_calls, files_changed_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from leafward.compaction.stored_summary.file_lists import FileLists
    from leafward.summaries.survival.spans import SpanMessage


def current_file_names(
    read: Sequence[str], modified: Sequence[str], messages: Iterable[SpanMessage], cwd: str, known: FileLists
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Files read and modified, the most recent first, by their names after some messages.

    A file whose changes all failed was not modified; one that no call reached, because each failed or its reply was broken off,
    was not read either. `known` are files that were read and modified, whatever the messages say. A file moved by a command was
    modified, whether a call named it before or not.
    """
    bodies = [message.message for message in messages]
    failed = failed_calls(bodies)
    files = _Files(read, modified, cwd)
    files.changed(known.modified)
    files.reached(known.read)
    answered = {str(body.get("toolCallId")) for body in bodies if body.get("role") == "toolResult"}
    for body in bodies:
        if body.get("role") != "assistant":
            continue
        ran = did_run(body)
        for call in tool_calls(body):
            paths = list(files_changed_by(call, cwd))
            named = paths or list(filter(None, (first_of(call.arguments, PATH_ARGUMENTS),)))
            if not ran or (call.id in failed and call.id in answered):
                files.refused(named)
                continue
            files.changed(paths)
            files.reached(named)
            command = command_of(call.arguments)
            if command and may_move(command) and call.id in answered:
                for path, to in moves(command, folder_of(call)):
                    files.moved(path, to)
    return files.lists()


class _Files:
    """The files of both lists, by their names relative to the session's folder."""

    def __init__(self, read: Sequence[str], modified: Sequence[str], cwd: str) -> None:
        self._cwd = cwd
        self._written = {locate(path, cwd): path for path in (*reversed(read), *reversed(modified))}
        """The path of each file as the agent writes it, the most recent last."""
        self._modified = {locate(path, cwd) for path in modified}
        self._whole = any(path.startswith("/") for path in (*read, *modified))
        self._refused: set[str] = set()
        self._changed: set[str] = set()
        self._reached: set[str] = set()
        self._gone: set[str] = set()

    def changed(self, paths: Iterable[str]) -> None:
        """Adds files that a call changed."""
        names = {locate(path, self._cwd) for path in paths}
        self._changed |= names
        self._gone -= names

    def reached(self, paths: Iterable[str]) -> None:
        """Adds files that a call read or changed."""
        self._reached.update(locate(path, self._cwd) for path in paths)

    def refused(self, paths: Iterable[str]) -> None:
        """Adds files that a call should have read or changed, and did not."""
        self._refused.update(locate(path, self._cwd) for path in paths)

    def moved(self, path: str, to: str | None) -> None:
        """Records that a command moved or removed a file or folder."""
        name = locate(path, self._cwd)
        there = [known for known in self._written if known == name or known.startswith(f"{name}/")]
        self._gone.update(there)
        if to is None:
            return
        target = locate(to, self._cwd)
        # A path that no call named before counts as a file if its name has an ending.
        for known in there or ([name] if "." in posixpath.basename(target) else ()):
            now = target + known[len(name) :]
            self._written.pop(now, None)
            self._written[now] = self._as_written(now)
            self._gone.discard(now)
            if known in self._modified or not there:
                self._modified.add(now)
                self._changed.add(now)

    def _as_written(self, name: str) -> str:
        return posixpath.join(self._cwd, name) if self._whole and self._cwd else name

    def lists(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The files read and those modified, the most recent first."""
        left = [name for name in reversed(self._written) if name not in self._gone]
        modified = {name for name in self._modified if name not in self._refused or name in self._changed}
        missed = self._refused - self._changed - self._reached
        read = [name for name in left if name not in modified and name not in missed]
        return (
            tuple(self._written[name] for name in read),
            tuple(self._written[name] for name in left if name in modified),
        )
