"""The model's statements as lines of a summary."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.cancellation import unless_cancelled
from leafward.base.late_pattern import late
from leafward.session.entries import Body, EntryIndex, blocks_of, tool_calls
from leafward.summaries.facts.sentences import replies
from leafward.summaries.facts.sentences.corrections import standing_part
from leafward.summaries.facts.sentences.labels import names_cause
from leafward.summaries.summarizers.extractive.answers.carried_out import takes_up
from leafward.summaries.summarizers.extractive.answers.passages import passages, without_suggestions
from leafward.summaries.summarizers.extractive.answers.sentence_forms import bids, only_leads, points_back
from leafward.summaries.summarizers.extractive.answers.sentence_sections import (
    is_finished,
    is_guessed,
    section_of_sentence,
    tells_runs_alone,
    without_opening,
)
from leafward.summaries.summarizers.extractive.candidates import (
    FROM_PLAN,
    PROPOSED,
    Evidence,
    add,
)
from leafward.summaries.summarizers.extractive.turns import asks_back
from leafward.summaries.summarizers.outline import (
    Provenance,
    SummarySection,
    is_drawn,
    read_outline,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    from leafward.summaries.summarizers.extractive.answers.answer_lists import AnswerPassage
    from leafward.summaries.summarizers.extractive.answers.carried_out import CarriedOut
    from leafward.summaries.summarizers.extractive.turns import Turn
    from leafward.summaries.survival.spans import SpanMessage

_TALK = re.compile(
    r"(?i)^\W*(?:i\b|you\b|your\b|we\b|let\b|here(?:['’]s| is| are)\b|(?:with )?th[eo]se\b|this\b|that\b|it(?! is\b)\b|they\b|but\b|or\b|so\b|and\b|if\b|what\b|my\b|try\b|see\b|set\b|check\b"
    r"|(?:das|dies(?:e[mnrs]?)?|cela|ça|ceci|esto|eso|ello|ele|ela|eles|elas|isso|isto|yeh?|isk[aeio])\b|c['’]est\b|これ|それ|この|その|这|那|它|이것|그것|이는)"
)
"""Sentences that depend on the text around them."""
_HEADING = re.compile(r"(?m)^#{1,6} ")
_QUOTED = re.compile(
    r"^(?:Waiting for the user|Asked(?: before)?|Last request(?: before the messages that were kept|, answered(?: with a question)?)?|Last reply|Said last): "
)
_OF_A_BRANCH: dict[SummarySection, tuple[SummarySection, float, str]] = {
    SummarySection.GOAL: (SummarySection.CONTEXT, 1.5, "A branch that was left: "),
    SummarySection.CONSTRAINTS: (SummarySection.CONSTRAINTS, 2.5, ""),
    SummarySection.DONE: (SummarySection.DONE, 0.5, "On a branch that was left: "),
    SummarySection.IN_PROGRESS: (SummarySection.CONTEXT, 0.4, "Open on a branch that was left: "),
    SummarySection.BLOCKED: (SummarySection.CONTEXT, 0.4, "Open on a branch that was left: "),
    SummarySection.DECISIONS: (SummarySection.DECISIONS, 1.0, ""),
    SummarySection.NEXT: (SummarySection.CONTEXT, 0.4, "Open on a branch that was left: "),
    SummarySection.CONTEXT: (SummarySection.CONTEXT, 0.3, ""),
}
"""The new section, the worth and the lead of a branch summary's lines.

