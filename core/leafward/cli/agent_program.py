"""An agent's own program, run in the place of this one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from leafward.base.errors import LeafwardError, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.agents.resume import Resume


def installed(command: Resume, title: str) -> str:
    """Path of an agent's program. Raises LeafwardError if it is not installed."""
    try:
        return command.program(os.environ)
    except Refused:
        raise LeafwardError(f"{title} is not installed: no {command.argv[0]!r} on PATH") from None


def run(command: Resume, title: str) -> int:
    """Runs an agent in the session's folder and returns its exit code. Raises LeafwardError if it is not installed."""
    environment, program = command.environment(os.environ), installed(command, title)
    sys.stdout.flush()
    with _interrupts_for_the_child():
        code = subprocess.run(
            [program, *command.argv[1:]], cwd=command.cwd, env=environment, check=False
        ).returncode
    return 128 - code if code < 0 else code


@contextmanager
def _interrupts_for_the_child() -> Iterator[None]:
    """Leaves ctrl+c to the agent while it runs."""
    # A handler, not SIG_IGN: the child would inherit that.
    before = signal.signal(signal.SIGINT, lambda _signal, _frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
