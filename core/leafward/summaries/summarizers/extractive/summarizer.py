"""The summariser without a model: it quotes the span, and chooses the lines that are likely to be needed.

Every possible line has a price in tokens and a worth: its own, and that of its facts that no chosen line has yet (`worth`).
Lines are chosen by worth per price, each section within its share of the room (`room`) and then beyond it; where they leave
room, names that no line holds are listed (`bare_names`). The same span gives the same text, whatever the locale or the hash seed.
"""

from __future__ import annotations

import heapq
from operator import is_
from typing import TYPE_CHECKING

from leafward.base.cancellation import never, unless_cancelled
from leafward.base.errors import Cancelled
from leafward.session.entries import text_of, tool_calls
from leafward.session.messages import message_text
from leafward.session.tokens import CHARS_PER_TOKEN, utf16_length
from leafward.summaries.facts.forms.file_lists import LISTS
from leafward.summaries.facts.sentences.pasting import divided
from leafward.summaries.summarizers.extractive.candidates import FIRST_OF_ALL, LineCandidate
from leafward.summaries.summarizers.extractive.ending import end_of
from leafward.summaries.summarizers.extractive.evidence import collect
from leafward.summaries.summarizers.extractive.redacted_span import RedactionBeside, redacted
from leafward.summaries.summarizers.extractive.selection.bare_names import BareNames
from leafward.summaries.summarizers.extractive.selection.ranking import Ranking, fitted
from leafward.summaries.summarizers.extractive.selection.room import Room
from leafward.summaries.summarizers.extractive.selection.worth import Worth
from leafward.summaries.summarizers.extractive.turns import asks_back, by_machine
from leafward.summaries.summarizers.outline import PIN_LIMIT, Provenance, SummarySection, harmless
from leafward.summaries.summarizers.summary import Purpose, Span, Summary, SummaryLine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from leafward.redaction.redaction import Redactor
    from leafward.session.entries import Body, EntryIndex
    from leafward.summaries.summarizers.extractive.candidates import Evidence
    from leafward.summaries.summarizers.extractive.redacted_span import RedactedSpan
    from leafward.summaries.survival.span_reading import SpanReading
    from leafward.summaries.survival.spans import SpanMessage

_LIST_LIMIT = 0.24
"""The largest part of the room that bare lists of names may take; beyond a quarter a summary becomes unreadable."""
_FAR_LONGER = 4
"""The ratio of a span to a summary that quotes its end."""


class Extractive:
    """Summaries quoted from the span, offline and deterministic."""

    name = "extractive"

    def __init__(self, ranking: Ranking | None = None) -> None:
        """Takes the package's weights by default; others are those that were fitted without the measured sessions."""
        self._ranking = ranking

    def summarize(
        self,
        span: Span,
        budget: int,
        progress: Callable[[str], object] = lambda _text: None,
        stop: Callable[[], bool] = never,
    ) -> Summary:
        """A summary of at most `budget` tokens, counted as pi 1.5.2 counts them. Raises Cancelled."""
        (messages, redactor), reading, evidence = _redacted_and_read(span, stop)
        previous = redactor.text(span.previous)
        pins = [line for pin in span.pins if (line := harmless(redactor.text(pin), PIN_LIMIT))]
        room = budget * CHARS_PER_TOKEN
        if not messages and not pins and utf16_length(previous) <= room and _is_ours(previous):
            return _summary(
                previous, [(line, "", ()) for line in previous.split("\n")] if previous else [], redactor
            )
        if evidence is None or redactor.found:
            same = None if redactor.found else _same_reading(span, reading, messages)
            evidence = collect(span, messages, previous, stop, same)
        ranking = self._ranking or fitted()
        chosen = _Choice(Worth(evidence, span, stop, ranking), Room(room))
        chosen.take_first(pins)
        names = BareNames(chosen.room, chosen.worth, evidence, span.messages)
        end_room = _room_of_end(span, room)
        if end_room:
            quoted = frozenset(span.quoted)
            end = end_of([message for message in span.messages if not _is_quoted(message, quoted)], redactor)
            chosen.fill(int(ranking.end_share * end_room), stop)
            rest = chosen.tell_end(end, int(ranking.end_share * end_room))
            # Of a short span whole lists of names would tell next to nothing.
            names.fill(_LIST_LIMIT, whole=end_room == room)
            chosen.tell_end(rest, max(0, end_room - chosen.room.used))
        else:
            chosen.fill(0, stop)
            names.fill(_LIST_LIMIT)
        names.write()
        if chosen.room.empty:
            chosen.quote_ends(messages)
        lines = chosen.room.render()
        text = "\n".join(line for line, _, _ in lines)
        progress(text)
        return _summary(text, lines, redactor)


