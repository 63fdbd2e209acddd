"""The summariser that needs no model: it quotes the span, and chooses what is likely to be needed.

Every line that could be told has a price in tokens and a worth: what it says by itself, and the facts on it that no
chosen line has told yet. Lines go in by worth for their price, each section within its share of the room, until the room
is used up. The same span gives the same text, whatever the locale or the hash seed.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

from leafward.base.redact import Redactor
from leafward.session.entries import NO_ENTRY, Body, EntryIndex
from leafward.session.messages import message_text
from leafward.session.tokens import CHARS_PER_TOKEN, utf16_length
from leafward.summaries.facts import FactKind, Voice
from leafward.summaries.facts.prose import content_words, shared
from leafward.summaries.facts.values import whole_paths
from leafward.summaries.summarizers import (
    Cancelled,
    Line,
    Purpose,
    Said,
    Span,
    Summary,
    tokens_of,
    unless_cancelled,
)
from leafward.summaries.summarizers.candidates import FIRST_OF_ALL, Candidate, Evidence, leads_somewhere
from leafward.summaries.summarizers.ending import end_of
from leafward.summaries.summarizers.evidence import collect
from leafward.summaries.summarizers.name_lists import (
    FILES_A_LINE,
    GROUP_LIMIT,
    MORE,
    Names,
    file_lines,
    grouped,
    join_bare,
    telling,
)
from leafward.summaries.summarizers.outline import TOLD, Section, cut, harmless, line_key
from leafward.summaries.summarizers.ranking import Ranking, fitted, likely
from leafward.summaries.summarizers.repeats import Repeats
from leafward.summaries.survival.text_match import Held, Text, file_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_SHARE = {
    Section.GOAL: 0.14,
    Section.CONSTRAINTS: 0.16,
    Section.DONE: 0.12,
    Section.IN_PROGRESS: 0.10,
    Section.BLOCKED: 0.10,
    Section.DECISIONS: 0.14,
    Section.NEXT: 0.22,
    Section.CONTEXT: 0.75,
}
"""The part of the room that a section may take."""
_LIST_SHARE = 0.23
"""The part of the room that is set aside for bare lists of names."""
_LIST_LIMIT = 0.24
"""The part that they may have in the end; beyond a quarter a summary stops being read."""
_LISTED = 0.01
"""How likely a name must be needed to be listed."""
_FAR_LONGER = 4
"""How many times as long as its summary a span is of which the end is told."""
_NAMES_IN_USE = "Names in use:"
_AT_THE_END = 1 << 30
_WHOLE_OUTLINE = 300
"""Tokens from which on every section stands in the summary, also one with nothing in it."""
_NOTHING = "(none)"
_LEAST = 12
"""Characters below which a line that had to be cut says nothing any more."""
_PRICE = 6
"""Units that a line costs beyond its text."""
_FACT_WORTH = {Section.DONE: 0.35, Section.NEXT: 0.8}
"""What a fact adds to a line's worth where it is not all of its likelihood: what is done is needed less."""
_NEEDED = 4.0
"""What a fact that is certainly needed is worth, beside the worth of a line by itself."""


