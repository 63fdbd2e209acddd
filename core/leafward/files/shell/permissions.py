"""Files that a shell script makes executable, or no longer executable, by the words of its `chmod`."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple

from leafward.files.file_request import Proof
from leafward.files.shell.effects import LONGEST
from leafward.files.shell.lexer import ShellWord, Unreadable
from leafward.files.shell.script_walk import placed
from leafward.files.shell.wrappers import unwrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

_OCTAL = re.compile(r"0*[0-7]{3,4}")
_CLAUSE = re.compile(r"([ugoa]*)([-+=])([rwxXst]*)")
_REPLACING = frozenset({"rm", "mv", "cp", "ln", "install", "unlink"})
_OWNER = 0o100
"""The bit that lets a file's owner run it."""


class ExecutableBit(NamedTuple):
    """The executable bit of one file after a script."""

    path: str
    """The path as the shell would see it: relative to the script's folder, where it is not absolute."""
    executable: bool | None
    """None where the words do not tell it, or where another file replaced it."""


def executable_bits(script: str, folder: str = "") -> list[ExecutableBit]:
    """The executable bits of files after a script that succeeded, in its order."""
    if len(script) > LONGEST:
        return []
    try:
        commands = list(placed(script, folder))
    except Unreadable:
        return []
    found: list[ExecutableBit] = []
    for command, here, proof, *_ in commands:
        words = unwrapped(command.words)
        if here is None or not words:
            continue
        program = words[0].text.rpartition("/")[2]
        if program == "chmod":
            found += _of_chmod(words[1:], here, certain=proof > Proof.NONE)
        elif program in _REPLACING:
            # Afterwards another file has the name, if any.
            found += [ExecutableBit(path, None) for path in _files(words[1:], here)]
    return found


def _of_chmod(words: Sequence[ShellWord], here: str, *, certain: bool) -> list[ExecutableBit]:
    options = [word for word in words if word.text.startswith("-") and not _CLAUSE.fullmatch(word.text)]
    mode, *files = [word for word in words if word not in options] or [ShellWord("", plain=True)]
    if any(re.match(r"--r|-[a-zA-Z]*R", word.text) for word in options):
        return []
    executable = _executable(mode.text) if certain and mode.plain else None
    if executable is None and mode.plain and certain and "x" not in mode.text.lower():
        return []
    return [ExecutableBit(path, executable) for path in _files(files, here)]


def _files(words: Sequence[ShellWord], here: str) -> list[str]:
    return [posixpath.normpath(posixpath.join(here, word.text)) for word in words if word.plain and word.text]


def _executable(mode: str) -> bool | None:
    """Whether a mode lets the owner run a file; None where the mode does not tell."""
    if _OCTAL.fullmatch(mode):
        return bool(int(mode, 8) & _OWNER)
    found: bool | None = None
    for clause in mode.split(","):
        match = _CLAUSE.fullmatch(clause)
        if match is None or "X" in match[3]:
            return None
        if match[1] and not set(match[1]) & set("ua"):
            continue
        if match[2] == "=" or "x" in match[3]:
            found = match[2] != "-" and "x" in match[3]
    return found
