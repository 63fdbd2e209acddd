"""The verb `move`: moves the leaf to an entry, and shows the price."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from leafward.base.errors import Refused
from leafward.base.figures import counted, money, short
from leafward.base.safe_text import safe, safe_line
from leafward.cli.output.page import Page, cells, emit_json, indented, note, page, say, warning
from leafward.cli.output.write_report import place_text, remark, write_json
from leafward.cli.selection import opened
from leafward.session.entries import EntryIndex, Kind
from leafward.session.journal import session_operations
from leafward.session.journal.write import Writing
from leafward.session.messages import prompt_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from leafward.cli.branch_summary import SummarizedMove
    from leafward.cli.options.branch_options import MoveOptions
    from leafward.context.basis import Count
    from leafward.context.price import Price, PriceSide
    from leafward.session.journal.write import Write
    from leafward.session.session import Session


def move(selector: str, entry: str, options: MoveOptions, dry_run: bool, as_json: bool) -> int:
    """`leafward move`."""
    from leafward.cli.branch_summary import move_carrying, refuse_odd
    from leafward.context.price import price_of_move

    refuse_odd(options)
    with opened(selector) as session:
        index = session.find(entry)
        prompt = None
        if options.before:
            if session.columns.kind[index] != Kind.USER:
                raise Refused(
                    f"--before needs a prompt, and {safe_line(session.columns.id(index), 40)} is not one; without --before the leaf moves to the entry"
                )
            prompt = prompt_text(session.body(index) or {})
            index = EntryIndex(session.columns.parent[index])
        price = price_of_move(session, index, now=int(time.time() * 1000))
        carried = None
        if options.summary != "none":
            carried = move_carrying(session, index, options, dry_run)
            written = carried.written
        else:
            written = session_operations.move(session, index, Writing(dry_run=dry_run))
        made = carried.draft if carried is not None else None
        if made is not None:
            price = price.with_summary(made.tokens)
        if as_json:
            emit_json(_move_json(session, written, prompt, price, carried))
            return 0
        lines = list(_move_text(session, written, page()))
        if written.changed:
            lines += price_lines(price, page(), _remarked(written))
        if made is not None:
            lines += ["", page().style(f"summary, {short(made.tokens)} tokens", "memory")]
            lines += indented(made.text, "")
        if prompt is not None:
            lines += ["", page().style("prompt", "faint"), safe(prompt)]
        say(lines)
        for one in carried.remarks if carried is not None and written.changed else ():
            note(one.text)
        remark(session, written)
    return 0


def _move_json(
    session: Session, written: Write, prompt: str | None, price: Price, carried: SummarizedMove | None
) -> dict[str, Any]:
    """The document of a move. It repeats no surprise of the price that the write remarks on."""
    document = write_json(session, written)
    remarked = _remarked(written)
    document["diagnostics"] += [
        {"code": code, "text": text}
        for code, text in price.surprises
        if code not in remarked and written.changed
    ]
    document |= {"summary_entry": None, "prompt": prompt, "price": price.as_json()}
    if carried is not None:
        document |= carried.as_json(session)
        document["diagnostics"] += [
            {"code": one.code, "text": one.text} for one in carried.remarks if written.changed
        ]
        if carried.draft is not None:
            document["price"]["summary"] = carried.draft.tokens
    return document


_SAME = {"two-prompts": "two-prompts", "open-calls": "dangling-calls", "partial-results": "dangling-calls"}
"""Codes of a move's remarks, with the codes of a price's surprises that say the same."""


def _remarked(written: Write) -> set[str]:
    """Surprises of a price that the move's remarks already mention."""
    return {_SAME.get(remark.code, remark.code) for remark in written.remarks}


def price_lines(price: Price, page: Page, remarked: Collection[str]) -> Iterator[str]:
    """A price as text: what the context loses and gains, what costs the full price, and unexpected consequences."""
    parts = [
        ("drops", _entries_text(price.left, price)),
        ("adds", _entries_text(price.entered, price)),
        ("context", f"{_size(price.before)} -> {_size(price.after)}"),
        ("cache", "expired") if price.expired else ("cached", short(price.cached)),
        ("full price", short(price.sent_again)),
    ]
    if price.cost_again:
        parts.append(("about", money(price.cost_again)))
    if price.file_words:
        parts.append(("files named on the path", price.file_words))
    line: list[str] = []
    taken = 0
    for word, value in parts:
        size = cells(f"{word} {value}") + 3
        if line and taken + size - 3 > page.width:
            yield "   ".join(line)
            line, taken = [], 0
        line.append(f"{page.style(word, 'faint')} {value}")
        taken += size
    yield "   ".join(line)
    for code, text in price.surprises:
        if code in remarked:
            continue
        yield from warning(safe_line(text), page)


def _size(count: Count) -> str:
    return f"{count.sign}{short(count.total)}"


def _entries_text(part: PriceSide, price: Price) -> str:
    """Entries on one side of a move; with tokens only where those explain the change of the context, as in the explorer."""
    number = counted(part.entries, "entry", "entries")
    size = price.size_of(part)
    return f"{number} ({size[0]}{short(size[1])} tokens)" if size is not None else number


def _move_text(session: Session, written: Write, page: Page) -> Iterator[str]:
    if not written.changed:
        # The leaf itself may be a note of ours, such as a label.
        there = f"the leaf is already there: {place_text(session, session.columns.id_at(session.place))}"
        yield page.fit(there, page.width)
        return
    done = "would move" if written.dry_run else "moved"
    where = f" the leaf to {place_text(session, written.target)}"
    yield page.style(done, "ghost") + page.fit(where, page.width - len(done))
