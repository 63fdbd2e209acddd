"""Summaries over summaries: each compaction has only its own stretch and the summary before it."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

from leafward.export.demo import demo_session
from leafward.session.entries import EntryIndex, Kind
from leafward.session.messages import messages_of
from leafward.session.session import Session
from leafward.summaries.summarizers.extractive import Extractive
from leafward.summaries.summarizers.outline import Section, line_key, read_outline
from leafward.summaries.summarizers.summary import Span
from leafward.summaries.survival.spans import SpanMessage

if TYPE_CHECKING:
    from collections.abc import Iterator

LINKS = 4


def _chain(tokens: int) -> Iterator[list[tuple[Section, str]]]:
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


def test_rules_goal_and_finished_work_outlive_three_more_compactions() -> None:
    first, *_, last = _chain(2_500)
    rules = [text for section, text in last if section is Section.CONSTRAINTS]
    for section, text in first:
        if section is Section.CONSTRAINTS:
            assert text in rules
    assert any(section is Section.GOAL for section, _ in last)
    done = [text for section, text in last if section is Section.DONE]
    assert any("claim" in text for text in done), "what the first stretch finished"


def test_nothing_is_told_twice_and_no_mark_is_put_before_another() -> None:
    for lines in _chain(1_500):
        keys = Counter(line_key(text) for _, text in lines)
        assert [key for key, times in keys.items() if times > 1] == []
        for mark in ("Asked before: ", "Asked: ", "Code in an earlier summary (", "Said last: "):
            assert not [text for _, text in lines if text.count(mark) > 1]
