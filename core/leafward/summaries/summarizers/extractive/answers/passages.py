"""The passages of an answer that can stand alone: sentences and items of lists that nobody has still to choose from."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences import prose
from leafward.summaries.facts.sentences.replies import announces, reports
from leafward.summaries.summarizers.extractive.answers.answer_lists import LEADS, AnswerPassage, Lists, usable
from leafward.summaries.summarizers.extractive.answers.sentence_forms import (
    bids,
    is_code,
    is_imperative,
    is_title,
    lacks_subject,
    only_leads,
    points_back,
    speaks_only,
)
from leafward.summaries.summarizers.extractive.answers.sentence_sections import reached
from leafward.summaries.summarizers.outline import cut

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_UNTOLD = re.compile(
    r"(?i)^\W*(?:pros?|cons?|advantages|disadvantages|sources?|references?|further reading|(?:useful |related )?links?|quellen|fuentes|参考(?:资料|链接)?|来源|出典)\W*$"
)
"""The head of a list that weighs one of several ways, whose name is elsewhere, or of a list of titles to read."""
_TITLE = re.compile(r"\*\*[^*]{3,80}\*\*")
"""A line in bold letters alone: a heading."""
_WAY = re.compile(
    r"(?i)^\W*(?:option|approach|variant|alternative|proposal|idea) (?:#?\d{1,2}|[a-d])\b(?: \([^()\n]{1,60}\))?\s*(?:$|[:–—-])"
)
"""One of several ways, by its name. The request that chooses it is quoted with its text."""
_WAYS = re.compile(
    r"(?i)^\W*(?:there (?:are|were)|there['’]re|i (?:can )?see|(?:we|you) have) (?:two|three|four|five|several|a few|multiple|some|\d) (?:\w+ ){0,2}(?:ways|options|approaches|choices|alternatives|possibilities|directions|paths forward)\b|\b(?:(?:do you|would you|want|should i|shall i|i can|we can|we could|i could)\b(?: \w+){0,4})\W*$|\b(?:options|approaches|alternatives|opciones|opções|optionen)\W*$|(?:选项|選択肢)\W*$"
)
"""The head of a list of ways: nobody has chosen any of them."""
_OFFERS = re.compile(
    r"(?i)\byou(?:['’]d)? (?:can|could|may|might)\b|\b(?:could|can|might|may) (?:help|try|do|also|fix|prevent|improve|consider)\b"
    r"|\b(?:options?|alternatives?|suggestions?|recommendations?|ideas?|ways to|possible (?:fixes|improvements|solutions))\b"
    r"|\b(?:möglichkeiten|vorschläge|optionen|ideen|propositions?|pistes?|opciones|sugerencias)\b|建议|可以(?:尝试|考虑)|方案"
)
"""The head of a list of possibilities: nobody has chosen any of them."""
_SUGGESTS = late(
    r"(?i)^\W*(?:suggest(?:ed|ions?)|recommend(?:ed|ations?)|propos(?:ed|als?)|options|alternatives|possible (?:fixes|improvements|solutions))\b"
    r"|^\W*(?:vorschläge|empfehlungen|möglichkeiten|suggestions|recommandations|sugerencias|建议|可选方案)"
)
"""The heading of a part that only suggests."""
_ASKS_READER = late(
    r"(?i)^\W*(?:needs you|your call|for you to|(?:open )?(?:questions?|decisions?) (?:for you|needed)|waiting on you|action (?:needed|required))\b"
)
"""The heading of a part that asks its reader for something."""
_BOX = re.compile(r"\[[ xX✓~-]\]\s")
"""An item of a checklist, which becomes a step."""
_LIST_ITEM = re.compile(r"^(?:[-*•]|\d{1,3}[.)])\s+")
_DIRECTIVE = re.compile(r"::[a-z][a-z-]{1,40}\{")
"""A line of Codex for its own screen: `::git-commit{…}`."""
_DRAFTS = late(
    r"(?i)\b(?:commit[- ](?:messages?|title|text|nachricht)|(?:suggested|proposed) commit|(?:mensa(?:je|gem)|message|sugest[ãa]o|propuesta) (?:de|du) commit|(?:pull request|pr|mr|release|changelog) (?:title|description|body|text|notes?|entry))\b[^.!?\n]{0,60}[:：]\W*$|(?:提交信息|コミットメッセージ|커밋 메시지)[^。\n]{0,20}[:：]\W*$"
)
"""Words before a message that the agent drafts: what follows is no statement about the work."""
_COLUMNS = re.compile(r"(?<=\S)(?<![-*+•])(?<!\d[.)]) {3,}(?=\S)")
"""Blanks between the columns of a table, or of a tree of folders with remarks, that stands in no fence."""
_FENCES = ("```", "~~~")
_STOPS = (".", "!", "?", "。", "！", "？", "…")
_ALONE = ("#", "|", ">", "<")
"""The beginning of a line that the next one does not go on with."""
_WRAPPED = 60
"""Characters from which a line may be wrapped."""
_TITLE_LIMIT = 40
"""Characters of a line without a stop that is the heading of a list behind it."""
_WAY_NAME = 50
"""Characters of a way's heading before the words that introduce a list about it."""


