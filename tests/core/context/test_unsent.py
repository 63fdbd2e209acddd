"""pi keeps replies that were aborted or failed in its context, counts them, and sends them to no model (1.5.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from leafward.agents.conversation import Conversation
from leafward.agents.fork_draft import ForkPoint
from leafward.cli.output.page import Page
from leafward.cli.verbs.context import context_json, context_text
from leafward.context.model_context import context_at
from leafward.context.price import price_of_move
from leafward.session.entries import NO_ENTRY
from tests.acting import Acting, reading, usage
from tests.claude_transcript import Transcript

if TYPE_CHECKING:
    from pathlib import Path

USAGE = usage(1000, output=100)


@pytest.mark.parametrize("how", ["aborted", "error"])
def test_a_reply_that_was_broken_off_is_not_sent_and_not_counted_as_sent(tmp_path: Path, how: str) -> None:
    file = Acting(tmp_path / "session.jsonl")
    file.user("first")
    file.said("whole", tokens=USAGE, stop="stop")
    file.user("second")
    broken = file.said("half of it " * 40, stop=how)
    file.user("third")
    with reading(file.path) as session:
        context = context_at(session)
        assert [message.sent for message in context.messages] == [True, True, True, False, True]
        half = context.messages[3].tokens
        assert half > 50
        # The size is what pi counts; what is sent is less.
        assert context.size.total == 1000 + sum(message.tokens for message in context.messages[2:])
        assert (context.ledger.unsent, context.sent) == (half, context.size.total - half)
        assert context.ledger.total == context.size.total
        found = context_json(session, session.leaf)
        assert (found["tokens"]["sent"], found["ledger"]["unsent"]) == (context.sent, half)
        assert [one["sent"] for one in found["messages"]].count(False) == 1
        lines = "\n".join(context_text(session, session.leaf, Page()))
        assert "(not sent)" in lines
        assert "counted but not sent" in lines
        assert f"tokens; {context.sent:,} of them are sent" in lines
        past = Conversation(session, ForkPoint(session.leaf, session.leaf, NO_ENTRY, None, session.leaf))
        assert not any("half of it" in str(one.content) for one in past.portable_messages())
        assert session.columns.index(broken) >= 0


def test_what_was_broken_off_before_the_last_count_is_in_no_total(tmp_path: Path) -> None:
    file = Acting(tmp_path / "session.jsonl")
    file.user("first")
    file.said("half of it " * 40, stop="aborted")
    file.user("second")
    file.said("whole", tokens=USAGE, stop="stop")
    with reading(file.path) as session:
        context = context_at(session)
        assert (context.size.total, context.ledger.unsent, context.sent) == (1000, 0, 1000)
        assert context.ledger.total == 1000
        assert context.ledger.after < 20
        assert not context.messages[1].sent


def test_a_price_counts_nothing_that_is_not_sent(tmp_path: Path) -> None:
    file = Acting(tmp_path / "session.jsonl")
    first = file.user("first")
    file.said("half of it " * 40, stop="aborted")
    target = file.user("second")
    file.user("elsewhere", parent=first)
    with reading(file.path) as session:
        there = session.columns.index(target)
        price = price_of_move(session, there)
        context = context_at(session, there)
        assert price.unsent == context.ledger.unsent > 50
        assert price.sent_again + price.cached == context.sent
        assert price.after.total == context.total


def test_other_agents_have_rules_of_their_own(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    transcript.turn("one", "first")
    context = context_at(transcript.opened())
    assert all(message.sent for message in context.messages)
    assert context.ledger.unsent == 0
