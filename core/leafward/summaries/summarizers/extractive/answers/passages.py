"""The passages of an answer that can stand alone: sentences and items of lists that nobody has still to choose from."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.late_pattern import late
from leafward.summaries.facts import prose
from leafward.summaries.summarizers.extractive.answers.sentence_sections import reached, section_of_sentence
from leafward.summaries.summarizers.outline import SummarySection, cut

if TYPE_CHECKING:
    from collections.abc import Iterator

_ADDRESSED = re.compile(r"(?i)^(?:now,? )?(?:you|we|they|it|this|that|here|these|there)\b(?:['’]\w+)?")
_PROMISES = re.compile(r"(?i)\b(?:will|would|should|could|can|may|might|to)(?: \w+ly| also| now)?\W*$")
"""The end of words that introduce a list of what is to come, or may."""
_WEIGHED = re.compile(r"(?i)^\W*(?:pros?|cons?|advantages|disadvantages)\W*$")
"""The head of a list that weighs one of several ways: its name, and whether it was chosen, are elsewhere."""
_POINTS_BACK = re.compile(
    r"(?i)^\W*(?:(?:and|but|so|or|also|now|then),? )?(?:with (?=those\b|these\b))?(?:(?:it|this|that|these|those|they|the (?:former|latter|same))\b"
    r"|(?:das|dies(?:e[mnrs]?)?|cela|ça|ceci|esto|eso|ello|ele|ela|eles|elas|isso|isto)\b|c['’]est\b|これ|それ|この|その|这|那|它|이것|그것|이는)"
)
"""The beginning of a sentence whose subject is in the text before it."""
_OPEN_END = re.compile(r"[,;] ?(?:or|and|oder|und|ou|et|[yoeи]|или)?$")
"""The sign at which a list goes on, with its `and`."""
_HEAD = re.compile(r" [—–-] |[:：] ")
"""The sign between the name of an item and what it says of it."""
_TITLE = re.compile(r"\*\*[^*]{3,80}\*\*")
"""A line in bold letters alone: a heading."""
_STANDS = re.compile(r"^`[^`]+`.{8}|[.!?。！？]$")
"""An item that says itself of what it is: it begins with a name, or is a sentence."""
_WAY = re.compile(
    r"(?i)^\W*(?:option|approach|variant|alternative|proposal|idea) (?:#?\d{1,2}|[a-d])\b(?: \([^()\n]{1,60}\))?\s*(?:$|[:–—-])"
)
"""One of several ways, by its name. The request that chooses it is quoted with its text."""
_WAYS = re.compile(
    r"(?i)\b(?:(?:do you|would you|want|should i|shall i|i can|we can|we could|i could)\b(?: \w+){0,4})\W*$|\b(?:options|approaches|alternatives|opciones|opções|optionen)\W*$|(?:选项|選択肢)\W*$"
)
"""The head of a list of ways: nobody has chosen any of them."""
_EXPLAINS = re.compile(
    r"(?i)\b(?:reasons?|causes?|explanations?|why|gründe|ursachen|raisons|razones|causas)\b|原因|理由"
)
"""The head of a list of reasons: what its items report is not the work."""
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
_IMPERATIVE = re.compile(
    r"(?i)^(?:(?:now|then|just|please|next(?: up| step)?)[,:]? |(?:in order )?to [^,;:]{3,80}, (?:\w+ly )?)?(?:run|set|use|add|try|install|change|update|replace|switch|move|enable|disable|configure|remove|delete|create|wait|keep|make|put|let|open|check"
    r"|consider|upgrade|pin|skip|merge|rebase|revert|rename|extract|split|document|log|verify|ask|search|restart|rebuild|test|bump)\b(?!-)"
)
_ADVISES = re.compile(
    r"(?i)^(?:[^:.]{1,60}: )?(?:(?:and|also|now|then|first|next|just|please|or)[\s,]+)*(?:check|try|open|search|look|compare|toggle|restart|reload|verify|inspect|re-?run|watch|confirm|ask|(?:say|tell me|pick|choose) (?:which|what|one))\b(?!-)"
    r"|^(?:the )?next time (?:you|it|this|that)\b|^(?:(?:i|we|you|one|it) )?(?:could|might) (?:also |then |instead )?(?!(?:be|have|not|only|lead|cause|mean|fail|break|explain)\b)[a-z]+\b"
)
_RECOMMENDS = late(
    r"(?i)\bi(?:['’]d| would)? (?:recommend|suggest|propose)\b|\bmy (?:recommendation|suggestion|proposal)\b|\bmeine empfehlung\b|\b(?:ich )?(?:empfehle|schlage vor)\b"
    r"|\bma recommandation\b|\bje (?:recommande|propose)\b|\b(?:mi|minha) (?:recomendaci[oó]n|recomendação|sugerencia|sugestão)\b|\b(?:recomiendo|recomendo|sugiero|sugiro)\b"
)
"""What the agent would do: nobody has chosen it."""
_LEAVES_IT = re.compile(
    # It begins with one class, so that the search passes over all other characters quickly.
    r"[IiWw](?<!\w.)(?i:(?<=i)f you(?:['’]d)? (?:want|like|need|prefer|wish)\b|(?<=w)orth (?:checking|trying|a (?:try|look))\b)"
)
"""What the reader of an answer was told to do, or could do, perhaps below words that say where."""
_BOX = re.compile(r"\[[ xX✓~-]\]\s")
"""An item of a checklist, which becomes a step."""
_LIST_ITEM = re.compile(r"^(?:[-*•]|\d{1,3}[.)])\s+")
_DIRECTIVE = re.compile(r"::[a-z][a-z-]{1,40}\{")
"""A line of Codex for its own screen: `::git-commit{…}`."""
_DRAFTS = late(
    r"(?i)\b(?:commit[- ](?:messages?|title|text|nachricht)|(?:suggested|proposed) commit|(?:mensa(?:je|gem)|message|sugest[ãa]o|propuesta) (?:de|du) commit|(?:pull request|pr|mr|release|changelog) (?:title|description|body|text|notes?|entry))\b[^.!?\n]{0,60}[:：]\W*$|(?:提交信息|コミットメッセージ|커밋 메시지)[^。\n]{0,20}[:：]\W*$"
)
"""Words before a message that the agent drafts: what follows is no statement about the work."""
_LEADS = (":", "：")
"""The end of a line that introduces the next one."""
_ITEM = 100
"""Characters up to which the items of a list share a line."""
_TOGETHER = 290
"""Characters of such a line."""
_LEAD = 100
"""Characters of the words before them."""
_BRIEF = 15
"""Characters up to which the name of an item needs the words before its list."""
_FENCES = ("```", "~~~")
_STOPS = (".", "!", "?", "。", "！", "？", "…")
_TITLE_LIMIT = 40
"""Characters of a line without a stop that is the heading of a list behind it."""
_WAY_NAME = 50
"""Characters of a way's heading before the words that introduce a list about it."""


