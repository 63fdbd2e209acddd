"""Sorts the messages before a compaction and the contents after it into bands, and aligns them."""

from __future__ import annotations

from itertools import groupby, zip_longest
from operator import attrgetter
from typing import TYPE_CHECKING

from leafward.compaction.stored_summary.stored_summary import CUT_MARK
from leafward.compaction.stored_summary.summary_lines import SummaryPart, quotes_in
from leafward.compaction.xray.alignment import Band, Cell, Link, Share, What, XRay, XRayRow
from leafward.compaction.xray.origins import Origins
from leafward.context.message_columns import message_body
from leafward.session.entries import NO_ENTRY, EntryIndex
from leafward.session.messages import prompt_text
from leafward.session.tokens import message_tokens, replayed_system

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from leafward.compaction.stored_summary.summary_lines import StoredLine
    from leafward.context.message_columns import ContextMessage
    from leafward.context.model_context import Context
    from leafward.session.session import Session

_TELLING = 48
"""Number of characters by which a quoted message is recognised."""
_LINK = attrgetter("link")
_BEYOND = {Link.REST: What.REST, Link.ERROR: What.ERROR}


class XRayBuilder:
    """Collects messages and lines in bands, then makes an X-ray of them."""

    def __init__(self, session: Session, before: Context) -> None:
        self.session = session
        self.context = before
        self._system: list[tuple[Cell | None, Cell | None, Link]] = []
        self._kept: list[tuple[Cell, Cell, int]] = []
        self._replaced: list[Cell] = []
        self._prefix: list[Cell] = []
        self._cut: list[Cell] = []
        self._summary: list[Cell] = []
        self._summary_prefix: list[Cell] = []
        self._quotes: list[tuple[Cell, str]] = []
        self._injected: list[Cell] = []
        self._pruned: dict[int, int] = {}
        """Tokens cut from a message that is summarised, by the identity of its cell."""
        self._beyond: tuple[tuple[int, int], tuple[int, int]] = (0, 0), (0, 0)
        self._sources: list[int] = []
        """Positions that the summary was made from."""
        self._places: dict[int, int] = {}
        """Position of each entry in the context after; empty if that context does not exist yet."""
        self._summary_place = -1
        self.messages_after = 0

    def order(self, after: Context, compaction: EntryIndex) -> None:
        """Takes the order from the context after: some agents send kept messages ahead of the summary."""
        messages = after.messages
        self._places = {entry: place for place, entry in enumerate(messages.entry)}
        summaries = (
            at for at in messages.apart if messages.entry[at] == compaction and messages.role(at) != "system"
        )
        self._summary_place = next(summaries, -1)

    def _cell(self, position: int) -> Cell:
        messages = self.context.messages
        entry = EntryIndex(messages.entry[position])
        edited = messages.edited.get(position, NO_ENTRY)
        sent = position not in messages.unsent
        role = messages.role(position)
        return Cell(What.MESSAGE, messages.tokens[position], entry, role, edited=edited, sent=sent)

    def system(self, after: Context) -> None:
        """Adds the system prompt and the tools of both sides; if they differ, the old ones are cut and the new ones injected."""
        old, new = _system_cells(self.session, self.context), _system_cells(self.session, after)
        self.messages_after += len(_systems(after))
        for what in (What.SYSTEM, What.TOOLS):
            was, now = old.get(what), new.get(what)
            if was is not None and now is not None and was[1] == now[1]:
                self._system.append((was[0], now[0], Link.SYSTEM))
                continue
            if was is not None:
                self._cut.append(was[0])
            if now is not None:
                self._injected.append(now[0])

    def keep(self, position: int, tokens: int, edited: EntryIndex) -> None:
        """Adds a message that stays, with its remaining tokens."""
        was = self._cell(position)
        now = was._replace(tokens=tokens, edited=edited)
        self._kept.append((was, now, max(0, was.tokens - tokens)))
        self.messages_after += 1

    def drop(self, position: int) -> None:
        """Adds a message that is removed without a replacement."""
        self._cut.append(self._cell(position))

    def replace(self, position: int, *, prefix: bool, cut: int = 0) -> None:
        """Adds a message that is summarised; `cut` tokens of it are not even read for the summary."""
        cell = self._cell(position)
        (self._prefix if prefix else self._replaced).append(cell)
        if cut:
            self._pruned[id(cell)] = cut
        self._sources.append(position)

    def bring_back(self, message: ContextMessage) -> None:
        """Adds a message that was not in the context before but is among those that the compaction kept."""
        edited, sent = message.edited, message.sent
        self._injected.append(
            Cell(What.MESSAGE, message.tokens, message.entry, message.role, edited=edited, sent=sent)
        )
        self.messages_after += 1

    def expect(self, tokens: int, lines: Sequence[StoredLine]) -> None:
        """Adds a summary that has not been made yet, with the lines of the text that is injected into its message."""
        self._summary.append(Cell(What.EXPECTED, tokens, role="compactionSummary"))
        self.add_summary(lines, NO_ENTRY)

    def add_summary(self, lines: Sequence[StoredLine], entry: EntryIndex) -> None:
        """Adds the lines of the summary. A line without text counts with the line before it, or with the first."""
        self.messages_after += 1
        sides = {SummaryPart.PREFIX: self._summary_prefix, SummaryPart.INJECTED: self._injected}
        added = len(self._injected)
        quotes = quotes_in(lines)
        self._quotes += [
            (Cell(What.QUOTED, one.tokens, entry, "user", line=one.number), one.text) for one in quotes
        ]
        # The tags around a quote are not part of the message.
        quoted = sum(line.tokens for line in lines if line.part is SummaryPart.QUOTED)
        owed = quoted - sum(one.tokens for one in quotes)
        last: list[Cell] | None = None
        head = -1
        """Index of the head of the list or section that the next lines belong to."""
        part: SummaryPart | None = None
        for line in lines:
            into = sides.get(line.part, self._summary)
            if line.part is not part:
                part, head = line.part, -1
                if part in (SummaryPart.READ, SummaryPart.MODIFIED):
                    head = len(into)
                    into.append(Cell(What.FILES, 0, entry, text=part.value, line=line.number))
                    last = into
            if line.part is SummaryPart.QUOTED:
                continue
            if line.mark:
                begins = last is not into or (into is self._injected and len(into) == added)
                if begins:
                    owed += line.tokens
                else:
                    into[-1] = _grown(into[-1], line.tokens)
                continue
            what = What.HEADING if line.level else What.LINE
            if part in (SummaryPart.READ, SummaryPart.MODIFIED):
                what = What.FILE
            elif part is SummaryPart.INJECTED:
                what = What.SECTION if line.level else What.ADDED
            if what in (What.FILE, What.ADDED) and head >= 0:
                into[head] = _grown(into[head], 0, lines=1)
            if what is What.SECTION:
                head = len(into)
            into.append(Cell(what, line.tokens + owed, entry, "", line.says, line.heading, line.number))
            last, owed = into, 0
        if owed:
            (last if last is not None else self._summary).append(Cell(What.LINE, owed, entry))

    def _pair_quotes(self) -> None:
        """Pairs every quoted message with its original; a quote without one becomes a line of the summary."""
        asked = (
            [cell for cell in (*self._replaced, *self._prefix) if cell.role == "user"] if self._quotes else []
        )
        waiting = [(cell, prompt_text(self.session.body(cell.entry) or {})) for cell in asked]
        for cell, text in self._quotes:
            cell = cell._replace(text=text.strip().partition("\n")[0])
            found = next((at for at, (_, prompt) in enumerate(waiting) if _quotes(text, prompt)), -1)
            if found < 0:
                self._summary.append(cell)
                continue
            was = waiting[found][0]
            del waiting[: found + 1]
            for cells in (self._replaced, self._prefix):
                if was in cells:
                    cells.remove(was)
            self._kept.append((was, cell, max(0, was.tokens - cell.tokens)))

    def beyond(self, before: tuple[int, int], after: tuple[int, int]) -> None:
        """Sets the tokens that no message explains, before and after: those not in the file, and the estimation error."""
        self._beyond = before, after

    @property
    def after_tokens(self) -> int:
        """Tokens of everything in the context after."""
        cells = [now for _, now, _ in self._system if now is not None]
        cells += [now for _, now, _ in self._kept]
        cells += [*self._summary, *self._summary_prefix, *self._injected, *(cell for cell, _ in self._quotes)]
        return sum(cell.tokens for cell in cells)

    def xray(
        self,
        compaction: EntryIndex,
        totals: tuple[int, int],
        messages: tuple[int, int],
        text: str,
        lines: tuple[StoredLine, ...],
        *,
        recorded: Mapping[int, tuple[EntryIndex, ...]],
        counted: tuple[bool, bool],
        of_edits: bool = False,
    ) -> XRay:
        """Makes the rows and the ledger; `totals` and `messages` are tokens and numbers of messages before and after.

        `counted` tells of both whether a provider counted the tokens.
        """
        self._pair_quotes()
        groups = [group for rows in self._groups(of_edits=of_edits) if (group := list(rows))]
        rows = [row for group in groups for row in group]
        return XRay(
            session=self.session,
            compaction=compaction,
            before_at=self.context.at,
            rows=tuple(rows),
            bands=_bands(groups),
            ledger=_ledger(rows),
            before=totals[0],
            after=totals[1],
            messages_before=messages[0],
            messages_after=messages[1],
            summary=text,
            lines=lines,
            origins=Origins(self.session, self.context.messages, tuple(self._sources), lines, recorded),
            recorded=counted[1],
            recorded_before=counted[0],
            of_edits=of_edits,
        )

    def _groups(self, *, of_edits: bool) -> Iterator[Iterable[XRayRow]]:
        """The rows of each band, from the top; some of them empty."""
        summary, summary_prefix = self._summary, self._summary_prefix
        if self._prefix and not self._replaced:
            # All that is summarised is the beginning of a turn: the summary stands for that.
            summary, summary_prefix = [], [*summary, *summary_prefix]
        ahead, beside, behind = self._stays()
        yield (XRayRow(was, now, link) for was, now, link in self._system)
        yield from (found for _, found in groupby(ahead, key=_LINK))
        yield self._beside(self._replaced, summary, Link.REPLACED)
        yield self._beside(self._prefix, summary_prefix, Link.PREFIX)
        yield beside
        yield (XRayRow(cell, None, Link.CUT) for cell in self._cut)
        yield from (found for _, found in groupby(behind, key=_LINK))
        for link, what, pair in zip(_BEYOND, _BEYOND.values(), zip(*self._beyond, strict=True), strict=True):
            # After a compaction nothing of an earlier conversation is left.
            texts = ("", "")
            if what is What.REST:
                missing = self.context.missing
                texts = (missing, missing if of_edits else self.context.missing_prompt)
            was, now = (
                Cell(what, tokens, text=text) if tokens else None
                for tokens, text in zip(pair, texts, strict=True)
            )
            yield [XRayRow(was, now, link)] if was is not None or now is not None else []

    def _stays(self) -> tuple[list[XRayRow], list[XRayRow], list[XRayRow]]:
        """Rows kept or back in the context: ahead of the summary, its injected lines, and behind it; each in its order."""
        rows = [XRayRow(was, now, Link.KEPT, cut) for was, now, cut in self._kept]
        beside = [XRayRow(None, cell, Link.INJECTED) for cell in self._injected]
        if self._places:
            rows += [row for row in beside if row.after is not None and row.after.what is What.MESSAGE]
            beside = [row for row in beside if row.after is not None and row.after.what is not What.MESSAGE]
        ahead: list[XRayRow] = []
        behind: list[XRayRow] = []
        for row in sorted(rows, key=self._place):
            # Quoted messages are at the head of the summary's text.
            quoted = row.after is not None and row.after.what is What.QUOTED
            (ahead if quoted or 0 <= self._place(row) < self._summary_place else behind).append(row)
        return ahead, beside, behind

    def _place(self, row: XRayRow) -> int:
        return self._places.get(row.after.entry, -1) if row.after is not None else -1

    def _beside(self, before: Sequence[Cell], after: Sequence[Cell], link: Link) -> Iterable[XRayRow]:
        for was, now in zip_longest(before, after):
            yield XRayRow(was, now, link, self._pruned.get(id(was), 0) if was is not None else 0)


