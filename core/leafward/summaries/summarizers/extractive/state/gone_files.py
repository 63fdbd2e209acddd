"""Files that were deleted or renamed, and the lines about them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import chain, islice
from typing import TYPE_CHECKING

from leafward.files.file_operation import FileOperation
from leafward.files.shell.effects import effects
from leafward.files.shell.lexer import Unreadable
from leafward.files.shell.script_walk import placed
from leafward.files.shell.wrappers import unwrapped
from leafward.session.entries import text_of
from leafward.summaries.facts.calls.call_arguments import COMMAND_ARGUMENTS, changes_text, paths_of
from leafward.summaries.facts.calls.named_folders import folder_of, path_at
from leafward.summaries.facts.calls.outcomes import patches_of
from leafward.summaries.facts.forms import forms
from leafward.summaries.summarizers.extractive.candidates import OUTCOME, Evidence, LineCandidate, add
from leafward.summaries.summarizers.outline import SummarySection

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from leafward.session.entries import EntryIndex, ToolCall
    from leafward.summaries.summarizers.extractive.turns import Turn
    from leafward.summaries.survival.spans import SpanMessage

_MOVES = re.compile(r"\b(?:rm|mv|cp)\b")
_LISTS = re.compile(r"(?:ls|find|fd|git ls-files)\b")
_LISTS_HERE = re.compile(r"ls(?: -\w+)*")
"""The command that lists the files of the session's folder by their names."""
_RECURSIVE = re.compile(r"-[a-zA-Z]*[rR][a-zA-Z]*|--recursive")
_BETWEEN_WORDS = re.compile(r"[\s;|&\"']+")
_FOLDERS = 64
"""Words of a command, and ends of paths in it, that may be a folder that it lists."""
_PATTERNS = 200
"""Patterns of removed files that are held against the written ones: of very many all would take quadratic time."""
_NOT_THERE = re.compile(r"(?i)\b(?:does not exist|no such file|not found|ENOENT)\b")
_DEEPEST = 64
"""Folders above a file that are looked at."""
_SOON = 16
"""Messages behind a call among which its result is."""
_WRITES_NOTHING = re.compile(
    r"rm|mv|cp|cd|ls|cat|echo|printf|mkdir|rmdir|git|find|tree|test|\[|true|pwd|wc|head|tail|grep|rg|sleep"
)
"""Programs that write no file but those that they name."""
_SUBJECTS = frozenset(
    {
        SummarySection.DONE,
        SummarySection.NEXT,
        SummarySection.DECISIONS,
        SummarySection.CONTEXT,
        SummarySection.IN_PROGRESS,
        SummarySection.BLOCKED,
    }
)
_TOLD_FILES = 8
"""Deleted or renamed files that are named."""
_TELLS_REMOVAL = re.compile(
    r"(?i)^\W*(?:removed|deleted|dropped|renamed|moved|reverted|gelöscht|entfernt|umbenannt|supprimé|renommé)\b"
)
"""The beginning of an outcome that tells of a removal itself."""


@dataclass(frozen=True, slots=True)
class GoneFile:
    """A file that no longer has its name."""

    place: int
    entry: EntryIndex
    now: str
    """Its new name; empty where it was deleted."""
    quiet: bool = False
    """Whether that is not told: it is the name that it had before this one, or no call tells who removed it."""


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A pattern of a shell for the files that a command removes."""

    parts: Sequence[str]
    deep: bool
    """Whether it removes folders with all that is in them."""

    def names(self, path: str) -> bool:
        """Whether it names a file, or where it is deep a folder around it."""
        parts, pattern = path.split("/"), self.parts
        return (len(parts) == len(pattern) or (self.deep and len(parts) > len(pattern))) and all(
            fnmatchcase(part, one) and part.startswith(".") <= one.startswith(".")
            for part, one in zip(parts, pattern, strict=False)
        )


class _Written:
    """Files that calls wrote, under their present names: no program writes those again."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self._folders: set[str] = set()
        self._patterns = _PATTERNS

    def add(self, paths: Sequence[str]) -> None:
        self.files.update(paths)
        self._folders.update(chain.from_iterable(map(_folders, paths)))

    def holds(self, path: str) -> bool:
        """Whether a path is one of them, or the folder of one."""
        return path in self.files or path in self._folders

    def named_by(self, patterns: Iterator[_Pattern], gone: Mapping[str, GoneFile]) -> list[str]:
        """Those that the patterns of a command name, without the ones that were gone before."""
        given = list(islice(patterns, self._patterns))
        self._patterns -= len(given)
        there = self.files - gone.keys() if given else ()
        return sorted(path for path in there if any(one.names(path) for one in given))


