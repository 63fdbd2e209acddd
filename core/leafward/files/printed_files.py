"""The files that a shell command prints: it counts as a read only where it is just one of the few programs that print a file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.files.shell.lexer import simple_words
from leafward.session.command_text import script_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_WITH_VALUE = {
    "head": ("-n", "-c"),
    "tail": ("-n", "-c"),
    "nl": tuple(f"-{one}" for one in "bdfhilnsvw"),
    "cat": (),
}

_PRINTERS = ("sed", *_WITH_VALUE)
"""Programs that print files: most commands name none of them and are not parsed."""


def files_read(command: object) -> list[str]:
    """The files that a command prints where it is a lone `cat`, `sed -n`, `nl`, `head` or `tail`; none for any other."""
    script = script_of(command)
    if script is None:
        words = [str(word) for word in command] if isinstance(command, list) else []
    elif any(map(script.__contains__, _PRINTERS)):
        words = simple_words(script) or []
    else:
        words = []
    return _printed(words)


def _printed(words: Sequence[str]) -> list[str]:
    if not words:
        return []
    program = words[0].rpartition("/")[2]
    if program == "sed":
        return _printed_by_sed(words[1:])
    if program not in _WITH_VALUE:
        return []
    files: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        if word == "--":
            files += rest
        elif word in _WITH_VALUE[program]:
            next(rest, None)
        elif word == "-":
            return []
        elif not word.startswith("-") and not (program == "tail" and re.fullmatch(r"\+\d+", word)):
            files.append(word)
    return files


def _printed_by_sed(words: Sequence[str]) -> list[str]:
    quiet = False
    scripts = 0
    files: list[str] = []
    rest = iter(words)
    for word in rest:
        if word in ("-n", "--quiet", "--silent", "-nE", "-En", "-ne"):
            quiet = True
            if word == "-ne":
                scripts += next(rest, None) is not None
        elif word in ("-e", "-f", "--expression"):
            scripts += next(rest, None) is not None
        elif word.startswith(("-i", "--in-place")):
            return []
        elif not word.startswith("-"):
            files.append(word)
    if not scripts:
        files = files[1:]
    return files if quiet else []
