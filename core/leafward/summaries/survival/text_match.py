"""Whether a text still has a fact: word for word, in other words, or contradicted."""

from __future__ import annotations

import re
from bisect import bisect_left
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from leafward.session.entries import NO_ENTRY
from leafward.summaries.facts.forms.file_lists import with_whole_paths
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.negation import negated, opposed
from leafward.summaries.facts.text_facts import TextFacts
from leafward.summaries.facts.values import Fact, FactKind, Sighting, Voice
from leafward.summaries.survival.command_match import CODE, bare_words, begins_alike, tells_of_another
from leafward.summaries.survival.rule_match import is_contrary, tells_rule

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

SAME_SENTENCE = 0.6
"""The part of a sentence's words that one line must hold to be a paraphrase of it."""
OPPOSITE_SENTENCE = 0.75
"""The part that a line must hold to contradict it: that needs more agreement."""
_SHORT_STEP = 4
"""Words of a short step."""
_NEAR = 0.4
"""The part of a rule's words from which on a line is asked whether it tells the rule."""
_LOOKED_AT = 20
"""Most lines that are asked."""

_MOST_PLACES = 200
"""Places of a word at which a text is compared with a command: with more, a search takes less time."""
_RUN = re.compile(r"[A-Za-z0-9_]+")
_SPACE = re.compile(r"\s(?:(?<! )\s*|\s+)")
"""Runs of white space other than a single space, which stays as it is."""
_TOKEN = re.compile(r"[A-Za-z0-9_$@#.~/\\+-]+")
_GOOD = re.compile(
    r"(?i)\b(?:pass(?:es|ed|ing)?|green|succeed(?:s|ed)?|successful(?:ly)?|clean|works|ok|exit(?:ed)? (?:with )?(?:code )?0)\b|✅|✓"
)
_BAD = re.compile(
    r"(?i)\b(?<!\b0 )(?<!\bno )(?:fail(?:s|ed|ing|ure)?|broken|red|error(?:s|ed)?|crash(?:es|ed)?|exit(?:ed)? (?:with )?(?:code )?[1-9]\d*)\b|❌|✗"
)
_MODAL = re.compile(
    r"(?i)\b(?:must|should|has to|have to|need(?:s|ed)? to|until|if|when|verify|to (?:check|verify)|would|will|not|no|never|without|fix(?:ed)?)\b|n't\b"
)
_HASH = re.compile(r"(?=[0-9a-f]*\d)[0-9a-f]{7,64}")
_LEAST_DIGITS = 7
_BEFORE = re.compile(
    r"(?i)\b(?:initial(?:ly)?|original(?:ly)?|at first|first|earlier|previous(?:ly)?|before|was|were|had been|used to|user reports?|reported|until then)\b"
)
"""Words of a line about the past: a command that failed then may succeed now."""
_QUOTE = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])?\s*(?:[\"“‘>]|'(?=\w))")
"""The beginning of a line that quotes somebody."""
_DONE = re.compile(r"^\s*(?:[-*]\s*)?\[[xX✓]\]|✅|\b(?i:done|completed|finished)\b")


_LIFTED = re.compile(
    r"(?i)\b(?:rule|restriction|constraint|limit|ban)\b.{0,80}\b(?:is off|lifted|dropped|gone|withdrawn|revoked|void|taken back|no longer (?:holds|applies|in force))\b"
    r"|\b(?:no longer (?:holds|applies|in force)|was (?:lifted|withdrawn|revoked|taken back))\b"
)
"""A line that says that a rule does not hold any more."""
_FIGURE = re.compile(r"(?<![\w.])\d{1,18}(?:[.,]\d{1,18}){0,8}(?!\d)")
_SPARES = re.compile(
    r"(?i)\b(?:off[- ]limits|read[- ]only|untouched|unchanged|intact|as (?:it is|is|they are)|alone|forbids?|free of|excluding|except|only|stays?|keep|kept|remains?|refuse\w*|at (?:most|least)|must\b.{0,40}\bbefore)\b|保留|保持"
)
"""Words that forbid without a negation."""


class FactMatch(StrEnum):
    """The match of a fact in a text."""

    VERBATIM = "verbatim"
    PARAPHRASED = "paraphrased"
    CONTRADICTED = "contradicted"
    ABSENT = "absent"


class FactText:
    """A text that is searched for facts: a summary, the injected context, the kept messages."""

    def __init__(self, text: str, cwd: str = "") -> None:
        self.text = text
        self._searched = with_whole_paths(text)
        self._cwd = cwd
        self._holding: dict[str, dict[str, None]] = {}
        self._places: dict[str, list[int]] = {}
        self._matches: dict[tuple[object, ...], FactMatch] = {}

    @classmethod
    def of(cls, text: str, cwd: str = "") -> FactText:
        """The text, cached for a while: the kept text is needed for the summary, and again for the facts of each generation."""
        return _text(text, cwd)

    @cached_property
    def sightings(self) -> list[Sighting]:
        """The facts in the text by their form."""
        return list(TextFacts(self._cwd).named(self._searched, Voice.TOLD, NO_ENTRY))

    @cached_property
    def keys(self) -> dict[FactKind, set[str]]:
        """The canonical forms of these facts, by kind."""
        found: dict[FactKind, set[str]] = {kind: set() for kind in FactKind}
        for seen in self.sightings:
            found[seen.kind].add(seen.key)
        return found

    @cached_property
    def flat(self) -> str:
        """The text with every run of white space reduced to one space."""
        return _SPACE.sub(" ", self._searched)

    @cached_property
    def _folded(self) -> str:
        return self.flat.casefold()

    @cached_property
    def tokens(self) -> frozenset[str]:
        """Its words as written, and the parts of joined ones."""
        found: set[str] = set()
        for match in _TOKEN.finditer(self._searched):
            token = match[0].strip(".,-")
            found.add(token)
            if "." in token or "/" in token:
                found.update(part for part in re.split(r"[./\\]", token) if part)
        return frozenset(found)

    @cached_property
    def _folded_tokens(self) -> frozenset[str]:
        return frozenset(token.casefold().strip("$#") for token in self.tokens)

    @cached_property
    def _hashes(self) -> frozenset[str]:
        """Its words that are hashes."""
        return frozenset(token for token in self.tokens if _HASH.fullmatch(token))

    @cached_property
    def _sorted_hashes(self) -> list[str]:
        return sorted(self._hashes)

    def _has_hash(self, key: str) -> bool:
        """Whether it holds a hash with more or fewer of its digits."""
        at = bisect_left(self._sorted_hashes, key)
        longer = any(one.startswith(key) for one in self._sorted_hashes[at : at + 1])
        return longer or not self._hashes.isdisjoint(
            key[:digits] for digits in range(_LEAST_DIGITS, len(key))
        )

    @cached_property
    def lines(self) -> list[tuple[str, frozenset[str]]]:
        """Its lines, each with its content words."""
        return [(line, frozenset(content_words(line))) for line in self._searched.split("\n") if line.strip()]

    @cached_property
    def _flat_lines(self) -> list[str]:
        """The lines with every run of white space reduced to one space."""
        return [_SPACE.sub(" ", line) for line, _ in self.lines]

    @cached_property
    def _folded_lines(self) -> list[str]:
        return [line.casefold() for line in self._flat_lines]

    @cached_property
    def _by_word(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for place, (_, words) in enumerate(self.lines):
            for word in words:
                found.setdefault(word, []).append(place)
        return found

    @cached_property
    def path_ends(self) -> frozenset[str]:
        """The paths in it, and every end of each that begins at a slash."""
        return frozenset(end for key in self.keys[FactKind.PATH] for end in _ends(key))

    def holds(self, fact: Fact, names: Mapping[str, int] | None = None) -> FactMatch:
        """The match of a fact in the text. `names` gives the number of requested paths that end in a file name."""
        about = tuple(fact.about) if fact.kind is FactKind.NUMBER else ()
        name = fact.key.strip("/").rpartition("/")[2] if fact.kind is FactKind.PATH else ""
        others = (names or {}).get(name, 1) if name else 1
        asked = (fact.kind, fact.key, fact.text, fact.outcome, fact.is_open, about, others)
        found = self._matches.get(asked)
        if found is None:
            found = self._matches[asked] = self._match(fact, others)
        return found

    def _match(self, fact: Fact, others: int) -> FactMatch:
        match fact.kind:
            case FactKind.PATH:
                return self._path(fact, others)
            case FactKind.COMMAND:
                return self._command(fact)
            case FactKind.NUMBER:
                return self._number(fact)
            case FactKind.ERROR:
                return self._error(fact)
            case FactKind.IDENTIFIER:
                return self._identifier(fact)
            case FactKind.URL:
                return FactMatch.VERBATIM if fact.key in self.flat else FactMatch.ABSENT
            case _:
                return self._sentence(fact)

    def tells_step(self, fact: Fact) -> bool:
        """Whether a line tells a step: of a short one it has all words, as talk about the work has most of them by chance."""
        words = content_words(fact.text)
        return len(words) > _SHORT_STEP or self._nearest_line(words)[2] == 1

    def _path(self, fact: Fact, others: int) -> FactMatch:
        if fact.key in self.path_ends or self._has_bounded(fact.key):
            return FactMatch.VERBATIM
        parts = fact.key.strip("/").split("/")
        if len(parts) > 2 and any(
            "/".join(parts[at:]) in self.keys[FactKind.PATH] for at in range(1, len(parts) - 1)
        ):
            return FactMatch.PARAPHRASED
        name = parts[-1]
        if "." in name and others == 1 and name in self.path_ends:
            return FactMatch.PARAPHRASED
        return FactMatch.ABSENT

    @cached_property
    def _runs(self) -> frozenset[str]:
        """Its runs of letters and digits."""
        return frozenset(_RUN.findall(self.flat))

    def _has_bounded(self, needle: str) -> bool:
        """Whether it holds a string that is not a part of a longer word or path; most that it lacks have a run that it lacks."""
        return self._runs.issuperset(_RUN.findall(needle)) and _bounded(needle, self.flat)

    def _command(self, fact: Fact) -> FactMatch:
        if self._has_command(fact.key):
            return FactMatch.CONTRADICTED if self._outcome_denied(fact) else FactMatch.VERBATIM
        words = bare_words(fact.key)
        for line in min(map(self._lines_with, words), key=len, default=()):
            for word in words:
                if word not in line:
                    break
            else:
                if begins_alike(words[:2], line):
                    return FactMatch.PARAPHRASED
        return FactMatch.ABSENT

    def _has_command(self, command: str) -> bool:
        """Whether it holds a command word for word, looked for where its longest word stands: most commands share theirs."""
        longest = max(command.split(" "), key=len)
        places = self._places.get(longest)
        if places is None:
            found, at = [], self.flat.find(longest)
            while at >= 0:
                found.append(at)
                at = self.flat.find(longest, at + 1)
            places = self._places[longest] = found
        if len(places) > _MOST_PLACES:
            return command in self.flat
        before = command.find(longest)
        return any(place >= before and self.flat.startswith(command, place - before) for place in places)

    def _lines_with(self, word: str) -> Collection[str]:
        """The distinct lines that hold a word; most commands of a session share most of their lines."""
        found = self._holding.get(word)
        if found is None:
            found = self._holding[word] = {}
            at = self._searched.find(word)
            while at >= 0:
                end = self._searched.find("\n", at)
                end = len(self._searched) if end < 0 else end
                found[self._searched[self._searched.rfind("\n", 0, at) + 1 : end]] = None
                at = self._searched.find(word, end)
        return found

    def _outcome_denied(self, fact: Fact) -> bool:
        """Whether every line about the outcome of the command has it wrong."""
        if not fact.outcome:
            return False
        good = fact.outcome == "exit 0"
        right = wrong = 0
        for line, flat in zip(self.lines, self._flat_lines, strict=True):
            if fact.key in flat and not tells_of_another(fact.key, flat):
                rest = line[0].replace(fact.key, " ")
                if _MODAL.search(rest) or _BEFORE.search(rest) or _QUOTE.match(line[0]):
                    continue
                says_good, says_bad = _GOOD.search(rest) is not None, _BAD.search(rest) is not None
                if says_good != says_bad:
                    right += says_good == good
                    wrong += says_good != good
        return wrong > 0 and right == 0

    def _number(self, fact: Fact) -> FactMatch:
        if self._has_bounded(fact.text):
            return FactMatch.VERBATIM
        if fact.key in self.keys[FactKind.NUMBER]:
            return FactMatch.PARAPHRASED
        return FactMatch.CONTRADICTED if self.rivals(fact) else FactMatch.ABSENT

    def rivals(self, fact: Fact) -> list[str]:
        """Other counts of the same subject in the same unit, for an exact number."""
        unit = fact.key.partition(" ")[2]
        if fact.kind is not FactKind.NUMBER or not unit or not fact.text[:1].isdecimal():
            return []
        about = {end for path in fact.about for end in _ends(path)}
        counts = self._counts.get(unit, {})
        found = sorted({place for end in about for place in counts.get(end, ())})
        return [self.sightings[place].key for place in found]

    @cached_property
    def _counts(self) -> dict[str, dict[str, list[int]]]:
        """The places of the counts among its facts, by unit and by each end of the path that they are about."""
        found: dict[str, dict[str, list[int]]] = {}
        for place, seen in enumerate(self.sightings):
            if seen.kind is FactKind.NUMBER and seen.about:
                ends = found.setdefault(seen.key.partition(" ")[2], {})
                for end in _ends(seen.about):
                    ends.setdefault(end, []).append(place)
        return found

    def _error(self, fact: Fact) -> FactMatch:
        text = _SPACE.sub(" ", fact.text)
        if text in self.flat or (fact.key and fact.key in self.keys[FactKind.ERROR]):
            return FactMatch.VERBATIM
        return self._nearest_line(tuple(fact.key.split()))[0]

    def _identifier(self, fact: Fact) -> FactMatch:
        if fact.key in self.tokens or fact.text in self.tokens or self._has_bounded(fact.key):
            return FactMatch.VERBATIM
        if _HASH.fullmatch(fact.key) and self._has_hash(fact.key):
            return FactMatch.VERBATIM
        # A name with an underscore before it is another one.
        return (
            FactMatch.PARAPHRASED
            if fact.key.casefold().strip("$#") in self._folded_tokens
            else FactMatch.ABSENT
        )

    def _sentence(self, fact: Fact) -> FactMatch:
        text = _SPACE.sub(" ", fact.text).casefold()
        if text in self._folded:
            over = self._is_done(fact, text) or self._is_lifted(fact, text)
            return FactMatch.CONTRADICTED if over else FactMatch.VERBATIM
        words = content_words(fact.text)
        if fact.kind is FactKind.CONSTRAINT and self._tells_rule(fact.text, words):
            return FactMatch.PARAPHRASED
        held, line, part = self._nearest_line(words)
        if held is FactMatch.ABSENT or not self._names_of(fact.text, line):
            return FactMatch.ABSENT
        if fact.kind is FactKind.CONSTRAINT:
            if _LIFTED.search(line):
                return FactMatch.CONTRADICTED
            if is_contrary(fact.text, line):
                return (
                    FactMatch.CONTRADICTED
                    if opposed(fact.text, line) and part >= OPPOSITE_SENTENCE
                    else FactMatch.ABSENT
                )
            figures = set(_FIGURE.findall(line))
            if figures and not figures.issuperset(_FIGURE.findall(fact.text)):
                # With other figures it is another rule.
                return FactMatch.ABSENT
        if (
            fact.kind is FactKind.CONSTRAINT
            and negated(fact.text)
            and not (negated(line) or _SPARES.search(line))
        ):
            # It names what the rule forbids, and forbids nothing.
            return (
                FactMatch.CONTRADICTED
                if opposed(fact.text, line) and part >= OPPOSITE_SENTENCE
                else FactMatch.ABSENT
            )
        if fact.kind is FactKind.TODO:
            if fact.is_open and part >= OPPOSITE_SENTENCE and _DONE.search(line):
                return FactMatch.CONTRADICTED
        elif part >= (OPPOSITE_SENTENCE if len(words) > 2 else 1.0) and len(words) > 1:
            return FactMatch.CONTRADICTED if opposed(fact.text, line) and not _SPARES.search(line) else held
        return held

    def _tells_rule(self, rule: str, words: tuple[str, ...]) -> bool:
        """Whether one of the lines that share most words with a rule tells it in other words."""
        shares = self._shares(words)
        near = [place for place in shares if shares[place] >= _NEAR * len(words)]
        near.sort(key=lambda place: (-shares[place], place))
        lines = (self.lines[place][0] for place in near[:_LOOKED_AT])
        return any(
            self._names_of(rule, line) and not _LIFTED.search(line) and tells_rule(rule, line)
            for line in lines
        )

    @staticmethod
    def _names_of(sentence: str, line: str) -> bool:
        """Whether a line has any of the names in a sentence; true for a sentence without names."""
        named = [name.removesuffix("()") for name in CODE.findall(sentence)]
        return not named or any(name in line for name in named)

    def _is_done(self, fact: Fact, text: str) -> bool:
        """Whether an open todo is only on lines that are ticked off."""
        if fact.kind is not FactKind.TODO or not fact.is_open:
            return False
        there = self._lines_of(text)
        return bool(there) and all(_DONE.search(line) for line in there)

    def _is_lifted(self, fact: Fact, text: str) -> bool:
        """Whether a rule is only on lines that say it no longer holds."""
        if fact.kind is not FactKind.CONSTRAINT:
            return False
        there = self._lines_of(text.rstrip("."))
        return bool(there) and all(_LIFTED.search(line) for line in there)

    def _lines_of(self, folded: str) -> list[str]:
        """The lines that hold a text in small letters."""
        return [line for (line, _), low in zip(self.lines, self._folded_lines, strict=True) if folded in low]

    def _shares(self, words: tuple[str, ...]) -> dict[int, int]:
        """The number of some words in each line that has any."""
        shares: dict[int, int] = {}
        for word in words:
            for place in self._by_word.get(word, ()):
                shares[place] = shares.get(place, 0) + 1
        return shares

    def _nearest_line(self, words: tuple[str, ...]) -> tuple[FactMatch, str, float]:
        """The line that shares most of the wanted words, if it shares enough."""
        if not words:
            return FactMatch.ABSENT, "", 0.0
        shares = self._shares(words)
        if not shares:
            return FactMatch.ABSENT, "", 0.0
        best = max(shares, key=lambda place: (shares[place], -place))
        part = shares[best] / len(words)
        if part < SAME_SENTENCE:
            return FactMatch.ABSENT, "", part
        return FactMatch.PARAPHRASED, self.lines[best][0], part


@lru_cache(maxsize=6)
def _text(text: str, cwd: str) -> FactText:
    return FactText(text, cwd)


def _ends(key: str) -> list[str]:
    """A path and its ends, the longest first."""
    stem = key.strip("/")
    found = [key, stem]
    while "/" in stem:
        stem = stem.partition("/")[2]
        found.append(stem)
    return found


def _bounded(needle: str, text: str) -> bool:
    """Whether a text holds a string that is not a part of a longer word or path."""
    start = text.find(needle) if needle else -1
    while start >= 0:
        before = text[start - 1 : start]
        after = text[start + len(needle) : start + len(needle) + 1]
        if not _joins(before) and not _joins(after):
            return True
        start = text.find(needle, start + 1)
    return False


def _joins(char: str) -> bool:
    return char.isascii() and (char.isalnum() or char == "_") if char else False


def file_names(facts: Iterable[Fact]) -> dict[str, int]:
    """The number of distinct paths with each file name."""
    found: dict[str, int] = {}
    for fact in facts:
        if fact.kind is FactKind.PATH:
            name = fact.key.rsplit("/", 1)[-1]
            found[name] = found.get(name, 0) + 1
    return found
