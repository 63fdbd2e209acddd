"""The ledger of the Context tab: the parts of a context that add up to its total."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from leafward.base.figures import counted
from leafward.context.message_columns import LedgerSection
from leafward.session.entries import NO_ENTRY, text_of
from leafward.session.messages import SUMMARY_BASIS_TEXT, SummaryBasis
from leafward_tui.inspector.model.context_parts import context_parts
from leafward_tui.inspector.model.special_entries import part_sizes_in_words
from leafward_tui.ui.appearance.context_signs import part_sign
from leafward_tui.ui.text.cells import exact, right
from leafward_tui.ui.text.spans import Span, padded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from leafward.context.model_context import Context
    from leafward_tui.inspector.model.context_parts import ContextPart
    from leafward_tui.inspector.model.sheet import Sheet

WIDE = 50
"""Cells of a page in which the ledger has columns of a fixed width, and messages have their bars."""
_AMOUNT = 10
"""Cells of the amounts."""
_NAMES = 17
"""Cells of the names."""
_ABOUT_GAP = 3
_BRIEF = {
    SummaryBasis.LENGTH: "from its length",
    SummaryBasis.COUNT: "from a count",
    SummaryBasis.UNKNOWN: "size unknown",
}
"""The source of the size of an encrypted summary, in few words."""


class _LedgerRow(NamedTuple):
    name: str
    amount: int
    """Tokens."""
    abouts: tuple[str, ...]
    """Texts beside the amount: the first that fits is shown."""
    entry: int = NO_ENTRY
    sign: str = ""
    """`~` before an amount that is an estimate."""


def ledger_lines(sheet: Sheet, context: Context) -> None:
    """Writes the parts that add up to the total, in exact tokens."""
    _write(sheet, [*_parts(context), _total(context)])


def _parts(context: Context) -> Iterator[_LedgerRow]:
    """The parts that are not empty; those after a compaction, or all messages, in any case."""
    ledger, messages = context.ledger, context.messages
    inner = sum(1 for at in messages.apart if messages.role(at) == "system")
    if ledger.system or inner:
        yield _LedgerRow("system", ledger.system, (counted(inner, "message"),))
    parts = {part.section: part for part in reversed(context_parts(context))}
    after = parts.get(LedgerSection.AFTER)
    many = counted(after.stop - after.start if after is not None else 0, "message")
    if context.compaction >= 0:
        yield from _compacted(context, parts)
        yield _LedgerRow("after", ledger.after, (f"{many} since then", many))
    else:
        yield _LedgerRow("messages", ledger.after, (many,))
    if ledger.not_in_file:
        # A change over the compaction needs a reason; the help explains the part itself.
        again = "measured again after the compaction"
        short = f"measured after #{context.compaction:,}"
        anew = (f"{context.missing}; {again}", again, short) if context.measured_anew else ()
        yield _LedgerRow("not in file", ledger.not_in_file, (*anew, context.missing, "prompt, tools"))
    if ledger.error:
        more, side = ("more", "above") if ledger.error > 0 else ("less", "below")
        words = (f"the model counted {more} than estimated", f"{side} the estimate", f"{side} estimate")
        yield _LedgerRow("estimation error", ledger.error, words)
    if ledger.unsent:
        reasons = "aborted, failed or kept out"
        unsent = (f"counted anyway: {reasons}", f"counted: {reasons}", "counted anyway")
        yield _LedgerRow("not sent", ledger.unsent, unsent)


def _compacted(context: Context, parts: Mapping[LedgerSection, ContextPart]) -> Iterator[_LedgerRow]:
    """The summary of the compaction in force, and what that kept."""
    ledger, messages, of = context.ledger, context.messages, f"#{context.compaction:,}"
    parted = part_sizes_in_words(text_of((context.session.body(context.compaction) or {}).get("summary")))
    abouts = (*((f"{of}: {parted}", parted) if parted else ()), f"of compaction {of}", of)
    if (basis := context.summary_basis) is not None:
        sealed = SUMMARY_BASIS_TEXT[basis]
        abouts = (f"of compaction {of}, encrypted: {sealed}", f"encrypted: {sealed}", sealed, _BRIEF[basis])
    yield _LedgerRow("summary", ledger.summary, abouts, context.compaction)
    kept, summary = parts.get(LedgerSection.KEPT), parts.get(LedgerSection.SUMMARY)
    if kept is None:
        yield _LedgerRow("kept", ledger.kept, ("within the summary" if " kept" in parted else "nothing",))
        return
    first = messages.entry[kept.start]
    # Chosen messages stand before a summary, not all that follow the first of them.
    chosen = summary is not None and summary.start > kept.start
    about = counted(messages.first_after - kept.start - 1, "message") if chosen else f"from #{first:,}"
    yield _LedgerRow("kept", ledger.kept, (about,), first)


def _total(context: Context) -> _LedgerRow:
    """The total, with the source of its count and how much of it is sent."""
    ledger = context.ledger
    abouts: tuple[str, ...] = ("estimate; exact after the next reply", "estimated")
    if ledger.recorded:
        trailing = exact(context.size.trailing) if context.size.from_usage and context.size.trailing else ""
        abouts = (
            (f"{trailing} of them estimated", f"{trailing} estimated")
            if trailing
            else ("as the model counted", "model's count")
        )
    if ledger.unsent:
        abouts = (f"{exact(context.sent)} of them are sent", f"{exact(context.sent)} are sent", *abouts)
    return _LedgerRow("total", ledger.total, abouts, sign=context.sign)


def _write(sheet: Sheet, rows: Sequence[_LedgerRow]) -> None:
    """Writes the rows, the last of which is the total; the text beside an amount is shown whole or not at all."""
    amounts = [
        row.sign + exact(row.amount).replace("-", sheet.glyphs.minus) if row.amount else sheet.glyphs.zero
        for row in rows
    ]
    wide = sheet.width >= WIDE
    names = _NAMES if wide else max(cell_len(row.name) for row in rows) + 1
    size = _AMOUNT if wide else max(map(cell_len, amounts)) + 1
    for row, amount in zip(rows, amounts, strict=True):
        total = row is rows[-1]
        if total:
            rule = max(cell_len(amount), 5)
            sheet.line(
                [Span(" " * (2 + names + size - rule), "blank"), Span(sheet.glyphs.hairline * rule, "line")]
            )
        part = "after" if row.name == "messages" else row.name
        sign, ink = part_sign(part if row.amount > 0 else "", sheet.glyphs)
        room = sheet.width - 2 - names - size - _ABOUT_GAP
        about = next((one for one in row.abouts if cell_len(one) <= room), "")
        sheet.line(
            [
                Span(f"{sign} ", ink),
                *padded([Span(row.name, "sub")], names),
                Span(right(amount, size), "strong" if total else "text" if row.amount else "edge"),
                Span(f"{' ' * _ABOUT_GAP}{about}" if about else "", "faint"),
            ],
            entry=row.entry,
        )
