"""The effects of a PowerShell script on files, as far as its words tell them. Nothing is run.

An exit code of PowerShell proves nothing of the single commands, so none of the effects is certain.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.late_pattern import late
from leafward.files.file_operation import FileOperation
from leafward.files.file_request import FileRequest, Proof
from leafward.files.shell.lexer import ShellWord

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LONGEST_READ = 4096
"""Characters from which a script is not taken for one that only prints a file."""
_TOKEN = late(
    r"""(?s)@'\r?\n(?P<literal>.*?)(?:(?:\r?\n|(?<=\n))'@|\Z)|@"\r?\n.*?(?:(?:\r?\n|(?<=\n))"@|\Z)"""
    r"""|'(?P<single>(?:[^']++|'')*+)(?:'|\Z)|"(?P<double>(?:[^"`]++|`.|"")*+)(?:"|\Z)"""
    r"""|(?P<operator>\|\||&&|[|;&(){}\n]|\d?>>?(?:&\d)?)|(?P<comment>\#[^\n]*)|(?P<space>[ \t\r]+|`\r?\n)|(?P<bare>[^\s|;&(){}'">]+)"""
)
"""The tokens of a script. A text without an end goes on to the end of the script, so that each part is read once."""
_READ, _WRITE, _APPEND = FileOperation.READ, FileOperation.WRITE, FileOperation.APPEND
_PROGRAMS: dict[str, FileOperation] = {
    **dict.fromkeys(("get-content", "gc", "cat", "type"), _READ),
    **dict.fromkeys(("set-content", "sc", "out-file"), _WRITE),
    **dict.fromkeys(("add-content", "ac"), _APPEND),
    **dict.fromkeys(("clear-content", "clc", "new-item", "ni"), FileOperation.CHANGE),
    **dict.fromkeys(("remove-item", "rm", "ri", "del", "erase", "rd", "rmdir"), FileOperation.DELETE),
    **dict.fromkeys(("move-item", "mv", "mi", "move"), FileOperation.MOVE),
    **dict.fromkeys(("rename-item", "ren", "rni"), FileOperation.MOVE),
    **dict.fromkeys(("copy-item", "cp", "copy", "cpi"), FileOperation.COPY),
}
_READING = frozenset({
    "get-content", "gc", "cat", "type", "get-childitem", "gci", "ls", "dir", "select-string", "sls", "test-path", "get-location",
    "pwd", "gl", "write-output", "write-host", "echo", "select-object", "select", "where-object", "where", "?", "%",
    "foreach-object", "foreach", "sort-object", "sort", "measure-object", "measure", "format-table", "ft", "format-list", "fl",
    "out-string", "out-host", "out-null", "get-item", "gi", "resolve-path", "split-path", "join-path", "convertfrom-json",
    "convertto-json", "get-command", "gcm", "get-date", "get-member", "if", "else", "elseif"
})  # fmt: skip
"""Commands that change no file; of blocks behind them the commands are looked at one by one."""
_RENAMING = frozenset({"rename-item", "ren", "rni"})
_FOLDERS = frozenset({"cd", "chdir", "sl", "set-location", "push-location", "pushd", "pop-location", "popd"})
_PATHS = frozenset({"-path", "-literalpath", "-filepath", "-pspath"})
_TARGETS = frozenset({"-destination", "-newname"})
_VALUED = frozenset({
    "-value", "-encoding", "-totalcount", "-tail", "-head", "-first", "-last", "-filter", "-include", "-exclude", "-itemtype",
    "-type", "-delimiter", "-stream", "-width", "-inputobject", "-erroraction", "-ea", "-readcount"
})  # fmt: skip


class _Statement(NamedTuple):
    words: list[ShellWord]
    redirections: list[tuple[str, ShellWord]]

    @property
    def program(self) -> str:
        return self.words[0].text.lower() if self.words else ""


def effects(script: str, folder: str = "") -> Iterator[FileRequest]:
    """The files that a script may read and change, in its order; nothing behind a change of folder."""
    for statement in _statements(script):
        if statement.program in _FOLDERS:
            return
        operation = _PROGRAMS.get(statement.program)
        if operation is not None and not any(word.text.lower() == "directory" for word in statement.words):
            yield from _of_command(
                operation, statement.words[1:], folder, renaming=statement.program in _RENAMING
            )
        for sign, target in statement.redirections:
            if _is_file(target):
                yield _request(_APPEND if ">>" in sign else _WRITE, _path(target.text, folder))


