"""Calls of git's plumbing: they write and lock nothing, use no network, and run no hook, filter, pager or program that a setting names."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_SETTINGS = ("core.hooksPath=/dev/null", "core.fsmonitor=false", "core.pager=cat")
_QUIET = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"}


def git_output(git: str, folder: Path, words: Sequence[str], seconds: float, stdin: bytes) -> bytes:
    """The output of the program `git`, called in a folder; empty where it fails. Raises OSError, subprocess.SubprocessError."""
    # None of its variables: they would point to another repository.
    around = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(
        [
            git,
            "--no-pager",
            "--literal-pathspecs",
            *(word for one in _SETTINGS for word in ("-c", one)),
            *words,
        ],
        cwd=folder,
        input=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        timeout=seconds,
        env={**around, **_QUIET},
        check=False,
    )
    return b"" if done.returncode else done.stdout


def batch_contents(output: bytes) -> Iterator[bytes | None]:
    """The contents in an output of `cat-file --batch`, in the order asked for; None for one that the repository lacks."""
    place = 0
    while (end := output.find(b"\n", place)) >= 0:
        words = output[place:end].split()
        place = end + 1
        if len(words) != 3:
            yield None
            continue
        size = int(words[2])
        yield output[place : place + size]
        place += size + 1
