"""Sources of the lines of a summary: recorded with it, else searched for in the messages that it replaces."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.compaction.stored_summary.summary_lines import StoredLine, SummaryPart, bare
from leafward.context.message_columns import message_body
from leafward.session.entries import NO_ENTRY, EntryIndex
from leafward.session.messages import message_text
from leafward.summaries.facts.reader import FactReader
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.negation import negated
from leafward.summaries.facts.text_facts import TextFacts
from leafward.summaries.facts.values import FactKind, Voice
from leafward.summaries.fates.report import CHECKED
from leafward.summaries.survival.text_match import OPPOSITE_SENTENCE, SAME_SENTENCE, FactMatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from leafward.context.message_columns import Messages
    from leafward.session.session import Session

_SPACE = re.compile(r"\s+")
_MOST_UNITS = 60_000
"""Code points of one message that are searched; tool output beyond them is treated as data."""
_QUOTE = 400
_LEAST = 8
"""Least characters of a line for a word-for-word match to mean anything."""
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
"""Characters from which on a line is searched sentence by sentence."""
_PIECES = re.compile(r"(?<=[.!?;])\s+|\\n")
_OWN_WORDS = frozenset({"user", "bashExecution"})


@dataclass(frozen=True, slots=True)
class SourceMessage:
    """A message that a line of a summary comes from."""

    entry: EntryIndex
    role: str
    quote: str
    """The message's line that matches; not safe to show. Empty if the source was recorded and no line matches."""
    held: FactMatch
    """Verbatim, paraphrased or contradicted."""
    recorded: bool
    """Whether the source was stored with the summary, not searched for."""


