"""Hands the terminal to an agent, and takes it back when that ends."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

from textual.app import SuspendNotSupported

from leafward.base.errors import Refused

if TYPE_CHECKING:
    from textual.app import App

    from leafward.agents.resume import Resume


def run_in_agent(app: App[Any], resume: Resume) -> str | None:
    """Runs the agent's own command in our place; returns the error as one line, None where it ran.

    Blocks the event loop on purpose: a timer that paints while the agent has the terminal would deadlock the writer.
    """
    try:
        program = resume.ready().program(os.environ)
    except Refused as error:
        return str(error)
    try:
        with app.suspend():
            try:
                subprocess.run(
                    list(resume.argv),
                    executable=program,
                    cwd=resume.cwd,
                    env=resume.environment(os.environ),
                    check=False,
                )
            except OSError as error:
                return f"{resume.argv[0]}: {error.strerror or error}"
    except SuspendNotSupported:
        return "this terminal cannot be handed over"
    return None
