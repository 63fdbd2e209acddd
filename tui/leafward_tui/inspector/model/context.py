"""The Context tab: the messages a model receives at the selection, and the ledger that adds them up.

A line of a message is made when it is looked at, so that a path of any length opens at once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, overload

from rich.cells import cell_len

from leafward.base.figures import counted, percent
from leafward.base.safe_text import safe_line
from leafward.context.message_columns import LedgerSection
from leafward.context.model_context import Context, context_at, lacks_prompt, uncertainties
from leafward.context.sizes import broken_off_in
from leafward.session.entries import NO_ENTRY, EntryIndex, text_of
from leafward.session.messages import SUMMARY_BASIS_TEXT, SummaryBasis
from leafward_tui.inspector.model.files import where
from leafward_tui.inspector.model.sheet import Sheet
from leafward_tui.inspector.model.special_entries import part_sizes_in_words
from leafward_tui.ui.appearance.context_signs import part_sign
from leafward_tui.ui.panes.page import Gauge, Page, PageLine, Span
from leafward_tui.ui.text.cells import count, exact, filled, fit, limit, right, wrap
from leafward_tui.ui.text.paths import tilde
from leafward_tui.ui.text.spans import aligned, padded, shown_line
from leafward_tui.ui.words.message_words import message_words
from leafward_tui.ui.words.onset_words import by_settings, compacts_at

if TYPE_CHECKING:
    from leafward.session.session import Session
    from leafward_tui.inspector.page_request import PageRequest
    from leafward_tui.ui.appearance.glyphs import Glyphs

WORD = 11
"""Cells of the kind column, gap included."""
WIDE = 50
"""Cells of a page in which messages have their bars."""
BAR = 8
"""Cells of the largest message's bar."""
TOKENS = 8
"""Cells of the token column, gap included."""
AMOUNT = 10
"""Cells of the ledger's amounts."""
NAMES = 17
"""Cells of the ledger's names."""
_ABOUT_GAP = 3

_BRIGHT = frozenset({"user", "bashExecution"})
_TITLES = {
    LedgerSection.SYSTEM: "System",
    LedgerSection.SUMMARY: "Summary",
    LedgerSection.KEPT: "Kept",
    LedgerSection.AFTER: "After",
}


class _LedgerRow(NamedTuple):
    name: str
    amount: int
    """Tokens."""
    abouts: tuple[str, ...]
    """Texts beside the amount: the first that fits is shown."""
    entry: int = NO_ENTRY
    sign: str = ""
    """`~` before an amount that is an estimate."""


@dataclass(frozen=True, slots=True)
class Part:
    """Messages of one section."""

    section: LedgerSection
    start: int
    stop: int
    tokens: int


def context_parts(context: Context) -> list[Part]:
    """The sections in the order of the messages, the summary at its place; a system message in the middle stays there."""
    messages = context.messages
    summary = next((at for at in messages.apart if messages.role(at) == "compactionSummary"), -1)
    leading = (at for at in range(min(2, len(messages))) if messages.section(at) is not LedgerSection.SYSTEM)
    start = next(leading, min(2, len(messages)))
    middle = max(start, messages.first_after)
    ends = [(LedgerSection.SYSTEM, 0, start)]
    if 0 <= summary < middle:
        # Codex sends its summary after the messages it keeps, pi before them.
        ends += [(LedgerSection.KEPT, start, summary), (LedgerSection.SUMMARY, summary, summary + 1)]
        start = summary + 1
    ends += [(LedgerSection.KEPT, start, middle), (LedgerSection.AFTER, middle, len(messages))]
    unsent = messages.unsent
    return [
        # As in the ledger, where messages that are not sent have a row of their own.
        Part(
            section,
            first,
            stop,
            sum(messages.tokens[first:stop])
            - sum(messages.tokens[at] for at in unsent if first <= at < stop),
        )
        for section, first, stop in ends
        if stop > first
    ]


