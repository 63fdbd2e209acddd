"""Steps that an answer, a list or an earlier summary named, and that were done, taken up or replaced since."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.session.entries import NO_ENTRY, EntryIndex, text_of
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.negation import affirmed
from leafward.summaries.facts.sentences.remaining_work import without_marker
from leafward.summaries.facts.sentences.replies import reports
from leafward.summaries.facts.values import ANSWERED, TAKEN_UP, FactKind, Voice
from leafward.summaries.summarizers.extractive.answers.quotes import answered_before
from leafward.summaries.summarizers.extractive.candidates import PROPOSED
from leafward.summaries.summarizers.extractive.requests import passed_over
from leafward.summaries.summarizers.extractive.requests.passed_over import NOT_DONE, PLANNED, put_behind
from leafward.summaries.summarizers.extractive.turns import is_answered
from leafward.summaries.summarizers.outline import Provenance, SummarySection, line_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leafward.session.entries import Body
    from leafward.summaries.summarizers.extractive.candidates import Evidence, LineCandidate
    from leafward.summaries.summarizers.extractive.turns import Turn
    from leafward.summaries.survival.spans import SpanMessage

_DONE_ALREADY = 0.75
"""The part of a step's words that a later line of finished work has to share."""
_BRACKETS = re.compile(r"\([^()]{0,300}\)")
_SAYS_WHAT = 4
"""Words that make a step specific."""
_MAKES = re.compile(
    r"(?i)^(?:\W*(?:add|create|implement|write|introduce|extract|define|move|modify|update|change|replace|convert|wire|use|import|fix"
    r"|refactor|make|expose|store|handle|support|build|adapt|adjust|extend|rewrite|port|switch|put|let|have)\b)"
)
"""Steps that are done by changing files."""
_PLANS = re.compile(
    r"(?im)^\W{0,4}(?:(?:here(?:['’]s| is)|the|my|our|a|an|new|revised|updated|der|mein|neuer|ein|le|nouveau|el|nuevo) ){0,3}plan\b(?! for (?:this|that|the)\b)[^\n]{0,40}[:：]\W{0,4}\n+"
    r"(?:[ \t]*(?:\d{1,2}[.)]|[-*•]) [^\n]+\n+(?:[ \t]{2,}[^\n]+\n+){0,6}){1,12}?[ \t]*(?:\d{1,2}[.)]|[-*•]) "
    r"|^\W{0,4}(?:新的?|修改后的)?计划(?:如下)?[:：]\W{0,4}\n+[^\n]+\n"
)
"""A plan of several steps in a reply."""
_TO_CONSIDER = re.compile(r"(?i)^\W*next steps? (?:to consider|\((?:optional|suggested|suggestions?)\))")
"""Steps that only may be taken."""
_REMOVES = re.compile(r"(?i)^\W*(?:remove|delete|drop|rename|get rid of|clean up)\b")


def settle_steps(
    evidence: Evidence,
    messages: Sequence[SpanMessage],
    turns: Sequence[Turn],
    written: Mapping[str, int],
    *,
    behind: bool,
) -> None:
    """Leaves out the steps that are over, and puts those that may be behind what is still ahead.

    `written` are the positions at which names were written last; `behind` says that the kept messages have the answer to the work
    around the summary.
    """
    work = passed_over.WorkRequests(turns)
    _leave_out_past(evidence, work)
    _hold_back(evidence, messages)
    ended = _answers(messages, turns)
    _fulfil(evidence, written, ended)
    _take_up(evidence, work)
    _steps(evidence, turns, ended, behind=behind)
    carried = [
        one for one in evidence.candidates if one.section is SummarySection.NEXT and evidence.is_carried(one)
    ]
    if carried and any(_plans(body) for _, body in messages):
        for candidate in carried:
            # The steps of an earlier summary are not those of the plan now.
            put_behind(evidence, candidate)


