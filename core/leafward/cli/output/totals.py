"""Sums of tokens and costs as text: by project and agent, by agent, by day."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.figures import counted, money, short
from leafward.base.safe_text import safe_line
from leafward.catalogue.usage.totals import Sum, Totals, day_name
from leafward.cli.output.page import Page, table
from leafward.session.entries import SUBAGENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.session.session import Session

_BAR = 20


def totals_text(sums: Totals, by: str, page: Page) -> Iterator[str]:
    """The sums, one line each, and the total below them."""
    if not sums.all.sessions:
        yield "no sessions"
        return
    if by == "day":
        yield from _by_day(sums, page)
    else:
        yield from _by_name(sums, by, page)
    unknown = sums.all.unpriced
    parts = (counted(sums.all.sessions, "session"), f"{short(sums.all.tokens)} tokens", _cost(sums.all, "$0"))
    yield page.style("   ".join(filter(None, parts)), "bold")
    if unknown:
        yield page.style(
            f"{counted(unknown, 'session')} without a recorded cost; shared history counted once; cached tokens count too",
            "faint",
        )
    else:
        yield page.style("shared history counted once; cached tokens count too", "faint")


def _by_name(sums: Totals, by: str, page: Page) -> Iterator[str]:
    if by == "agent":
        rows = [(safe_line(name), *_figures(one, page)) for name, one in sums.agents.items()]
        yield from table(
            ("agent", "sessions", "tokens", "cost"), rows, page, grow=0, right="sessions tokens cost"
        )
        return
    lines: list[tuple[str, ...]] = []
    for project, one in sums.projects.items():
        lines.append((safe_line(project, 60) or "no project", *_figures(one, page)))
        parts = [(agent, part) for agent in sums.agents if (part := sums.cells.get((project, agent)))]
        if len(parts) > 1:
            lines += [(f"  {safe_line(agent)}", *_figures(part, page)) for agent, part in parts]
    yield from table(
        ("project", "sessions", "tokens", "cost"), lines, page, grow=0, right="sessions tokens cost"
    )


def _by_day(sums: Totals, page: Page) -> Iterator[str]:
    most = max((one.tokens for one in sums.days.values()), default=0)
    full = "\u2588" if page.unicode else "#"
    rows = [
        (
            day_name(day),
            *_figures(one, page),
            full * max(1, round(_BAR * one.tokens / most)) if one.tokens else "",
        )
        for day, one in sums.days.items()
    ]
    yield from table(
        ("day", "sessions", "tokens", "cost", ""), rows, page, grow=4, right="sessions tokens cost"
    )


def _figures(one: Sum, page: Page) -> tuple[str, str, str]:
    return f"{one.sessions:,}", short(one.tokens), _cost(one, "·" if page.unicode else ".")


def _cost(one: Sum, zero: str) -> str:
    """A cost; with `+` where some sessions record none, `?` where none does, `zero` for nothing."""
    known = one.known_cost
    if known is None:
        return "?" if one.unpriced else ""
    if not known:
        return "$0+" if one.unpriced else zero
    return money(known) + ("+" if one.unpriced else "")


def copied_too(session: Session) -> str:
    """Remark after the sums of a fork whose agent stores copied replies with the others; lists count those once."""
    header = session.header
    copies = isinstance(header.get("parentSession"), str) and header.get("relation") != SUBAGENT
    copies = copies and not session.inherited
    return ", copied replies included" if copies else ""
