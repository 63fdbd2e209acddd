"""Programs that run another one: the words of a command from the program on that does the work."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from leafward.files.shell.exit_evidence import without_keywords

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.files.shell.lexer import Command, ShellWord

_WRAPPERS: dict[str, tuple[str, ...]] = {
    "env": ("-u", "--unset"),
    "sudo": ("-u", "-g", "-h", "-p", "-C", "-T"),
    "doas": ("-u", "-C"),
    "nice": ("-n", "--adjustment"),
    "ionice": ("-c", "-n"),
    "timeout": ("-s", "-k", "--signal", "--kill-after"),
    "stdbuf": ("-i", "-o", "-e"),
    "nohup": (),
    "command": (),
    "builtin": (),
    "exec": ("-a",),
    "busybox": (),
}
"""Programs whose exit code is that of the program that they run in the same folder, and their options with a value."""
_OTHERWISE = {
    "env": ("-C", "--chdir", "-S", "--split-string"),
    "sudo": ("-i", "-s", "-l", "-v", "-e", "-D", "--chdir"),
    "command": ("-v", "-V"),
    "doas": ("-s",),
}
"""Options with which they run no program, or one in another folder."""
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh"})
DEEPEST = 16
"""Shells around a script up to which it is read."""
_FLAG = re.compile(r"[-+][A-Za-z]+|pipefail|-")


def unwrapped(words: Sequence[ShellWord]) -> Sequence[ShellWord]:
    """The words of a command from the program on that does the work: without keywords, assignments, `env`, `timeout` and the like."""
    words = without_keywords(words)
    while words and words[0].plain:
        inner = _inside(words)
        if not inner:
            break
        words = without_keywords(inner)
    return words


def _inside(words: Sequence[ShellWord]) -> Sequence[ShellWord]:
    """The command that a program runs; empty where it runs none, or one of which nothing is known."""
    program = words[0].text.rpartition("/")[2]
    with_value = _WRAPPERS.get(program)
    if with_value is None:
        return ()
    place = 1
    while place < len(words) and words[place].text.startswith("-"):
        option = words[place].text
        if option.partition("=")[0] in _OTHERWISE.get(program, ()):
            return ()
        place += 2 if option in with_value else 1
        if option == "--":
            break
    return words[place + (program == "timeout") :]


def nested_script(command: Command) -> str | None:
    """The script of `bash -c "…"` or `bash <<EOF`; None for other commands, and where the shell around it expands parts of it."""
    words = unwrapped(command.words)
    if not words or not words[0].plain or words[0].text.rpartition("/")[2] not in _SHELLS:
        return None
    options = words[1:]
    for option, word in itertools.pairwise(options):
        if _FLAG.fullmatch(option.text) is None:
            return None
        if re.fullmatch(r"-[a-z]*c", option.text):
            return word.text if word.plain else None
    if any(_FLAG.fullmatch(one.text) is None for one in options):
        return None
    return next((one.document for one in command.redirections if one.document is not None), None)
