"""Calls that may have changed any file without naming it: unknown programs and tools, sub-agents.

A replay of recorded calls ignores them. Writing into a project needs more: a content counts as proven only if it was
written or seen after the last of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.files.shell.lexer import Command, Lexer, Unreadable
from leafward.files.tool_calls import command_text, table_of
from leafward.session.entries import EntryIndex, Kind, tool_calls
from leafward.session.messages import message_in

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from leafward.files.tool_calls import ToolTable
    from leafward.session.entries import ToolCall
    from leafward.session.session import Session

_READERS = "awk basename bat cat cmp command cut date df diff dirname du echo env false file grep head hostname id jq less ls"
_MORE = "man more nl od printf ps pwd readlink realpath rg seq sha256sum sleep sort stat tail test tr tree true type uname"
_LAST = "uniq uptime wait wc which whoami xxd [ [[ ! : cd pushd popd export set exit return local read break continue shift"
_FILES = "cp mkdir mv rm rmdir sed tee touch truncate unlink ln chmod apply_patch applypatch find git patch rsync tar unzip"
_CHECKS = "pytest jest vitest mypy pyright flake8 tsc"
_HARMLESS = frozenset(f"{_READERS} {_MORE} {_LAST} {_FILES} {_CHECKS}".split())
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
    "WebSearch", "WebFetch", "webfetch", "websearch", "update_plan", "view_image", "write_stdin"
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
        return _unknown_program(command_text(call, table), harmless)
    known = (table.actions, table.patches, table.searches, _SILENT)
    return "" if any(call.name in names for names in known) else call.name


def _unknown_program(script: str, harmless: Collection[tuple[str, ...]]) -> str:
    try:
        commands = [one for one in Lexer(script).commands() if isinstance(one, Command)]
    except Unreadable:
        return "a command"
    for command in commands:
        words = [word.text for word in command.words if word.text not in _KEYWORDS]
        while words and "=" in words[0]:
            words = words[1:]
        if not words or command.words[0].text in ("for", "case", "function"):
            continue
        if any(tuple(words[: len(one)]) == one for one in harmless):
            continue
        program = words[0].rpartition("/")[2]
        rest = set(words[1:])
        if program == "find" and rest & {"-exec", "-execdir", "-delete", "-fprint", "-ok"}:
            return "find"
        if program not in _HARMLESS and not (
            len(words) > 1 and words[1] in _CHECKING.get(program, ()) and not rest & {"--fix", "-u"}
        ):
            return program
    return ""


_KEYWORDS = frozenset({"if", "then", "else", "elif", "fi", "while", "until", "do", "done", "{", "}", "time"})