class ContextLines(Sequence[PageLine]):
    """Lines of the page: those written above, then each section's heading and its messages, made on demand."""

    def __init__(self, sheet: Sheet, session: Session, context: Context) -> None:
        self.above = list(sheet.lines)
        self.session = session
        self.messages = context.messages
        self.width = sheet.width
        self.glyphs = sheet.glyphs
        self.largest = max(self.messages.tokens, default=0)
        self.compacted = context.compaction >= 0
        self.parts = context_parts(context)
        self.starts: list[int] = []
        """The line of each part's heading; an empty one stands before it."""
        at = len(self.above)
        for part in self.parts:
            self.starts.append(at + 1)
            at += 2 + part.stop - part.start
        self._length = at
        self.made = 0
        """Lines of messages made so far; work counted for tests."""

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, at: int) -> PageLine: ...
    @overload
    def __getitem__(self, at: slice) -> list[PageLine]: ...
    def __getitem__(self, at: int | slice) -> PageLine | list[PageLine]:
        if isinstance(at, slice):
            return [self[line] for line in range(*at.indices(len(self)))]
        at = range(len(self))[at]
        if at < len(self.above):
            return self.above[at]
        number = bisect_right(self.starts, at + 1) - 1
        part = self.parts[number]
        offset = at - self.starts[number]
        if offset < 0:
            return PageLine()
        return self._heading(part) if offset == 0 else self._message(part.start + offset - 1)

    def line_of(self, entry: int) -> int:
        """The line of the first message of an entry; -1 where the entry sends none."""
        entries = self.messages.entry
        for part, heading in zip(self.parts, self.starts, strict=True):
            for position in range(part.start, part.stop):
                if entries[position] == entry:
                    return heading + 1 + position - part.start
        return -1

    def _heading(self, part: Part) -> PageLine:
        named = self.compacted or part.section is not LedgerSection.AFTER
        left = [Span(_TITLES[part.section] if named else "Messages", "strong")]
        if part.stop - part.start > 1:
            left.append(Span(f"  {counted(part.stop - part.start, 'message')}", "faint"))
        return PageLine(
            tuple(aligned(left, [Span(count(part.tokens), "sub")], self.width, self.glyphs.ellipsis))
        )

    def _message(self, position: int) -> PageLine:
        self.made += 1
        message = self.messages[position]
        word, text = message_words(self.session, message)
        ink = "text" if message.role in _BRIGHT else "memory" if message.role.endswith("Summary") else "sub"
        glyphs = self.glyphs
        cells = 0
        if self.largest and message.tokens:
            # Less than half a cell is no bar: the number beside it says enough.
            cells = (message.tokens * BAR * 2 // self.largest + 1) // 2
        remark = "not sent" if not message.sent else "edited" if message.edited >= 0 else ""
        bar = [
            Span(_bar(glyphs) * cells, "memory" if ink == "memory" else "faint"),
            Span(" " * (BAR - cells), "blank"),
        ]
        tail = [
            Span(f"{remark}  " if remark else "", "warn"),
            *(bar if self.width >= WIDE else ()),
            Span(right(count(message.tokens, zero=glyphs.zero), TOKENS), "sub" if message.tokens else "edge"),
        ]
        head = padded([Span(fit(word, WORD - 1, ellipsis=glyphs.ellipsis), "faint")], WORD)
        spans = aligned([*head, Span(text, ink)], tail, self.width, glyphs.ellipsis)
        return PageLine(tuple(spans), entry=message.entry)


def _bar(glyphs: Glyphs) -> str:
    half = glyphs.levels[4]
    return glyphs.block if half.isascii() else half


def context_page(request: PageRequest) -> Page:
    """The Context tab: enter on a message goes to its entry."""
    selection = request.selection
    session = selection.session
    at = selection.at
    # The next request uses a model or thinking level that was chosen after the last message.
    context = context_at(session, session.leaf if at == session.place else at)
    sheet = Sheet(request)
    sheet.blank()
    about = counted(len(context.messages), "message")
    sheet.facts(
        [[Span("Context", "strong")], where(selection)],
        [[Span(about, "faint")], [Span(f"at #{at:,}", "faint")]],
        gap=2,
    )
    for note in uncertainties(session, context):
        for line in wrap(note.text, request.width, lines=4, ellipsis=request.glyphs.ellipsis):
            sheet.line([Span(line, "warn")])
    model = "/".join(shown_line(name, 60) for name in (context.provider, context.model) if name)
    named = Span(model, "sub") if model else Span("no model yet", "nothing")
    thinking = f"thinking {shown_line(context.thinking, 20)}" if context.thinking else ""
    sheet.facts([[named], *([[Span(thinking, "faint")]] if thinking else [])])
    sheet.blank()
    _gauge(sheet, context, request.gauge)
    sheet.blank()
    _ledger(sheet, context)
    _edits(sheet, context)
    return Page(request.tab, sheet.width, ContextLines(sheet, session, context))


def _gauge(sheet: Sheet, context: Context, gauge: Gauge | None) -> None:
    """Writes the total against the window, then a bar with the shares of the parts and the free rest."""
    total = context.total
    glyphs = sheet.glyphs
    if gauge is None:
        sheet.line([Span(f"{context.sign}{count(total, zero='0')}", "strong"), Span(" tokens", "faint")])
        return
    over = gauge.onset is not None and gauge.onset.reached(total)
    lacks = lacks_prompt(context.session, context)
    words = [
        Span(f"{context.sign}{count(total, zero='0')}", "strong_warn" if over else "strong"),
        Span(f"{' + not in file' if lacks else ''} / {limit(gauge.window)}", "faint"),
    ]
    if over and gauge.onset is not None:
        words.append(Span(f"   {compacts_at(gauge.onset)}", "warn"))
    share = "" if lacks else percent(total, gauge.window)
    unsent = f" · {count(context.ledger.unsent)} not sent" if context.ledger.unsent else ""
    if sum(cell_len(word.text) for word in words) + cell_len(unsent) + cell_len(share) < sheet.width:
        words.append(Span(unsent, "faint"))
    sheet.row(words, [Span(share, "warn" if over else "sub")])
    if gauge.onset is not None and gauge.onset.source:
        file = safe_line(tilde(gauge.onset.source), 200)
        sheet.note(f"as {file} says" if over else by_settings(gauge.onset, file))
    ledger = context.ledger
    amounts = {
        "system": ledger.system,
        "summary": ledger.summary,
        "kept": ledger.kept,
        "after": ledger.after,
        "not in file": ledger.not_in_file,
        "estimation error": max(0, ledger.error),
    }
    *cells, free = filled(tuple(amounts.values()), max(0, gauge.window - total), sheet.width)
    signs = [part_sign(name, glyphs) for name in amounts]
    spans = [Span(sign * size, ink) for (sign, ink), size in zip(signs, cells, strict=True) if size]
    spans.append(Span(glyphs.block_free * free, "edge"))
    sheet.line(spans)


def _edits(sheet: Sheet, context: Context) -> None:
    """Writes the number of messages that context edits omit or replace, and the freed tokens; nothing without edits."""
    edits = context.messages.edits
    if not edits:
        return
    removed = sum(one.removed for one in edits)
    changes = [f"{removed:,} left out"] if removed else []
    changes += [f"{len(edits) - removed:,} replaced"] if len(edits) > removed else []
    freed = context.freed(edits)
    words = f"frees ~{count(freed, zero='0')}" if freed > 0 else f"takes ~{count(-freed)} more"
    if not freed:
        words = "frees 0"
    if not freed and all(_broken_off(context.session, one.entry) for one in edits):
        words = "was never sent"
    sheet.row([Span("context edits", "sub"), Span(f"   {', '.join(changes)}", "text")], [Span(words, "sub")])


def _broken_off(session: Session, entry: EntryIndex) -> bool:
    """Whether an entry is a reply that is never sent to a model, with or without an edit."""
    message = (session.body(entry) or {}).get("message")
    return isinstance(message, dict) and message.get("stopReason") in broken_off_in(session)


_BRIEF = {
    SummaryBasis.LENGTH: "from its length",
    SummaryBasis.COUNT: "from a count",
    SummaryBasis.UNKNOWN: "size unknown",
}
"""The source of the size of an encrypted summary, in few words."""


def _ledger(sheet: Sheet, context: Context) -> None:
    """Writes the parts that add up to the total, in exact tokens."""
    ledger = context.ledger
    messages = context.messages
    parts = {part.section: part for part in reversed(context_parts(context))}
    inner = sum(1 for at in messages.apart if messages.role(at) == "system")
    rows: list[_LedgerRow] = []
    if ledger.system or inner:
        rows.append(_LedgerRow("system", ledger.system, (counted(inner, "message"),)))
    if context.compaction >= 0:
        of = f"#{context.compaction:,}"
        parted = part_sizes_in_words(text_of((context.session.body(context.compaction) or {}).get("summary")))
        within = (f"{of}: {parted}", parted) if parted else ()
        abouts: tuple[str, ...] = (*within, f"of compaction {of}", of)
        if (basis := context.summary_basis) is not None:
            sealed = SUMMARY_BASIS_TEXT[basis]
            abouts = (
                f"of compaction {of}, encrypted: {sealed}",
                f"encrypted: {sealed}",
                sealed,
                _BRIEF[basis],
            )
        rows.append(_LedgerRow("summary", ledger.summary, abouts, context.compaction))
        kept, summary = parts.get(LedgerSection.KEPT), parts.get(LedgerSection.SUMMARY)
        if kept is None:
            rows.append(
                _LedgerRow("kept", ledger.kept, ("within the summary" if " kept" in parted else "nothing",))
            )
        else:
            first = messages.entry[kept.start]
            # Chosen messages stand before a summary, not all that follow the first of them.
            chosen = summary is not None and summary.start > kept.start
            size = messages.first_after - kept.start - 1
            about = counted(size, "message") if chosen else f"from #{first:,}"
            rows.append(_LedgerRow("kept", ledger.kept, (about,), first))
    after = parts.get(LedgerSection.AFTER)
    size = after.stop - after.start if after is not None else 0
    name = "after" if context.compaction >= 0 else "messages"
    many = counted(size, "message")
    since = (f"{many} since then", many) if context.compaction >= 0 else (many,)
    rows.append(_LedgerRow(name, ledger.after, since))
    if ledger.not_in_file:
        # A change over the compaction needs a reason; the help explains the part itself.
        again = "measured again after the compaction"
        short = f"measured after #{context.compaction:,}"
        anew = (f"{context.missing}; {again}", again, short) if context.measured_anew else ()
        rows.append(_LedgerRow("not in file", ledger.not_in_file, (*anew, context.missing, "prompt, tools")))
    if ledger.error:
        more, side = ("more", "above") if ledger.error > 0 else ("less", "below")
        words = (f"the model counted {more} than estimated", f"{side} the estimate", f"{side} estimate")
        rows.append(_LedgerRow("estimation error", ledger.error, words))
    if ledger.unsent:
        reasons = "aborted, failed or kept out"
        unsent = (f"counted anyway: {reasons}", f"counted: {reasons}", "counted anyway")
        rows.append(_LedgerRow("not sent", ledger.unsent, unsent))
    abouts = ("estimate; exact after the next reply", "estimated")
    if ledger.recorded:
        trailing = context.size.trailing if context.size.from_usage else 0
        abouts = (
            (f"{exact(trailing)} of them estimated", f"{exact(trailing)} estimated")
            if trailing
            else ("as the model counted", "model's count")
        )
    if ledger.unsent:
        abouts = (f"{exact(context.sent)} of them are sent", f"{exact(context.sent)} are sent", *abouts)
    rows.append(_LedgerRow("total", ledger.total, abouts, sign=context.sign))
    _write_ledger(sheet, rows)


def _write_ledger(sheet: Sheet, rows: Sequence[_LedgerRow]) -> None:
    """Writes the rows, the last of which is the total; the text beside an amount is shown whole or not at all."""
    amounts = [
        row.sign + exact(row.amount).replace("-", sheet.glyphs.minus) if row.amount else sheet.glyphs.zero
        for row in rows
    ]
    wide = sheet.width >= WIDE
    names = NAMES if wide else max(cell_len(row.name) for row in rows) + 1
    size = AMOUNT if wide else max(map(cell_len, amounts)) + 1
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