class _Index:
    """The lines of all messages of a span, indexed by content words."""

    def __init__(
        self,
        session: Session,
        messages: Messages,
        positions: tuple[int, ...],
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self.whole = False
        """Whether everything was read before `stop` ended it."""
        self.entries: list[EntryIndex] = []
        self.roles: list[str] = []
        self.flat: list[str] = []
        """Every message on one line, case-folded."""
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
    """Sources of the lines of one summary. The span is read when the first one is asked for."""

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
        self._found: dict[int, tuple[SourceMessage, ...]] = {}
        self._read: _Index | None = None

    @property
    def _index(self) -> _Index:
        if self._read is None:
            self._read = _Index(self._session, self.messages, self._positions)
        return self._read

    def known(self, line: int) -> bool:
        """Whether the sources of a line were already searched for."""
        return line in self._found

    def fill(self, stop: Callable[[], bool] = lambda: False) -> None:
        """Searches the sources of all lines. For a worker: results found before `stop` ends it are kept."""
        if self._lines and self._read is None:
            read = _Index(self._session, self.messages, self._positions, stop)
            if not read.whole:
                return
            self._read = read
        for line in self._lines:
            if stop():
                return
            self.of(line.number)

    def of(self, line: int) -> tuple[SourceMessage, ...]:
        """The sources of a line by its number, the best first; none for a heading or blank line, or if nothing matches."""
        found = self._found.get(line)
        if found is None:
            found = self._found[line] = self._look(line)
        return found

    def _look(self, number: int) -> tuple[SourceMessage, ...]:
        if not 0 <= number < len(self._lines):
            return ()
        line = self._lines[number]
        if line.mark or (line.level and number not in self._recorded):
            return ()
        text = bare(line.text)
        if number in self._recorded:
            return tuple(self._recorded_source(entry, text) for entry in self._recorded[number])
        if line.part is SummaryPart.INJECTED or text.casefold().strip("()") in {"none", ""}:
            return ()
        return self._matched(text)

    def _recorded_source(self, entry: EntryIndex, text: str) -> SourceMessage:
        index = self._index
        try:
            number = index.entries.index(entry)
        except ValueError:
            return SourceMessage(entry, "", "", FactMatch.PARAPHRASED, recorded=True)
        needle = _needle(text)
        verbatim = len(needle) >= _LEAST and needle in index.flat[number]
        quote = self._best_line(number, text)
        held = FactMatch.VERBATIM if verbatim else FactMatch.PARAPHRASED
        return SourceMessage(entry, index.roles[number], quote, held, recorded=True)

    def _best_line(self, number: int, text: str) -> str:
        """The line of a message that shares the most words with a text."""
        index, words = self._index, content_words(text)
        shares: dict[int, int] = {}
        for word in words:
            for at in index.by_word.get(word, ()):
                if index.owner[at] == number:
                    shares[at] = shares.get(at, 0) + 1
        best = max(shares, key=lambda at: (shares[at], -at), default=-1)
        return index.lines[best].strip()[:_QUOTE] if best >= 0 else ""

    def _matched(self, text: str) -> tuple[SourceMessage, ...]:
        """Messages that hold a text word for word, else messages that share its words or its checkable facts."""
        index = self._index
        needle = _needle(text)
        if len(needle) >= _LEAST:
            holders = [number for number, flat in enumerate(index.flat) if needle in flat]
            if holders:
                holders.sort(key=lambda number: (index.roles[number] not in _OWN_WORDS, -number))
                return tuple(self._verbatim(number, text) for number in holders[:_KEPT_SOURCES])
        words = content_words(text)
        worth, best = self._worth_of_facts(text), self._closest_lines(words)
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
        return tuple(
            self._paraphrased(number, text, len(words), *best.get(number, (0.0, -1)))
            for number in order[:_KEPT_SOURCES]
        )

    def _worth_of_facts(self, text: str) -> dict[int, float]:
        """The worth of each message as a source by the checkable facts that it shares with a text."""
        facts = [
            (seen.kind, seen.key)
            for seen in TextFacts(self._session.cwd).prose(text, Voice.TOLD, NO_ENTRY)
            if seen.kind in CHECKED
        ]
        worth: dict[int, float] = {}
        for fact in dict.fromkeys(facts):
            holders = self._index.by_fact.get(fact, [])
            for number in holders:
                # A fact found in many messages says little about the source of a line.
                worth[number] = worth.get(number, 0.0) + _WORTH[fact[0]] / (1 + len(holders) // 8)
        return worth

    def _closest_lines(self, words: tuple[str, ...]) -> dict[int, tuple[float, int]]:
        """For each message that shares words, the share of them in its closest line, and that line."""
        best: dict[int, tuple[float, int]] = {}
        for at, share in self._shares(words).items():
            number = self._index.owner[at]
            part = share / len(words)
            if part > best.get(number, (0.0, -1))[0]:
                best[number] = (part, at)
        return best

    def _paraphrased(self, number: int, text: str, words: int, part: float, at: int) -> SourceMessage:
        """A message as a source by its line `at`, which shares a part of the words of a text; -1: by facts alone."""
        index = self._index
        line = index.lines[at] if at >= 0 else ""
        opposite = part >= OPPOSITE_SENTENCE and words > 2 and negated(text) != negated(line)
        held = FactMatch.CONTRADICTED if opposite else FactMatch.PARAPHRASED
        quote = line.strip()[:_QUOTE] if at >= 0 and part > 0 else ""
        return SourceMessage(index.entries[number], index.roles[number], quote, held, recorded=False)

    def _weight(self, number: int, best: Mapping[int, tuple[float, int]]) -> float:
        """Weight of a message as a source: text said by someone counts more than calls and output."""
        index = self._index
        at = best[number][1] if number in best else -1
        if at >= 0 and _CALL.match(index.lines[at]):
            return _OF_CALLS
        return _WEIGHT.get(index.roles[number], 1.0)

    def _shares(self, words: tuple[str, ...]) -> dict[int, int]:
        """For each line that has any of the words, the number of them in it."""
        shares: dict[int, int] = {}
        for word in words:
            for at in self._index.by_word.get(word, ()):
                shares[at] = shares.get(at, 0) + 1
        return shares

    def _verbatim(self, number: int, text: str) -> SourceMessage:
        """A message as a source that holds a text word for word."""
        index = self._index
        line = self._best_line(number, text)
        return SourceMessage(
            index.entries[number], index.roles[number], line, FactMatch.VERBATIM, recorded=False
        )


def _statements(text: str) -> Iterator[str]:
    """The lines of a text; long lines are split into sentences, and overlong sentences are cut."""
    for line in text.split("\n"):
        if len(line) <= _LONG:
            yield line
            continue
        for piece in _PIECES.split(line):
            for start in range(0, len(piece), 2 * _LONG):
                yield piece[start : start + 2 * _LONG]


def _needle(text: str) -> str:
    """The form of a text for a word-for-word search: one line, case-folded, without the punctuation at its end."""
    return _SPACE.sub(" ", text.strip().rstrip(".:;")).casefold()