def _leave_out_past(evidence: Evidence, work: passed_over.WorkRequests) -> None:
    """Leaves out the steps that the user cancelled since, and of a line with several these parts; and what was planned long ago.

    A list of the agent's own shows that itself.
    """
    told = evidence.reader.told
    for candidate in evidence.candidates:
        # At this point only an earlier summary tells anything as planned.
        was_planned = candidate.text.startswith(PLANNED)
        is_step = candidate.section is SummarySection.NEXT and not passed_over.is_listed(evidence, candidate)
        if was_planned and passed_over.is_past(evidence, candidate, work):
            candidate.text = ""
        elif is_step or was_planned:
            said = max(candidate.sources, default=NO_ENTRY)
            left = [part for part in candidate.text.split("; ") if not told.is_cancelled(part, said)]
            candidate.text = "; ".join(left)
    evidence.candidates = [candidate for candidate in evidence.candidates if candidate.text]


def _hold_back(evidence: Evidence, messages: Sequence[SpanMessage]) -> None:
    """Turns the steps of offers that nobody accepted into proposals, and leaves out those told amid work that the agent spoke after."""
    spoke = (
        place
        for place in range(len(messages) - 1, -1, -1)
        if messages[place].message.get("role") == "assistant"
        and text_of(messages[place].message.get("content")).strip()
    )
    last = next(spoke, -1)
    left = []
    for candidate in evidence.candidates:
        if candidate.section is SummarySection.NEXT and not passed_over.is_listed(evidence, candidate):
            place = evidence.place_of(candidate)
            if not evidence.proposed.isdisjoint(candidate.sources) or _TO_CONSIDER.match(candidate.text):
                candidate.section, candidate.provenance = SummarySection.CONTEXT, Provenance.SAID
                candidate.text = PROPOSED + candidate.text
            elif last > place and place in evidence.calls:
                # What comes next amid work is what came next.
                continue
        left.append(candidate)
    evidence.candidates = left


def _answers(messages: Sequence[SpanMessage], turns: Sequence[Turn]) -> list[EntryIndex]:
    """The answers that ended work."""
    ended = [turn.last for turn in turns if turn.works and (is_answered(turn) or reports(turn.answer))]
    before = answered_before(messages, turns)
    return [messages[place].entry for place in ([before] if before else []) + ended]


def _fulfil(evidence: Evidence, written: Mapping[str, int], ended: Sequence[EntryIndex]) -> None:
    """Closes told steps where everything that they name was `written` since; `ended` are the answers that ended work.

    Items of a checklist, or of the agent's own plan, show themselves when they are done.
    """
    over: set[int] = set()
    for candidate in evidence.candidates:
        if candidate.section is not SummarySection.NEXT or candidate.carries:
            continue
        place = evidence.place_of(candidate)
        seen = evidence.reader.texts.prose(candidate.text, Voice.TOLD, NO_ENTRY)
        names = {one.key.removesuffix("()") for one in seen if one.kind is FactKind.IDENTIFIER}
        fact = evidence.facts.get((FactKind.TODO, line_key(candidate.text)))
        if fact is not None and not fact.is_open and fact.outcome == ANSWERED:
            over.add(id(candidate))
            continue
        written_since = bool(names) and all(written.get(name, -1) > place for name in names)
        if written_since and _MAKES.match(candidate.text):
            candidate.section = SummarySection.DONE
        elif (
            evidence.is_carried(candidate) and evidence.reader.told.is_taken_up(candidate.text)
        ) or _is_taken_up(evidence, candidate):
            if written_since or evidence.reader.told.is_run(candidate.text) or _is_answered(candidate, ended):
                over.add(id(candidate))
            else:
                # The step's file may have been changed for another reason.
                put_behind(evidence, candidate)
    evidence.candidates = [candidate for candidate in evidence.candidates if id(candidate) not in over]


