"""The lines that belong to one response of the model.

A response leaves items, events that repeat its texts, and a token count. Their order differs by version: up to 0.58, events and
the count come before the items, and calls alternate with their outputs; from 0.66 on the count comes behind the items, in 0.142
behind the outputs too. So role and content of a line, and the total of its count, decide to which response it belongs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.agents.codex.entries.items import blocks_in
from leafward.agents.codex.entries.records import BEGINS, KIND, framed
from leafward.agents.storage.lines import bodies_in
from leafward.session.entries import Kind
from leafward.session.lines.line_decoding import decode_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from leafward.agents.codex.entries.prompts import Prompts
    from leafward.session.columns import Columns
    from leafward.session.entries import Body


class Responses:
    """The responses of one transcript while it is read. Offsets are bytes into the present segment."""

    __slots__ = (
        "_add", "_after_results", "_columns", "_foreign_count", "_itemized", "_prompts", "_raised", "_uncounted", "ahead", "aside", "assumed", "counts", "items", "open", "opening", "partial",
        "recorded", "reply", "stale", "start", "total", "waiting",
    )  # fmt: skip

    def __init__(self, columns: Columns, prompts: Prompts, add: Callable[[Kind, int], int]) -> None:
        self._columns, self._prompts, self._add = columns, prompts, add
        self.stale: set[int] = set()
        """Replies whose token counts repeat those of the reply before."""
        self.counts: dict[int, tuple[int, int]] = {}
        """The places of token counts that are not the first ones in their reply's own stretch: the entry whose stretch contains them,
        and the offset in it in bytes."""
        self.partial = False
        """Whether the lines were copied from a conversation without all items of its replies."""
        self.begin(0, None)

    def begin(self, start: int, total: int | None) -> None:
        """Begins a new segment at a byte; `total` tokens were counted before it."""
        self.start, self.total = start, total
        self.recorded = False
        """Whether usage is recorded response by response: counts of the thread have no meaning then."""
        self.assumed = self.recorded, self.total
        """The assumptions about earlier lines, where lines are read apart from these."""
        self.aside = False
        """Whether the thread's counts are those of a review."""
        self.opening: bytes | None = None
        """The event at the beginning of the first reply, if there was one: an earlier reply may have the same text."""
        self.open = False
        """Whether the next line may still belong to the entry of the last reply."""
        self.items: list[bytes] = []
        """The lines of the items of that reply."""
        self.ahead = False
        """Whether its count came before its items."""
        self.waiting = -1
        """The place of a count that came before all other lines of its response."""
        self._raised = False
        """Whether that count is higher than the one before it."""
        self._foreign_count = False
        """Whether the count of another response stands in its stretch, before its own."""
        self.reply = -1
        """The last reply."""
        self._itemized = False
        """Whether replies leave items here."""
        self._after_results = False
        """Whether only outputs of calls came since its last item."""
        self._uncounted = -1
        """The last reply, if it has no count yet and only results follow it."""

    def begin_apart(self, total: int | None) -> None:
        """Begins behind unknown lines: replies left items; `total` tokens were counted, or usage was recorded for None."""
        self.recorded, self._itemized, self.total = total is None, True, total
        self.assumed = self.recorded, total

    def piece(self, raw: bytes, at: int, *, item: bool) -> None:
        """Adds an item of a reply, or an event that repeats one."""
        if not item and self.items and (self.ahead or not self.open):
            if self._says(raw):
                return
            self.open = False
        if not self.open:
            counted, self.waiting = self.waiting, -1
            # An item right behind the output of a call belongs to the call's response if that was counted before it.
            self.ahead = counted >= 0 or (item and self._after_results and self.ahead)
            self.open, self.items, self._after_results, self._foreign_count = True, [], False, False
            if self.reply < 0 and not item:
                self.opening = raw
            self.reply = index = self._add(Kind.ASSISTANT, counted if counted >= 0 else at)
            self._uncounted = -1 if self.ahead else index
            self._prompts.spoken, self._prompts.waiting = index, []
        if item:
            self._itemized = True
            self.items.append(raw)

    def result(self) -> None:
        """Ends a piece at the output of a call, which becomes an entry."""
        self._settle()
        self.open, self._after_results = False, True

    def end(self) -> None:
        """Ends the response at any other entry."""
        self._settle()
        self.open = self.ahead = self._after_results = False
        self._uncounted = -1

    def _settle(self) -> None:
        """Marks a text that occurs only in an event as the client's, where replies leave items: it is never sent."""
        if self.open and not self.items and (self.partial or (not self.ahead and self._itemized)):
            self._columns.kind[self.reply] = Kind.CUSTOM

    @property
    def is_unfinished(self) -> bool:
        """Whether the next lines may belong to the last reply, or to one whose count was read."""
        return self.open or self.waiting >= 0

    def unclaimed(self) -> None:
        """Makes a waiting count an entry of its own, since the next line belongs to no reply."""
        place, self.waiting = self.waiting, -1
        # A lower total begins anew with another process of Codex, and may be an estimate.
        if place >= 0 and self._raised:
            self._add(Kind.USAGE, place)
            self.end()

    def usage(self, at: int) -> None:
        """Adds the usage of one response."""
        if self.open:
            self.record()
            return
        self.recorded = True
        if not self._belongs(at):
            self._add(Kind.USAGE, at)
        self.end()

    def record(self) -> None:
        """Ends the present response with its own usage."""
        self.recorded = True
        self.stale.discard(self.reply)
        self.end()

    def repeat(self) -> None:
        """Passes over a count of a thread whose usage is recorded: behind a reply that was broken off it is that of the one before."""
        if self.open:
            self.stale.add(self.reply)

    def count(self, payload: dict[str, Any], at: int) -> None:
        """Adds the counts of the thread so far."""
        if self.recorded:
            self.repeat()
            return
        if self.aside:
            return
        total = total_in(payload)
        known, self.total = self.total, total if total is not None else self.total
        fresh = total is not None and total != known
        if self.open and not self.items:
            # There were only events so far: the items come behind the count.
            if fresh and self._foreign_count:
                self._belongs(at)
            self.ahead = self.ahead or fresh
            self._foreign_count = True
            return
        if self.open and not self.ahead:
            if total is not None and not fresh:
                self.stale.add(self.reply)
            self.end()
            return
        if not fresh or self._belongs(at):
            return
        self.unclaimed()
        self.end()
        self.waiting, self._raised = at, known is None or (total or 0) > known

    def leads_to(self, others: Responses) -> bool:
        """Whether entries made apart, without the lines before them, are those that would be made from here on."""
        unsettled = (
            self.aside or self.open or self.ahead or self.partial or self._uncounted >= 0 or self.waiting >= 0
        )
        if unsettled or not self._itemized:
            return False
        if others.assumed != (self.recorded, None if self.recorded else self.total):
            return False
        return others.opening is None or not self.items or not self._says(others.opening)

    def extend(self, others: Responses, base: int) -> None:
        """Continues behind a run of entries that begins at an entry and that this state led to."""
        self.stale.update(base + reply for reply in others.stale)
        self.counts.update((base + reply, (base + at, place)) for reply, (at, place) in others.counts.items())
        self.total = others.total if others.total is not None else self.total
        self.recorded, self.open, self.ahead = others.recorded, others.open, others.ahead
        self.waiting, self._raised = others.waiting, others._raised
        self._after_results, self._foreign_count = others._after_results, others._foreign_count
        self._uncounted = base + others._uncounted if others._uncounted >= 0 else -1
        if others.reply >= 0:
            self.items, self.reply = others.items, base + others.reply

    def _belongs(self, at: int) -> bool:
        """Assigns a count to the last reply without one; False where there is no such reply."""
        reply, self._uncounted = self._uncounted, -1
        if reply < 0:
            return False
        starts = self._columns.start
        holder = len(starts) - 1
        while holder > reply and starts[holder - 1] == starts[holder]:
            # An entry within another one has no stretch of its own.
            holder -= 1
        self.counts[reply] = holder, self.start + at - self._columns.start[holder]
        return True

    def _says(self, echo: bytes) -> bool:
        """Whether an event repeats an item of the last reply."""
        # Calls have no text, and only items of reasoning hold thinking: most items need not be decoded here.
        thinking = [item for item in self.items if b'"reasoning"' in item]
        if not thinking and (head := KIND.match(echo)) is not None and head[2] == b"Reasoning":
            return False
        speaking = [item for item in self.items if b'"text"' in item or b'"content"' in item]
        texts = _texts([echo]) if speaking else set()
        if all(kind == "thinking" for kind, _ in texts):
            speaking = [item for item in thinking if item in speaking]
        return bool(texts and speaking) and texts <= _texts(speaking)


def total_in(payload: dict[str, Any]) -> int | None:
    """The tokens of the whole thread that a count names; None without them."""
    info = payload.get("info")
    usage = info.get("total_token_usage") if isinstance(info, dict) else None
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    return total if isinstance(total, int) else None


def _texts(lines: Iterable[bytes]) -> set[tuple[str, str]]:
    """The texts in items of a reply, or in events that repeat some, each with its kind."""
    found: list[Body] = []
    for line in lines:
        body = decode_line(line)
        # Broken lines hold several records, or none.
        for record in (body,) if body is not None else bodies_in(line, BEGINS):
            found += blocks_in(framed(record))
    return {(kind, text) for one in found if (text := str(one.get(kind := str(one["type"]), "")).strip())}
