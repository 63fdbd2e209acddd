"""The verb `resume`: continues a session in its agent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from leafward.agents.recognition import agent_behind
from leafward.base.errors import LeafwardError, Refused
from leafward.base.safe_text import shell_word
from leafward.cli.output.page import emit_json, note, say
from leafward.cli.selection import opened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.agents.resume import Resume


def resume(selector: str, only_print: bool, as_json: bool) -> int:
    """`leafward resume`."""
    with opened(selector) as session:
        agent = agent_behind(session)
        command = agent.resume(session, os.environ)
        what_if = session.what_if
    obstacle = command.obstacle()
    if obstacle is not None:
        again = f"leafward fork {shell_word(selector)} leaf --cwd FOLDER"
        obstacle = f"{obstacle}; create it again, or begin a new session in another folder: {again}"
    elsewhere = (
        f"{agent.title} goes on at its own leaf: the leaf set here is a preview; fork it to make it real"
    )
    if as_json:
        remarks = [] if obstacle is None else [{"code": "cwd-missing", "text": obstacle}]
        if what_if:
            remarks.append({"code": "what-if", "text": elsewhere})
        emit_json(
            {
                "agent": agent.name,
                "resume": list(command.argv),
                "cwd": command.cwd,
                "env": dict(command.env_set),
                "diagnostics": remarks,
            }
        )
        return 0
    if what_if:
        note(elsewhere)
    if only_print:
        if obstacle is not None:
            note(obstacle)
        say(command.line())
        return 0
    if obstacle is not None:
        raise Refused(obstacle)
    return run(command, agent.title)


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