def _take_up(evidence: Evidence, work: passed_over.WorkRequests) -> None:
    """Leaves out told next steps that the user requested since: they are in progress, or done.

    Items of a checklist, or of the agent's own plan, show themselves when they are done.
    """
    evidence.candidates = [
        candidate
        for candidate in evidence.candidates
        if candidate.section is not SummarySection.NEXT
        or passed_over.is_listed(evidence, candidate)
        or not work.ask_for(candidate, evidence.place_of(candidate))
    ]


def _steps(evidence: Evidence, turns: Sequence[Turn], ended: Sequence[EntryIndex], *, behind: bool) -> None:
    """Leaves out a step when a later line of finished work matches it, or several match its parts.

    `ended` are the answers that ended work; `behind` says that the kept messages have the one to the work around the summary.
    """
    done = [
        (evidence.place_of(candidate), frozenset(content_words(affirmed(candidate.text))))
        for candidate in evidence.candidates
        if candidate.tells_work
    ]

    def is_done(candidate: LineCandidate) -> bool:
        # Brackets only tell how to do a step: the line of the finished work may leave them out.
        told = candidate.text.removeprefix(NOT_DONE)
        bare = without_marker(_BRACKETS.sub(" ", told))
        words = frozenset(content_words(bare))
        words = words if len(words) >= _SAYS_WHAT else frozenset(content_words(told))
        place = evidence.place_of(candidate)
        behind = [other for later, other in done if later > place]
        if len(words) > 1 and any(len(words & other) >= _DONE_ALREADY * len(words) for other in behind):
            return True
        if _REMOVES.match(candidate.text) is None:
            return False
        verb = next(iter(content_words(candidate.text)), "")
        return words <= frozenset().union(
            *(other for other in behind if verb in other and len(other & words) > 1)
        )

    evidence.candidates = [
        candidate
        for candidate in evidence.candidates
        if not (
            candidate.section is SummarySection.NEXT
            or (candidate.section is SummarySection.IN_PROGRESS and evidence.is_carried(candidate))
        )
        or not is_done(candidate)
    ]
    plan = evidence.reader.plan
    all_done = plan.is_worked_through
    # The work around the summary goes on before the first request after it.
    went_on = evidence.reader.told.answers > 0 and (not turns or turns[0].first > 0)
    # The same where the first request only agrees to it.
    went_on |= bool(turns) and not turns[0].tells and turns[0].works and is_answered(turns[0])
    if not (all_done or went_on or behind or plan.made):
        return
    # Next steps of an earlier summary may have been done in other words, and are no longer part of the plan.
    over: set[int] = set()
    for candidate in evidence.candidates:
        if (
            candidate.section is not SummarySection.NEXT
            or candidate.carries
            or not evidence.is_carried(candidate)
        ):
            continue
        if _is_open(evidence, candidate):
            if all_done:
                over.add(id(candidate))
        elif plan.made or _is_answered(candidate, ended):
            over.add(id(candidate))
        else:
            put_behind(evidence, candidate)
    evidence.candidates = [candidate for candidate in evidence.candidates if id(candidate) not in over]


def _plans(body: Body) -> bool:
    """Whether a message is a reply with a plan of several steps."""
    if body.get("role") != "assistant":
        return False
    text = text_of(body.get("content"))
    return ("lan" in text or "计划" in text) and _PLANS.search(text) is not None


def _is_open(evidence: Evidence, candidate: LineCandidate) -> bool:
    fact = evidence.facts.get((FactKind.TODO, line_key(candidate.text)))
    return fact is not None and fact.is_open


def _is_taken_up(evidence: Evidence, candidate: LineCandidate) -> bool:
    """Whether the content of a line from the span itself was worked on since."""
    fact = evidence.facts.get((FactKind.TODO, line_key(candidate.text)))
    return fact is not None and not fact.is_open and fact.outcome == TAKEN_UP


def _is_answered(candidate: LineCandidate, ended: Sequence[EntryIndex]) -> bool:
    """Whether the work behind a line was answered: a step that is still open would be in that answer."""
    return bool(ended) and ended[-1] > max(candidate.sources, default=NO_ENTRY)
