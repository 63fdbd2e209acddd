"""Commands that ask: their exit code, or the error that they end with, is an answer."""

from __future__ import annotations

from functools import lru_cache

from leafward.files.shell.lexer import Command, Lexer, Unreadable
from leafward.files.shell.wrappers import unwrapped
from leafward.summaries.summarizers.extractive.state.overcome import is_check

_ASKING = frozenset(
    {
        *(
            "grep",
            "rg",
            "ls",
            "which",
            "test",
            "[",
            "diff",
            "find",
            "cmp",
            "pgrep",
            "lsof",
            "fuser",
            "command",
        ),
        *("cat", "stat", "tree", "findstr"),
        # PowerShell
        *(
            "Get-ChildItem",
            "Get-Content",
            "Get-Item",
            "Get-Command",
            "Get-Process",
            "Select-String",
            "Test-Path",
        ),
    }
)
"""Programs that answer a question by failing: it finds nothing, or there is no such file."""
_SHAPING = frozenset(
    {
        "Select-Object",
        "Where-Object",
        "Sort-Object",
        "Measure-Object",
        "Format-List",
        "Format-Table",
        "Out-String",
    }
)
"""Parts of PowerShell that only shape the output of a program, and leave its exit code."""
_SHOWING = frozenset({"head", "tail", "nl", "wc", "sed"})
"""Programs that do so unless they show the output of another."""
_SUBCOMMANDS = {
    "git": frozenset(
        [
            "grep",
            "diff",
            "merge-base",
            "show-ref",
            "rev-parse",
            "cat-file",
            "check-ignore",
            "show",
            "log",
            "status",
            "ls-files",
            "ls-tree",
            "ls-remote",
            "describe",
            "blame",
            "rev-list",
            "reflog",
        ]
    ),
    "npm": frozenset({"ls", "list", "view", "info", "outdated", "explain", "why"}),
    "docker": frozenset({"ps", "inspect", "images", "logs", "port", "info", "version"}),
    "kubectl": frozenset({"get", "describe", "logs", "version"}),
}
"""Commands of programs that do."""
_GH_ASKING = frozenset({"view", "list", "status", "diff"})
"""What `gh` does that asks; its checks are those of the work."""


_VERSION = frozenset({"--version", "-V", "--help", "-h"})
"""Options by which a program only tells of itself."""


@lru_cache(maxsize=1 << 10)
def asks(script: str) -> bool:
    """Whether the exit code of a script is the answer of a program that was asked something, and not that of a check before it."""
    try:
        *before, last = [one for one in Lexer(script).commands() if isinstance(one, Command)] or [Command()]
    except Unreadable:
        return False
    while before and before[-1].ended == "|" and last.words and last.words[0].text in _SHAPING:
        last = before.pop()
    if any(one.ended == "&&" and _may_check(one) for one in before):
        return False
    program, *arguments = [word.text for word in unwrapped(last.words)] or [""]
    name = program.rpartition("/")[2]
    if name in _SUBCOMMANDS:
        words = iter(arguments)
        for word in words:
            if not word.startswith("-"):
                return word in _SUBCOMMANDS[name]
            if word in {"-C", "-c"}:
                next(words, None)
        return False
    if name == "gh":
        return arguments[1:2] != [] and arguments[1] in _GH_ASKING and "--exit-status" not in arguments
    if len(arguments) == 1 and arguments[0] in _VERSION:
        return True
    if name in _SHOWING:
        writes = any(one.startswith(("-i", "--in-place")) for one in arguments)
        return not writes and not any(one.ended == "|" for one in before[-1:])
    return name in _ASKING


def _may_check(command: Command) -> bool:
    """Whether a command before a search checks something; one that only shows something may name a folder of tests."""
    program, *arguments = [word.text for word in unwrapped(command.words)] or [""]
    if program.rpartition("/")[2] in _ASKING | _SHOWING or not _VERSION.isdisjoint(arguments):
        return False
    return is_check(" ".join(word.text for word in command.words))
