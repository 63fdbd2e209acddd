"""Sessions of other agents as tests open them: closed when the test ends, what they say, what is wrong with them."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.doctor.session_problems import check
from leafward.session.messages import message_text

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.agents.base import Agent
    from leafward.session.session import Session

_OPENED: list[Session] = []


def closed_at_the_end(session: Session) -> Session:
    """The session, which is closed when the test ends."""
    _OPENED.append(session)
    return session


def opened_by(agent: Agent, path: Path) -> Session:
    """A session of another agent, closed when the test ends."""
    session = closed_at_the_end(agent.open(path))
    assert not session.is_native
    return session


def close_all() -> None:
    """Closes what was opened."""
    while _OPENED:
        _OPENED.pop().close()


def said(session: Session, at: int | None = None) -> list[tuple[str, str]]:
    """The context without the system prompt: who says what."""
    return [
        (message.role, message_text(message_body(session, message)))
        for message in context_at(session, at).messages
        if message.role != "system"
    ]


def texts(session: Session) -> list[str]:
    """Role and text of each message."""
    return [text for _, text in said(session)]


def problems(session: Session) -> dict[str, int]:
    """Number of problems of each code that `doctor` finds; a missing folder does not count."""
    return dict(Counter(problem.code for problem in check(session) if problem.code != "cwd-missing"))


def read_whole(session: Session) -> None:
    """Asks for everything there is, as what draws, writes out and checks a session does."""
    for index in range(len(session)):
        session.entry(index)
        session.origin(index)
        json.dumps(session.body(index))
    context_at(session)
    problems(session)


def prompts_of(session: Session, at: int | None = None) -> list[str]:
    return [text for role, text in said(session, at) if role == "user"]


def entries_by_text(session: Session) -> dict[str, int]:
    """Entries by the text they say."""
    found = {}
    for index, body in session.bodies(range(len(session))):
        content = ((body or {}).get("message") or {}).get("content") or ()
        for block in content:
            if isinstance(block, dict) and isinstance(block.get("text"), str):
                found[block["text"]] = int(index)
    return found
