"""Summaries over summaries: each compaction has only its own stretch and the summary before it."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

from leafward.agents.recognition import agent_of
from leafward.compaction.draft.draft_assembly import prepared
from leafward.compaction.measure.measure import measure
from leafward.compaction.plan.plan import plan
from leafward.compaction.plan.settings import PlanSettings
from leafward.export.demo import demo_session
from leafward.session.entries import EntryIndex, Kind
from leafward.session.messages import messages_of
from leafward.session.session import Session
from leafward.summaries.summarizers.extractive.requests.user_requests import GOT_REPLY
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from leafward.summaries.summarizers.outline import Provenance, SummarySection, line_key, read_outline
from leafward.summaries.summarizers.summary import Span
from leafward.summaries.survival.spans import SpanMessage, replaced_by
from tests.bench.need import compactions_of, span_of
from tests.surroundings import CORPORA, needs_corpora

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LINKS = 4


def _chain(tokens: int) -> Iterator[list[tuple[SummarySection, str]]]:
    """The lines of each of some summaries of the demo's path, each over the one before."""
    with demo_session() as path, closing(Session.open(path)) as session:
        kinds = session.columns.kind
        said = [
            SpanMessage(EntryIndex(entry), message)
            for entry in session.tree.path(session.leaf)
            if kinds[entry] != Kind.COMPACTION
            for message in messages_of(session.body(entry) or {}, Kind(kinds[entry]))
            if message.get("role") != "system"
        ]
        previous, entry = "", EntryIndex(-1)
        for link in range(LINKS):
            part = said[link * len(said) // LINKS : (link + 1) * len(said) // LINKS]
            previous = Extractive().summarize(Span(part, previous, entry, cwd=session.cwd), tokens).text
            entry = part[-1].entry
            yield [(section, text) for section, text, _ in read_outline(previous) if text != "(none)"]


def told(lines: Sequence[tuple[SummarySection, str]], section: SummarySection) -> list[str]:
    return [text for under, text in lines if under is section]


def test_rules_goal_and_finished_work_outlive_three_more_compactions() -> None:
    first, *between, last = _chain(2_500)
    rules = told(last, SummarySection.CONSTRAINTS)
    assert "migrations with user_version, NEVER drop or rewrite their files, shops have live dbs." in rules
    assert not [rule for rule in told(first, SummarySection.CONSTRAINTS) if rule not in rules]
    leases = "next one: when a worker gets OOM-killed its job stays `running` forever. leases."
    (goal,) = told(first, SummarySection.GOAL)
    # The answer to the questions about it is what was asked last.
    assert goal.startswith("30s, heartbeat thread")
    assert f"(asked before: {leases}" in goal
    for later in (*between, last):
        # The leases were made in the second stretch.
        (goal,) = told(later, SummarySection.GOAL)
        assert "leases" not in goal
        before = told(later, SummarySection.CONTEXT)
        assert any(text.startswith("Asked before: ") and leases in text for text in before)
    done = told(last, SummarySection.DONE)
    assert "On a branch that was left: `flock` on `jobs.db.lock` around `claim`: test green, 18 lines" in done
    reproduced = "Asked: reproduce it in a test first, no fix yet → the reply says: “Reproduced, five times out of five: "
    assert any(line.startswith(reproduced) for line in told(between[-1], SummarySection.DONE))
    # What was asked for is a text: its title names it, its first sentence is no outcome.
    named = 'the reply gives the text "Run each job once, and never lose one"'
    asked = "Last request, answered: PR description. what, why, how to check, risks"
    assert f"{asked} → {named}" in done
    assert told(last, SummarySection.GOAL) == [GOT_REPLY]
    # The wish for the form of a review ends with the review.
    assert not any("findings only" in rule for rule in told(last, SummarySection.CONSTRAINTS))
    assert told(last, SummarySection.NEXT) == told(last, SummarySection.IN_PROGRESS) == []


@needs_corpora
def test_a_real_session_is_told_on_through_its_stored_compaction() -> None:
    # Fails where what its agent's summary still planned, or asked for, is told as open or as the goal of today.
    path = CORPORA / "real" / "claude" / "entireio__cli__4c_ff5845d5a2.jsonl"
    with closing(agent_of(path).open(path)) as session:
        (compaction,) = compactions_of(session)
        before = Extractive().summarize(span_of(session, replaced_by(session, compaction)), 1_500).text
        settings = PlanSettings(keep_recent=1_500)
        made = plan(measure(session, session.leaf, estimators=[settings.counting]), settings)
        span, _ = prepared(session, made)
        assert span.previous
        after = Extractive().summarize(span, 1_500).text
    first, then = (
        [(section, text) for section, text, _ in read_outline(text) if text != "(none)"]
        for text in (before, after)
    )
    assert told(first, SummarySection.GOAL)[0].startswith(
        ("/github-pr-review", "Implement the following plan:")
    )
    assert told(then, SummarySection.GOAL) == ["/github-pr-review"]
    done = told(then, SummarySection.DONE)
    assert "Committed, pushed, and replied to PR review threads" in done
    title = "Replace brittle string matching with sentinel error for branch deletion"
    assert f"Committed: {title}" in done
    assert told(then, SummarySection.NEXT) == told(then, SummarySection.BLOCKED) == []
    assert "Reply to PR review threads" not in after
    assert "Planned: " not in after
    # A third round was asked for since.
    apart = after.partition(Provenance.SAID.heading)
    assert (
        "review threads across both rounds"
        not in apart[0] + apart[2].partition(Provenance.RECORDED.heading)[2]
    )


def test_nothing_is_told_twice_and_no_mark_is_put_before_another() -> None:
    for lines in _chain(1_500):
        keys = Counter(line_key(text) for _, text in lines)
        assert [key for key, times in keys.items() if times > 1] == []
        for mark in ("Asked before: ", "Asked: ", "Code in an earlier summary (", "Said last: "):
            assert not [text for _, text in lines if text.count(mark) > 1]
