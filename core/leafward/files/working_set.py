"""A session's effects on files: the operations of an entry, the working set of a path, the changes of a turn.

All of it comes from the calls and results in the session; `file_names` gives the names of files.
"""

from __future__ import annotations

from array import array
from bisect import insort
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.files.call_lines import NO_CALL, CallShapes, result_in
from leafward.files.edits import delta_in, delta_of
from leafward.files.file_names import locate, utf16_order
from leafward.files.reads import lists_folder
from leafward.files.tool_calls import (
    NATIVE_TOOLS,
    FileAction,
    FileCall,
    ToolTable,
    file_calls,
    path_in,
    table_of,
)
from leafward.session.entries import NO_ENTRY, Body, EntryIndex, Kind, ToolCall, tool_calls
from leafward.session.messages import did_run, message_in, nested_calls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from leafward.session.session import Session


@dataclass(frozen=True, slots=True)
class FileOp:
    """One file operation that a call asks for."""

    entry: EntryIndex
    call_id: str
    path: str
    """The path as the agent wrote it."""
    action: FileAction
    added: int
    """Added lines: all lines of a write, none of a read."""
    removed: int


@dataclass(frozen=True, slots=True)
class FileUse:
    """One file of a working set."""

    path: str
    """The path relative to the session's folder when inside it."""
    entries: tuple[EntryIndex, ...]
    """The entries that read it, or that modified it, in the order of the path."""


@dataclass(frozen=True, slots=True)
class WorkingSet:
    """The files a path touched, each list sorted by path. A file that was modified is not listed as read (pi 1.5.2)."""

    read: tuple[FileUse, ...]
    modified: tuple[FileUse, ...]


@dataclass(frozen=True, slots=True)
class FileChange:
    """The changes of some entries to one file."""

    path: str
    edits: int
    """Calls that edited or wrote it."""
    added: int
    """Lines."""
    removed: int


def _file_calls(body: Body, table: ToolTable) -> Iterator[FileCall]:
    """Calls of an assistant's entry that were run, or calls recorded on a tool's result, that name a file."""
    message = message_in(body)
    role = message.get("role")
    calls: list[ToolCall] = []
    if role == "assistant" and did_run(message):
        calls = tool_calls(message)
    elif role == "toolResult":
        calls = nested_calls(message)
    for call in calls:
        yield from file_calls(call, table)


def operations(body: Body, table: ToolTable = NATIVE_TOOLS, entry: EntryIndex = NO_ENTRY) -> list[FileOp]:
    """The file operations that an entry asks for, in order; their outcomes are in the results that follow."""
    return [
        FileOp(entry, call.id, path, action, *delta_of(action, call.arguments, table))
        for call, action, path in _file_calls(body, table)
    ]


_ASSISTANT, _TOOL_RESULT = int(Kind.ASSISTANT), int(Kind.TOOL_RESULT)


@dataclass(slots=True)
class WorkingFile:
    """The reads and changes of one file along a path."""

    read: list[EntryIndex]
    modified: list[EntryIndex]