def _summary(
    text: str, lines: Iterable[tuple[str, str, tuple[EntryIndex, ...]]], redactor: Redactor
) -> Summary:
    made = tuple(SummaryLine(*line) for line in lines)
    return Summary(text, Extractive.name, made, redacted=dict(redactor.found))


def _redacted_and_read(
    span: Span, stop: Callable[[], bool]
) -> tuple[RedactedSpan, SpanReading | None, Evidence | None]:
    """The span without secrets, its reading, and what was collected of that before it was known whether it holds any.

    Raises Cancelled.
    """
    if span.read is None:
        return redacted(span.messages, stop), None, None
    with RedactionBeside(span) as beside:
        reading = span.read()
        same = _same_reading(span, reading, beside.as_read) if beside.may_be_clean else None
        evidence = collect(span, beside.as_read, "", stop, same) if same is not None else None
        return beside.redacted(stop), reading, evidence


def _same_reading(
    span: Span, reading: SpanReading | None, messages: Sequence[SpanMessage]
) -> SpanReading | None:
    """The reading of a span without secrets, where reading `messages` would give the same; else None."""
    if reading is None or span.previous or reading.before or reading.told:
        return None
    if reading.reader.plan.from_results:
        return None
    if len(span.messages) != len(reading.messages) or not all(map(is_, span.messages, reading.messages)):
        return None
    return None if any(by_machine(message) for _, message in messages) else reading


def _is_quoted(message: SpanMessage, quoted: AbstractSet[str]) -> bool:
    """Whether a message is one of those that stand word for word beside the summary."""
    return bool(quoted) and text_of(message.message.get("content")) in quoted


def _room_of_end(span: Span, room: int) -> int:
    """Size of the summary up to which the end of its span is quoted: a part of the span's length, 0 where a later message is kept."""
    if span.purpose is not Purpose.COMPACTION or not span.messages:
        return 0
    last = span.messages[-1].entry
    if any(kept.entry > last for kept in span.kept):
        return 0
    size = 0
    for _, message in span.messages:
        size += len(message_text(message))
        if size >= _FAR_LONGER * room:
            return room
    return size // _FAR_LONGER


def _is_ours(text: str) -> bool:
    """Whether a text is empty or already in our outline, with every line harmless."""
    if not text:
        return True
    headings = {part.heading for part in (*SummarySection, *Provenance)}
    for line in text.split("\n"):
        if not line or line in headings:
            continue
        body = line.removeprefix("- [x] ").removeprefix("- [ ] ").removeprefix("- ")
        if body == line or harmless(body, len(body)) != body:
            return False
    return text.partition("\n")[0] in headings


