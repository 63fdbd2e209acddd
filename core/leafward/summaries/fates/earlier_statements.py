"""The rules and steps in the summary that a compaction replaces, whoever wrote it.

They are bare lines there: the heading above a line tells which of the two it is. Steps with checkboxes are read like any
checklist.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.session.entries import tool_calls
from leafward.summaries.facts.calls.outcomes import failed_calls
from leafward.summaries.facts.sentences.demands import demands
from leafward.summaries.facts.sentences.negation import sentence_key
from leafward.summaries.facts.sentences.prose import SENTENCE_LIMIT, sentences
from leafward.summaries.facts.sentences.standing_orders import orders_agent
from leafward.summaries.facts.values import FactKind, Sighting, Voice
from leafward.summaries.summarizers.extractive.candidates import SAID_WITH_ANY
from leafward.summaries.summarizers.extractive.state.gone_files import gone_files
from leafward.summaries.summarizers.extractive.turns import as_asked, turns_of
from leafward.summaries.summarizers.outline import SummarySection, read_outline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.session.entries import EntryIndex
    from leafward.summaries.facts.reader import FactReader
    from leafward.summaries.survival.spans import SpanMessage

_LEAST = 8
"""Characters from which a line counts."""
_NOTHING = re.compile(
    r"(?i)^\W*(?:none|nothing|n/a)(?: (?:specified|stated|given|yet|known|pending|left|else|so far))?\W*$"
    r"|^\W*no (?:\w+ ){0,3}(?:constraints|preferences|requirements|rules|steps|tasks)(?: \w+){0,3}\W*$"
)
_NO_STEP = re.compile(r"(?i)^(?:[\"“'‘>]|(?:this|that|it|these|(?:the )?user(?:['’]s)?|current|currently)\b)")
"""A line among steps that is not one: a remark about them, or the user's words."""
_WANTS = re.compile(r"(?i)^(?:the )?user (?:prefers|wants|requires|insists|does(?:n['’]t| not) want)\b")
_QUOTES_USER = re.compile(r"^(?:\[[^\]]{1,20}\] )?[\"“](.{3,400}?)[\"”]?(?: \(.{1,120}\))?$")
"""A line in a list of the user's messages."""


def statements(summary: str, entry: EntryIndex) -> list[Sighting]:
    """The rules that a summary lists, and its steps without a checkbox."""
    found = []
    for section, line, is_open in read_outline(summary):
        text = line
        kind = None
        if section is SummarySection.CONSTRAINTS and is_open is not False:
            # What was said with one request is no rule.
            kind = None if line.startswith(SAID_WITH_ANY) else FactKind.CONSTRAINT
        elif section is SummarySection.CONTEXT:
            quoted = _QUOTES_USER.match(line)
            if _WANTS.match(line):
                kind, text = FactKind.CONSTRAINT, next(sentences(line), "")
            elif quoted is not None and any(map(_rules, sentences(quoted[1]))):
                kind, text = FactKind.CONSTRAINT, quoted[1]
        elif section is SummarySection.NEXT and is_open is None and not _NO_STEP.match(line):
            kind = FactKind.TODO
        if kind is None or not _LEAST <= len(text) <= SENTENCE_LIMIT or _NOTHING.match(text):
            continue
        key = sentence_key(text)
        if key and not text.endswith((":", "：")):
            found.append(Sighting(kind, key, text, Voice.TOLD, entry))
    return found


def _rules(sentence: str) -> bool:
    """Whether a sentence of one of the user's messages, which are answered, still holds as a rule."""
    return demands(sentence) and orders_agent(sentence)


def unfinished(
    told: Sequence[Sighting], messages: Sequence[SpanMessage], reader: FactReader, cwd: str
) -> list[Sighting]:
    """The sightings of an earlier summary, without what the user took back or cancelled, and steps that are not known to be open.

    A step is no longer known to be open once the work around the summary was answered, once the agent made a list of its
    own, or once a file that the step names is gone. `reader` has read the messages after the summary.
    """
    told = [
        one
        for one in told
        if not (one.kind is FactKind.CONSTRAINT and reader.rules.is_revoked(one.text))
        and not (one.kind is FactKind.TODO and reader.told.is_cancelled(one.text, one.entry))
    ]
    steps = {one.key for one in told if one.kind is FactKind.TODO}
    if not steps:
        return list(told)
    behind = [one for one in messages if one.entry > told[0].entry]
    if reader.plan.made or (reader.told.answers and _goes_on(behind)):
        return [one for one in told if one.key not in steps]
    calls = {place: tool_calls(message) for place, (_, message) in enumerate(messages)}
    failed = failed_calls(message for _, message in messages)
    gone = {path.rpartition("/")[2] for path in gone_files(messages, calls, failed, cwd)}
    return [
        one
        for one in told
        if one.key not in steps
        or not any(
            named.kind is FactKind.PATH and named.key.rpartition("/")[2] in gone
            for named in reader.texts.named(one.text, Voice.TOLD, one.entry)
        )
    ]


def _goes_on(messages: Sequence[SpanMessage]) -> bool:
    """Whether messages begin with work, or with a request that only keeps it going; without a request all are work."""
    turns = turns_of([one._replace(message=as_asked(one.message)) for one in messages])
    return not turns or turns[0].first > 0 or not turns[0].tells