@lru_cache(maxsize=1 << 12)
def passages(text: str, shortest: int = 20) -> tuple[AnswerPassage, ...]:
    """Passages of an answer outside code: sentences, items of lists.

    Short items of one list are joined after the words that lead to them: alone they seldom name their subject.
    """
    return tuple(_passages(text, shortest))


@lru_cache(maxsize=1 << 12)
def quotable(text: str, shortest: int = 20) -> tuple[str, ...]:
    """The texts of the passages of an answer."""
    return tuple(passage.text for passage in passages(text, shortest))


def without_suggestions(text: str) -> str:
    """An answer without the parts whose headings say that they only suggest, or ask the reader for something."""
    return _without_parts(text, lambda title: bool(_SUGGESTS.match(title) or _ASKS_READER.match(title)))


def without_questions(text: str) -> str:
    """An answer without the parts whose headings say that they ask the reader for something."""
    return _without_parts(text, lambda title: _ASKS_READER.match(title) is not None)


def _without_parts(text: str, leave_out: Callable[[str], bool]) -> str:
    """An answer without the parts with some headings, each up to the next heading of its depth."""
    if "\n#" not in text and not text.startswith("#"):
        return text
    lines: list[str] = []
    left_out = 0
    for line in text.split("\n"):
        title = line.lstrip("#")
        depth = len(line) - len(title)
        if depth and title.startswith(" ") and (not left_out or depth <= left_out):
            left_out = depth if leave_out(title) else 0
        if not left_out:
            lines.append(line)
    return "\n".join(lines)


class _Draft:
    """A message that the agent drafts in its answer: a paragraph behind the words that lead to it, and the list below that."""

    def __init__(self) -> None:
        self._open = self._begun = self._ended = False

    def holds(self, line: str, *, is_item: bool) -> bool:
        """Whether the next line of the answer is part of a draft, or leads to one."""
        if _DRAFTS.search(line) is not None:
            self._open, self._begun, self._ended = True, False, False
        elif not line:
            self._ended = self._begun
        elif line.startswith("#") or (self._ended and not is_item):
            self._open = False
        else:
            self._begun = True
        return self._open


def _passages(text: str, shortest: int) -> Iterator[AnswerPassage]:
    reader = _Reader(shortest)
    for line in _unwrapped(prose.lines_outside_code(text, fences=True)):
        yield from reader.read(line)
    yield from reader.lists.end()


def _unwrapped(lines: Iterable[str]) -> Iterator[str]:
    """Lines, each with those behind it that go on with its sentence: an answer may be wrapped like a letter."""
    begun = ""
    for line in lines:
        goes_on = line.lstrip()[:1].islower() and not begun.endswith((*_STOPS, *LEADS))
        # What is longer is read as no sentence.
        if (
            goes_on
            and _WRAPPED <= len(begun) <= prose.SENTENCE_LIMIT
            and not (begun.startswith(_ALONE) or _COLUMNS.search(begun))
        ):
            begun += f" {line.strip()}"
        else:
            yield begun
            begun = line.rstrip()
    yield begun


