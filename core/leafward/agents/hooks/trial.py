"""A hook that was installed in an agent's file, tried as the agent would run it: whether it starts, and answers."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from leafward.agents.hooks.hook import TRIAL, TRIED
from leafward.base.safe_text import safe_line

if TYPE_CHECKING:
    from leafward.agents.hooks.hook import HookCommand

_SECONDS = 10
"""As long as Claude Code and Codex wait for a hook of ours."""
_QUOTED = 160
"""Most characters of what the command printed."""


def failure_of(command: HookCommand) -> str:
    """Why a command does not work, in one line; empty where it does. It is asked for no session, and writes nothing."""
    try:
        ran = subprocess.run(
            command.argv, input=json.dumps(TRIAL).encode(), capture_output=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return f"its command was tried and took more than {_SECONDS} s"
    except OSError as error:
        return f"{safe_line(command.argv[0], _QUOTED)} cannot be started: {error.strerror or error}"
    said = [line for line in ran.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    why = f": {safe_line(said[-1].strip(), _QUOTED)}" if said else ""
    if ran.returncode:
        return f"its command was tried and ended with {ran.returncode}{why}"
    if command.answers and TRIED.encode() not in ran.stdout:
        return f"its command was tried and gave no answer{why}"
    return ""
