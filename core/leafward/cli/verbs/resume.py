"""The verb `resume`: continues a session in its agent."""

from __future__ import annotations

import os

from leafward.agents.recognition import agent_behind
from leafward.base.errors import Refused
from leafward.base.safe_text import shell_word
from leafward.cli.agent_program import run
from leafward.cli.output.page import emit_json, note, say
from leafward.cli.selection import opened


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
