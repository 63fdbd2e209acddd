"""The Context tab: the messages a model receives at the selection, and the ledger that adds them up.

A line of a message is made when it is looked at, so that a path of any length opens at once.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from rich.cells import cell_len

from leafward.base.figures import counted, percent
from leafward.base.safe_text import safe_line
from leafward.context.message_columns import LedgerSection
from leafward.context.model_context import Context, context_at, lacks_prompt, uncertainties
from leafward.context.sizes import broken_off_in
from leafward_tui.inspector.model.context_ledger import WIDE, ledger_lines
from leafward_tui.inspector.model.context_parts import ContextPart, context_parts
from leafward_tui.inspector.model.files import where
from leafward_tui.inspector.model.sheet import Sheet
from leafward_tui.inspector.page import ContextLimits, Page, PageLine
from leafward_tui.ui.appearance.context_signs import part_sign
from leafward_tui.ui.text.cells import count, filled, fit, limit, right, wrap
from leafward_tui.ui.text.paths import tilde
from leafward_tui.ui.text.spans import Span, aligned, padded
from leafward_tui.ui.words.message_words import message_words
from leafward_tui.ui.words.onset_words import by_settings, compacts_at

if TYPE_CHECKING:
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session
    from leafward_tui.inspector.page_request import PageRequest
    from leafward_tui.ui.appearance.glyphs import Glyphs

WORD = 11
"""Cells of the kind column, gap included."""
BAR = 8
"""Cells of the largest message's bar."""
TOKENS = 8
"""Cells of the token column, gap included."""

_BRIGHT = frozenset({"user", "bashExecution"})
_TITLES = {
    LedgerSection.SYSTEM: "System",
    LedgerSection.SUMMARY: "Summary",
    LedgerSection.KEPT: "Kept",
    LedgerSection.AFTER: "After",
}


class ContextLines(Sequence[PageLine]):
    """Lines of the page: those written above, then each section's heading and its messages, made on demand."""

    def __init__(self, sheet: Sheet, session: Session, context: Context) -> None:
        self.above = list(sheet.lines)
        self.session = session
        self._scan = session.scan
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

    def _heading(self, part: ContextPart) -> PageLine:
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
        try:
            word, text = message_words(self.session, message)
        except OSError as error:
            word, text = "", safe_line(f"this cannot be read: {error.strerror}")
        except IndexError:
            if self.session.scan is self._scan:
                raise
            word = text = ""
        if self.session.scan is not self._scan:
            # A job has read a rewritten file: a page about its entries comes in a moment.
            return PageLine()
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
    model = "/".join(safe_line(name, 60) for name in (context.provider, context.model) if name)
    named = Span(model, "sub") if model else Span("no model yet", "nothing")
    thinking = f"thinking {safe_line(context.thinking, 20)}" if context.thinking else ""
    sheet.facts([[named], *([[Span(thinking, "faint")]] if thinking else [])])
    sheet.blank()
    _fill(sheet, context, request.limits)
    sheet.blank()
    ledger_lines(sheet, context)
    _edits(sheet, context)
    return Page(request.tab, ContextLines(sheet, session, context))


def _fill(sheet: Sheet, context: Context, limits: ContextLimits | None) -> None:
    """Writes the total against the window, then a bar with the shares of the parts and the free rest."""
    total = context.total
    glyphs = sheet.glyphs
    if limits is None:
        sheet.line([Span(f"{context.sign}{count(total, zero='0')}", "strong"), Span(" tokens", "faint")])
        return
    over = limits.onset is not None and limits.onset.reached(total)
    lacks = lacks_prompt(context.session, context)
    words = [
        Span(f"{context.sign}{count(total, zero='0')}", "strong_warn" if over else "strong"),
        Span(f"{' + not in file' if lacks else ''} / {limit(limits.window)}", "faint"),
    ]
    if over and limits.onset is not None:
        words.append(Span(f"   {compacts_at(limits.onset)}", "warn"))
    share = "" if lacks else percent(total, limits.window)
    unsent = f" · {count(context.ledger.unsent)} not sent" if context.ledger.unsent else ""
    if sum(cell_len(word.text) for word in words) + cell_len(unsent) + cell_len(share) < sheet.width:
        words.append(Span(unsent, "faint"))
    sheet.row(words, [Span(share, "warn" if over else "sub")])
    if limits.onset is not None and limits.onset.source:
        file = safe_line(tilde(limits.onset.source), 200)
        sheet.note(f"as {file} says" if over else by_settings(limits.onset, file))
    ledger = context.ledger
    amounts = {
        "system": ledger.system,
        "summary": ledger.summary,
        "kept": ledger.kept,
        "after": ledger.after,
        "not in file": ledger.not_in_file,
        "estimation error": max(0, ledger.error),
    }
    *cells, free = filled(tuple(amounts.values()), max(0, limits.window - total), sheet.width)
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