def touched(
    session: Session,
    entries: Iterable[int],
    table: ToolTable | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> dict[str, WorkingFile]:
    """The files that entries of one path touched, in order. Calls that failed or listed a folder do not count.

    The tools are the session's own unless a `table` is given. `entries` are in the order of the path; once `stop` turns
    true, the result is empty.
    """
    table = table or table_of(session)
    # Plain numbers, because the garbage collector would visit other values, and a long path has hundreds of thousands of
    # calls.
    names: list[str] = []
    number_of: dict[str, int] = {}
    done = array("q")
    waiting: dict[str, tuple[int, ...]] = {}
    kinds, shapes = session.columns.kind, CallShapes(table)

    def asks(index: int, calls: Iterable[FileCall]) -> None:
        fresh: dict[str, tuple[int, ...]] = {}
        for call, action, path in calls:
            number = number_of.setdefault(path, len(names))
            if number == len(names):
                names.append(path)
            fresh[call.id] = (*fresh.get(call.id, ()), len(done))
            done.append((index << 32 | number) << 1 | (action is FileAction.READ))
        # A provider may reuse an id in a later reply: a result answers the latest call.
        waiting.update(fresh)

    def answers(call_id: str, failed: object) -> None:
        places = waiting.pop(call_id, ())
        for place in places if failed else ():
            done[place] = _FAILED

    def needs(index: int, line: bytes) -> bool:
        if kinds[index] == _TOOL_RESULT:
            result = result_in(line)
            if result is not None:
                answers(result[0], result[1])
            return result is None
        call = shapes.one_call(line)
        made = shapes.as_call(call) if call is not None else None
        if made is not None:
            asks(index, file_calls(made, table))
        return made is None and call is not NO_CALL

    callers = (index for index in entries if kinds[index] in (_ASSISTANT, _TOOL_RESULT) and not stop())
    for index, body in session.bodies(callers, needs):
        if body is None:
            continue
        if kinds[index] == _TOOL_RESULT:
            message = message_in(body)
            answers(
                str(message.get("toolCallId")),
                message.get("isError") or lists_folder(message.get("content"), table.own.read_form),
            )
        asks(index, _file_calls(body, table))
    files = _by_file(done, names, session.cwd, stop, tidy=table.tidies_paths)
    return {} if stop() else files


_FAILED = -1
_AT_ONCE = 1024
"""Calls assigned to files between two checks of `stop`."""


def _by_file(
    done: Iterable[int], names: list[str], folder: str, stop: Callable[[], bool], *, tidy: bool
) -> dict[str, WorkingFile]:
    """Calls (an entry, the number of a path, whether it read) by the file they touched; incomplete once `stop` turns true."""
    files: dict[str, WorkingFile] = {}
    located: dict[int, WorkingFile] = {}
    for number, call in enumerate(done):
        if not number % _AT_ONCE and stop():
            break
        if call == _FAILED:
            continue
        path = call >> 1 & 0xFFFFFFFF
        file = located.get(path)
        if file is None:
            name = locate(names[path], folder, tidy=tidy)
            file = located[path] = files.setdefault(name, WorkingFile([], []))
        noted = file.read if call & 1 else file.modified
        index = EntryIndex(call >> 33)
        if not noted or noted[-1] != index:
            noted.append(index)
    return files


def gone_at(
    session: Session, changed: Mapping[str, Sequence[EntryIndex]]
) -> Iterator[tuple[str, EntryIndex]]:
    """Prompts at which the agent no longer found a file that was changed above them, as behind Claude Code's "Restore code".

    `changed`: by file, the entries that changed it, in order. A file is told of once, until it is changed again.
    """
    within, tidy = session.tree.is_ancestor, table_of(session).tidies_paths
    told: dict[str, EntryIndex] = {}
    for entry, names in sorted(session.source.missing.items()):
        for name in (locate(one, session.cwd, tidy=tidy) for one in names):
            above = [at for at in changed.get(name, ()) if at < entry and within(at, entry)]
            known = told.get(name, NO_ENTRY)
            if above and not (known > above[-1] and within(known, entry)):
                told[name] = entry
                yield name, entry


def working_set(
    session: Session, at: int | None = None, stop: Callable[[], bool] = lambda: False
) -> WorkingSet:
    """The files read and modified on the path to an entry (the leaf by default), removed ones among the modified."""
    here = session.leaf if at is None else at
    files = touched(session, session.tree.path(here), stop=stop)
    for name, entry in list(gone_at(session, {name: file.modified for name, file in files.items()})):
        if session.tree.is_ancestor(entry, here):
            insort(files[name].modified, entry)
    names = sorted(files, key=utf16_order)
    return WorkingSet(
        tuple(FileUse(name, tuple(files[name].read)) for name in names if not files[name].modified),
        tuple(FileUse(name, tuple(files[name].modified)) for name in names if files[name].modified),
    )


@dataclass(frozen=True, slots=True)
class Searched:
    """A folder or file that was searched, which is not a read of it."""

    path: str
    """The path as in a working set; `.` is the session's folder."""
    patterns: tuple[str, ...]
    """Patterns, each once, in order; not safe to show. Empty for a mere listing."""
    entries: tuple[EntryIndex, ...]


def searched(session: Session, at: int | None = None) -> tuple[Searched, ...]:
    """The places that tools searched on the path to an entry (the leaf by default), by path. Failed calls do not count."""
    table, kinds = table_of(session), session.columns.kind
    here = session.leaf if at is None else at
    done: dict[str, tuple[EntryIndex, str, list[str]]] = {}
    found: dict[str, tuple[list[EntryIndex], dict[str, None]]] = {}
    spoken = (
        index for index in session.tree.path(here) if kinds[index] in (Kind.ASSISTANT, Kind.TOOL_RESULT)
    )
    for index, body in session.bodies(spoken if table.searches else ()):
        message = message_in(body) if body is not None else {}
        if kinds[index] == Kind.ASSISTANT:
            for call in tool_calls(message) if did_run(message) else ():
                if call.name in table.searches:
                    values = (call.arguments.get(name) for name in table.searches[call.name])
                    texts = [one for one in values if isinstance(one, str)]
                    place = path_in(call.arguments, table) or ""
                    done[call.id] = index, locate(place, session.cwd, tidy=table.tidies_paths), texts
        elif (request := done.pop(str(message.get("toolCallId")), None)) is not None and not message.get(
            "isError"
        ):
            entry, path, texts = request
            entries, patterns = found.setdefault(path, ([], {}))
            entries.append(entry)
            patterns.update(dict.fromkeys(texts))
    return tuple(
        Searched(path, tuple(found[path][1]), tuple(dict.fromkeys(found[path][0])))
        for path in sorted(found, key=utf16_order)
    )


def carried(session: Session, at: int | None = None, known: WorkingSet | None = None) -> WorkingSet:
    """Files that compactions and branch summaries of a path list and no call on it names; `known` is its own working set.

    They were read and modified on abandoned branches, or before the first entries that the file still holds. The lists of a
    summary that an extension wrote are not trusted (pi 1.5.2).
    """
    here = session.leaf if at is None else at
    known_paths = {use.path for use in (*known.read, *known.modified)} if known is not None else set()
    listed: tuple[dict[str, list[EntryIndex]], ...] = ({}, {})
    kinds, tidy = session.columns.kind, table_of(session).tidies_paths
    summaries = (
        index for index in session.tree.path(here) if kinds[index] in (Kind.COMPACTION, Kind.BRANCH_SUMMARY)
    )
    for index, body in session.bodies(summaries):
        details = body.get("details") if body is not None and not body.get("fromHook") else None
        for name, found in zip(("readFiles", "modifiedFiles"), listed, strict=True):
            paths = details.get(name) if isinstance(details, dict) else None
            for path in paths if isinstance(paths, list) else ():
                if (
                    isinstance(path, str)
                    and (located := locate(path, session.cwd, tidy=tidy)) not in known_paths
                ):
                    found.setdefault(located, []).append(index)
    read, modified = listed
    return WorkingSet(
        tuple(
            FileUse(name, tuple(read[name]))
            for name in sorted(read.keys() - modified.keys(), key=utf16_order)
        ),
        tuple(FileUse(name, tuple(modified[name])) for name in sorted(modified, key=utf16_order)),
    )


@dataclass(slots=True)
class _Change:
    """A call that changes a file; its result tells whether it did, and by how many lines."""

    path: str
    action: FileAction
    call: ToolCall
    failed: bool = False
    delta: tuple[int, int] | None = None


def changed_files(session: Session, entries: Iterable[int]) -> list[FileChange]:
    """The changes of entries of one path, the most often changed file first. Failed calls do not count.

    Lines are counted from the diff in a call's result where there is one, else from its arguments.
    """
    table = table_of(session)
    done: list[_Change] = []
    waiting: dict[str, list[_Change]] = {}
    for _, body in session.bodies(entries):
        if body is None:
            continue
        message = message_in(body)
        if message.get("role") == "toolResult":
            calls = waiting.pop(str(message.get("toolCallId")), [])
            delta = delta_in(body)
            for change in calls:
                change.failed = bool(message.get("isError"))
                # Where two calls share an id, it is not known which one a result answers.
                change.delta = delta if len(calls) == 1 else None
        fresh: dict[str, list[_Change]] = {}
        for call, action, path in _file_calls(body, table):
            if action is not FileAction.READ:
                done.append(_Change(path, action, call))
                fresh.setdefault(call.id, []).append(done[-1])
        waiting.update(fresh)
    changes: dict[str, FileChange] = {}
    for change in done:
        if change.failed:
            continue
        added, removed = change.delta or delta_of(change.action, change.call.arguments, table)
        name = locate(change.path, session.cwd, tidy=table.tidies_paths)
        before = changes.get(name, FileChange(name, 0, 0, 0))
        changes[name] = FileChange(name, before.edits + 1, before.added + added, before.removed + removed)
    return sorted(changes.values(), key=lambda change: -change.edits)
