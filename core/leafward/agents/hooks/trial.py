"""A hook that was installed in an agent's file, tried as the agent would run it: whether it starts, and answers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING

from leafward.agents.hooks.hook import TRIAL, TRIED
from leafward.base.safe_text import safe_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.agents.hooks.hook import HookCommand

_SECONDS = 10
"""As long as Claude Code and Codex wait for a hook of ours."""
_QUOTED = 160
"""Most characters of what the command printed."""


def failure_of(command: HookCommand) -> str:
    """Why a command does not work, in one line; empty where it does. It is asked for no session, and writes nothing."""
    try:
        code, out, err = _run(command.argv)
    except subprocess.TimeoutExpired:
        return f"its command was tried and took more than {_SECONDS} s"
    except OSError as error:
        return f"{safe_line(command.argv[0], _QUOTED)} cannot be started: {error.strerror or error}"
    why = f": {err[-1]}" if err else ""
    if code:
        return f"its command was tried and ended with {code}{why}"
    if not command.answers:
        return ""
    if TRIED.strip() not in out:
        return f"its command was tried and gave no answer{why}"
    # An agent takes all that is printed for the text.
    other = next((line for line in out if line != TRIED.strip()), "")
    return f"its command was tried and printed more than its answer: {other}" if other else ""


def _run(argv: Sequence[str]) -> tuple[int, list[str], list[str]]:
    """The exit code of a trial, and the lines that it printed to both streams. Raises OSError, and TimeoutExpired once all of it has ended."""
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True) as process:
        try:
            streams = process.communicate(json.dumps(TRIAL).encode(), timeout=_SECONDS)
        except BaseException:
            # On an interrupt too: what a shell started would go on, and note that nobody reads its answer.
            with suppress(OSError):
                if hasattr(os, "killpg"):
                    os.killpg(process.pid, signal.SIGKILL)
                else:
                    process.kill()
            raise
    out, err = (
        [
            safe_line(line.strip(), _QUOTED)
            for line in text.decode("utf-8", "replace").splitlines()
            if line.strip()
        ]
        for text in streams
    )
    return process.returncode, out, err
