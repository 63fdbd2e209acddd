"""Costs of compactions afterwards, as text and JSON: the sums of `ls --totals --by compaction`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.base.errors import LeafwardError, reason_of
from leafward.base.figures import counted, money, short
from leafward.base.safe_text import safe, safe_line
from leafward.cli.output.page import Page, emit_json, note, page, say, table, table_width, with_path
from leafward.cli.selection import opened
from leafward.compaction.aftermath.aftermath import WINDOW, Repeat
from leafward.compaction.aftermath.aftermath_totals import AftermathTotals

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.catalogue.cards.card import Card
    from leafward.compaction.aftermath.aftermath_totals import AftermathSum, Maker

_COUNTED = {
    Repeat.FILE: "reads",
    Repeat.COMMAND: "commands",
    Repeat.ERROR: "errors",
    Repeat.REQUEST: "requests",
}
"""The headings of the columns of counts."""


def say_aftermath(cards: Sequence[Card], remarks: list[dict[str, Any]], as_json: bool) -> int:
    """Prints the sums over sessions with compactions, reading each of them; sessions that cannot be read become remarks."""
    sums = AftermathTotals()
    for card in cards:
        if card.compactions == 0 or card.problem is not None:
            continue
        try:
            with opened(card.path) as session:
                sums.add(card.agent, session)
        except (LeafwardError, OSError) as error:
            remarks.append({"code": "unreadable", "text": with_path(card.path, reason_of(error))})
    rows = sorted(sums.sums.items(), key=lambda row: (-row[1].tokens, row[0]))
    if as_json:
        found = [_json(maker, one) for maker, one in rows]
        emit_json({"aftermath": found, "diagnostics": remarks})
        return 0
    for remark in remarks:
        note(remark["text"])
    say(aftermath_text(rows, page()))
    return 0


def _json(maker: Maker, one: AftermathSum) -> dict[str, Any]:
    return {
        "agent": maker.agent,
        "model": safe(maker.model) or None,
        "strategy": safe(maker.strategy),
        "compactions": one.compactions,
        "calls": one.calls,
        "counts": {str(kind): count for kind, count in one.counts.items()},
        "tokens": one.tokens,
        "cost": None if one.unpriced and not one.dollars else one.dollars,
        "unpriced": one.unpriced,
    }


def aftermath_text(sums: Sequence[tuple[Maker, AftermathSum]], page: Page) -> Iterator[str]:
    """The sums, one line each; where the page is too narrow for that, names and figures in a line each."""
    if not sums:
        yield "no compactions"
        return
    named = ("agent", "model", "strategy")
    head = ("compactions", *_COUNTED.values(), "tokens", "cost")
    names = [
        (safe_line(maker.agent, 40), safe_line(maker.model_name, 60), safe_line(maker.strategy, 40))
        for maker, _ in sums
    ]
    figures = [
        (
            f"{one.compactions:,}",
            *(f"{one.counts[kind]:,}" for kind in _COUNTED),
            short(one.tokens),
            "?" if one.unpriced and not one.dollars else money(one.dollars) + ("+" if one.unpriced else ""),
        )
        for _, one in sums
    ]
    rows = [(*name, *figure) for name, figure in zip(names, figures, strict=True)]
    if table_width((*named, *head), rows) <= page.width:
        yield from table((*named, *head), rows, page, grow=1, right=head)
    else:
        lines = table(("", *head), [("", *figure) for figure in figures], page, grow=0, right=head)
        for name, line in zip((named, *names), lines, strict=True):
            above = page.fit(", ".join(name), page.width)
            yield page.style(above, "faint" if name is named else "bold")
            yield line
    calls = sum(one.calls for _, one in sums)
    yield page.style(
        f"repeated in {counted(calls, 'tool call')}: at most the next {WINDOW} after each compaction", "faint"
    )
