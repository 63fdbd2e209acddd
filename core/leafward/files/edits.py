"""The tools that touch files, and an edit as a diff.

Which tools those are, and how their arguments name a file and a change, is a `ToolTable`, so that nothing here knows an
agent. Texts come from calls and results alone; work on them is bounded.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from leafward.files.commands import FilePatch, files_read, parsed_patch, patches_in
from leafward.files.reads import PLAIN, PRINTED, ReadForm
from leafward.session.command_text import shown_command
from leafward.session.entries import ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from leafward.session.entries import Body
    from leafward.session.session import Session


class Action(StrEnum):
    """What an operation does to its file."""

    READ = "read"
    WRITE = "write"
    EDIT = "edit"


@dataclass(frozen=True, slots=True)
class ToolTable:
    """How an agent's tools name files. Arguments are looked for under each of the given names, the first found counts."""

    actions: Mapping[str, Action]
    """Tools that touch a file, by name."""
    shells: frozenset[str] = frozenset()
    """Tools that run a command."""
    path: tuple[str, ...] = ("path",)
    """The argument that holds the path."""
    content: tuple[str, ...] = ("content",)
    """The argument of a write that holds the whole text."""
    old: tuple[str, ...] = ("oldText",)
    new: tuple[str, ...] = ("newText",)
    """The text an edit replaces, and what by."""
    edits: tuple[str, ...] = ("edits",)
    """Where there are several: the argument that holds a list of edits: objects with an old and a new text, or such a list as JSON."""
    command: tuple[str, ...] = ()
    """The argument of a shell that holds the command. Without a name commands are not looked into (pi 1.5.2)."""
    folder: tuple[str, ...] = ()
    """The argument of a shell that holds the folder it runs in."""
    patches: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Tools that take a patch, and the arguments that may hold it."""
    scripts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Tools that run a program which calls other tools, and the arguments that may hold it."""
    searches: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Tools that look for files or in them, and the arguments that say what for. Where they look is `path`, or the folder."""
    keeps_ends: bool = True
    """Whether lines that an edit adds end as those of the file do, in every version."""
    tidies_paths: bool = False
    """Whether an `@` in front of a path is dropped, and odd spaces in it are taken for plain ones."""
    read_form: ReadForm = PLAIN
    """How results of the tools that read show a file."""
    shell_form: ReadForm = PRINTED
    """How results of shells show what was printed."""

    def touches(self, name: object) -> bool:
        """Whether calls of a tool may touch files."""
        return name in self.actions or name in self.patches or (bool(self.command) and name in self.shells)

    def changes(self, name: object) -> bool:
        """Whether calls of a tool may change files."""
        action = self.actions.get(name) if isinstance(name, str) else None
        return (action is not None and action is not Action.READ) or (action is None and self.touches(name))


NATIVE_TOOLS = ToolTable(
    {"read": Action.READ, "write": Action.WRITE, "edit": Action.EDIT},
    frozenset({"bash", "powershell"}),
    searches={"grep": ("pattern",), "find": ("pattern",), "ls": ()},
    tidies_paths=True,
)
"""The tools of pi: `edit` had one `oldText` and `newText` until 0.5x and has had a list of `edits` since."""


class FileCall(NamedTuple):
    """What a call does to one file."""

    call: ToolCall
    """The call itself where it names the one file; else one of the same id that says what of it concerns this file."""
    action: Action
    path: str
    """As the agent wrote it; relative to the folder the command ran in where that was named."""


def table_of(session: Session) -> ToolTable:
    """The tools of a session: those of the agent that wrote it."""
    found = session.source.tools
    return found if isinstance(found, ToolTable) else NATIVE_TOOLS


def file_calls(call: ToolCall, table: ToolTable) -> list[FileCall]:
    """The files a call touches: the one it names, those of its patch, those its command prints or patches."""
    action = table.actions.get(call.name)
    if action is not None and call.name not in table.patches:
        path = path_in(call.arguments, table)
        return [FileCall(call, action, path)] if path is not None else []
    texts: list[str] = []
    if call.name in table.patches:
        texts = [
            text for name in table.patches[call.name] if isinstance(text := call.arguments.get(name), str)
        ]
    command = command_in(call, table)
    if command is None and not texts:
        return []
    folder = _argument(call.arguments, table.folder)
    if command is not None:
        texts = list(patches_in(command))
        if not texts:
            reads = [_within(path, folder) for path in files_read(command)]
            return [FileCall(_derived(call, table, path), Action.READ, path) for path in reads]
    return [
        made for text in texts for file in parsed_patch(text) for made in _patched(call, table, file, folder)
    ]


def command_in(call: ToolCall, table: ToolTable) -> object:
    """The command that a call of a shell runs, a text or a list of words; None for any other call."""
    if call.name not in table.shells:
        return None
    return next((call.arguments[name] for name in table.command if call.arguments.get(name)), None)


def command_text(call: ToolCall, table: ToolTable) -> str:
    """The same as a person would type it; empty for a call that runs none."""
    found = call.arguments.get("command") if not table.command else command_in(call, table)
    return shown_command(found) if isinstance(found, (str, list)) else ""


def _derived(call: ToolCall, table: ToolTable, path: str, **arguments: object) -> ToolCall:
    return ToolCall(call.id, call.name, {table.path[0]: path, **arguments})


def _within(path: str, folder: str | None) -> str:
    return posixpath.join(folder, path) if folder and not path.startswith("~") else path


def _patched(call: ToolCall, table: ToolTable, file: FilePatch, folder: str | None) -> list[FileCall]:
    path = _within(file.path, folder)
    if file.verb == "add":
        made = _derived(call, table, path, **{table.content[0]: file.content})
        return [FileCall(made, Action.WRITE, path)]
    edits = [{table.old[0]: old, table.new[0]: new} for old, new in file.replaced]
    found = [FileCall(_derived(call, table, path, **{table.edits[0]: edits}), Action.EDIT, path)]
    if file.moved_to is not None:
        there = _within(file.moved_to, folder)
        found.append(FileCall(_derived(call, table, there), Action.EDIT, there))
    return found


def calls_delta(calls: Iterable[FileCall], table: ToolTable) -> tuple[int, int]:
    """Lines that the files of one call gain and lose together."""
    deltas = [delta_of(made.action, made.call.arguments, table) for made in calls]
    return sum(added for added, _ in deltas), sum(removed for _, removed in deltas)


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a hunk."""

    sign: str
    """`+`, `-`, or a space for a line that stays."""
    number: int
    """From 1: in the new text for `+`, else in the old one."""
    text: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines of a diff that follow each other."""

    lines: tuple[DiffLine, ...]
    exact: bool
    """Whether line numbers are those of the file; else they count from the start of the replaced text."""
    omitted: int = 0
    """Lines after these that were left out because there are too many."""


DIFF_LINES = 2000
"""Texts of more lines together are not compared line by line."""

_MATCH_LIMIT = 20_000
"""Pairs of equal lines beyond which comparing takes too long: texts that repeat a few lines over and over."""


def lines_of(text: str) -> list[str]:
    """The lines of a text; a newline at the end begins no line."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def line_count(text: str) -> int:
    """How many lines those are."""
    return text.count("\n") + (text[-1:] not in ("", "\n"))


