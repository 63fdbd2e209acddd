"""Where the lines of a summary come from: as recorded with it, else looked for in the messages that it stands for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.compaction.summary_lines import Part, StoredLine, bare
from leafward.context.message_columns import message_body
from leafward.session.entries import NO_ENTRY, EntryIndex
from leafward.session.messages import message_text
from leafward.summaries.facts import FactKind, FactReader, Voice
from leafward.summaries.facts.prose import content_words, negated
from leafward.summaries.survival.report import CHECKED
from leafward.summaries.survival.text_match import OPPOSITE_SENTENCE, SAME_SENTENCE, FactMatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from leafward.context.message_columns import Messages
    from leafward.session.session import Session

_SPACE = re.compile(r"\s+")
_MOST_UNITS = 60_000
"""Code points of one message that are looked at; what a tool printed beyond them is data."""
_QUOTE = 400
_LEAST = 8
"""Characters of a line below which finding it word for word says nothing."""
_KEPT_SOURCES = 6
_WORTH = {
    FactKind.PATH: 2.0,
    FactKind.COMMAND: 2.0,
    FactKind.NUMBER: 1.0,
    FactKind.IDENTIFIER: 1.0,
    FactKind.URL: 2.0,
}
_WEIGHT = {"user": 1.4, "bashExecution": 1.2, "toolResult": 0.7}
_OF_CALLS = 0.6
_CALL = re.compile(r"\w+\(")
_LONG = 240
"""Characters from which a line is looked at sentence by sentence."""
_PIECES = re.compile(r"(?<=[.!?;])\s+|\\n")
_OWN_WORDS = frozenset({"user", "bashExecution"})


@dataclass(frozen=True, slots=True)
class Source:
    """A message that a line of a summary comes from."""

    entry: EntryIndex
    role: str
    quote: str
    """What it says of it; not safe to show. Empty where it was recorded and no line of it is alike."""
    held: FactMatch
    """Verbatim, paraphrased or contradicted."""
    recorded: bool
    """Stored with the summary, not looked for."""


class _Index:
    """The lines of all messages of a span, by the words they are about."""

    def __init__(
        self,
        session: Session,
        messages: Messages,
        positions: tuple[int, ...],
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.whole = False
        """Whether everything was read before it was stopped."""
        self.entries: list[EntryIndex] = []
        self.roles: list[str] = []
        self.flat: list[str] = []
        """Every message on one line, case folded."""
        self.lines: list[str] = []
        self.owner: list[int] = []
        self.by_word: dict[str, list[int]] = {}
        self.by_fact: dict[tuple[FactKind, str], list[int]] = {}
        reader = FactReader(session.cwd)
        for position in positions:
            if stop():
                return
            message = messages[position]
            body = message_body(session, message)
            text = message_text(body)[:_MOST_UNITS]
            number = len(self.entries)
            self.entries.append(message.entry)
            self.roles.append(message.role)
            self.flat.append(_SPACE.sub(" ", text).casefold())
            for seen in reader.read(message.entry, body):
                if seen.kind in CHECKED:
                    holders = self.by_fact.setdefault((seen.kind, seen.key), [])
                    if not holders or holders[-1] != number:
                        holders.append(number)
            for line in _statements(text):
                words = content_words(line)
                if words:
                    at = len(self.lines)
                    self.lines.append(line)
                    self.owner.append(number)
                    for word in words:
                        self.by_word.setdefault(word, []).append(at)
        self.whole = True


class Origins:
    """Sources of the lines of one summary. The span is read when the first of them is asked for."""

    def __init__(
        self,
        session: Session,
        messages: Messages,
        positions: tuple[int, ...],
        lines: tuple[StoredLine, ...],
        recorded: Mapping[int, tuple[EntryIndex, ...]],
    ) -> None:
        self._session = session
        self.messages = messages
        self._positions = positions
        self._lines = lines
        self._recorded = recorded
        self._found: dict[int, tuple[Source, ...]] = {}
        self._read: _Index | None = None

    @property
    def _index(self) -> _Index:
        if self._read is None:
            self._read = _Index(self._session, self.messages, self._positions)
        return self._read

    def known(self, line: int) -> bool:
        """Whether the sources of a line were looked for already."""
        return line in self._found

    def fill(self, stop: Callable[[], bool] = lambda: False) -> None:
        """Looks for the sources of all lines. For a worker: what it found before it was stopped stays."""
        if self._lines and self._read is None:
            read = _Index(self._session, self.messages, self._positions, stop)
            if not read.whole:
                return
            self._read = read
        for line in self._lines:
            if stop():
                return
            self.of(line.number)

    def of(self, line: int) -> tuple[Source, ...]:
        """The sources of a line by its number, the best first; none for a heading or a blank line, or where nothing is alike."""
        found = self._found.get(line)
        if found is None:
            found = self._found[line] = self._look(line)
        return found

    def _look(self, number: int) -> tuple[Source, ...]:
        if not 0 <= number < len(self._lines):
            return ()
        line = self._lines[number]
        if line.mark or (line.level and number not in self._recorded):
            return ()
        text = bare(line.text)
        if number in self._recorded:
            return tuple(self._recorded_source(entry, text) for entry in self._recorded[number])
        if line.part is Part.INJECTED or text.casefold().strip("()") in {"none", ""}:
            return ()
        return self._matched(text)

    def _recorded_source(self, entry: EntryIndex, text: str) -> Source:
        index = self._index
        try:
            number = index.entries.index(entry)
        except ValueError:
            return Source(entry, "", "", FactMatch.PARAPHRASED, recorded=True)
        needle = _needle(text)
        verbatim = len(needle) >= _LEAST and needle in index.flat[number]
        quote = self._best_line(number, text)
        held = FactMatch.VERBATIM if verbatim else FactMatch.PARAPHRASED
        return Source(entry, index.roles[number], quote, held, recorded=True)

    def _best_line(self, number: int, text: str) -> str:
        """The line of a message that shares most words with what is said."""
        index, words = self._index, content_words(text)
        shares: dict[int, int] = {}
        for word in words:
            for at in index.by_word.get(word, ()):
                if index.owner[at] == number:
                    shares[at] = shares.get(at, 0) + 1
        best = max(shares, key=lambda at: (shares[at], -at), default=-1)
        return index.lines[best].strip()[:_QUOTE] if best >= 0 else ""

    def _matched(self, text: str) -> tuple[Source, ...]:
        """Messages that say the same word for word, else those that share its words or what can be checked of it."""
        index = self._index
        needle = _needle(text)
        words = content_words(text)
        if len(needle) >= _LEAST:
            holders = [number for number, flat in enumerate(index.flat) if needle in flat]
            if holders:
                holders.sort(key=lambda number: (index.roles[number] not in _OWN_WORDS, -number))
                return tuple(
                    self._source(number, text, FactMatch.VERBATIM) for number in holders[:_KEPT_SOURCES]
                )
        shares = self._shares(words)
        facts = [
            (seen.kind, seen.key)
            for seen in FactReader(self._session.cwd).prose(text, Voice.TOLD, NO_ENTRY)
            if seen.kind in CHECKED
        ]
        worth: dict[int, float] = {}
        for fact in dict.fromkeys(facts):
            holders = index.by_fact.get(fact, [])
            for number in holders:
                # What stands in many messages says little of where a line is from.
                worth[number] = worth.get(number, 0.0) + _WORTH[fact[0]] / (1 + len(holders) // 8)
        best: dict[int, tuple[float, int]] = {}
        for at, share in shares.items():
            number = index.owner[at]
            part = share / len(words)
            if part > best.get(number, (0.0, -1))[0]:
                best[number] = (part, at)
        alike = {
            number: part for number, (part, _) in best.items() if part >= SAME_SENTENCE and len(words) > 1
        }
        scored = {
            number: 4 * best.get(number, (0.0, -1))[0] * self._weight(number, best) + worth.get(number, 0.0)
            for number in {*alike, *worth}
            if number in alike or worth[number] >= 1
        }
        order = sorted(
            scored,
            key=lambda number: (-scored[number], index.roles[number] not in _OWN_WORDS, -number),
        )
        found = []
        for number in order[:_KEPT_SOURCES]:
            part, at = best.get(number, (0.0, -1))
            line = index.lines[at] if at >= 0 else ""
            opposite = part >= OPPOSITE_SENTENCE and len(words) > 2 and negated(text) != negated(line)
            held = FactMatch.CONTRADICTED if opposite else FactMatch.PARAPHRASED
            quote = line.strip()[:_QUOTE] if at >= 0 and part > 0 else ""
            found.append(Source(index.entries[number], index.roles[number], quote, held, recorded=False))
        return tuple(found)

    def _weight(self, number: int, best: Mapping[int, tuple[float, int]]) -> float:
        """How much a message counts as the source of what is told: what was said before what was called or printed."""
        index = self._index
        at = best[number][1] if number in best else -1
        if at >= 0 and _CALL.match(index.lines[at]):
            return _OF_CALLS
        return _WEIGHT.get(index.roles[number], 1.0)

    def _shares(self, words: tuple[str, ...]) -> dict[int, int]:
        """How many of the words each line has that has one."""
        shares: dict[int, int] = {}
        for word in words:
            for at in self._index.by_word.get(word, ()):
                shares[at] = shares.get(at, 0) + 1
        return shares

    def _source(self, number: int, text: str, held: FactMatch) -> Source:
        index = self._index
        return Source(
            index.entries[number], index.roles[number], self._best_line(number, text), held, recorded=False
        )


def _statements(text: str) -> Iterator[str]:
    """The lines of a text, long ones in sentences, and those cut where they go on for too long."""
    for line in text.split("\n"):
        if len(line) <= _LONG:
            yield line
            continue
        for piece in _PIECES.split(line):
            for start in range(0, len(piece), 2 * _LONG):
                yield piece[start : start + 2 * _LONG]


def _needle(text: str) -> str:
    """What is said as it is looked for word for word: without code marks and the stop at its end."""
    return _SPACE.sub(" ", text.strip().rstrip(".:;")).casefold()
