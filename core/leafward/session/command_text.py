"""A shell command as a call stores it, a text or a list of words, as one text."""

from __future__ import annotations

import re
import shlex

from leafward.base.late_pattern import late

_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "fish", "powershell", "pwsh", "cmd"})
_CD = late(
    r"""\s*cd\s+(?:--\s+)?(?:"[^"\n]*"|'[^'\n]*'|(?:\\.|[^\s;&|<>()"'\\])+)[ \t]*(?:&&|;|\n)\s*(?=\S)"""
)
"""A `cd` with another command after it."""
_SCRIPT_FLAGS = late(r"(?i)-[a-z]*c|-Command|/c")


_POWERSHELL = late(
    r"\s*(?:\$\w{1,40}\s?=\s|[(&\s]{0,5}(?:[A-Z][a-z]{1,20}-[A-Z]\w{1,40}|(?i:(?:get|set|add|clear|new|remove|move|copy|rename|out)-(?:content|item|file|childitem)))(?![\w.:-]))"
)


def script_of(command: object) -> str | None:
    """A command as a script: a string as it is, the script of `["bash", "-lc", "…"]`; None for other lists of words."""
    if isinstance(command, str):
        return command
    if not isinstance(command, list) or not all(isinstance(word, str) for word in command):
        return None
    if len(command) >= 3 and re.split(r"[\\/]", command[0])[-1].lower().removesuffix(".exe") in _SHELLS:
        for place, word in enumerate(command[1:-1], start=1):
            if _SCRIPT_FLAGS.fullmatch(word):
                return str(command[place + 1])
    return None


def runs_powershell(command: object) -> bool:
    """Whether a list of words runs PowerShell."""
    if not isinstance(command, list) or not command or not isinstance(command[0], str):
        return False
    return re.split(r"[\\/]", command[0])[-1].lower().removesuffix(".exe") in ("powershell", "pwsh")


def begins_as_powershell(script: str) -> bool:
    """Whether a script begins with a command or an assignment as no shell but PowerShell has it."""
    return _POWERSHELL.match(script) is not None


def shown_command(command: object) -> str:
    """A command as a person would type it."""
    script = script_of(command)
    if script is not None:
        return script
    return shlex.join(map(str, command)) if isinstance(command, list) else ""


def without_cd(command: str) -> str:
    """A command without the `cd` commands at its beginning."""
    begin = 0
    while found := _CD.match(command, begin):
        begin = found.end()
    return command[begin:]