def bids(line: str) -> bool:
    """Whether a line of an answer tells its reader what to do."""
    return (
        _IMPERATIVE.match(line) is not None
        or _RECOMMENDS.search(line) is not None
        or _ADVISES.match(line) is not None
        or _LEAVES_IT.search(line) is not None
    )


class AnswerPassage(NamedTuple):
    """A piece of an answer that is quoted on one line."""

    text: str
    before: str = ""
    """The sentence before it, or the heading above it, with what stands between."""

    def alone(self) -> str:
        """The passage so that it can be read alone: with the words before it, where its subject is there; empty where that is nowhere."""
        if not points_back(self.text):
            return self.text
        whole = self.before + self.text
        return "" if not self.before or points_back(self.before) or len(whole) > _TOGETHER else whole


def points_back(sentence: str) -> bool:
    """Whether the subject of a sentence is in the text before it."""
    return _POINTS_BACK.match(sentence) is not None


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
    """An answer without the parts whose headings say that they only suggest, up to the next heading of their depth."""
    if "\n#" not in text and not text.startswith("#"):
        return text
    lines: list[str] = []
    suggests = 0
    for line in text.split("\n"):
        title = line.lstrip("#")
        depth = len(line) - len(title)
        if depth and title.startswith(" ") and (not suggests or depth <= suggests):
            suggests = depth if _SUGGESTS.match(title) else 0
        if not suggests:
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