def gone_files(
    messages: Sequence[SpanMessage],
    calls: Mapping[int, Sequence[ToolCall]],
    failed: AbstractSet[str],
    cwd: str,
) -> dict[str, GoneFile]:
    """The files that were deleted or renamed and did not come back, by their names.

    `calls` are those of the messages, by position, and `failed` the ids of those that were not done.
    """
    gone: dict[str, GoneFile] = {}
    written = _Written()
    for place, made in calls.items():
        entry = messages[place].entry
        for call in made:
            arguments = call.arguments
            writes = changes_text(arguments)
            told = paths_of(arguments) if gone or writes or call.id in failed else ()
            named = [forms.canonical_path(path, cwd) for path in told]
            if call.id in failed:
                missing = sorted(path for path in named if path in written.files)
                if missing and _NOT_THERE.search(_result_of(messages, place, call)):
                    gone.update(dict.fromkeys(missing, GoneFile(place, entry, "", quiet=True)))
                continue
            if writes:
                written.add(named)
            for path in named:
                # What is read or changed is there.
                gone.pop(path, None)
            folder = folder_of(call)
            for patch in patches_of(arguments):
                path = path_at(patch.path, folder, cwd)
                now = path_at(patch.moved_to, folder, cwd) if patch.moved_to else ""
                written.add([now or path])
                gone.pop(now or path, None)
                if patch.verb == "delete" or now not in ("", path):
                    gone[path] = GoneFile(place, entry, now)
            command = next(
                (arguments[name] for name in COMMAND_ARGUMENTS if isinstance(arguments.get(name), str)), ""
            )
            if gone and _LISTS.match(command):
                lines = frozenset(map(str.strip, _result_of(messages, place, call).split("\n")))
                for path in _listed(lines, command):
                    gone.pop(path, None)
            if _MOVES.search(command) is None:
                continue
            done = effects(command, folder)
            anew = bool(done) and _runs_behind_removal(command)
            if any(one.glob for one in done):
                removed = written.named_by(_removed_patterns(command, folder, cwd), gone)
                gone.update(dict.fromkeys(removed, GoneFile(place, entry, "")))
            for one in done:
                if one.glob or one.by is not None:
                    continue
                path = forms.canonical_path(one.path, cwd)
                if one.operation is FileOperation.DELETE and anew and not written.holds(path):
                    continue
                now = forms.canonical_path(one.to, cwd) if one.to is not None else ""
                before = gone.pop(now or path, None)
                if now and path in written.files:
                    written.add([now])
                if one.operation is FileOperation.DELETE or (
                    one.operation is FileOperation.MOVE and now != path
                ):
                    returned = before is not None and before.now == path
                    gone[path] = GoneFile(place, entry, now, returned)
    return gone


def _result_of(messages: Sequence[SpanMessage], place: int, call: ToolCall) -> str:
    """What a call at a place gave back; empty where its result is far behind."""
    behind = (message for _, message in messages[place + 1 : place + 1 + _SOON])
    return next((text_of(one.get("content")) for one in behind if one.get("toolCallId") == call.id), "")


def _listed(lines: AbstractSet[str], command: str) -> Iterator[str]:
    """The files that a command may list: by their paths, or by their names where it names their folder."""
    yield from (line.removeprefix("./") for line in lines)
    if _LISTS_HERE.fullmatch(command):
        return
    # Without their folder the names of a list may be those of another one.
    words = (word.rstrip("/") for word in _BETWEEN_WORDS.split(command))
    ends = ("/".join(parts[at:]) for word in words for parts in [word.split("/")] for at in range(len(parts)))
    yield from (f"{folder}/{line}" for folder in islice(ends, _FOLDERS) for line in lines)


def _removed_patterns(script: str, folder: str, cwd: str) -> Iterator[_Pattern]:
    """The patterns by which a script removes files: `rm src/*.log`."""
    try:
        for one in placed(script, folder):
            words = unwrapped(one.command.words)
            if one.folder is None or not words or words[0].text != "rm":
                continue
            deep = any(_RECURSIVE.fullmatch(word.text) for word in words)
            for word in words[1:]:
                if word.glob:
                    yield _Pattern(path_at(word.text, one.folder, cwd).split("/"), deep)
    except Unreadable:
        return


def _runs_behind_removal(script: str) -> bool:
    """Whether a program follows a removal, which may write the removed file anew: its log, its lock, its database."""
    removed = False
    try:
        for one in placed(script):
            words = unwrapped(one.command.words)
            program = words[0].text.rpartition("/")[2] if words else ""
            if removed and program and _WRITES_NOTHING.fullmatch(program) is None:
                return True
            removed = removed or program == "rm"
    except Unreadable:
        return False
    return False


