"""The rules and the steps that the summary lists which a compaction replaces, whoever wrote it.

They stand there as bare lines: the heading above a line tells which of both it is. Steps in boxes are read as any checklist is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.summaries.facts import FactKind, FactReader, Sighting, Voice
from leafward.summaries.facts.demands import demands
from leafward.summaries.facts.prose import SENTENCE_LIMIT, sentence_key, sentences
from leafward.summaries.summarizers.outline import Section, read_outline
from leafward.summaries.summarizers.stale_lines import gone_files
from leafward.summaries.summarizers.turns import as_asked, turns_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.session.entries import EntryIndex
    from leafward.summaries.survival.spans import SpanMessage

_LEAST = 8
"""Characters of a line that says something."""
_NOTHING = re.compile(
    r"(?i)^\W*(?:none|nothing|n/a)(?: (?:specified|stated|given|yet|known|pending|left|else|so far))?\W*$"
    r"|^\W*no (?:\w+ ){0,3}(?:constraints|preferences|requirements|rules|steps|tasks)(?: \w+){0,3}\W*$"
)
_NO_STEP = re.compile(r"(?i)^(?:[\"“'‘>]|(?:this|that|it|these|(?:the )?user(?:['’]s)?|current|currently)\b)")
"""What stands among steps and is none: a word about them, or what the user said."""
_WANTS = re.compile(r"(?i)^(?:the )?user (?:prefers|wants|requires|insists|does(?:n['’]t| not) want)\b")
_QUOTES_USER = re.compile(r"^(?:\[[^\]]{1,20}\] )?[\"“](.{3,400}?)[\"”]?(?: \(.{1,120}\))?$")
"""A line of a list of all that the user said."""


def statements(summary: str, entry: EntryIndex) -> list[Sighting]:
    """The rules that a summary lists, and its steps that stand in no box."""
    found = []
    for section, line, is_open in read_outline(summary):
        text = line
        kind = None
        if section is Section.CONSTRAINTS and is_open is not False:
            kind = FactKind.CONSTRAINT
        elif section is Section.CONTEXT:
            quoted = _QUOTES_USER.match(line)
            if _WANTS.match(line):
                kind, text = FactKind.CONSTRAINT, next(sentences(line), "")
            elif quoted is not None and demands(quoted[1]):
                kind, text = FactKind.CONSTRAINT, quoted[1]
        elif section is Section.NEXT and is_open is None and not _NO_STEP.match(line):
            kind = FactKind.TODO
        if kind is None or not _LEAST <= len(text) <= SENTENCE_LIMIT or _NOTHING.match(text):
            continue
        key = sentence_key(text)
        if key and not text.endswith((":", "：")):
            found.append(Sighting(kind, key, text, Voice.TOLD, entry))
    return found


def unfinished(
    told: Sequence[Sighting], messages: Sequence[SpanMessage], reader: FactReader, cwd: str
) -> list[Sighting]:
    """Of what an earlier summary tells, all but the rules that the user took back, and the steps that nobody knows to be open.

    A step is not known to be open once the work that the summary stands amid was answered, where the agent made a list of its own since, or where a
    file that a step names is gone. `reader` read the messages behind the summary.
    """
    told = [
        one for one in told if one.kind is not FactKind.CONSTRAINT or not reader.rules.is_revoked(one.text)
    ]
    steps = {one.key for one in told if one.kind is FactKind.TODO}
    if not steps:
        return list(told)
    behind = [one for one in messages if one.entry > told[0].entry]
    if reader.plan.made or (reader.told.answers and _goes_on(behind)):
        return [one for one in told if one.key not in steps]
    gone = {path.rpartition("/")[2] for path in gone_files(messages, cwd)}
    return [
        one
        for one in told
        if one.key not in steps
        or not any(
            named.kind is FactKind.PATH and named.key.rpartition("/")[2] in gone
            for named in reader.named(one.text, Voice.TOLD, one.entry)
        )
    ]


def _goes_on(messages: Sequence[SpanMessage]) -> bool:
    """Whether messages begin with work, or with a request that only keeps it going; those without a request are all work."""
    turns = turns_of([one._replace(message=as_asked(one.message)) for one in messages])
    return not turns or turns[0].first > 0 or not turns[0].tells
