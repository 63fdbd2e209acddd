"""Steps that somebody only mentioned, in a summary or an answer: nobody ticks them off, so the work on them is observed.

Items of an agent's own task list, and of checklists in files, show themselves when they are done.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from leafward.files.checks import Check, check_of
from leafward.session.entries import NO_ENTRY, EntryIndex
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.prose import sentences
from leafward.summaries.facts.sentences.remaining_work import remains
from leafward.summaries.facts.sentences.subjects import Subjects
from leafward.summaries.facts.values import ANSWERED, DROPPED, TAKEN_UP, FactKind, Sighting, Voice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_TELLING = frozenset({Voice.TOLD, Voice.AGENT})
_STOOD = re.compile(
    r"(?i)\b(?:(?:not|n['’]t|never) (?:\w+ )?yet|still (?:needs?|to do|missing|open|pending)|noch nicht|fehlt noch|pas encore|todavía no|aún no)\b"
    r"|尚未|还没|まだ"
)
_LOOKS = re.compile(
    r"(?i)^\W*(?:then |also |finally )?(?:run|re-?run|tests?|verify|check|confirm|ensure|make sure|validate|debug|review|manual)\b"
)
"""Steps that change nothing."""
_BY_HAND = re.compile(r"(?i)\b(?:manual(?:ly)?|by hand)\b")
_TRIES = re.compile(r"(?i)\b(?:test|try|check|verify)(?:s|ing)?\b")
_CHECKED = {
    Check.TEST: re.compile(r"(?i)\btest(?:s|ed|ing)?\b"),
    Check.LINT: re.compile(r"(?i)\blint(?:er|ing|ers)?\b"),
    Check.BUILD: re.compile(r"(?i)\bbuilds?\b"),
    Check.TYPES: re.compile(r"(?i)\btype-?check(?:s|ing)?\b"),
}
_THERE = re.compile(
    r"(?i)\b(?:is|are|was|were|has|have|ist|sind|est|sont|está|están|ya)?\s*\b(?:already|bereits|déjà|ya está)\b"
    r"(?: (?:in place|there|done|present|been|fixed|added|implemented|handled|imported|defined|exists?|da|vorhanden|erledigt|en place|là|fait))*|已经"
)
"""Words that report that something exists already, whoever made it."""
_SOONER = ("lready", "ereits", "éjà", "ya est", "已经")
"""Parts of words in such sentences: every sentence holds at least one."""
_AT_ONCE = 2
"""The most steps that are offered together."""
_NAMES_IT = 2
"""Words that are enough to name a step."""
_MAKES_FILES = re.compile(r"\b(?:mkdir|mv|cp|rm|touch|tee|ln)\b|\bsed -i|(?<![\d&=-])>{1,2}\s*[\w./~]")
"""Commands that make, move or change the files that they name."""
_COMMITS = re.compile(r"\bgit\b[^\n;&|]{0,200}?\bcommit\b(?![^\n;&|]{0,200}--dry-run)")
_Sign = tuple[str, str]
"""Evidence for work on a step: a kind of thing, and its name."""


def tells_how_it_stood(sentence: str) -> bool:
    """Whether a sentence describes a state at the time of writing, rather than a plan."""
    return _STOOD.search(sentence) is not None


@lru_cache(maxsize=1 << 12)
def _effects_of(command: str) -> tuple[Check | None, bool, bool]:
    """The check of a command, whether it makes, moves or changes files, and whether it commits.

    Each is needed for the summary and again for its survival.
    """
    return (
        check_of(command),
        _MAKES_FILES.search(command) is not None,
        "commit" in command and _COMMITS.search(command) is not None,
    )


def _file(path: str) -> _Sign:
    # A file has several spellings: relative to the session's folder, from the root, or as the end of a path.
    return "file", path.rstrip("/").rpartition("/")[2]


@dataclass(slots=True)
class ToldSteps:
    """The open steps that were told so far, and the work that was done."""

    named_in: Callable[[str], Iterable[Sighting]]
    """A function that gives the names in a text."""
    _open: dict[str, tuple[str, set[_Sign]]] = field(default_factory=dict)
    """The text of each step, and its outstanding evidence."""
    _under: dict[str, frozenset[str]] = field(default_factory=dict)
    """The content words of the heading above each step."""
    _waiting: dict[_Sign, set[str]] = field(default_factory=dict)
    _done: set[_Sign] = field(default_factory=set)
    _by_hand: dict[str, str] = field(default_factory=dict)
    """Steps to try by hand, also those in checklists."""
    _offered: set[str] = field(default_factory=set)
    """The steps that were told beside an offer."""
    _left: set[str] = field(default_factory=set)
    """The steps that the last answer told as what is left."""
    _agreed: set[str] = field(default_factory=set)
    """The steps whose offer was accepted."""
    _there: Subjects[bool] = field(default_factory=Subjects)
    """What the agent reported as existing already."""
    _naming: dict[str, dict[str, None]] = field(default_factory=dict)
    """The steps that had each content word, in their text or their heading."""
    _stood: dict[str, None] = field(default_factory=dict)
    """The steps that only describe a state amid work, or what comes next in it; some may be closed."""
    _last: set[str] = field(default_factory=set)
    """The steps that the last answer told."""
    _cancelled: Subjects[EntryIndex] = field(default_factory=Subjects)
    """What the user cancelled, each with its prompt."""
    _turned_away: EntryIndex = NO_ENTRY
    """The last prompt that turned away from all that was planned before."""
    answers: int = 0
    """The number of answers that ended work."""
    _worked: bool = False
    """Whether a call was made since the last answer."""

    @property
    def tests_passed(self) -> bool:
        """Whether a run of tests ended well."""
        return ("check", Check.TEST) in self._done

    def tell(self, sightings: Iterable[Sighting], *, final: bool = False) -> None:
        """Records the steps of a text; `final`: it ends the work, so the states that it describes still hold after it."""
        for seen in sightings:
            if seen.kind is FactKind.TODO and seen.is_open and seen.voice in _TELLING:
                signs = self._signs(seen.text)
                self._open[seen.key] = seen.text, signs
                self._under[seen.key] = frozenset(content_words(seen.about))
                for word in (*self._under[seen.key], *content_words(seen.text)):
                    self._naming.setdefault(word, {})[seen.key] = None
                self._stood.pop(seen.key, None)
                amid = seen.voice is Voice.AGENT and remains(seen.text)
                if not final and (amid or tells_how_it_stood(seen.text)):
                    self._stood[seen.key] = None
                for sign in signs:
                    self._waiting.setdefault(sign, set()).add(seen.key)

    def offer(self, sightings: Iterable[Sighting]) -> None:
        """Records the steps of an answer that ends by asking whether to do them."""
        offered = {seen.key for seen in sightings if seen.key in self._open and remains(seen.text)}
        self._last = offered
        # An offer of many steps seldom means all of them.
        self._offered = offered if len(offered) <= _AT_ONCE else set()

    def leave(self, sightings: Iterable[Sighting]) -> None:
        """Records the steps of an answer that asks nothing."""
        left = {seen.key for seen in sightings if seen.key in self._open}
        self._last = left
        self._left = left if len(left) <= _AT_ONCE else set()

    def asked(self, *, agreed: bool, goes_on: bool) -> None:
        """Records a prompt; `agreed`: it accepts the offer, `goes_on`: it only asks for what is left."""
        self._agreed |= self._offered if agreed else set()
        self._agreed |= self._left if goes_on else set()
        self._offered, self._left = set(), set()

    def listed(self, sightings: Iterable[Sighting]) -> None:
        """Records the steps of a text or a call that are tried by hand, whose work leaves no evidence."""
        for seen in sightings:
            if seen.kind is FactKind.TODO and _BY_HAND.search(seen.text) and _TRIES.search(seen.text):
                if seen.is_open:
                    self._by_hand[seen.key] = seen.text
                else:
                    self._by_hand.pop(seen.key, None)

    def tried(self, entry: EntryIndex) -> Iterator[Sighting]:
        """Records that the user says it works; yields the steps that this closes."""
        tried, self._by_hand = self._by_hand, {}
        for key, text in tried.items():
            self._open.pop(key, None)
            yield Sighting(FactKind.TODO, key, text, Voice.TOLD, entry, outcome=TAKEN_UP, is_open=False)

    def withdrawn(self, what: str, entry: EntryIndex) -> Iterator[Sighting]:
        """Records work that the user cancelled; yields the steps that this drops."""
        words = frozenset(content_words(what))
        named = len(words) >= _NAMES_IT
        if named:
            self._cancelled.add(words, entry)
        keys = [
            key
            for key in self._named_by(words)
            if words <= self._under[key] or (named and words.issubset(content_words(self._open[key][0])))
        ]
        yield from self._closed(keys, entry, outcome=DROPPED, voice=Voice.USER)

    def turned_away(self, entry: EntryIndex, *, last: bool) -> Iterator[Sighting]:
        """Records that the user dropped what was planned, or with `last` what the last answer told; yields the steps that this drops."""
        if not last:
            self._turned_away = entry
        keys = [key for key in self._open if not last or key in self._last]
        yield from self._closed(keys, entry, outcome=DROPPED, voice=Voice.USER)

    def is_cancelled(self, line: str, said: EntryIndex) -> bool:
        """Whether the user cancelled since what a line tells as a step."""
        cancelled = self._cancelled.named_in(frozenset(content_words(line)))
        return self._turned_away > said or any(entry > said for entry in cancelled)

    def seen_done(self, text: str, entry: EntryIndex) -> Iterator[Sighting]:
        """Records a sentence of the agent during its work; yields the steps that it reports as done already."""
        if not any(map(text.__contains__, _SOONER)):
            return
        for sentence in filter(_THERE.search, sentences(text)):
            words = frozenset(content_words(_THERE.sub(" ", sentence)))
            if len(words) >= _NAMES_IT:
                self._there.add(words, True)
                met = [
                    key for key in self._named_by(words) if words.issubset(content_words(self._open[key][0]))
                ]
                yield from self._closed(met, entry)

    def changed(self, paths: Iterable[str], names: Iterable[str], entry: EntryIndex) -> Iterator[Sighting]:
        """Records a change of files, with the names in it; yields the steps that this closes."""
        yield from self._came(
            {*map(_file, paths), *(("name", name.removesuffix("()")) for name in names)}, entry
        )

    def ran(self, command: str, paths: Iterable[str], entry: EntryIndex) -> Iterator[Sighting]:
        """Records a successful command, by its canonical form, with the paths in it; yields the steps that this closes.

        After a commit, states that were described amid the work no longer hold.
        """
        signs: set[_Sign] = {("command", command)}
        check, makes_files, commits = _effects_of(command)
        if check is not None:
            signs.add(("check", check))
            for part in command.split(" && ") if "&&" in command else ():
                # What stands before an `&&` ended well too.
                signs.add(("command", part))
                if (proven := check_of(part)) is not None:
                    signs.add(("check", proven))
        if makes_files:
            signs.update(map(_file, paths))
        yield from self._came(signs, entry)
        if self._worked and commits:
            yield from self._closed(self._no_longer(), entry)

    def worked(self) -> None:
        """Records that a call was made."""
        self._worked = True

    def answered(self, entry: EntryIndex) -> Iterator[Sighting]:
        """Records an answer that ends the work: states that were described amid it no longer hold."""
        if self._worked:
            self.answers += 1
            # The answer repeats the remaining steps of an offer.
            taken = [key for key in sorted(self._agreed) if key in self._open]
            yield from self._closed(taken, entry, outcome=ANSWERED)
            yield from self._closed(self._no_longer(), entry)
            self._agreed = set()
        self._worked = False

    def is_taken_up(self, line: str) -> bool:
        """Whether all evidence for a line from an earlier summary exists: a change, a write, a run, a check or a report."""
        if any(self._there.named_in(frozenset(content_words(line)))):
            return True
        signs = self._signs(line)
        return bool(signs) and signs <= self._done

    def is_run(self, line: str) -> bool:
        """Whether a line only names something to run or check, and that was done: nothing of it is left."""
        return _LOOKS.match(line) is not None and self.is_taken_up(line)

    def _signs(self, text: str) -> set[_Sign]:
        """The evidence that would close a step: the files it names, else the names; for a check, commands and checks."""
        named = list(self.named_in(text))
        if _LOOKS.match(text) is not None:
            commands: set[_Sign] = {("command", one.key) for one in named if one.kind is FactKind.COMMAND}
            if commands or _BY_HAND.search(text) is not None:
                return commands
            return {("check", check) for check, word in _CHECKED.items() if word.search(text) is not None}
        paths = [one for one in named if one.kind is FactKind.PATH]
        files = {_file(one.key) for one in paths if "." in one.key or one.text.endswith("/")}
        return files or {
            ("name", one.key.removesuffix("()")) for one in named if one.kind is FactKind.IDENTIFIER
        }

    def _no_longer(self) -> list[str]:
        """Takes out the steps that only describe a state amid work, which no longer holds."""
        stood, self._stood = self._stood, {}
        return [key for key in stood if key in self._open]

    def _named_by(self, words: frozenset[str]) -> list[str]:
        """The open steps that have the rarest of some words, in their text or their heading; none where there are no words."""
        rarest = min((self._naming.get(word, {}) for word in words), key=len, default={})
        return [key for key in rarest if key in self._open]

    def _came(self, signs: set[_Sign], entry: EntryIndex) -> Iterator[Sighting]:
        self._done |= signs
        if signs.isdisjoint(self._waiting):
            return
        met: dict[str, None] = {}
        for sign in sorted(signs & self._waiting.keys()):
            for key in sorted(self._waiting.pop(sign)):
                if key in self._open:
                    left = self._open[key][1]
                    left.discard(sign)
                    if not left:
                        # A step that was told again with other names may still wait for those of before.
                        met[key] = None
        yield from self._closed(met, entry)

    def _closed(
        self,
        keys: Iterable[str],
        entry: EntryIndex,
        *,
        outcome: str = TAKEN_UP,
        voice: Voice = Voice.TOLD,
    ) -> Iterator[Sighting]:
        for key in keys:
            text, _ = self._open.pop(key)
            yield Sighting(FactKind.TODO, key, text, voice, entry, outcome=outcome, is_open=False)