def _grown(cell: Cell, tokens: int, lines: int = 0) -> Cell:
    return cell._replace(tokens=cell.tokens + tokens, below=cell.below + lines)


def _quotes(quote: str, prompt: str) -> bool:
    """Whether a quote is of a prompt: it begins like it, and if it is cut in the middle, it also ends like it."""
    head, *ends = CUT_MARK.split(quote, maxsplit=1)
    if not ends:
        return _beginning(prompt) == _beginning(quote)
    begin, end = _beginning(head), "".join(ends[0].split())[-_TELLING:]
    whole = "".join(prompt.split())
    return whole.startswith("".join(begin.split())) and whole.endswith(end)


def _beginning(text: str) -> str:
    """The beginning of a message, by which it is recognised whatever its white space."""
    return " ".join(text[: 4 * _TELLING].split())[:_TELLING]


def _systems(context: Context) -> list[ContextMessage]:
    """The system messages of a context."""
    messages = context.messages
    return [messages[at] for at in messages.apart if messages.role(at) == "system"]


def _system_cells(session: Session, context: Context) -> dict[What, tuple[Cell, object]]:
    """The system prompt and the tools that result from a context's system messages, each with its content."""
    own = _systems(context)
    replayed = replayed_system(message_body(session, message) for message in own)
    if replayed is None:
        return {}
    entry = own[-1].entry
    tools = replayed.get("toolsAdded")
    bare = {key: value for key, value in replayed.items() if key != "toolsAdded"}
    tokens = message_tokens(bare)
    found: dict[What, tuple[Cell, object]] = {}
    if tokens or not tools:
        found[What.SYSTEM] = (Cell(What.SYSTEM, tokens, entry, "system"), bare)
    if isinstance(tools, list) and tools:
        brought = message_tokens(replayed) - tokens
        found[What.TOOLS] = (Cell(What.TOOLS, brought, entry, "system", below=len(tools)), tools)
    return found


def _ledger(rows: Iterable[XRayRow]) -> tuple[Share, ...]:
    """Tokens by link on both sides. The rest of a shortened message counts as kept, the part cut from it as cut."""
    before: dict[Link, int] = dict.fromkeys(Link, 0)
    after: dict[Link, int] = dict.fromkeys(Link, 0)
    for row in rows:
        if row.before is not None:
            before[row.link] += row.before.tokens - row.cut
            before[Link.CUT] += row.cut
        if row.after is not None:
            after[row.link] += row.after.tokens
    return tuple(Share(link, before[link], after[link]) for link in Link)


def _bands(groups: Iterable[Sequence[XRayRow]]) -> tuple[Band, ...]:
    """The bands of rows that follow one another, none of them empty."""
    bands: list[Band] = []
    for group in groups:
        start = bands[-1].stop if bands else 0
        bands.append(Band(group[0].link, start, start + len(group)))
    return tuple(bands)