class _List(NamedTuple):
    """A list, or one below an item of another, while its lines are read."""

    indent: int
    lead: str | None
    """The words that lead to it; empty where nothing does, None where nothing of it is told."""
    items: list[str]


class _Lists:
    """The lists that the next line may go on with, outermost first."""

    def __init__(self) -> None:
        self._open: list[_List] = []
        self._last = ""

    def begin(self, indent: int, lead: str | None) -> Iterator[AnswerPassage]:
        """Finds the list of an item, one with a lead of its own where it is the first there; ends the lists within it."""
        while self._open and self._open[-1].indent > indent:
            if not self._fold():
                yield from _together(self._open.pop())
        if not self._open or self._open[-1].indent < indent:
            self._open.append(_List(indent, self._below(self._open[-1]) if self._open else lead, []))

    def _below(self, one: _List) -> str | None:
        """The words that lead to a list below the last item of another."""
        if one.lead is None:
            return None
        short = one.lead and len(self._last) < _BRIEF
        return _usable(f"{one.lead}: {self._last}" if short else self._last)

    def add(self, item: str) -> Iterator[AnswerPassage]:
        """Adds an item: a short one that only tells goes on the line of its list."""
        self._last = item.rstrip(":： ")
        explains = _EXPLAINS.search(self._open[-1].lead or "") is not None
        if len(item) > _ITEM or (not explains and section_of_sentence(item) is not SummarySection.CONTEXT):
            yield from self._flush()
            if 12 <= len(item) <= 400 and not item.endswith(_LEADS):
                yield AnswerPassage(item)
        elif len(item) >= 4 and not item.endswith(_LEADS):
            self._open[-1].items.append(_OPEN_END.sub("", item))
        elif " " in item:
            # What it is goes on in a list of its own; a word alone only leads to that.
            self._open[-1].items.append(_HEAD.split(self._last, maxsplit=1)[0])

    def end(self) -> Iterator[AnswerPassage]:
        """Ends all lists."""
        while self._fold():
            pass
        while self._open:
            yield from _together(self._open.pop(0))

    def _fold(self) -> bool:
        """Puts the innermost list behind the item that leads to it, if both are short: alone that lacks its end."""
        if len(self._open) < 2 or not all(one.items for one in self._open[-2:]):
            return False
        above, one = self._open[-2:]
        head = above.items[-1]
        whole = f"{head}: {', '.join(one.items)}"
        if one.lead != head or len(whole) > _ITEM:
            return False
        above.items[-1] = whole
        self._open.pop()
        return True

    def leave_out(self) -> bool:
        """Ends all lists without a line; whether there were any."""
        were_any = bool(self._open)
        self._open.clear()
        return were_any

    def _flush(self) -> Iterator[AnswerPassage]:
        for one in self._open:
            yield from _together(one)
            one.items.clear()


def _passages(text: str, shortest: int) -> Iterator[AnswerPassage]:
    reader = _Reader(shortest)
    for line in prose.lines_outside_code(text, fences=True):
        yield from reader.read(line)
    yield from reader.lists.end()


