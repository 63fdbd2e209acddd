"""The verb `survival`: the fate of the facts that a compaction replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.base.figures import counted, money, percent
from leafward.base.safe_text import safe, safe_line
from leafward.base.shown_path import shortened
from leafward.cli.output.entry_ids import shown_ids
from leafward.cli.output.governance_audit import traced_json, traced_text
from leafward.cli.output.page import (
    Page,
    cells,
    emit_json,
    faint,
    led,
    pad,
    page,
    say,
    warning,
    wrapped,
)
from leafward.cli.output.survival_facts import fact_text, share_text, survival_json
from leafward.cli.selection import compaction_at, opened
from leafward.cli.settings import configured
from leafward.compaction.aftermath.aftermath import Aftermath, Repeat, aftermath_of, repeat_words
from leafward.compaction.injection.trace import trace
from leafward.session.session import verify
from leafward.summaries.fates.report import Status, Survival, survival_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from leafward.session.session import Session

_SHOWN = 24
"""Most facts of one status that are listed by name; JSON lists all."""
_STYLE = {Status.LOST: "bad", Status.CONTRADICTED: "bad", Status.INVENTED: "warn"}


def survival(selector: str, compaction: str | None, workspace: Path | None, as_json: bool) -> int:
    """`leafward survival`."""
    settings = configured()
    with opened(selector) as session:
        verify(session)
        index = compaction_at(session, compaction)
        found = survival_of(session, index)
        traced = trace(session, index, settings, workspace)
        later = aftermath_of(session, index)
        if as_json:
            emit_json(
                {
                    "compaction": session.columns.id_at(index),
                    **survival_json(session, found),
                    "aftermath": _aftermath_json(session, later),
                    **traced_json(session, traced),
                }
            )
        else:
            here = page()
            say(
                [
                    *_text(session, index, found, here),
                    *_aftermath_text(session, later, here),
                    *traced_text(traced, here),
                ]
            )
    return 0


def _aftermath_json(session: Session, later: Aftermath) -> dict[str, Any]:
    return {
        "calls": later.calls,
        "tokens": later.tokens,
        "cost": later.dollars,
        "counts": {str(kind): later.count(kind) for kind in Repeat},
        "repeated": [
            {
                "kind": str(one.kind),
                "text": safe(one.text),
                "entry": session.columns.id_at(one.entry),
                "tokens": one.tokens,
            }
            for one in later.repeated
        ],
    }


def _aftermath_text(session: Session, later: Aftermath, page: Page) -> Iterator[str]:
    yield ""
    calls = f"in the next {'tool call' if later.calls == 1 else counted(later.calls, 'tool call')}"
    if not later.repeated:
        text = f"{calls} nothing was repeated" if later.calls else "no tool call came after it"
        yield page.style(text, "faint")
        return
    cost = f", {money(later.dollars)}" if later.dollars is not None else ""
    yield page.style(calls, "bold") + f"  {repeat_words(later)}: ~{later.tokens:,} tokens{cost}"
    listed = later.repeated[:_SHOWN]
    names, wide = _names(session, (one.entry for one in listed))
    width = max(20, page.width - 17 - wide)
    for one in listed:
        text = safe_line(one.text, 300)
        if one.kind is Repeat.FILE:
            text = shortened(text, width, cells, page.gap)
        text = page.fit(text, width)
        yield f"  {pad(str(one.kind), 11)} {pad(names.get(one.entry, ''), wide)} {text}"
    if len(later.repeated) > _SHOWN:
        yield page.style(f"  and {len(later.repeated) - _SHOWN:,} more; --json has all", "faint")


def _names(session: Session, entries: Iterable[int]) -> tuple[dict[int, str], int]:
    """Short ids of listed entries, and the cells of their column."""
    names = shown_ids(session, entries)
    return names, max(map(cells, names.values()), default=0) + 1


def _text(session: Session, index: int, found: Survival, page: Page) -> Iterator[str]:
    overall = found.overall()
    name = f"compaction {safe_line(session.columns.id_at(index) or '', 40)}"
    share = share_text(found, overall) if overall is not None else "it summarised no facts"
    yield from led(name, "bold", share, page)
    if found.partial:
        text = "the start of the session is not in file: invented facts cannot be found"
        yield from faint(wrapped(text, page, first="  "), page)
    if found.unreadable:
        yield from warning("its summary is encrypted: facts listed as lost may be in it", page)
    score = found.score()
    if score:
        yield page.style(f"  {pad('', 11)} weight  facts", "faint")
    for kind, row in found.counts().items():
        share = f"{percent(score[kind], 1):>6}" if kind in score else "      "
        counts = ", ".join(f"{row[status]:,} {status}" for status in Status if status in row)
        lead = f"  {pad(str(kind), 11)} {share}  "
        first, *more = wrapped(counts, page, first=lead, below=" " * len(lead))
        yield lead + page.style(first[len(lead) :], "faint")
        yield from faint(more, page)
    for status in (Status.CONTRADICTED, Status.INVENTED, Status.LOST):
        fates = [fate for fate in found.fates if fate.status is status]
        if not fates:
            continue
        yield ""
        yield page.style(f"{status}  {counted(len(fates), 'fact')}", _STYLE[status])
        fates.sort(key=lambda fate: -fate.fact.weight)
        names, wide = _names(session, (fate.fact.entry for fate in fates[:_SHOWN]))
        for fate in fates[:_SHOWN]:
            text = fact_text(fate.fact, max(20, page.width - 17 - wide), page)
            yield f"  {pad(str(fate.fact.kind), 11)} {pad(names.get(fate.fact.entry, ''), wide)} {text}"
        if len(fates) > _SHOWN:
            yield page.style(f"  and {len(fates) - _SHOWN:,} more; --json has all", "faint")
