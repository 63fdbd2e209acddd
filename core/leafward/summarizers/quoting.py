"""What was said, as lines: the user's requests, and those of the model's own sentences that can stand alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.entries import Body, EntryIndex, blocks_of, text_of
from leafward.facts import prose
from leafward.summarizers import unless_cancelled
from leafward.summarizers.candidates import Evidence, add
from leafward.summarizers.outline import Section, read_outline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from leafward.summarizers import Said

_FINISHED = re.compile(
    r"(?i)^(?:\W{0,3})(?:done|fixed|added|created|updated|implemented|removed|renamed|moved|replaced|refactored|completed|committed"
    r"|pushed|all tests pass|tests? pass|now (?:works|passes)|it works|good[,.]|perfect|excellent)\b|✅|完成|已"
)
_LIST_ITEM = re.compile(r"^(?:[-*•]|\d{1,3}[.)])\s+")
_CONTINUED = re.compile(r"[:：]$")
_HEADING = re.compile(r"(?m)^#{1,6} ")
_QUOTED = re.compile(r"^(?:Asked|Asked last|Answered last|Said last): ")
_OF_A_BRANCH: dict[Section, tuple[Section, float, str]] = {
    Section.GOAL: (Section.CONTEXT, 1.5, "A branch that was left: "),
    Section.CONSTRAINTS: (Section.CONSTRAINTS, 2.5, ""),
    Section.DONE: (Section.DONE, 0.5, "On a branch that was left: "),
    Section.IN_PROGRESS: (Section.CONTEXT, 0.4, "Open on a branch that was left: "),
    Section.BLOCKED: (Section.CONTEXT, 0.4, "Open on a branch that was left: "),
    Section.DECISIONS: (Section.DECISIONS, 1.0, ""),
    Section.NEXT: (Section.CONTEXT, 0.4, "Open on a branch that was left: "),
    Section.CONTEXT: (Section.CONTEXT, 0.3, ""),
}
"""Where the lines of a branch's summary go, what they are worth, and the words before them: its goal is not the goal now,
and what was next there is not what is next."""
REQUEST_LIMIT = 280
"""Characters of a request that are quoted."""


def requests(evidence: Evidence, messages: Sequence[Said], *, first: bool) -> None:
    """What the user asked for: the first request as the goal, the last ones as what is in progress."""
    asked: list[tuple[EntryIndex, str]] = []
    for entry, message in messages:
        if message.get("role") == "user":
            text = " ".join(text_of(message.get("content")).split())
            if len(text) >= 12 or (len(text) >= 4 and not text.isascii()):
                asked.append((entry, text))
    if not asked:
        return
    if first:
        entry, text = asked[0]
        add(evidence, Section.GOAL, text, (entry,), 3.0, first=True, limit=REQUEST_LIMIT)
    total = max(1, evidence.size)
    for entry, text in asked[-12:]:
        latest = (entry, text) == asked[-1]
        if first and (entry, text) == asked[0] and len(asked) > 1:
            continue
        recency = (evidence.position[entry] + 1) / total
        if not latest and len(text) < 24:
            continue
        add(
            evidence,
            Section.IN_PROGRESS,
            text,
            (entry,),
            2.0 if latest else 0.3 + 0.7 * recency,
            first=latest,
            limit=REQUEST_LIMIT if latest else 200,
            lead="Asked last: " if latest else "Asked: ",
        )


def answers(evidence: Evidence, messages: Sequence[Said], stop: Callable[[], bool]) -> None:
    """Lines of the model's own answers, in the sections that they speak for. Raises Cancelled."""
    total = max(1, len(messages))
    final = _final_replies(messages)
    for place, (entry, message) in enumerate(unless_cancelled(messages, stop)):
        if message.get("role") not in ("assistant", "branchSummary"):
            continue
        recency = 0.4 + 0.6 * (place + 1) / total
        weight = recency * (1.0 if place in final else 0.45)
        for text in _texts(message):
            outline = _HEADING.search(text) if message.get("role") == "branchSummary" else None
            if outline is not None:
                _branch(evidence, entry, text[outline.start() :], recency)
                continue
            for line, sentence in _quotable(text):
                section = _section_of(sentence)
                if prose.announces(sentence) and section is not Section.DECISIONS:
                    continue
                if section is Section.CONTEXT and len(sentence.split()) < 6 and sentence.count("`") < 4:
                    # Half a thought; what it names is told elsewhere.
                    continue
                worth = weight * (1.0 if section is not Section.CONTEXT else 0.3)
                add(evidence, section, line, (entry,), worth, limit=240)


def _branch(evidence: Evidence, entry: EntryIndex, text: str, weight: float) -> None:
    """The lines of the summary of a branch that was left. Its goal is the goal only where nothing else is."""
    evidence.left.add(entry)
    aimless = not any(candidate.section is Section.GOAL for candidate in evidence.candidates)
    for section, raw, is_open in read_outline(text):
        line = _QUOTED.sub("", raw)
        if len(line) < 8 or line == "(none)" or _CONTINUED.search(line):
            continue
        if section is Section.GOAL and aimless:
            add(evidence, section, line, (entry,), 3.0, first=True, limit=REQUEST_LIMIT)
            continue
        if is_open is False and section in {Section.NEXT, Section.IN_PROGRESS}:
            section = Section.DONE
        target, worth, lead = _OF_A_BRANCH[section]
        add(evidence, target, line, (entry,), worth * weight, limit=240, lead=lead)


def last_word(evidence: Evidence, messages: Sequence[Said]) -> None:
    """What the model said last, as far as it is prose."""
    for entry, message in reversed(messages):
        if message.get("role") != "assistant":
            continue
        said = [
            line for text in _texts(message) for line in prose.sentences(text) if not _CONTINUED.search(line)
        ]
        if said:
            add(
                evidence,
                Section.IN_PROGRESS,
                " ".join(said),
                (entry,),
                1.6,
                limit=240,
                lead="Answered last: ",
            )
            return


def _texts(message: Body) -> Iterator[str]:
    if message.get("role") == "branchSummary":
        yield str(message.get("summary") or "")
        return
    for block in blocks_of(message.get("content")):
        text = block.get("text") if block.get("type") == "text" else None
        if isinstance(text, str):
            yield text


def _final_replies(messages: Sequence[Said]) -> set[int]:
    """Positions of the replies that end a turn: what they say is the outcome."""
    found: set[int] = set()
    last = -1
    for place, (_, message) in enumerate(messages):
        role = message.get("role")
        if role == "user":
            if last >= 0:
                found.add(last)
            last = -1
        elif role == "assistant":
            last = place
    if last >= 0:
        found.add(last)
    return found


def _quotable(text: str) -> Iterator[tuple[str, str]]:
    """Lines of an answer that can stand alone: list items and sentences, outside code."""
    for raw in prose.lines_outside_code(text):
        stripped = raw.strip()
        if not stripped or stripped.startswith(("#", "|", ">", "<")) or _CONTINUED.search(stripped):
            continue
        mark = _LIST_ITEM.match(stripped)
        if mark is not None:
            item = stripped[mark.end() :].replace("**", "")
            if 12 <= len(item) <= 400 and not _CONTINUED.search(item):
                yield item, item
            continue
        for sentence in prose.sentences(raw):
            if len(sentence) >= 20 and not _CONTINUED.search(sentence) and not sentence.endswith("?"):
                yield sentence, sentence


def _section_of(sentence: str) -> Section:
    if prose.decides(sentence):
        return Section.DECISIONS
    if _FINISHED.search(sentence):
        return Section.DONE
    if prose.remains(sentence):
        return Section.NEXT
    return Section.CONTEXT