The branch's goal and next steps are not the current ones.
"""
REQUEST_LIMIT = 280
"""Characters of a request that are quoted."""
OPEN_LIMIT = 700
"""Characters of a request that is open: whoever goes on needs its details."""
OUTCOMES = (SummarySection.DONE, SummarySection.DECISIONS, SummarySection.NEXT)
_POINTS_BACK = late(
    r"(?i)^\W*(?:(?:i|we)(?:['’]ve| have)? )?(?:\w+ed|put|made|cut|rewrote|wrote|took) (?:them|it)\b"
)
"""A report whose object only the line before it names."""
_CHOOSES = late(r"(?i)^\W*(?:i|we|let['’]?s)\b|\b(?:should|would|will|going to)\b")
"""A choice, by who takes it, or by its mood."""
_IS_PLAN = late(
    r"(?i)\s*(?:<proposed_plan>|(?:#{1,4} |\*\*)[^\n]{0,80}?(?:\b(?:plan|plano|piano|план)\b(?! (?:is )?(?:executed|done|complete\w*|implemented|updated))|计划|方案|計画|계획)"
    r"|(?:here(?:['’]s| is)|this is|below is) (?:the|my|a|an) (?:\w+ ){0,3}plan\b)"
)
"""The beginning of a plan: the mark of Codex, a title, or words that give one."""
_AGED = 2
"""Later requests with work after which a statement is not told any more, unless nobody named since what it names."""
_OLD = 4
"""Later requests after which hardly a statement is needed."""
_WHOLE = 8
"""Words from which a statement is no half thought."""


def answers(
    evidence: Evidence,
    messages: Sequence[SpanMessage],
    turns: Sequence[Turn],
    carried: CarriedOut,
    stop: Callable[[], bool],
    *,
    goes_on: bool,
) -> None:
    """Adds lines of the replies that ended a turn, in the sections of their sentences. Raises Cancelled.

    A reply between calls is about the next one: the end of its turn says what came of it. `goes_on` says that the messages
    that are kept went on with the work.
    """
    ends = _TurnEnds.of(evidence, messages, turns, carried, goes_on=goes_on)
    for place, (entry, message) in enumerate(unless_cancelled(messages, stop)):
        role = message.get("role")
        # A turn without a reply ends with the request itself.
        if role != "branchSummary" and (role != "assistant" or place not in ends.final):
            continue
        recency = 0.4 + 0.6 * (place + 1) / len(messages)
        end = ends.end_at(place)
        if end.proposed:
            evidence.proposed.add(entry)
        for text in map(standing_part, texts_of(message)):
            end = end._replace(plans=_IS_PLAN.match(text) is not None)
            outline = _HEADING.search(text) if role == "branchSummary" else None
            if outline is not None:
                _branch(evidence, entry, text[outline.start() :], recency)
                continue
            for passage in passages(without_suggestions(text) if end.over else text):
                _quote(evidence, entry, passage, end, recency)


class _TurnEnd(NamedTuple):
    """The reply that ended a turn, in the order of the work."""

    worked: bool
    """Whether work was done in its turn."""
    over: bool
    """Whether later work may have changed the state that it tells."""
    proposed: bool
    """Whether it offers something that nobody accepted."""
    chosen: bool
    """Whether its choices were taken: work carried them out, or it reports work."""
    plans: bool
    """Whether it is a plan."""
    calls: bool
    """Whether it makes calls itself."""
    aged: bool
    """Whether so many later requests had work that what it tells has hardly stayed."""
    old: bool
    """Whether so many requests followed that what it tells is hardly needed."""
    overtaken: bool
    """Whether files were changed, or other work began, behind it."""
    agreed: bool
    """Whether the next request took up what it says."""
    talk: bool
    """Whether the span has no call at all."""


class _TurnEnds(NamedTuple):
    """The replies of a span that ended a turn, by position."""

    calling: AbstractSet[int]
    """Where calls were made."""
    final: AbstractSet[int]
    """Where turns ended."""
    before: int
    """Where the first request is; at the end of the span where there is none."""
    working: AbstractSet[int]
    """Where turns with work ended."""
    proposed: AbstractSet[int]
    """Where a turn ended with an offer that was not accepted."""
    agreed: AbstractSet[int]
    """Where a turn ended with what the next request took up."""
    reporting: AbstractSet[int]
    """Where a turn with work ended with a report of it."""
    carried: CarriedOut
    over_until: int
    """The position up to which later work may have changed what was said of the state."""
    since: int
    """Where the last request with work is."""
    aged_until: int
    """The position up to which answers are aged."""
    old_until: int
    """The position up to which they are old."""

    @classmethod
    def of(
        cls,
        evidence: Evidence,
        messages: Sequence[SpanMessage],
        turns: Sequence[Turn],
        carried: CarriedOut,
        *,
        goes_on: bool,
    ) -> _TurnEnds:
        """The replies of a span; `goes_on` as in `answers`."""
        before = turns[0].first if turns else max(1, len(messages))
        # Messages before the first request belong to a turn that began before the span.
        early = [at for at, reply in enumerate(messages[:before]) if reply.message.get("role") == "assistant"]
        # A mere question leaves the answer before it under discussion.
        current = next((turn.first for turn in reversed(turns[-2:]) if turn.works), before)
        # Later work may have changed the state at the end of a turn.
        since = max((turn.first for turn in turns if turn.works or turn.waits), default=0)
        return cls(
            evidence.calls.keys(),
            final={turn.last for turn in turns}.union(early[-1:]),
            before=before,
            working={turn.last for turn in turns if turn.works},
            proposed={
                turn.last
                for turn, then in zip(turns, [*turns[1:], None], strict=False)
                if _is_offer(turn, then)
            },
            agreed={turn.last for turn, then in pairwise(turns) if takes_up(then)},
            reporting={turn.last for turn in turns if turn.works and replies.reports(turn.answer)},
            carried=carried,
            over_until=len(messages) if goes_on else max(since, current),
            since=since,
            aged_until=next(
                islice((turn.first for turn in reversed(turns) if turn.works or turn.waits), _AGED - 1, None),
                0,
            ),
            old_until=turns[-_OLD].first if len(turns) > _OLD else 0,
        )

    def end_at(self, place: int) -> _TurnEnd:
        """The end of a turn at a position."""
        return _TurnEnd(
            worked=place in self.working or place < self.before,
            over=place < self.over_until,
            proposed=place in self.proposed,
            chosen=place in self.reporting
            or (place not in self.proposed and self.carried.is_carried_out(place, told_last=True)),
            plans=False,
            calls=place in self.calling,
            aged=place < self.aged_until,
            old=place < self.old_until,
            overtaken=place < max(self.carried.last_change, self.since),
            agreed=place in self.agreed,
            talk=not self.calling,
        )


def _quote(
    evidence: Evidence, entry: EntryIndex, passage: AnswerPassage, end: _TurnEnd, recency: float
) -> None:
    """Adds a line of a reply in the section that it belongs to there, if it is worth telling and can be read alone."""
    line = passage.text
    if _leads(line):
        return
    said = _said(line)
    section = _section_in(end, said, line)
    if section is None:
        return
    reports = section is SummarySection.DONE
    if reports:
        line = without_opening(line)
        if _POINTS_BACK.match(line):
            return
        line = passage.named(line)
    proposes = section is SummarySection.DECISIONS and not (end.chosen or is_finished(line))
    context = section is SummarySection.CONTEXT or proposes
    # A choice from before later work is no more than what the reply said then, unless the user agreed to it.
    overtaken = section is SummarySection.DECISIONS and end.overtaken and not (end.agreed and _chooses(line))
    section = SummarySection.CONTEXT if context or reports or overtaken else section
    if end.old and section is SummarySection.CONTEXT and not names_cause(line):
        return
    if (proposes or not context) and points_back(line):
        line = passage.alone()
        before = passage.before.rstrip()
        evidence.candidates = [
            one
            for one in evidence.candidates
            if not (
                line
                and one.sources == (entry,)
                and one.text == before
                and one.section in {section, SummarySection.CONTEXT}
            )
        ]
    if context and not (
        (proposes or _states_something(end, said, bidding=passage.bids))
        and (not end.aged or names_cause(line) or evidence.is_left_alone(line, entry))
    ):
        return
    add(
        evidence,
        section,
        line,
        (entry,),
        recency * (0.3 if context and not proposes else 1.0),
        # A statement that names nothing of the span counts only where work was done, or none at all.
        names_something=context and not (proposes or end.talk or end.worked),
        provenance=Provenance.SAID,
        reports=reports,
        lead=PROPOSED * (proposes and _chooses(line)) or FROM_PLAN * (context and end.plans),
    )


def _chooses(line: str) -> bool:
    """Whether a line with a choice and its reason says what is to be done, and not only how things are."""
    return bids(line) or _CHOOSES.search(line) is not None


def _section_in(end: _TurnEnd, said: _Said, line: str) -> SummarySection | None:
    """The section of a line in a reply; None where it is about the next call."""
    section = said.section
    if section in OUTCOMES[:2] and end.calls and replies.accompanies(line):
        return None
    if said.of_runs and section is SummarySection.DONE:
        # The runs themselves are recorded.
        return SummarySection.CONTEXT
    return section


def _states_something(end: _TurnEnd, said: _Said, *, bidding: bool) -> bool:
    """Whether a line that belongs to no other section still holds."""
    if not said.alone:
        return False
    if end.over and said.passing:
        # The end of the last turn tells the final state.
        return False
    # Nobody chose what it bids, or it was done.
    return not (bidding and (end.proposed or end.over))


def answered_before(messages: Sequence[SpanMessage], turns: Sequence[Turn]) -> int:
    """The position of the answer that ended a turn from before the span; 0 where there is none."""
    for place in range((turns[0].first if turns else len(messages)) - 1, 0, -1):
        message = messages[place].message
        if message.get("role") == "assistant":
            text = "\n".join(texts_of(message))
            return place if text.strip() and not any(tool_calls(message)) and not asks_back(text) else 0
    return 0


def _is_offer(turn: Turn, then: Turn | None) -> bool:
    """Whether an answer proposes something, and the next request, if there is one, does not accept it."""
    if not asks_back(turn.answer) or replies.reports(turn.answer):
        return False
    return then is None or not takes_up(then)


class _Said(NamedTuple):
    """The classification of a line of an answer, independent of its place."""

    section: SummarySection
    alone: bool
    """Whether it states something, and is understandable without the text around it."""
    passing: bool
    """Whether it describes a state at that moment."""
    of_runs: bool
    """Whether it tells the outcome of runs, and no work."""


@lru_cache(maxsize=1 << 13)
def _said(line: str) -> _Said:
    return _Said(
        section_of_sentence(line),
        len(line.split()) >= _WHOLE and not (_TALK.match(line) or points_back(line) or is_guessed(line)),
        replies.tells_a_passing_state(line),
        tells_runs_alone(line),
    )


@lru_cache(maxsize=1 << 13)
def _leads(line: str) -> bool:
    """Whether a line is a drawing, or leads to the next one."""
    return is_drawn(line) or replies.announces(without_opening(line)) or only_leads(line)


def _branch(evidence: Evidence, entry: EntryIndex, text: str, weight: float) -> None:
    """Adds the lines of an abandoned branch's summary. Its goal is the goal only where nothing else is."""
    evidence.left.add(entry)
    aimless = not any(candidate.section is SummarySection.GOAL for candidate in evidence.candidates)
    for section, raw, is_open in read_outline(text):
        line = without_opening(_QUOTED.sub("", raw))
        if len(line) < 8 or line == "(none)" or line.endswith((":", "：")):
            continue
        if section is SummarySection.GOAL and aimless:
            add(evidence, section, line, (entry,), 3.0, first=True, limit=REQUEST_LIMIT)
            continue
        if is_open is False and section in {SummarySection.NEXT, SummarySection.IN_PROGRESS}:
            section = SummarySection.DONE
        target, worth, lead = _OF_A_BRANCH[section]
        add(evidence, target, line, (entry,), worth * weight, limit=240, lead=lead)


def texts_of(message: Body) -> Iterator[str]:
    """What a message says, by its blocks."""
    if message.get("role") == "branchSummary":
        yield str(message.get("summary") or "")
        return
    for block in blocks_of(message.get("content")):
        text = block.get("text") if block.get("type") == "text" else None
        if isinstance(text, str):
            yield text