class _Reader:
    """The lines of an answer, and what leads to the next one."""

    def __init__(self, shortest: int) -> None:
        """`shortest` is the number of characters of the shortest sentence."""
        self.lists = _Lists()
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
        if stripped.startswith(_FENCES):
            # What leads to the code does not lead to what is behind it.
            self._intro = self._heading if self._intro == self._heading else ""
            self._title = ""
            self._amid = True
            return
        mark = _LIST_ITEM.match(stripped)
        item = stripped[mark.end() :].strip() if mark is not None else _marked(stripped)
        if self._draft.holds(stripped, is_item=bool(item)) or not stripped or _DIRECTIVE.match(stripped):
            return
        if item and (
            _BOX.match(item) or self._offers or (_IMPERATIVE.match(item) and _OFFERS.search(self._intro))
        ):
            return
        self._offers = stripped.rstrip("*_ ").endswith(("?", "？", "?:", "？："))
        if item:
            # A line that a picture marks stands above a list behind it.
            indent = -1 if mark is None else len(raw) - len(raw.lstrip())
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
            yield from self.lists.end()
            yield from self._plain(raw, stripped, amid=self._amid and goes_on)
        self._amid = False

    def _lead(self) -> str | None:
        """The words that lead to a list here, as in `_List`."""
        return (
            None
            if _WEIGHED.match(self._intro)
            else _usable(self._intro or self._title) or _usable(self._heading)
        )

    def _is_way(self, line: str) -> bool:
        """Whether a line names one of several ways; such a one, or one that leads to some, has the user choose."""
        if self._offers:
            return False
        way = _WAY.match(line.lstrip("# ")) is not None
        self._offers = way or (line.endswith(_LEADS) and _WAYS.search(line) is not None)
        return way

    def _plain(self, raw: str, stripped: str, *, amid: bool) -> Iterator[AnswerPassage]:
        """The passages of a line that is no item; `amid` says that it goes on with a sentence."""
        led, self._intro, self._title = self._intro, "", ""
        if stripped.startswith("#"):
            self._intro = self._heading = stripped.lstrip("# ").rstrip(":： ")
            self._way_name = self._heading if _WAY.match(self._heading) else ""
        elif stripped.endswith(_LEADS):
            yield from self._leading(raw, stripped)
        elif not stripped.startswith(("|", ">", "<")):
            before = f"{led}: " if led and led == self._heading else ""
            said = [*prose.sentences(raw)]
            if _TITLE.fullmatch(raw.strip()) is not None:
                self._intro = self._heading = stripped
            elif len(said) == 1 and led != self._heading and _usable(led) and not said[0].endswith(_STOPS):
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
                if len(sentence) >= self._shortest and not asked and not _is_code(sentence):
                    yield AnswerPassage(sentence, before)
                before = f"{sentence} "

    def _leading(self, raw: str, stripped: str) -> Iterator[AnswerPassage]:
        """The reports before the words at the end of a line that lead to the next one: they are no part of them."""
        said = [*prose.sentences(raw)]
        for one in said[:-1]:
            if len(one) >= self._shortest and (reached(one) or prose.reports(one)):
                yield AnswerPassage(one)
        if self._offers:
            return
        intro = prose.last_sentence(stripped).rstrip(":：")
        if points_back(intro) and len(said) > 1 and _usable(f"{said[-2]} {intro}"):
            intro = f"{said[-2]} {intro}"
        if self._way_name and not _WEIGHED.match(intro):
            # Alone it does not say that it is about one of several ways.
            intro = f"{cut(self._way_name, _WAY_NAME)}, {intro}"
        self._intro = intro


def _marked(line: str) -> str:
    """A line that a picture marks as an item, with that; else empty."""
    is_item = unicodedata.category(line[:1] or " ") == "So" and not line.endswith(_LEADS)
    return line if is_item else ""


def _usable(lead: str) -> str:
    """Words before a list that say of what it is; else empty."""
    if not 3 <= len(lead) <= _LEAD or prose.announces(lead):
        return ""
    # Without its verb a promise would be told as what is.
    return lead if not _ADDRESSED.match(lead) or _PROMISES.search(lead) is not None else ""


def _together(one: _List) -> Iterator[AnswerPassage]:
    """Short items joined into lines; without words that lead to them those that say themselves of what they are."""
    if one.lead is None:
        return
    lead = f"{one.lead}: " if one.lead else ""
    line = ""
    for item in one.items if lead else filter(_STANDS.search, one.items):
        if not line and points_back(item):
            continue
        if line and len(line) + len(item) > _TOGETHER:
            yield AnswerPassage(line)
            line = ""
        line = f"{line.rstrip('.,;。')}; {item}" if line else lead + item
    if line:
        yield AnswerPassage(line)


def _is_code(sentence: str) -> bool:
    """Whether a sentence has hardly a word outside its code, or comments some."""
    if sentence.startswith(("//", "/*")):
        return True
    outside = re.sub(r"`[^`]*`", " ", sentence) if "`" in sentence else sentence
    return len(prose.content_words(outside)) == 0
