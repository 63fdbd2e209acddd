"""A session of two branches under one reply, and what stands in its file and in its context."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.session.messages import message_text
from tests.acting import Acting, call

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session


def two_branches(path: Path) -> Acting:
    """Two branches under the first reply: one reads and edits a file, the other only talks."""
    file = Acting(path)
    file.user("begin")
    fork = file.reply("begun")
    file.user("on branch one")
    file.said("looking", call("read", "r1", path="a.py"))
    file.answered("r1", "read", "one\ntwo\n" + "filler line\n" * 300)
    file.said("changing", call("edit", "e1", path="a.py", edits=[{"oldText": "one", "newText": "1"}]))
    file.answered("e1", "edit", "replaced")
    file.reply("branch one is done")
    file.user("on branch two", parent=fork)
    file.reply("branch two is done")
    return file


def texts(session: Session) -> list[str]:
    return [message_text(message_body(session, one)) for one in context_at(session, session.leaf).messages]


def lines(session: Session) -> list[dict[str, Any]]:
    return [json.loads(line) for line in session.path.read_bytes().splitlines()]
