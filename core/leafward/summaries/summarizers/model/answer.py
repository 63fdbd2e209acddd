"""Turning an answer into a summary: cleaning it, adding the pins, and cutting whole lines where it is too long."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.base.safe_text import safe
from leafward.session.tokens import tokens_of_units, utf16_length
from leafward.summaries.summarizers.outline import SummarySection, without_lists, without_marks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.redaction.redaction import Redactor

_THOUGHT = re.compile(r"\A\s*<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL)
"""Thinking before an answer; where it does not end there is nothing behind it."""
_FENCED = re.compile(r"\A```(?:markdown|md)?\n(.*)\n```\Z", re.DOTALL)
_DECLINED = re.compile(
    r"(?i)\A\W*(?:(?:i['’]m|i am) (?:very |so )?(?:sorry|unable|not able)\b|sorry\b|(?:my )?apologies\b|as an ai\b"
    r"|(?:unfortunately,? )?i (?:can(?:['’]t|not| not)|won['’]t|will not|must decline|decline)\b)"
)
"""The beginning of an answer by which a model declines the task."""
_MARKS = re.compile(r"(?m)^<<<(?:BEGIN|END)\b.*\n?")
_HEADING = re.compile(r"^#{1,6} ")
_LEFT_LAST = (
    SummarySection.GOAL.heading,
    SummarySection.NEXT.heading,
    SummarySection.CONSTRAINTS.heading,
    SummarySection.DECISIONS.heading,
    SummarySection.BLOCKED.heading,
    SummarySection.IN_PROGRESS.heading,
)
"""Sections that lose lines last; the first one is spared longest."""


def cleaned(text: str, redactor: Redactor) -> str:
    """An answer as text to show and to store, without thinking, a surrounding fence and our marks."""
    text = _THOUGHT.sub("", text).strip()
    fenced = _FENCED.match(text)
    text = safe(fenced[1] if fenced else text)
    return without_marks(without_lists(_MARKS.sub("", redactor.text(text)))).strip()


def has_outline(text: str) -> bool:
    """Whether a text has sections of the requested outline."""
    headings = {section.heading for section in SummarySection}
    return any(line.strip() in headings for line in text.split("\n"))


def is_declined(text: str) -> bool:
    """Whether an answer declines to give one."""
    return _DECLINED.match(text) is not None


def with_pins(text: str, pins: Sequence[str]) -> str:
    """`text` with every pin in it word for word: pins that the model left out go to the end of Critical Context."""
    missing = [f"- {pin}" for pin in pins if pin not in text]
    if not missing:
        return text
    heading = SummarySection.CONTEXT.heading
    lines = text.split("\n") if text else []
    if heading not in lines:
        return "\n".join([*lines, *([""] if lines else []), heading, *missing])
    at = lines.index(heading) + 1
    while at < len(lines) and not _HEADING.match(lines[at]):
        at += 1
    while lines[at - 1] == "":
        at -= 1
    if lines[at - 1] == "- (none)":
        at -= 1
        del lines[at]
    return "\n".join([*lines[:at], *missing, *lines[at:]])


def fitted(text: str, budget: int, pins: Sequence[str]) -> tuple[str, int]:
    """`text` within `budget` tokens, and the number of lines cut for that: the last of the least important sections first."""
    lines = text.split("\n")
    under = ""
    order = []
    for at, line in enumerate(lines):
        if _HEADING.match(line):
            under = line.strip()
        elif line.strip() and not any(pin in line for pin in pins):
            rank = _LEFT_LAST.index(under) if under in _LEFT_LAST else len(_LEFT_LAST)
            order.append((-rank, -at))
    # With the end of each line, of which the last one has none.
    units = [utf16_length(line) + 1 for line in lines]
    size = sum(units) - 1
    gone: set[int] = set()
    # Headings and blank lines go last, from the end on, and are no loss.
    frames = [at for at in range(len(lines) - 1, -1, -1) if not any(pin in lines[at] for pin in pins)]
    for at in [*(-place for _, place in sorted(order)), *frames]:
        if tokens_of_units(max(0, size)) <= budget:
            break
        if at not in gone:
            gone.add(at)
            size -= units[at]
    told = {-place for _, place in order}
    return "\n".join(line for at, line in enumerate(lines) if at not in gone), len(gone & told)
