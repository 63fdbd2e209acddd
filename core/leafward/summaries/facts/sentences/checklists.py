"""The items of checklists in a text, ticked or open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences.prose import FENCE, HEADING

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHECKBOX = late(r"^\s*(?:[-*+]\s*)?\[( |x|X|✓|-|~)\]\s+(.{3,400})$")
_KEY = late(r"^\s*(?:[-*+]\s*)?(?:\*\*)?\[[A-WYZa-wyz]\]")
"""A line of a menu, with its key."""
OPEN_IN, TICKED = "Open in ", "Ticked "
"""The beginning of the words of a summary of ours before the open, or the ticked items of a list, which share a line."""
LISTED = late(
    rf"(?:- )?(?P<where>(?:(?P<open>{OPEN_IN})|{TICKED}(?:by|in) )(?:the agent's list|the agent|the user|a reply|a request|`[^`]{{1,200}}`): )(?P<items>.+)"
)
"""Such a line."""
_BOX = late(r"\[[ xX✓~-]\]\s")
_TO_TRY = late(
    r"(?i)\b(?:checklist|test(?:ing)? (?:plan|cases|scenarios)|(?:manual|acceptance|smoke) test(?:s|ing)?|acceptance criteria|verification)\b"
)
_PUT_OFF = late(
    r"(?i)(?:^\W*|[:(\[–—-]\s*)(?:skipped|cancelled|canceled|dropped|won['’]t (?:do|fix)|wontfix|not needed|no longer needed|obsolete|superseded|n/a)\b|^~~.*~~"
)
"""An item without a tick that says itself that it is not to be done."""


def is_to_try(heading: str) -> bool:
    """Whether a heading is of things to try in the end, rather than of steps of the work."""
    return _TO_TRY.search(heading) is not None


def is_put_off(item: str) -> bool:
    """Whether an item of a checklist says itself that it is not to be done."""
    return _PUT_OFF.search(item) is not None


def checkboxes(text: str) -> Iterator[tuple[str, bool, str]]:
    """Items of a checklist, whether each is still open, and the heading above it.

    A heading of things to try goes before the headings below it: `Testing checklist, Print mode`.
    """
    if _BOX.search(text) is None and not (OPEN_IN in text or TICKED in text):
        return
    heading, fenced = "", False
    above: tuple[int, str] | None = None
    lines = text.split("\n")
    for at, line in enumerate(lines):
        match = _CHECKBOX.match(line)
        if match is not None and match[1] in "xX" and any(map(_KEY.match, lines[max(0, at - 1) : at + 2])):
            # A key beside others.
            continue
        if match is not None:
            is_open = match[1] in {" ", "-", "~"} and not is_put_off(match[2])
            yield match[2].strip(), is_open, heading
        elif (listed := LISTED.match(line)) is not None:
            for item in listed["items"].split("; "):
                yield item.strip(), listed["open"] is not None, heading
        elif FENCE.match(line):
            fenced = not fenced
        elif not fenced and HEADING.match(line):
            level = line.count("#", 0, 8)
            heading = HEADING.sub("", line).strip()[:120]
            if above is not None and level > above[0]:
                heading = f"{above[1]}, {heading}"[:120]
            else:
                above = (level, heading[:60]) if is_to_try(heading) else None