def take_along(evidence: Evidence, gone: Mapping[str, GoneFile]) -> dict[str, GoneFile]:
    """Adds the files of deleted and renamed folders, but for those that a call named since; a renamed one keeps its work under its new path.

    What was moved to a folder that was there before lies in it.
    """
    folders: dict[str, int] = {}
    """The folders of known files, each with the first position at which a call named one in it."""
    for path, work in evidence.files.items():
        first = evidence.position.get(work.sources[0], -1) if work.sources else work.last
        for folder in _folders(path):
            folders[folder] = min(first, folders.get(folder, first))
    found = {
        path: replace(what, now=f"{what.now}/{path.rpartition('/')[2]}")
        if folders.get(what.now, what.place) < what.place
        else what
        for path, what in gone.items()
    }
    for path, work in list(evidence.files.items()):
        folder = next((one for one in _folders(path) if one in gone), "")
        if not folder or path in gone or work.last > gone[folder].place:
            continue
        what = found[folder]
        now = f"{what.now}{path[len(folder) :]}" if what.now else ""
        found[path] = replace(what, now=now, quiet=True)
        if now:
            work.path = now
            del evidence.files[path]
            known = evidence.files.setdefault(now, work)
            if known is not work:
                known.merge(work)
    return found


def _folders(path: str) -> Iterator[str]:
    """The folders around a file, the nearest first."""
    for _ in range(_DEEPEST):
        path = path.rpartition("/")[0]
        if not path:
            return
        yield path


def tell_gone(evidence: Evidence, gone: Mapping[str, GoneFile], turns: Sequence[Turn]) -> None:
    """Leaves out the lines about files from before they were deleted or renamed, and says that they were.

    A file that was made and deleted for one request is not worth telling.
    """
    listed = 0
    # Names that a renamed file had for a time.
    between = {what.now for what in gone.values()}
    for path, what in sorted(gone.items(), key=lambda item: (-item[1].place, item[0])):
        name = path.rsplit("/", 1)[-1]
        if "." not in name:
            if not what.now:
                evidence.removed.add(name)
            continue
        if what.now.rsplit("/", 1)[-1] == name and what.quiet:
            # With its folder, or back in the folder where it was: its name is what it was.
            if path in evidence.files and what.now in evidence.files:
                evidence.files[what.now].merge(evidence.files.pop(path))
            continue
        left = without_file(evidence, path, what.place)
        work = evidence.files.pop(path, None)
        if work is not None and what.now and what.now in evidence.files:
            evidence.files[what.now].merge(work)
        elif work is not None:
            evidence.removed.update(work.names, work.removed)
        if work is None and len(left) == len(evidence.candidates):
            continue
        evidence.candidates = left
        if work is not None and not what.now and _is_scratch(work.made, what.place, turns):
            continue
        if listed < _TOLD_FILES and path not in between and not what.quiet:
            listed += 1
            now = present_name(path, gone)
            text = f"Renamed `{path}` to `{now}`" if now else f"Deleted `{path}`"
            add(evidence, SummarySection.DONE, text, (what.entry,), 3.0)


def present_name(path: str, gone: Mapping[str, GoneFile]) -> str:
    """The name of a file at the end, which may have been renamed several times; empty where it was deleted."""
    seen = set[str]()
    while path in gone and path not in seen:
        seen.add(path)
        path = gone[path].now
    return path


def _is_scratch(made: int, gone: int, turns: Sequence[Turn]) -> bool:
    """Whether a file was there only while one request was worked on."""
    return made >= 0 and not any(made < turn.first <= gone for turn in turns)


def without_file(evidence: Evidence, path: str, until: int) -> list[LineCandidate]:
    """The lines but those about a file up to a position; the last request stays, its outcome does not."""
    name = path.rsplit("/", 1)[-1]
    named = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])(?!\.\w)")
    for candidate in evidence.candidates:
        if candidate.first and candidate.asks and evidence.place_of(candidate) <= until:
            asked, _, came = candidate.text.partition(OUTCOME)
            if named.search(came) and not _TELLS_REMOVAL.match(came):
                candidate.text = asked
    return [
        candidate
        for candidate in evidence.candidates
        if not (
            candidate.section in _SUBJECTS
            and not candidate.first
            and name in candidate.text
            and named.search(candidate.text)
            and evidence.place_of(candidate) <= until
        )
    ]
