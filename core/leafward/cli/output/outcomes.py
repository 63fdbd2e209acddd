"""Outcomes of branches for `diff --what outcome`: two side by side, or any number in one table."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

from leafward.base.figures import counted, duration, money, short
from leafward.branches.diff.sides import side as side_of
from leafward.cli.output.entry_ids import shown_ids
from leafward.cli.output.page import Page, cells, emit_json, pad, page, say, usage_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.branches.diff.sides import Side
    from leafward.session.session import Session


def compare_outcomes(session: Session, entries: Sequence[int], as_json: bool) -> int:
    """Prints the outcome of each entry since the common ancestor of all of them."""
    ancestor = reduce(session.tree.common_ancestor, entries)
    sides = [side_of(session, ancestor, entry) for entry in entries]
    came = [outcome_json(session, side) for side in sides]
    if as_json:
        emit_json(
            {
                "what": "outcome",
                "ancestor": session.columns.id_at(ancestor),
                "nodes": [
                    {
                        "entry": session.columns.id_at(side.entry),
                        "entries": len(side.entries),
                        "edits": side.edits,
                        **one,
                    }
                    for side, one in zip(sides, came, strict=True)
                ],
            }
        )
        return 0
    out = page()
    shown = shown_ids(session, (ancestor, *(side.entry for side in sides)))
    names = [shown.get(side.entry, "(before everything)") for side in sides]

    def lines() -> Iterator[str]:
        yield out.style(f"common ancestor {shown.get(ancestor, '– (none)')}", "faint")
        yield ""
        yield from outcome_table(came, names, out)

    say(lines())
    return 0


_TITLE, _LEAST = 12, 10


def outcome_table(came: Sequence[dict[str, Any]], names: Sequence[str], page: Page) -> Iterator[str]:
    """A table with a column for each branch and a row for each figure; columns that do not fit continue below."""
    rows = [("", *names), *_outcome_rows(came)]
    widths = [max(_LEAST, *(cells(row[at]) for row in rows)) + 2 for at in range(1, len(names) + 1)]
    begin = 0
    while begin < len(names):
        end, room = begin + 1, page.width - _TITLE - widths[begin]
        while end < len(names) and room >= widths[end]:
            room -= widths[end]
            end += 1
        if begin:
            yield ""
        for row in rows:
            shown = "".join(
                pad(page.fit(row[at + 1], widths[at] - 2), widths[at]) for at in range(begin, end)
            ).rstrip()
            yield pad(row[0], _TITLE) + (shown if row[0] else page.style(shown, "bold"))
        begin = end


def outcome_json(session: Session, side: Side) -> dict[str, Any]:
    """Outcome of a side, as JSON."""
    came = side.outcomes
    return {
        "checks": [{**one.as_json(), "entry": session.columns.id_at(one.entry)} for one in came.checks],
        "commands": came.commands,
        "failed_commands": came.failed_commands,
        "last_exit": came.last_exit,
        "errors": came.errors,
        "calls": came.calls,
        "replies": came.replies,
        "aborted": came.aborted,
        "turns": side.turns,
        "usage": usage_json(came.usage),
        "cost": came.usage.cost if came.costs_known else None,
        "seconds": came.seconds,
        "last_reply": session.columns.id_at(came.last_reply),
        "last_words": came.last_words,
    }


def _outcome_rows(came: Sequence[dict[str, Any]]) -> list[tuple[str, ...]]:
    """Outcomes of branches as rows: a title, then the figure of each branch."""
    checks = {one["check"] for side in came for one in side["checks"]}
    rows = [
        (name, *(_checked(side, name) for side in came))
        for name in ("test", "types", "build", "lint")
        if name in checks
    ]
    for title, key in (
        ("commands", "commands"),
        ("failed", "failed_commands"),
        ("errors", "errors"),
        ("turns", "turns"),
        ("calls", "calls"),
    ):
        rows.append((title, *(f"{side[key]:,}" for side in came)))
    if any(side["aborted"] for side in came):
        rows.append(("aborted", *(f"{side['aborted']:,}" for side in came)))
    rows.append(("tokens", *(short(int(side["usage"]["total"])) for side in came)))
    rows.append(("cost", *map(_cost, came)))
    rows.append(("duration", *(duration(side["seconds"]) for side in came)))
    return rows


def _checked(side: dict[str, Any], name: str) -> str:
    for one in side["checks"]:
        if one["check"] == name:
            runs = counted(one["runs"], "run")
            return f"{'ok' if one['ok'] else 'failed'} ({runs}, {one['failed']:,} failed)"
    return "not run"


def _cost(side: dict[str, Any]) -> str:
    return money(side["cost"]) if side["cost"] is not None else "not in file"
