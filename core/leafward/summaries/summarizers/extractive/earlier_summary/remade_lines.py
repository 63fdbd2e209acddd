"""Lines of ours in an earlier summary about files, declarations and commands: the next summary makes them anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.summaries.facts.values import FactKind
from leafward.summaries.summarizers.extractive.candidates import FileWork
from leafward.summaries.summarizers.extractive.state.declared_lines import carry_declared

if TYPE_CHECKING:
    from leafward.session.entries import EntryIndex
    from leafward.summaries.summarizers.extractive.candidates import Evidence

_FILE_LINE = late(r"`([^`\n]{1,300})` changed(?: (\d{1,6})×)?(?:, \d{1,9} lines)?(?:: (.{1,4000}))?")
_MORE_NAMES = late(r" and \d{1,4} more$")
_FILES_LINE = late(r"(Changed|Read|Named in calls): (`.{1,4000})")
_FILE_OF_LINE = late(r"`([^`\n]{1,300})`(?: (\d{1,6})×)?")
_RUN_LINE = late(
    r"(?:(?:Ran|Run|Failed(?: with exit -?\d+)?:) )?`(.{1,300})`(?: passes)?(?: \((?:once|\d+ times).*|: .*)?"
)


def is_made_anew(evidence: Evidence, text: str, entry: EntryIndex) -> bool:
    """Whether the new summary has a line of ours in another form; its counts are added to the current ones."""
    return (
        _counts_file(evidence, text, entry)
        or _counts_files(evidence, text, entry)
        or carry_declared(evidence, text, entry)
        or _is_command_of_now(evidence, text)
    )


def _counts_file(evidence: Evidence, text: str, entry: EntryIndex) -> bool:
    """Adds the counts and the names of a line about one file; whether it is such a line."""
    line = _FILE_LINE.fullmatch(text)
    if line is None:
        return False
    path, times, names = line.groups()
    work = evidence.files.setdefault(path, FileWork(path, last=-1, sources=[entry]))
    _count(work, "changed", times)
    for name in _MORE_NAMES.sub("", names or "").removesuffix("…").split(", "):
        if name:
            work.names.setdefault(name, -1)
    return True


def _counts_files(evidence: Evidence, text: str, entry: EntryIndex) -> bool:
    """Adds the counts of a line that lists files; whether it is such a line."""
    line = _FILES_LINE.fullmatch(text)
    if line is None:
        return False
    for path, times in _FILE_OF_LINE.findall(line[2]):
        work = evidence.files.setdefault(path, FileWork(path, last=-1, sources=[entry]))
        _count(work, line[1].casefold(), times)
    return True


def _count(work: FileWork, done: str, times: str | None) -> None:
    """Adds to the work on a file what a line of ours tells of it; without a number it is once."""
    count = int(times or 1)
    if done == "changed":
        work.changes += count
    elif done == "read":
        work.reads += count
    else:
        work.named += count


def _is_command_of_now(evidence: Evidence, text: str) -> bool:
    """Whether a line tells a command that the next summary tells by its runs since."""
    command = _RUN_LINE.fullmatch(text)
    fact = evidence.facts.get((FactKind.COMMAND, command[1])) if command is not None else None
    if fact is None or fact.last not in evidence.position:
        return False
    return text.startswith("Failed") or text.endswith(" passes") or fact.count >= 2
