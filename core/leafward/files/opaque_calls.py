"""Calls that may have changed any file without naming it: unknown programs and tools, sub-agents.

A replay of recorded calls ignores them. Writing into a project needs more: a content counts as proven only if it was
written or seen after the last of them.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, NamedTuple

from leafward.files.running_commands import POLLS
from leafward.files.shell.bulk_effects import KNOWN_VERBS
from leafward.files.shell.effects import LONGEST, changes_unnamed
from leafward.files.shell.exit_evidence import without_keywords
from leafward.files.shell.lexer import Unreadable
from leafward.files.shell.powershell import unknown_program
from leafward.files.shell.script_walk import placed
from leafward.files.shell.wrappers import DEEPEST, nested_script, unwrapped
from leafward.files.tool_calls import command_in, command_text, is_powershell_call, plain_command, table_of
from leafward.session.entries import EntryIndex, Kind, tool_calls
from leafward.session.messages import message_in

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from leafward.files.shell.script_walk import PlacedCommand
    from leafward.files.tool_calls import ToolTable
    from leafward.session.entries import ToolCall
    from leafward.session.session import Session

_READERS = "basename bat cat cmp cut date df diff dirname du echo false file grep head hostname id jq less ls"
_MORE = (
    "man more nl od printf ps pwd readlink realpath rg seq sha256sum sleep stat tail test tr true type uname"
)
_LAST = "uniq uptime wait wc which whoami xxd [ [[ ! : set exit return local read break continue shift"
_READING = frozenset(f"{_READERS} {_MORE} {_LAST}".split())
"""Programs that change no file, whatever their operands are."""
_FILES = "cd pushd popd env command export exec awk gawk sort tree cp mkdir mv rm rmdir sed gsed tee touch truncate unlink"
_OTHERS = "chmod install sponge apply_patch applypatch find xargs git curl patch rsync tar unzip"
_CHECKS = "pytest jest vitest mypy pyright flake8 tsc"
_HARMLESS = _READING | frozenset(f"{_FILES} {_OTHERS} {_CHECKS}".split())
"""Programs that change no file, or whose changes `shell` tells, and those that only check."""
_CHECKING = {
    "npm": {"test", "ls", "view"},
    "pnpm": {"test"},
    "yarn": {"test"},
    "cargo": {"test", "build", "check"},
    "go": {"test", "build", "vet"},
}
"""The subcommands of larger programs that only build or check."""
_SILENT = frozenset([
    "TodoWrite", "TodoRead", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "todowrite", "todoread",
    "WebSearch", "WebFetch", "webfetch", "websearch", "update_plan", "view_image"
])  # fmt: skip
"""Tools that touch no file."""


class Opaque(NamedTuple):
    """One opaque call."""

    entry: EntryIndex
    name: str
    """The name of the program or the tool."""


def opaque_calls(
    session: Session, entries: Iterable[int], harmless: Collection[tuple[str, ...]] = ()
) -> list[Opaque]:
    """The opaque calls among some entries, the first one of each entry.

    Commands that begin with words of `harmless` are left out.
    """
    table = table_of(session)
    kinds = session.columns.kind
    callers = [EntryIndex(entry) for entry in entries if kinds[entry] in (Kind.ASSISTANT, Kind.BASH)]
    found = []
    for entry, body in session.bodies(callers):
        if body is None:
            continue
        message = message_in(body)
        if kinds[entry] == Kind.BASH:
            names = [_unknown_program(str(message.get("command") or ""), harmless)]
        else:
            names = [_unknown(call, table, harmless) for call in tool_calls(message)]
        name = next((one for one in names if one), "")
        if name:
            found.append(Opaque(EntryIndex(entry), name))
    return found


def _unknown(call: ToolCall, table: ToolTable, harmless: Collection[tuple[str, ...]]) -> str:
    if call.name in table.shells:
        script = command_text(call, table)
        command = command_in(call, table) if table.looks_into(call.name) else plain_command(call, table)
        if is_powershell_call(call, command):
            return unknown_program(script) if len(script) <= LONGEST else "a command"
        return _unknown_program(script, harmless)
    if call.name == POLLS:
        # What is typed into a shell may change anything.
        return call.name if call.arguments.get("chars") else ""
    known = (table.actions, table.patches, table.searches, _SILENT)
    return "" if any(call.name in names for names in known) else call.name


def _unknown_program(script: str, harmless: Collection[tuple[str, ...]], depth: int = 0) -> str:
    """The first program of a script that may change any file; empty where none does."""
    if len(script) > LONGEST:
        return "a command"
    try:
        commands = list(placed(script))
    except Unreadable:
        return "a command"
    for one in commands:
        words = [word.text for word in without_keywords(one.command.words)]
        if words[:1] and (words[0] in _HEADS or any(tuple(words[: len(some)]) == some for some in harmless)):
            continue
        found = unwrapped(one.command.words)
        inner = nested_script(one.command) if depth < DEEPEST else None
        name = (
            _unknown_program(inner, harmless, depth + 1)
            if inner is not None
            else _unknown_command(one, [word.text for word in found])
        )
        if name:
            return name
    return ""


_HEADS = frozenset({"for", "select", "case", "function"})
"""Words before a variable or a name: what such a command does stands in those after it."""


def _unknown_command(one: PlacedCommand, words: Sequence[str]) -> str:
    """The program of a command that may change a file without naming it; empty for any other command."""
    if not words:
        return "a redirection" if changes_unnamed(one) else ""
    program, rest = words[0].rpartition("/")[2], words[1:]
    known = program in _HARMLESS or (
        bool(rest) and rest[0] in _CHECKING.get(program, ()) and not {"--fix", "-u"} & set(rest)
    )
    rule = _RULES.get(program)
    if not known or (rule is not None and not rule(rest)):
        return program
    return program if changes_unnamed(one) else ""


def _finds(words: Sequence[str]) -> bool:
    """Whether `find` only looks, or runs programs that only read."""
    runs = [after for before, after in itertools.pairwise(words) if before in ("-exec", "-execdir", "-ok")]
    return not {"-delete", "-fprint", "-fprintf", "-fls"} & set(words) and all(
        one.rpartition("/")[2] in _READING for one in runs
    )


def _feeds(words: Sequence[str]) -> bool:
    """Whether `xargs` runs a program that only reads."""
    rest = iter(words)
    for word in rest:
        if word in ("-I", "-n", "-P", "-L", "-d", "-E", "-s", "-a"):
            next(rest, None)
        elif not word.startswith("-"):
            return word.rpartition("/")[2] in _READING
    return True


def _versions(words: Sequence[str]) -> bool:
    """Whether a command of git is one whose changes are known."""
    rest = iter(words)
    for word in rest:
        if word in ("-C", "-c"):
            next(rest, None)
        elif not word.startswith("-"):
            return word in KNOWN_VERBS
    return True


_RULES: dict[str, Callable[[Sequence[str]], bool]] = {
    "find": _finds,
    "xargs": _feeds,
    "git": _versions,
    # Both print, unless they are told a file that is not among the words.
    "curl": lambda words: (
        not any(re.fullmatch(r"-[a-zA-Z]*[OKJc]|--(?:remote-name|config|cookie-jar).*", one) for one in words)
    ),
    "awk": lambda words: not any(re.search(r"\bprintf?\b[^;}\n]*[>|]|\bsystem\(", one) for one in words),
}
"""Whether programs change nothing but what `shell` tells, by the words after them."""
