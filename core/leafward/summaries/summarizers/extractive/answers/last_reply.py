"""What the model said last while a request is open, and what it asks the user."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.session.entries import tool_calls
from leafward.summaries.facts.sentences.corrections import standing_part
from leafward.summaries.facts.sentences.replies import accompanies, announces
from leafward.summaries.summarizers.extractive.answers.passages import passages
from leafward.summaries.summarizers.extractive.answers.quotes import (
    OUTCOMES,
    REQUEST_LIMIT,
    answered_before,
    texts_of,
)
from leafward.summaries.summarizers.extractive.answers.sentence_forms import is_heading, only_leads
from leafward.summaries.summarizers.extractive.answers.sentence_sections import without_opening
from leafward.summaries.summarizers.extractive.candidates import Evidence, add
from leafward.summaries.summarizers.extractive.turns import is_answered, question_of
from leafward.summaries.summarizers.outline import LINE_LIMIT, Provenance, SummarySection, cut, line_key

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from leafward.summaries.summarizers.extractive.turns import Turn
    from leafward.summaries.survival.spans import SpanMessage

WAITING = "Waiting for the user: "
"""The beginning of a question of the model's that the user has not answered."""
LAST_REPLY = "Last reply: "
"""The beginning of what the model said last while a request is open."""
_ITEM = re.compile(r"(\s*)(?:[-*+•]|(\(?(?:\d{1,2}|[A-Za-z])[.)]))\s+(\S.*)")
"""An item of a list: its indent, its number or letter, and its text."""
_BEHIND = 2
"""Most lines between a list and the end of a reply that asks about it."""
_WAYS = range(2, 7)
"""Numbers of items that can be chosen from."""
_WAY = 90
"""Characters that are quoted of each."""
_ENDED = re.compile(r"[.!?。！？;…]$")
_PLAN = 12
"""Words from which the announcement of the next call tells a plan."""
_LOOKS = "let me "
"""Words of one that does not: they lead to a look at something."""


def last_word(
    evidence: Evidence, messages: Sequence[SpanMessage], turns: Sequence[Turn], *, replied: bool
) -> None:
    """Adds the model's last statements that no other section has: as many whole passages as fit a line.

    `replied` says that the kept messages have what the user said next: nothing waits for that, and they go on from there.
    """
    over = replied or is_answered(turns[-1]) or turns[-1].left if turns else answered_before(messages, turns)
    if over:
        # Nothing is in progress; the sentences of the answer are in their own sections.
        return
    request = turns[-1].first if turns else -1
    for place in range(len(messages) - 1, request, -1):
        # Messages before the last request are not replies to it.
        entry, message = messages[place]
        if message.get("role") != "assistant":
            continue
        texts = [standing_part(text) for text in texts_of(message) if text.strip()]
        if not texts:
            continue
        elsewhere = {
            line_key(candidate.text)
            for candidate in evidence.candidates
            if entry in candidate.sources and (candidate.reports or candidate.section in OUTCOMES)
        }
        said = _joined_last(texts, elsewhere)
        question = "" if any(tool_calls(message)) else question_of("\n".join(texts))
        if question:
            add(
                evidence,
                SummarySection.IN_PROGRESS,
                _with_ways(question, texts[-1]),
                (entry,),
                1.6,
                first=True,
                limit=REQUEST_LIMIT + _WAY * len(_WAYS),
                lead=WAITING,
            )
        if said:
            add(
                evidence,
                SummarySection.CONTEXT,
                said,
                (entry,),
                1.6,
                limit=LINE_LIMIT - len(LAST_REPLY),
                lead=LAST_REPLY,
                provenance=Provenance.SAID,
            )
        # An earlier statement is not the last reply.
        return


def _with_ways(question: str, reply: str) -> str:
    """The question that a reply ends with, and the list that it asks about; where it is the last of a list, all of that."""
    ways = _listed_last(reply)
    if len(ways) not in _WAYS:
        return question
    if ways[-1][2].endswith(question):
        return " ".join([*(cut(text, _WAY) for _, _, text in ways[:-1]), ways[-1][2]])
    listed = "; ".join(cut(" ".join(filter(None, way[1:])), _WAY) for way in ways)
    return f"{question} ({listed})"


def _listed_last(reply: str) -> list[tuple[str, str | None, str]]:
    """The outermost items of the list at the end of a reply, each by the groups of `_ITEM`."""
    lines = [line.rstrip() for line in reply.replace("**", "").split("\n") if line.strip()]
    end = next((place for place in range(len(lines), 0, -1) if _ITEM.match(lines[place - 1])), 0)
    if len(lines) - end > _BEHIND:
        return []
    begin = end
    while begin and (_ITEM.match(lines[begin - 1]) or lines[begin - 1][0].isspace()):
        begin -= 1
    items = [(found[1], found[2], found[3]) for line in lines[begin:end] if (found := _ITEM.match(line))]
    least = min((len(indent) for indent, _, _ in items), default=0)
    return [item for item in items if len(item[0]) == least]


def _joined_last(texts: Sequence[str], elsewhere: AbstractSet[str]) -> str:
    """The passages of the last reply in one line, without those that have their line `elsewhere`, by their keys.

    A short reply is told whole. Of a longer one what only accompanies the next call comes last.
    """
    found: list[tuple[str, bool]] = []
    for one in (one for text in texts for one in passages(text, shortest=8)):
        # Behind the sentence that has its subject it needs no more.
        passage = one.text if found and one.before.rstrip() == found[-1][0] else one.alone()
        plain = without_opening(passage)
        leads = announces(plain) or accompanies(passage)
        if not passage or line_key(plain) in elsewhere or plain.endswith((":", "：")) or only_leads(plain):
            continue
        if is_heading(plain):
            continue
        if not leads or (len(plain.split()) >= _PLAN and _LOOKS not in plain.casefold()):
            found.append((passage, leads))
    room = LINE_LIMIT - len(LAST_REPLY)
    taken: set[int] = set()
    for leads in (False, True):
        for number, (passage, is_lead) in enumerate(found):
            if is_lead is leads and (not taken or len(passage) + 2 <= room):
                taken.add(number)
                room -= len(passage) + 2
            elif is_lead is leads:
                break
    line = lead = ""
    for passage in (found[number][0] for number in sorted(taken)):
        head, colon, rest = passage.partition(": ")
        if colon and head == lead:
            # Another item of the same list.
            line = f"{line.rstrip('.')}; {rest}"
        else:
            line += (" " if _ENDED.search(line) else ". ") * bool(line) + passage
        lead = head if colon else ""
    return line
