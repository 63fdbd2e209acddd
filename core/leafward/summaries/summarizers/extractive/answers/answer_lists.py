"""The lists of an answer: their items in lines that can be read alone, behind the words that lead to them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences.replies import announces
from leafward.summaries.summarizers.extractive.answers.sentence_forms import bids, points_back
from leafward.summaries.summarizers.extractive.answers.sentence_sections import section_of_sentence
from leafward.summaries.summarizers.outline import SummarySection

if TYPE_CHECKING:
    from collections.abc import Iterator

_ADDRESSED = re.compile(r"(?i)^(?:now,? )?(?:you|we|they|it|this|that|here|these|there)\b(?:['’]\w+)?")
_PROMISES = re.compile(r"(?i)\b(?:will|would|should|could|can|may|might|to)(?: \w+ly| also| now)?\W*$")
"""The end of words that introduce a list of what is to come, or may."""
_OPEN_END = re.compile(r"[,;] ?(?:or|and|oder|und|ou|et|[yoeи]|или)?$")
"""The sign at which a list goes on, with its `and`."""
_HEAD = re.compile(r" [—–-] |[:：] ")
"""The sign between the name of an item and what it says of it."""
_STANDS = re.compile(r"^`[^`]+`.{8}|[.!?。！？]$")
"""An item that says itself of what it is: it begins with a name, or is a sentence."""
_DOES = re.compile(
    r"(?!(?:This|Its|His|Always|Previous|Process|Class|Access|Less|Unless|Across|Plus|Various|Is|Was|Has|Does)\b)[A-Z][a-z]+s\b(?! (?:is|are|was|were|has|have|do|can|will|now)\b)"
)
"""The beginning of an item whose subject is before its list: what something does."""
_ALTERNATIVE = re.compile(r"(?i)(?:or|alternatively|otherwise)\b\W")
"""The beginning of an item that is another way."""
_EXPLAINS = re.compile(
    r"(?i)\b(?:reasons?|causes?|explanations?|why|gründe|ursachen|raisons|razones|causas)\b|原因|理由"
)
"""The head of a list of reasons: what its items report is not the work."""
_PENDING = late(
    r"(?i)\b(?:not|never|yet|remain(?:s|ing)?|still|pending|missing|open|outstanding|unresolved|untested|deferred|blocked|left|todo|to[- ]do|out of scope"
    r"|noch|nicht|kein\w*|offen\w*|fehl(?:t|en)|pas|reste(?:nt)?|falta[nm]?|pendientes?|todavía|aún|ainda|pendentes?|não|не|ещё)\b|n['’]t\b"
    r"|尚未|还没|未|待|不|まだ|残"
)
"""The sign of words before a list of what is not so: alone its items would say that it is."""
LEADS = (":", "：")
"""The end of a line that introduces the next one."""
_ITEM = 100
"""Characters up to which the items of a list share a line."""
_TOGETHER = 290
"""Characters of such a line."""
_LEAD = 100
"""Characters of the words before them."""
_NAME = re.compile(r"`|\w{2,}\.[a-z]{1,5}\b|[a-z0-9][A-Z]|\w_\w|\w\(\)")
"""A name of something in code, by its form."""
_BRIEF = 15
"""Characters up to which the name of an item needs the words before its list."""


@dataclass(eq=False, slots=True)
class _Advice:
    """How many items of a list, or of the one that it is below, tell the reader what to do."""

    above: _Advice | None
    items: int = 0
    bidding: int = 0

    def count(self, item: str) -> None:
        """Counts an item."""
        self.items += 1
        self.bidding += bids(item)

    def holds(self) -> bool:
        """Whether half of the items do, so that the others are hardly reports."""
        one: _Advice | None = self
        while one is not None:
            if one.items > 1 and 2 * one.bidding >= one.items:
                return True
            one = one.above
        return False


class AnswerPassage(NamedTuple):
    """A piece of an answer that is quoted on one line."""

    text: str
    before: str = ""
    """The sentence before it, or the heading above it, with what stands between."""
    advice: _Advice | None = None
    """What the list that it is of tells its reader to do."""
    of: str = ""
    """The words that lead to its list, where they name what its items are about, and it names nothing."""

    @property
    def bids(self) -> bool:
        """Whether it tells its reader what to do, or stands in a list that does."""
        return bids(self.text) or (self.advice is not None and self.advice.holds())

    def named(self, text: str) -> str:
        """A text of the passage behind the words that name what it is about."""
        return f"{self.of}: {text}" if self.of and len(self.of) + len(text) <= _TOGETHER else text

    def alone(self) -> str:
        """The passage so that it can be read alone: with the words before it, where its subject is there; empty where that is nowhere."""
        if not points_back(self.text):
            return self.named(self.text)
        whole = self.before + self.text
        return "" if not self.before or points_back(self.before) or len(whole) > _TOGETHER else whole


@dataclass(slots=True)
class _List:
    """A list, or one below an item of another, while its lines are read."""

    indent: int
    lead: str | None
    """The words that lead to it; empty where nothing does, None where nothing of it is told."""
    advice: _Advice
    items: list[str] = field(default_factory=list)
    leads: bool = False
    """Whether the last item leads to something that has not come yet."""
    tells: bool = False
    """Whether an item does more than lead to what is below it."""

    def settle(self) -> None:
        """Drops an item that leads to no list, but to code or to nothing."""
        if self.leads:
            self.items.pop()
            self.leads = False


class Lists:
    """The lists that the next line may go on with, outermost first."""

    def __init__(self) -> None:
        self._open: list[_List] = []
        self._last = ""

    @property
    def begun(self) -> bool:
        """Whether the next line may go on with one."""
        return bool(self._open)

    def begin(self, indent: int, lead: str | None) -> Iterator[AnswerPassage]:
        """Finds the list of an item, one with a lead of its own where it is the first there; ends the lists within it."""
        while self._open and self._open[-1].indent > indent:
            self._open[-1].settle()
            if not self._fold():
                yield from _together(self._open.pop())
        if not self._open or self._open[-1].indent < indent:
            above = self._open[-1] if self._open else None
            advice = _Advice(above.advice if above else None)
            self._open.append(_List(indent, self._below(above) if above else lead, advice))
            if above:
                above.leads = False

    def _below(self, one: _List) -> str | None:
        """The words that lead to a list below the last item of another."""
        if one.lead is None:
            return None
        short = one.lead and len(self._last) < _BRIEF
        return usable(f"{one.lead}: {self._last}" if short else self._last)

    def add(self, item: str) -> Iterator[AnswerPassage]:
        """Adds an item: a short one that only tells goes on the line of its list."""
        self._last = item.rstrip(":： ")
        one = self._open[-1]
        one.settle()
        one.advice.count(item)
        explains = _EXPLAINS.search(one.lead or "") is not None
        if len(item) > _ITEM or (not explains and section_of_sentence(item) is not SummarySection.CONTEXT):
            yield from self._flush()
            # Alone another way seems to be chosen, and what something does has no subject.
            told = (
                one.lead is not None
                and not _ALTERNATIVE.match(item)
                and bool(one.lead or not _DOES.match(item))
            )
            if told and 12 <= len(item) <= 400 and not item.endswith(LEADS):
                lead = one.lead or ""
                told_with = _led(lead, item)
                of = lead if told_with == item and _NAME.search(lead) and not _NAME.search(item) else ""
                if told_with:
                    yield AnswerPassage(told_with, advice=one.advice, of=of)
        elif len(item) >= 4 and not item.endswith(LEADS):
            one.items.append(_OPEN_END.sub("", item))
            one.tells = True
        elif " " in item:
            # What it is goes on in a list of its own; a word alone only leads to that.
            one.items.append(_HEAD.split(self._last, maxsplit=1)[0])
            one.leads = True

    def end(self) -> Iterator[AnswerPassage]:
        """Ends all lists."""
        for one in self._open:
            one.settle()
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
        if one.lead != head or len(whole) > _ITEM or not one.tells:
            return False
        above.items[-1], above.tells = whole, True
        self._open.pop()
        return True

    def leave_out(self) -> bool:
        """Ends all lists without a line; whether there were any."""
        were_any = self.begun
        self._open.clear()
        return were_any

    def _flush(self) -> Iterator[AnswerPassage]:
        for one in self._open:
            yield from _together(one)
            one.items.clear()


def _led(lead: str, item: str) -> str:
    """An item that is told on a line of its own, behind the words that lead to it where it needs them; empty where these are too long."""
    if _PENDING.search(lead) is not None:
        return f"{lead}: {item}" if len(lead) + len(item) <= _TOGETHER else ""
    needs = not stands_alone(item) or _DOES.match(item) is not None
    alone = section_of_sentence(item) in {SummarySection.DONE, SummarySection.NEXT} or _HEAD.search(item)
    return item if alone or not (lead and needs) or len(lead) + len(item) > _TOGETHER else f"{lead}: {item}"


def usable(lead: str) -> str:
    """Words before a list that say of what it is; else empty."""
    if not 3 <= len(lead) <= _LEAD or announces(lead) or lead.endswith(("?", "？")):
        return ""
    # Without its verb a promise would be told as what is.
    return lead if not _ADDRESSED.match(lead) or _PROMISES.search(lead) is not None else ""


def stands_alone(item: str) -> bool:
    """Whether an item says itself of what it is."""
    return _STANDS.search(item) is not None and _ALTERNATIVE.match(item) is None


def _together(one: _List) -> Iterator[AnswerPassage]:
    """Short items joined into lines; without words that lead to them those that say themselves of what they are."""
    if one.lead is None or not one.tells:
        return
    lead = f"{one.lead}: " if one.lead else ""
    line = ""
    for item in one.items if lead else filter(stands_alone, one.items):
        if not line and points_back(item):
            continue
        if line and len(line) + len(item) > _TOGETHER:
            yield AnswerPassage(line, advice=one.advice)
            line = ""
        line = f"{line.rstrip('.,;。')}; {item}" if line else lead + item
    if line:
        yield AnswerPassage(line, advice=one.advice)
