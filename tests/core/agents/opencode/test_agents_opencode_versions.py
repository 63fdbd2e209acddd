"""Sessions that versions of opencode wrote in other shapes: each request has its reply, with what it cost."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from leafward.agents.registry import agent_named
from leafward.context.model_context import context_at
from leafward.context.recorded_usage import usage_total
from leafward.files.working_set import touched
from leafward.session.entries import Kind
from leafward.session.headlines.entry_headline import headline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.session.session import Session

DATA = Path(__file__).parents[3] / "data" / "opencode"
REQUESTS = 11
"""Requests that the model answered, without the summary and the turn taken back; each counted 100 tokens and 20 of output."""


@pytest.fixture(params=["0.5.29", "1.0.0"])
def session(request: pytest.FixtureRequest) -> Iterator[Session]:
    """A session with a compaction and a turn taken back. In 0.5 all replies to a prompt are one stored message."""
    folder = DATA / str(request.param)
    (path,) = (path for path in folder.rglob("ses_*.json") if path.parent.parent.name == "session")
    with closing(agent_named("opencode").open(path)) as found:
        yield found


def test_each_request_has_its_reply_and_its_count(session: Session) -> None:
    replies = [index for index, kind in enumerate(session.columns.kind) if kind == Kind.ASSISTANT]
    assert len(replies) == REQUESTS
    total = usage_total(session, replies)
    assert (total.input, total.output) == (100 * REQUESTS, 20 * REQUESTS)
    counted = {context_at(session, index).total for index in replies}
    assert counted == {120}, "as the provider counted it, at each reply"


def test_results_stand_between_the_replies_that_asked_for_them_and_the_next(session: Session) -> None:
    """It fails where one stored message is one reply: all calls of a turn then stand ahead of all results."""
    shown = [headline(session, index).text for index in session.tree.path(session.leaf)]
    first, failed, last = (shown.index(text) for text in ("All three at once.", "ls nowhere", "They differ."))
    assert first < shown.index("plums.txt") < failed < last
    kinds = [session.columns.kind[index] for index in session.tree.path(session.leaf)]
    replies = [at for at, kind in enumerate(kinds) if kind == Kind.ASSISTANT and first <= at <= last]
    assert len(replies) == 3
    assert {kinds[at + 1] for at in replies[:2]} == {Kind.TOOL_RESULT}
    files = touched(session, session.tree.path(session.leaf))
    assert any(path.endswith("list.md") and use.modified for path, use in files.items())