class _Reader:
    """The lines of an answer, and what leads to the next one."""

    def __init__(self, shortest: int) -> None:
        """`shortest` is the number of characters of the shortest sentence."""
        self.lists = Lists()
        self._shortest = shortest
        self._draft = _Draft()
        self._intro = self._heading = self._way_name = self._title = ""
        self._offers = False
        """Whether the line before leads to what the user has to choose from."""
        self._amid = False
        """Whether a sentence may go on that began before code or a list."""

    def read(self, raw: str) -> Iterator[AnswerPassage]:
        """The passages that end with a line, or are on it."""
        stripped = raw.strip().replace("**", "")
        if stripped.startswith(_FENCES) or ("   " in stripped and _COLUMNS.search(raw) is not None):
            self._led_on()
            self._title = ""
            self._amid = True
            return
        mark = _LIST_ITEM.match(stripped)
        item = stripped[mark.end() :].strip() if mark is not None else _marked(stripped)
        if self._draft.holds(stripped, is_item=bool(item)) or not stripped or _DIRECTIVE.match(stripped):
            return
        if item and (
            _BOX.match(item) or self._offers or (is_imperative(item) and _OFFERS.search(self._intro))
        ):
            return
        self._offers = stripped.rstrip("*_ ").endswith(("?", "？", "?:", "？："))
        if item:
            # A line that a picture marks stands above a list behind it, and a number above the bullets below its item.
            indent = (
                -1 if mark is None else 2 * (len(raw) - len(raw.lstrip())) + (not stripped[0].isdecimal())
            )
            if mark is None:
                self._title = ""
            yield from self.lists.begin(indent, self._lead())
            yield from self.lists.add(item)
        elif not (self._is_way(stripped) and stripped[0] != "#"):
            first = raw.split(maxsplit=1)[0].rstrip(",:;.")
            goes_on = first.islower() and first.isalpha() and first.isascii()
            if goes_on:
                # The sentence around the list, or the code.
                self._amid |= self.lists.leave_out()
            if self.lists.begun:
                self._led_on()
            yield from self.lists.end()
            yield from self._plain(raw, stripped, amid=self._amid and goes_on)
        self._amid = False

    def _led_on(self) -> None:
        """Forgets what led to code or a list: it does not lead to what is behind that."""
        self._intro = self._heading if self._intro == self._heading else ""

    def _lead(self) -> str | None:
        """The words that lead to a list here, as in `_List`."""
        return (
            None
            if _UNTOLD.match(self._intro)
            else usable(self._intro or self._title) or usable(self._heading)
        )

    def _is_way(self, line: str) -> bool:
        """Whether a line names one of several ways; such a one, or one that leads to some, has the user choose."""
        if self._offers:
            return False
        way = _WAY.match(line.lstrip("# ")) is not None
        self._offers = way or (line.endswith(LEADS) and _WAYS.search(line) is not None)
        return way

    def _plain(self, raw: str, stripped: str, *, amid: bool) -> Iterator[AnswerPassage]:
        """The passages of a line that is no item; `amid` says that it goes on with a sentence."""
        led, self._intro, self._title = self._intro, "", ""
        if stripped.startswith("#"):
            self._intro = self._heading = stripped.lstrip("# ").rstrip(":： ")
            self._way_name = self._heading if _WAY.match(self._heading) else ""
        elif stripped.endswith(LEADS):
            yield from self._leading(raw, stripped)
        elif not stripped.startswith(_ALONE):
            before = f"{led}: " if led and led == self._heading else ""
            said = [*prose.sentences(raw)]
            if _TITLE.fullmatch(raw.strip()) is not None:
                self._intro = self._heading = stripped
            elif len(said) == 1 and is_title(said[0]):
                self._intro, said = said[0], []
            elif (
                len(said) == 1
                and led != self._heading
                and usable(led)
                and not said[0].endswith(_STOPS)
                and not is_code(said[0])
            ):
                said = [f"{led}: {said[0]}"]
            elif (
                len(said) < 2
                and len(stripped) <= _TITLE_LIMIT
                and stripped[0].isalnum()
                and not stripped.endswith(_STOPS)
            ):
                self._title = stripped
            for sentence in said[1:] if amid else said:
                asked = sentence.endswith(("?", "？"))
                if lacks_subject(sentence):
                    before, sentence = "", f"{before}{sentence}" if before else ""
                if len(sentence) >= self._shortest and not asked and not is_code(sentence):
                    yield AnswerPassage(sentence, before)
                before = f"{sentence} "

    def _leading(self, raw: str, stripped: str) -> Iterator[AnswerPassage]:
        """The sentences before the words at the end of a line that lead to the next one: they are no part of them."""
        said = [*prose.sentences(raw)]
        for one in said[:-1]:
            tells = not (
                one.endswith(("?", "？"))
                or announces(one)
                or bids(one)
                or only_leads(one)
                or is_code(one)
                or speaks_only(one)
            )
            if len(one) >= self._shortest and (reached(one) or reports(one) or tells):
                yield AnswerPassage(one)
        if self._offers:
            return
        intro = prose.last_sentence(stripped).rstrip(":：")
        if points_back(intro) and len(said) > 1 and usable(f"{said[-2]} {intro}"):
            intro = f"{said[-2]} {intro}"
        if self._way_name and not _UNTOLD.match(intro):
            # Alone it does not say that it is about one of several ways.
            intro = f"{cut(self._way_name, _WAY_NAME)}, {intro}"
        self._intro = intro


def _marked(line: str) -> str:
    """A line that a picture marks as an item, with that; else empty."""
    is_item = unicodedata.category(line[:1] or " ") == "So" and not line.endswith(LEADS)
    return line if is_item else ""