def file_read(script: str) -> str | None:
    """The file that a script prints which does nothing else; None for any other script."""
    first, *others = _statements(script)
    if any(one.words for one in others) or first.redirections or _PROGRAMS.get(first.program) is not _READ:
        return None
    made = list(_of_command(_READ, first.words[1:], "", renaming=False))
    return made[0].path if len(made) == 1 else None


def unknown_program(script: str) -> str:
    """The first command of a script that may change files; empty where none does."""
    for words, redirections in _statements(script):
        if redirections:
            return "a redirection"
        name = words[0].text if words else ""
        if (
            name.lower() not in _READING
            and not name.startswith("-")
            and re.fullmatch(r"(?:\$\w+|[\d.]+)?", name) is None
        ):
            return name
    return ""


def _of_command(
    operation: FileOperation, words: Sequence[ShellWord], folder: str, *, renaming: bool
) -> Iterator[FileRequest]:
    named: list[ShellWord] = []
    target: ShellWord | None = None
    free: list[ShellWord] = []
    rest = iter(words)
    for word in rest:
        option = word.text.lower()
        if option in _PATHS:
            named += [one for one in [next(rest, None)] if one is not None]
        elif option in _TARGETS:
            target = next(rest, None)
        elif option in _VALUED:
            next(rest, None)
        elif not option.startswith("-"):
            free.append(word)
    if not named:
        named, free = free[:1], free[1:]
    sends = operation in (FileOperation.MOVE, FileOperation.COPY)
    if sends and target is None:
        target = free[0] if free else None
    for word in named:
        if not _is_file(word):
            continue
        path = _path(word.text, folder)
        if not sends:
            yield _request(operation, path)
        elif target is not None and _is_file(target):
            to = (
                posixpath.join(posixpath.dirname(path), target.text)
                if renaming
                else _path(target.text, folder)
            )
            yield _request(operation, path, to)


def _request(operation: FileOperation, path: str, to: str | None = None) -> FileRequest:
    return FileRequest(operation, path, inferred=True, to=to, proof=Proof.NONE)


def _is_file(word: ShellWord) -> bool:
    return word.plain and word.text not in ("", ".", "..") and not re.search(r"[*?\[]", word.text)


def _path(name: str, folder: str) -> str:
    path = name if re.match(r"[A-Za-z]:", name) else name.replace("\\", "/")
    return path if not folder or path.startswith("~") else posixpath.join(folder, path)


def _statements(script: str) -> Iterator[_Statement]:
    """The commands of a script; a word with an expansion, or made of several pieces, is not plain."""
    made, last = _Statement([], []), ShellWord()
    redirection, glued = "", False
    for token in _TOKEN.finditer(script):
        kind = token.lastgroup
        if kind in ("space", "comment"):
            glued = False
        elif kind == "operator" and ">" not in token[0]:
            yield _without_assignment(made)
            made, redirection, glued = _Statement([], []), "", False
        elif kind == "operator":
            redirection, glued = ("" if "&" in token[0] else token[0]), False
        elif glued:
            last.plain = False
        else:
            last = _word(token)
            if redirection:
                made.redirections.append((redirection, last))
            else:
                made.words.append(last)
            redirection, glued = "", True
    yield _without_assignment(made)


def _without_assignment(made: _Statement) -> _Statement:
    assigned = len(made.words) > 1 and made.words[0].text.startswith("$") and made.words[1].text == "="
    return made._replace(words=made.words[2:]) if assigned else made


def _word(token: re.Match[str]) -> ShellWord:
    if token["literal"] is not None:
        return ShellWord(token["literal"])
    if token["single"] is not None:
        return ShellWord(token["single"].replace("''", "'"))
    if token["double"] is not None:
        return ShellWord(token["double"], re.search(r"[$`]", token["double"]) is None)
    text = token["bare"] or ""
    return ShellWord(text, bool(text) and re.search(r"[$`,@]", text) is None)