def _opcodes(old: list[str], new: list[str]) -> list[tuple[str, int, int, int, int]]:
    """Operations of difflib that turn `old` into `new`; one replacement where comparing would take too long."""
    head = 0
    shorter = min(len(old), len(new))
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    below, above = old[head : len(old) - tail], new[head : len(new) - tail]
    middle: list[tuple[str, int, int, int, int]] = []
    if below and above and len(below) + len(above) <= DIFF_LINES:
        have = Counter(above)
        if 0 < sum(have[line] for line in below) <= _MATCH_LIMIT:
            matcher = SequenceMatcher(None, below, above, autojunk=False)
            middle = [
                (tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in matcher.get_opcodes()
            ]
    if not middle and (below or above):
        middle = [("replace", head, len(old) - tail, head, len(new) - tail)]
    kept = [("equal", 0, head, 0, head)] if head else []
    rest = [("equal", len(old) - tail, len(old), len(new) - tail, len(new))] if tail else []
    return kept + middle + rest


def line_delta(old: str, new: str) -> tuple[int, int]:
    """Lines added and removed between two texts."""
    added = removed = 0
    for tag, old_from, old_to, new_from, new_to in _opcodes(lines_of(old), lines_of(new)):
        if tag != "equal":
            removed += old_to - old_from
            added += new_to - new_from
    return added, removed


def _argument(arguments: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    for name in names:
        value = arguments.get(name)
        if isinstance(value, str):
            return value
    return None


def path_in(arguments: object, table: ToolTable) -> str | None:
    """The path a call names; None where it names none."""
    return (_argument(arguments, table.path) or None) if isinstance(arguments, dict) else None


def _replacements(arguments: Mapping[str, Any], table: ToolTable) -> list[tuple[str, str]]:
    """The old and new texts of an edit. A text left out by a call that was cut off is empty."""
    found: list[tuple[str, str]] = []
    listed: object = None
    for name in table.edits:
        listed = arguments.get(name, listed)
    if isinstance(listed, str):
        try:
            listed = orjson.loads(listed)
        except ValueError:
            listed = None
    for edit in listed if isinstance(listed, list) else (listed,):
        if isinstance(edit, dict):
            _add_replacement(found, edit, table)
    _add_replacement(found, arguments, table)
    return found


def _add_replacement(found: list[tuple[str, str]], edit: Mapping[str, Any], table: ToolTable) -> None:
    old, new = _argument(edit, table.old), _argument(edit, table.new)
    if old is not None or new is not None:
        found.append((old or "", new or ""))


def replacements(action: Action, arguments: Mapping[str, Any], table: ToolTable) -> list[tuple[str, str]]:
    """Old and new texts of a call that changes a file; a write replaces nothing that is known."""
    if action is Action.WRITE:
        return [("", _argument(arguments, table.content) or "")]
    return _replacements(arguments, table) if action is Action.EDIT else []


def delta_of(
    action: Action, arguments: Mapping[str, Any], table: ToolTable = NATIVE_TOOLS
) -> tuple[int, int]:
    """Lines a call adds and removes, as far as its arguments say: what a write replaces is not known."""
    if action is Action.WRITE:
        return line_count(_argument(arguments, table.content) or ""), 0
    if action is Action.READ:
        return 0, 0
    added = removed = 0
    for old, new in _replacements(arguments, table):
        more, fewer = line_delta(old, new)
        added += more
        removed += fewer
    return added, removed


def delta_in(result: Body) -> tuple[int, int] | None:
    """Lines added and removed as the diff in a tool's result shows them; None where it holds none."""
    diff = _diff_text(result)
    return delta_told(diff) if diff is not None else None


def delta_told(diff: str) -> tuple[int, int]:
    """Lines added and removed as such a diff shows them."""
    # Every line of the diff begins with its sign.
    return diff.count("\n+") + diff.startswith("+"), diff.count("\n-") + diff.startswith("-")


def _diff_text(result: Body) -> str | None:
    message = result.get("message")
    details = message.get("details") if isinstance(message, dict) else None
    diff = details.get("diff") if isinstance(details, dict) else None
    return diff if isinstance(diff, str) and diff else None


_NUMBERED = re.compile(r"([ +-])[ ]*(\d{1,9})(?: (.*))?", re.DOTALL)


def hunks(
    call: ToolCall, result: Body | None = None, table: ToolTable = NATIVE_TOOLS, limit: int = DIFF_LINES
) -> list[Hunk]:
    """A call that changes a file, as a diff of at most `limit` lines. Empty for any other call.

    Where the result holds the diff that the tool made, line numbers are those of the file; else each replacement is
    compared by itself. A write shows its text as added.
    """
    action = table.actions.get(call.name)
    if action is None or call.name in table.patches:
        made = [(one.action, one.call.arguments) for one in file_calls(call, table)]
    else:
        made = [(action, call.arguments)]
    return _hunks(made, result, table, limit)


def action_hunks(
    action: Action, call: ToolCall, result: Body | None, table: ToolTable, limit: int = DIFF_LINES
) -> list[Hunk]:
    """The same of one file that a call changes (`file_calls`)."""
    return _hunks([(action, call.arguments)], result, table, limit)


def _hunks(
    made: list[tuple[Action, dict[str, Any]]], result: Body | None, table: ToolTable, limit: int
) -> list[Hunk]:
    made = [one for one in made if one[0] is not Action.READ]
    diff = _diff_text(result) if made and result is not None else None
    shown = [(lines, True) for lines in _numbered(diff)] if diff is not None else []
    for does, arguments in made if not shown else ():
        if does is Action.WRITE:
            text = lines_of(_argument(arguments, table.content) or "")
            shown.append(([("+", number, line) for number, line in enumerate(text, 1)], True))
        else:
            shown += [(_compared(old, new), False) for old, new in _replacements(arguments, table)]
    found: list[Hunk] = []
    for lines, exact in shown:
        if lines:
            part = lines[: max(0, limit)]
            found.append(Hunk(tuple(DiffLine(*line) for line in part), exact, len(lines) - len(part)))
            limit -= len(part)
    return found


def _numbered(diff: str) -> list[list[tuple[str, int, str]]]:
    """The diff pi makes for reading: a sign, the line's number and the line; a line without number stands for what is left out."""
    found: list[list[tuple[str, int, str]]] = [[]]
    for line in diff.split("\n"):
        match = _NUMBERED.fullmatch(line)
        if match is not None:
            found[-1].append((match[1], int(match[2]), match[3] or ""))
        elif found[-1]:
            found.append([])
    return found


def _compared(old: str, new: str) -> list[tuple[str, int, str]]:
    before, after = lines_of(old), lines_of(new)
    lines: list[tuple[str, int, str]] = []
    for tag, old_from, old_to, new_from, new_to in _opcodes(before, after):
        if tag == "equal":
            lines += [(" ", place + 1, before[place]) for place in range(old_from, old_to)]
            continue
        lines += [("-", place + 1, before[place]) for place in range(old_from, old_to)]
        lines += [("+", place + 1, after[place]) for place in range(new_from, new_to)]
    return lines
