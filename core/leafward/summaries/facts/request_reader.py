"""Reads the user's requests, and tells which of their demands are met by the answers between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.session.entries import NO_ENTRY, EntryIndex
from leafward.summaries.facts.sentences import demands, pasting, prose, responses
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.standing_rules import StandingRules, ends_with_answer
from leafward.summaries.facts.values import ANSWERED, FactKind, Reach, Sighting, Voice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from leafward.summaries.facts.calls.agent_plan import AgentPlan
    from leafward.summaries.facts.sentences.told_steps import ToldSteps
    from leafward.summaries.facts.text_facts import TextFacts
    from leafward.summaries.facts.values import Fact

_WORD = late(r"\w+")
_AGREEING = 2
"""Words beside which a prompt that agrees asks for nothing of its own."""
_DEMANDS = late(r"(?i)\W*(?:never|always|do(?:n['’]t| not)|please|only|use|keep|no)\b")
"""The beginning of a sentence that demands something, whoever said it first."""
_QUOTED = 8
"""Words in a row that nobody types like another by chance."""
_KNOWN_AGAIN = 10
"""Different words that an answer has at least if it is to be known again."""
_AGAIN = 0.7
"""The part of them that it shares then with the next answer, which gives it anew."""


class RequestReader:
    """A reader of the requests of one path, in order, which is told of the replies between them."""

    def __init__(self, texts: TextFacts, plan: AgentPlan, told: ToldSteps, rules: StandingRules) -> None:
        self._texts, self._plan, self._told, self._rules = texts, plan, told, rules
        self._asked_for: dict[tuple[FactKind, str], str] = {}
        """The work and the one-time demands in the requests since the last answer."""
        self._ordered = False
        """Whether one of them asks to write something."""
        self._open = NO_ENTRY
        """The last prompt that asks for more than to go on with the work before it."""
        self._demanded: dict[tuple[FactKind, str], str] = {}
        """The demands of the last request that may have been on the answer before it alone."""
        self._before = ""
        """That answer."""
        self._replied = ""
        """The last reply with words."""
        self._is_answered = False
        """Whether the last message is an answer that asks nothing back, or first reports completion."""

    def replied(self, words: str, *, is_answer: bool) -> None:
        """Records a reply; `is_answer`: it ends the work and asks nothing back, or first reports completion."""
        self._replied, self._is_answered = words or self._replied, is_answer

    def read(self, entry: EntryIndex, text: str) -> list[Sighting]:
        """The facts of a request; work from the request before it counts as done, where that was answered."""
        done: dict[tuple[FactKind, str], str] = {}
        if self._is_answered and not responses.refutes(text):
            done, self._asked_for, self._ordered = self._asked_for | self._met(), {}, False
        closed = [
            Sighting(kind, key, said, Voice.TOLD, entry, outcome=ANSWERED, is_open=False)
            for (kind, key), said in done.items()
        ]
        typed = prose.unwrapped(pasting.divided(text)[0])
        own = list(prose.sentences(typed))
        goes_on = responses.keeps_going(typed.strip())
        agreed = goes_on or responses.agrees(typed.strip())
        self._told.asked(agreed=agreed, goes_on=goes_on)
        if any(map(responses.says_it_works, own)):
            closed += self._told.tried(entry)
        for what in filter(None, map(responses.withdrawn, own)):
            closed += [*self._told.withdrawn(what, entry), *self._plan.withdrawn(what, entry)]
        if any(map(responses.drops_steps, own)):
            closed += self._told.turned_away(entry, last=False)
        elif any(map(responses.drops_it, own)):
            closed += self._told.turned_away(entry, last=True)
        closed += self._rules.revoke(own, entry)
        closed += self._rules.begun(typed.strip(), entry)
        found = list(self._not_repeated(self._texts.typed(text, entry)))
        closed += self._rules.set(found, typed, entry)
        only_agreed = goes_on or (agreed and len(content_words(typed)) <= _AGREEING)
        self._open = self._open if only_agreed or self._rules.alone else entry
        self._ordered |= any(map(demands.orders, own))
        self._asked_for |= {
            (one.kind, one.key): one.text
            for one in found
            if one.voice is Voice.USER
            and (
                (one.kind is FactKind.TODO and one.is_open)
                or (
                    one.kind is FactKind.CONSTRAINT
                    and ends_with_answer(one.text, typed, ordered=self._ordered)
                )
            )
        }
        self._is_answered, self._before = False, self._replied
        self._demanded = {
            (one.kind, one.key): one.text
            for one in found
            if one.voice is Voice.USER
            and one.kind is FactKind.CONSTRAINT
            and not demands.is_general(one.text)
        }
        return [*closed, *found]

    def _met(self) -> dict[tuple[FactKind, str], str]:
        """The demands of the last request that were on the answer before it: the reply is that answer again, changed."""
        if not self._demanded:
            return {}
        before, again = (set(_WORD.findall(one.casefold())) for one in (self._before, self._replied))
        fewer = min(len(before), len(again))
        same = fewer >= _KNOWN_AGAIN and len(before & again) >= _AGAIN * fewer
        return self._demanded if same else {}

    def reach_of(self, rule: Fact, *, answered: bool = False) -> Reach:
        """How far a demand of the user's reaches behind the last message; `answered`: later messages answer the last request."""
        met, key = self._is_answered or answered, (rule.kind, rule.key)
        if met and (key in self._asked_for or (self._is_answered and key in self._met())):
            return Reach.OVER
        if self._rules.lasts(rule):
            return Reach.LASTING
        return Reach.OPEN if rule.last >= self._open and not met else Reach.EARLIER

    def _not_repeated(self, sightings: Iterable[Sighting]) -> Iterator[Sighting]:
        """Sightings in a request without sentences of the last reply, repeated to speak about them, that read like rules."""
        replied: str | None = None
        for one in sightings:
            if one.kind is FactKind.CONSTRAINT and not _DEMANDS.match(one.text):
                words = _WORD.findall(one.text.casefold())
                if len(words) >= _QUOTED:
                    replied = (
                        " ".join(_WORD.findall(self._replied.casefold())) if replied is None else replied
                    )
                    if " ".join(words) in replied:
                        continue
            yield one
