"""Makes the text from contributions: merge, allocate, render, report."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING

from leafward.compaction.injection.allocation import Allocation, allocate
from leafward.compaction.injection.merge import merged, omitted_line
from leafward.compaction.injection.plain_text import cut
from leafward.compaction.injection.sections import FALLBACK
from leafward.compaction.injection.values import (
    STATIC,
    Contribution,
    InjectedLine,
    Injection,
    InjectionRemark,
    OmissionReason,
    Omitted,
    SectionReport,
    SourceKind,
    SourceRef,
)
from leafward.redaction.redaction import Redactor
from leafward.session.injected_block import CLOSING, OPENING
from leafward.session.tokens import tokens_of_units, utf16_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.compaction.injection.merge import Bullet, InjectedBlock

NOTE = "Carried over unchanged, no part of the conversation. Paths are relative to the session's folder."
AGAIN = " It is added again after each compaction: leave all of it out of the summary."
"""The note to a model whose own summary might copy the text: Claude Code and Codex let nobody change that summary."""
_COUNTED = SourceRef(SourceKind.DERIVED, note="counted")
_SHORTEST = 24
"""Least code points of a next action; cut further, it would mean nothing."""


def compose(
    contributions: Sequence[Contribution],
    budget: int,
    off: frozenset[str] = frozenset(),
    again: bool = False,
) -> Injection:
    """The injected text within a budget of code points; empty if there is nothing to say.

    With `again` the text says that a summary needs no copy of it.
    """
    opening = f"{NOTE}{AGAIN}" if again else NOTE
    redactor = Redactor()
    blocks, omitted = merged(contributions, off, redactor)
    diagnostics = [remark for contribution in contributions for remark in contribution.diagnostics]
    if redactor.found:
        names = ", ".join(f"{count} {name}" for name, count in sorted(redactor.found.items()))
        diagnostics.append(InjectionRemark("redacted", f"secrets redacted: {names}"))
    if all(bullet.filler for block in blocks for bullet in block.bullets):
        blocks = []
    envelope = len(OPENING) + 1 + len(opening) + 1 + len(CLOSING)
    allocation = allocate(blocks, envelope, budget) if budget > 0 else None
    lines: list[InjectedLine] = []
    if allocation is not None and allocation.shown:
        lines = _lines(allocation, opening)
    elif blocks:
        lines = _fallback(blocks, budget)
        outcome = "only the next action is left" if lines else "nothing is injected"
        diagnostics.append(
            InjectionRemark(
                "budget", f"{max(0, budget)} characters are too few for what is always injected; {outcome}"
            )
        )
    return _report(lines, blocks, allocation, omitted, diagnostics, budget)


def _lines(allocation: Allocation, opening: str) -> list[InjectedLine]:
    lines = [InjectedLine(OPENING, "", (STATIC,)), InjectedLine(opening, "", (STATIC,))]
    for number, block in enumerate(allocation.blocks):
        places = [place for place in range(len(block.bullets)) if (number, place) in allocation.shown]
        if all(block.bullets[place].marker for place in places):
            # A count of further items needs at least one shown item.
            continue
        key = block.section.key
        lines += [InjectedLine("", key), InjectedLine(f"## {block.section.title}", key, (STATIC,))]
        for place in places:
            bullet = block.bullets[place]
            text = allocation.shown[number, place]
            lines.append(
                InjectedLine(text if bullet.marker else f"- {text}", key, bullet.sources, bullet.core)
            )
        missing = allocation.omitted(number)
        if missing and not any(bullet.marker for bullet in block.bullets):
            lines.append(InjectedLine(omitted_line(missing, block.section), key, (_COUNTED,)))
    return [*lines, InjectedLine(CLOSING, "", (STATIC,))]


def _fallback(blocks: Sequence[InjectedBlock], budget: int) -> list[InjectedLine]:
    """One line with the phase or stage and the next action, cut to fit; empty if even that does not fit."""
    best: dict[str, Bullet] = {block.section.key: block.bullets[0] for block in blocks}
    stage, phase, action = (
        best.get(key) for key in ("stage.canonical_stage", "gov.phase", "stage.next_action")
    )
    parts = [bullet for bullet in (stage or phase, action) if bullet is not None and not bullet.filler]
    room = budget - len(OPENING) - len(CLOSING) - 2 - 2
    if not parts:
        return []
    text = ": ".join(bullet.text for bullet in parts)
    head = len(parts[0].text) if len(parts) > 1 or parts[0] is not action else 0
    if len(text) > room:
        # A stage's name is never cut, and the rest of the action must still mean something.
        if room >= head + 2 + _SHORTEST:
            text = cut(text, room)
        elif 0 < head <= room:
            text, parts = parts[0].text, parts[:1]
        else:
            return []
    sources = tuple(dict.fromkeys(source for bullet in parts for source in bullet.sources))
    return [
        InjectedLine(OPENING, "", (STATIC,)),
        InjectedLine(f"- {text}", FALLBACK, sources),
        InjectedLine(CLOSING, "", (STATIC,)),
    ]


def _report(
    lines: list[InjectedLine],
    blocks: Sequence[InjectedBlock],
    allocation: Allocation | None,
    omitted: list[Omitted],
    diagnostics: list[InjectionRemark],
    budget: int,
) -> Injection:
    text = "\n".join(line.text for line in lines)
    tokens, chars = _sizes(lines)
    sections: list[SectionReport] = []
    if any(line.section == FALLBACK for line in lines):
        sections.append(SectionReport(FALLBACK, "", tokens[FALLBACK], chars[FALLBACK], 1, 0))
        allocation = None
    for number, block in enumerate(blocks):
        key = block.section.key
        shown = 0
        missing = block.capped
        for place, bullet in enumerate(block.bullets):
            if bullet.marker:
                continue
            if allocation is not None and (number, place) in allocation.shown:
                shown += 1
            elif not bullet.filler:
                missing += 1
                omitted.append(Omitted(key, bullet.text, OmissionReason.BUDGET, bullet.sources))
        sections.append(SectionReport(key, block.section.title, tokens[key], chars[key], shown, missing))
    total = tokens_of_units(utf16_length(text))
    return Injection(
        text,
        tuple(lines),
        tuple(sections),
        tuple(omitted),
        tuple(dict.fromkeys(diagnostics)),
        total,
        tokens[""],
        hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        budget,
    )


def _sizes(lines: Sequence[InjectedLine]) -> tuple[Counter[str], Counter[str]]:
    """Tokens and code points by section. A newline belongs to the line after it; tokens are counted along the text to add up."""
    tokens: Counter[str] = Counter()
    chars: Counter[str] = Counter()
    units = counted = 0
    for number, line in enumerate(lines):
        newline = number > 0
        units += utf16_length(line.text) + newline
        now = tokens_of_units(units)
        tokens[line.section] += now - counted
        chars[line.section] += len(line.text) + newline
        counted = now
    return tokens, chars