class _Choice:
    """Lines chosen for one summary."""

    def __init__(self, worth: Worth, room: Room) -> None:
        self.worth = worth
        self.room = room
        self._gains: dict[int, float] = {}
        """The last known gain of each line, by its place among the candidates. Gains only fall."""

    def _take(
        self,
        candidate: LineCandidate,
        *,
        forced: bool = False,
        up_to: int | None = None,
        shared: bool = True,
        lists: bool = False,
    ) -> bool:
        taken = self.room.take(candidate, forced=forced, up_to=up_to, shared=shared, lists=lists)
        if taken:
            self.worth.tell(candidate)
        return taken

    def take_first(self, pins: Iterable[str]) -> None:
        """Takes the lines that go in before the ranking."""
        for pin in pins:
            self._take(LineCandidate(SummarySection.CONTEXT, pin, FIRST_OF_ALL, (), first=True), forced=True)
        if self.room.whole_outline:
            self._tell_state()
        for candidate in self.worth.candidates:
            if candidate.first and candidate.place != FIRST_OF_ALL:
                if not self.room.whole_outline:
                    # In very little room a long request leaves some to other lines.
                    candidate.shorten()
                self._take(candidate, forced=True)

    def _tell_state(self) -> None:
        """Takes the lines about the state of the work: they have room beside any goal."""
        for candidate in self.worth.candidates:
            if candidate.place == FIRST_OF_ALL:
                self._take(candidate, forced=self.room.whole_outline)

    def fill(self, end: int, stop: Callable[[], bool]) -> None:
        """Takes lines until the room is used up except for `end` units. Raises Cancelled."""
        self.rank(self.room.size - end, stop)
        self.room.recount()
        self.rank(self.room.size - end, stop, shared=False)
        # Only what all other lines leave is for more than one line of each list.
        self.rank(self.room.size - end, stop, shared=False, lists=True)
        self.room.recount()
        if not self.room.whole_outline:
            # In very little room the user's demands come before it.
            self._tell_state()

    def rank(self, up_to: int, stop: Callable[[], bool], *, shared: bool = True, lists: bool = False) -> None:
        """Takes lines by gain, lazily: gains only fall while others are taken, so only the best line is checked again.

        With `lists`, takes files that did not fit into the one line of their list.
        """
        candidates, gain_of, gains = self.worth.candidates, self.worth.gain, self._gains
        if not gains:
            for at, candidate in enumerate(unless_cancelled(candidates, stop)):
                if not candidate.first:
                    gains[at] = gain_of(candidate)
        heap = [
            (-gain, candidates[at].section.value[0], candidates[at].place, at)
            for at, gain in gains.items()
            if gain > 0 and (candidates[at].group in LISTS or not lists)
        ]
        heapq.heapify(heap)
        taken = {id(candidate) for lines in self.room.taken.values() for candidate in lines}
        while heap:
            if stop():
                raise Cancelled("the summary was cancelled")
            _, title, place, at = heapq.heappop(heap)
            candidate = candidates[at]
            if id(candidate) in taken:
                continue
            gain = gains[at] = gain_of(candidate)
            if gain <= 0:
                continue
            again = (-gain, title, place, at)
            if heap and again > heap[0]:
                heapq.heappush(heap, again)
                continue
            self._take(candidate, up_to=up_to, shared=shared, lists=lists)

    def tell_end(self, end: Iterable[LineCandidate], units: int) -> list[LineCandidate]:
        """Takes lines from the end of the span in so many units; returns the others."""
        lines = list(end)
        up_to = self.room.used + units
        for number, candidate in enumerate(lines):
            if not self.room.append(candidate, up_to):
                return lines[number:]
        return []

    def quote_ends(self, messages: Sequence[SpanMessage]) -> None:
        """Takes the first words of the user and the last ones of anybody, for a span without any other line."""
        spoken = [(message, text) for message in messages if (text := harmless(_said(message.message)))]
        prompt = next(
            ((message, text) for message, text in spoken if message.message.get("role") == "user"), None
        )
        if prompt is not None:
            self._take(LineCandidate(SummarySection.GOAL, prompt[1], 0, (prompt[0].entry,)), forced=True)
        if spoken and spoken[-1] != prompt:
            message, text = spoken[-1]
            # An answer ends the request.
            body = message.message
            ends = body.get("role") == "assistant" and not any(tool_calls(body)) and not asks_back(text)
            section = SummarySection.CONTEXT if ends else SummarySection.IN_PROGRESS
            self._take(LineCandidate(section, f"Said last: {text}", 0, (message.entry,)), forced=True)


def _said(body: Body) -> str:
    """The text of a message; of a prompt without what an agent enclosed in tags, which nobody said."""
    text = message_text(body)
    return "\n".join(divided(text)).strip() if body.get("role") == "user" else text