class Extractive:
    """Summaries quoted from the span, offline and deterministic."""

    name = "extractive"

    def __init__(self, ranking: Ranking | None = None) -> None:
        """With the weights of the package, or with others: those that were fitted without what is to be measured."""
        self._ranking = ranking

    def summarize(
        self,
        span: Span,
        budget: int,
        progress: Callable[[str], object] = lambda _text: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> Summary:
        """A summary of at most `budget` tokens, counted as pi 1.5.2 counts them. Raises Cancelled."""
        redactor = Redactor()
        messages = [
            Said(entry, redactor.value(_read_of(message)))
            for entry, message in unless_cancelled(span.messages, stop)
        ]
        previous = redactor.text(span.previous)
        pins = [line for pin in span.pins if (line := harmless(redactor.text(pin)))]
        room = budget * CHARS_PER_TOKEN
        if not messages and not pins and utf16_length(previous) <= room and _is_ours(previous):
            return _summary(
                previous, [(line, "", ()) for line in previous.split("\n")] if previous else [], redactor, 0
            )
        evidence = collect(span, messages, previous, stop)
        chosen = _Choice(evidence, span, room, pins, stop, self._ranking or fitted(), messages)
        chosen.choose(stop)
        if chosen.empty:
            chosen.quote_ends(messages)
        lines = chosen.render()
        text = "\n".join(line for line, _, _ in lines)
        progress(text)
        return _summary(text, lines, redactor, chosen.left)


def _summary(
    text: str, lines: Iterable[tuple[str, str, tuple[EntryIndex, ...]]], redactor: Redactor, left: int
) -> Summary:
    made = tuple(Line(*line) for line in lines)
    return Summary(text, tokens_of(text), Extractive.name, made, redacted=dict(redactor.found), dropped=left)


def _read_of(message: Body) -> Body:
    """A message without what agents keep for their screens, such as diffs: no summary reads it, so it need not be made safe."""
    return (
        {key: value for key, value in message.items() if key != "details"}
        if "details" in message
        else message
    )


def _has_an_end(span: Span, messages: Sequence[Said], room: int) -> bool:
    """Whether the end of a span is worth telling as it stands: nothing of it is kept, and it is far longer than the summary."""
    if span.kept or span.purpose is not Purpose.COMPACTION:
        return False
    size = 0
    for _, message in messages:
        size += len(message_text(message))
        if size >= _FAR_LONGER * room:
            return room > 0
    return False


def _is_ours(text: str) -> bool:
    """Whether a text is empty or already in our outline, line by line harmless."""
    if not text:
        return True
    headings = {section.heading for section in Section}
    for line in text.split("\n"):
        if not line or line in headings:
            continue
        body = line.removeprefix("- [x] ").removeprefix("- [ ] ").removeprefix("- ")
        if body == line or harmless(body, len(body)) != body:
            return False
    return text.partition("\n")[0] in headings


class _Choice:
    """Lines chosen for one summary."""

    def __init__(
        self,
        evidence: Evidence,
        span: Span,
        room: int,
        pins: Sequence[str],
        stop: Callable[[], bool],
        ranking: Ranking,
        messages: Sequence[Said],
    ) -> None:
        """Weighs every line. Raises Cancelled."""
        self.evidence = evidence
        self.room = room
        self.left = 0
        self._used = 0
        self._taken: dict[Section, list[Candidate]] = {section: [] for section in TOLD}
        self._spent: dict[Section, int] = dict.fromkeys(TOLD, 0)
        self._facts_in: set[tuple[FactKind, str]] = set()
        self._keys: set[str] = set()
        self._groups: dict[str, tuple[int, int]] = {}
        self._rest = Names(None, Candidate(Section.CONTEXT, _NAMES_IN_USE, _AT_THE_END, ()))
        self._rest_lines: list[tuple[str, list[str]]] = []
        self._rest_length = 0
        self._listed = 0
        self._pins = pins
        self._end_share = ranking.end_share
        self._ending = messages if _has_an_end(span, messages, room) else ()
        self._focus = frozenset(content_words(span.focus))
        kept = Text("\n".join(message_text(message) for _, message in span.kept), span.cwd)
        names = file_names(list(evidence.facts.values()))
        held = {Held.VERBATIM, Held.PARAPHRASED}
        self._likely = likely(
            evidence, lambda fact: bool(kept.text) and kept.holds(fact, names) in held, stop, ranking
        )
        self._whole = whole_paths({key for kind, key in evidence.facts if kind is FactKind.PATH})
        self._lists = file_lines(evidence, self._likely)
        self._candidates = [*evidence.candidates, *(names.candidate for names in self._lists)]
        for candidate in unless_cancelled(self._candidates, stop):
            self._measure(candidate)
        self._repeats = Repeats(self._candidates)

    def _measure(self, candidate: Candidate) -> None:
        """Finds the facts a line carries."""
        found: set[tuple[FactKind, str]] = set(candidate.carries)
        for seen in self.evidence.reader.prose(candidate.text, Voice.TOLD, NO_ENTRY):
            key = self._whole.get(seen.key, seen.key) if seen.kind is FactKind.PATH else seen.key
            if (seen.kind, key) in self._likely:
                found.add((seen.kind, key))
        candidate.facts = frozenset(found)
        candidate.ordered = tuple(sorted(found))
        candidate.words = frozenset(content_words(candidate.text))
        about = shared(tuple(sorted(self._focus)), candidate.words)
        if (
            candidate.names_something
            and not about
            and not any(
                self._likely.get((kind, key)) and (kind is not FactKind.URL or leads_somewhere(key))
                for kind, key in found
            )
        ):
            candidate.worth, candidate.ordered = 0.0, ()
        candidate.worth *= 1 + 3 * about

    def _gain(self, candidate: Candidate) -> float:
        """Worth for the price, with what was told already left out."""
        worth = 0.0 if self._repeats.has(candidate) else candidate.worth
        likely, facts_in = self._likely, self._facts_in
        worth += (
            _NEEDED
            * _FACT_WORTH.get(candidate.section, 1.0)
            * sum(likely[identity] for identity in candidate.ordered if identity not in facts_in)
        )
        return worth / (utf16_length(candidate.text) + _PRICE)

    def choose(self, stop: Callable[[], bool]) -> None:
        """Takes lines until the room is used up."""
        headings = list(Section) if self.room >= _WHOLE_OUTLINE * CHARS_PER_TOKEN else []
        self._used = sum(utf16_length(section.heading) + 2 for section in headings)
        self._used += sum(len(_NOTHING) + 3 for section in headings if section is not Section.PROGRESS)
        self._whole_outline = bool(headings)
        for pin in self._pins:
            self._take(Candidate(Section.CONTEXT, pin, FIRST_OF_ALL, (), first=True), forced=True)
        # Where the work stands has room beside any goal, unless there is hardly any room at all.
        first = [candidate for candidate in self._candidates if candidate.first]
        for candidate in sorted(
            first, key=lambda one: (one.place == FIRST_OF_ALL) is not self._whole_outline
        ):
            self._take(candidate, forced=True)
        end = int(self._end_share * self.room) if self._ending else 0
        reserved = int(_LIST_SHARE * self.room)
        self._rank(self.room - reserved - end, stop)
        self._list_names(_LIST_SHARE)
        self._rank(self.room - end, stop)
        self._list_names(_LIST_LIMIT)
        if self._ending:
            self._list_names(_LIST_LIMIT, whole=True)
            self._rank(self.room, stop)
            self._tell_end()
        self._write_lists()

    @property
    def empty(self) -> bool:
        """Whether no line was taken."""
        return not any(self._taken.values())

    def quote_ends(self, messages: Sequence[Said]) -> None:
        """Takes the first words of the user and the last of anybody: of a span in which nothing else says anything."""
        spoken = [
            (message, text) for message in messages if (text := harmless(message_text(message.message)))
        ]
        prompt = next(
            ((message, text) for message, text in spoken if message.message.get("role") == "user"), None
        )
        if prompt is not None:
            self._take(Candidate(Section.GOAL, prompt[1], 0, (prompt[0].entry,)), forced=True)
        if spoken and spoken[-1] != prompt:
            message, text = spoken[-1]
            self._take(Candidate(Section.IN_PROGRESS, f"Said last: {text}", 0, (message.entry,)), forced=True)

    def _rank(self, room: int, stop: Callable[[], bool]) -> None:
        """Lazily greedy: a line's gain only falls while others are taken, so only the best needs to be looked at again."""
        heap = [
            (-self._gain(candidate), candidate.section.value[0], candidate.place, at)
            for at, candidate in enumerate(unless_cancelled(self._candidates, stop))
            if not candidate.first
        ]
        heapq.heapify(heap)
        taken = {id(candidate) for lines in self._taken.values() for candidate in lines}
        self.left = 0
        while heap:
            if stop():
                raise Cancelled("the summary was cancelled")
            _, title, place, at = heapq.heappop(heap)
            candidate = self._candidates[at]
            if id(candidate) in taken:
                continue
            gain = self._gain(candidate)
            if gain <= 0:
                continue
            if heap and -gain > heap[0][0]:
                heapq.heappush(heap, (-gain, title, place, at))
                continue
            if not self._take(candidate, room=room):
                self.left += 1

    def _take(self, candidate: Candidate, *, forced: bool = False, room: int | None = None) -> bool:
        """Takes a line if it fits; one that has to go in is cut to fit."""
        key = line_key(candidate.text)
        if key in self._keys and not forced:
            return False
        section = candidate.section
        room = self.room if room is None else room
        heading = self._heading_cost(section)
        price = utf16_length(candidate.text) + 3 + _BOX.get(section, 0)
        together, length = self._groups.get(candidate.group, (0, 0))
        if candidate.group:
            if together >= FILES_A_LINE or length + price > GROUP_LIMIT:
                return False
            price += 0 if together else len(candidate.group)
        if not forced:
            if self._used + heading + price > room:
                return False
            if self._spent[section] + price > _SHARE[section] * self.room:
                return False
        elif self._used + heading + price > room:
            fits = room - self._used - heading - 3 - _BOX.get(section, 0)
            shorter = _cut_to_units(candidate.text, fits)
            if len(shorter) < min(_LEAST, len(candidate.text)):
                return False
            candidate.text = shorter
            price = utf16_length(shorter) + 3 + _BOX.get(section, 0)
        self._keys.add(key)
        self._groups[candidate.group] = (together + 1, length + price)
        if candidate.place != FIRST_OF_ALL or not candidate.sources:
            # That a file was changed last does not say what else was done to it.
            self._repeats.add(candidate, frozenset(content_words(candidate.text)))
        self._facts_in |= candidate.facts
        self._taken[section].append(candidate)
        self._spent[section] += price
        self._used += heading + price
        return True

    def _heading_cost(self, section: Section) -> int:
        if self._taken[section]:
            return 0
        if self._whole_outline:
            # The heading is counted already, and with it the line that would say that there is nothing.
            return -(len(_NOTHING) + 3)
        cost = utf16_length(section.heading) + 2
        if section in _IN_PROGRESS and not any(self._taken[other] for other in _IN_PROGRESS):
            cost += utf16_length(Section.PROGRESS.heading) + 2
        return cost

    def _list_names(self, share: float, *, whole: bool = False) -> None:
        """Names likely to be needed, behind the files they were written into, within a share of the text.

        With `whole` as many behind a file as fit a line, and others without any.
        """
        taken = {id(candidate) for candidate in self._taken[Section.CONTEXT]}
        for names in (*self._lists, self._rest):
            names.more = 0
        owner: dict[str, Names] = {}
        for names in self._lists:
            if id(names.candidate) not in taken:
                continue
            for name, last in names.written().items():
                other = owner.get(name)
                if other is None or other.written()[name] <= last:
                    owner[name] = names
        wanted = []
        for (kind, key), chance in self._likely.items():
            if (
                kind is FactKind.IDENTIFIER
                and chance > _LISTED
                and (kind, key) not in self._facts_in
                and (telling(key) or (whole and len(key) > 3))
            ):
                wanted.append((-chance / (utf16_length(key) + 2), key))
        limit = int(share * self.room)
        for _, key in sorted(wanted):
            names = owner.get(key, self._rest)
            name = harmless(key, 80)
            price = utf16_length(name) + 2
            if whole and names is not self._rest and names.length + price > GROUP_LIMIT - 40:
                names = self._rest
            if not whole and len(names.names) >= names.most:
                if names is not self._rest and not names.reserved and self._used + MORE <= self.room:
                    names.reserved = True
                    self._used += MORE
                names.more += 1
                continue
            if names is self._rest:
                price += self._new_line(price)
            if self._listed + price > limit or self._used + price > self.room:
                break
            names.names.append(name)
            if names is self._rest:
                self._put_in_rest(name)
            self._listed += price
            self._used += price
            self._facts_in.add((FactKind.IDENTIFIER, key))

    def _new_line(self, price: int) -> int:
        """What a name without a file costs beyond itself: the beginning of another line where the last one is full."""
        if self._rest_lines and self._rest_length + price <= GROUP_LIMIT - 40:
            return 0
        return utf16_length(_NAMES_IN_USE) + 3

    def _put_in_rest(self, name: str) -> None:
        price = utf16_length(name) + 2
        if self._new_line(price):
            self._rest_lines.append((_NAMES_IN_USE, []))
            self._rest_length = 0
        self._rest_lines[-1][1].append(name)
        self._rest_length += price

    def _tell_end(self) -> None:
        """The end of the span as it stands, in the room that is left: nothing of it is kept."""
        for candidate in end_of(self._ending):
            price = utf16_length(candidate.text) + 3
            if self._used + self._heading_cost(Section.CONTEXT) + price > self.room:
                return
            self._used += self._heading_cost(Section.CONTEXT) + price
            self._taken[Section.CONTEXT].append(candidate)

    def _write_lists(self) -> None:
        """Puts the names behind their files, those most likely to be needed first; files without any share a line."""
        taken = {id(candidate) for candidate in self._taken[Section.CONTEXT]}
        join_bare([names for names in self._lists if id(names.candidate) in taken])
        for names in self._lists:
            if names.names:
                names.names.sort(key=lambda name: (-self._likely.get((FactKind.IDENTIFIER, name), 0.0), name))
                names.candidate.text += ": " + ", ".join(names.names)
                if names.reserved and names.more:
                    names.candidate.text += f" and {min(names.more, 999)} more"
        for title, listed in self._rest_lines:
            text = f"{title} {', '.join(listed)}"
            facts = (self.evidence.facts.get((FactKind.IDENTIFIER, name)) for name in listed)
            sources = tuple(sorted({fact.entry for fact in facts if fact is not None}))
            self._taken[Section.CONTEXT].append(Candidate(Section.CONTEXT, text, _AT_THE_END, sources))

    def render(self) -> list[tuple[str, str, tuple[EntryIndex, ...]]]:
        """The lines of the text, each with its section and its sources."""
        lines: list[tuple[str, str, tuple[EntryIndex, ...]]] = []
        if not any(self._taken.values()):
            return lines
        for section in Section:
            taken = self._taken.get(section, [])
            if section is Section.PROGRESS:
                if not self._whole_outline and not any(self._taken[other] for other in _IN_PROGRESS):
                    continue
            elif not taken and not self._whole_outline:
                continue
            if lines:
                lines.append(("", "", ()))
            lines.append((section.heading, "", ()))
            for candidate in grouped(sorted(taken, key=lambda candidate: candidate.place)):
                mark = "- [x] " if section is Section.DONE else "- [ ] " if section is Section.NEXT else "- "
                lines.append((mark + candidate.text, section.title, candidate.sources))
            if not taken and section is not Section.PROGRESS:
                lines.append((f"- {_NOTHING}", section.title, ()))
        return lines


def _cut_to_units(text: str, units: int) -> str:
    """A line of at most so many UTF-16 units."""
    size = max(0, units)
    while utf16_length(line := cut(text, size)) > units and size:
        size -= 1
    return line


_IN_PROGRESS = (Section.DONE, Section.IN_PROGRESS, Section.BLOCKED)
_BOX = {Section.DONE: 4, Section.NEXT: 4}
"""Units of a checkbox."""
