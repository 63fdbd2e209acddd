"""Next steps that the work went on from: in part done, done in the messages that are kept, or passed over by other requests."""

from __future__ import annotations

from bisect import bisect_right
from operator import attrgetter
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.session.entries import NO_ENTRY
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.remaining_work import without_marker
from leafward.summaries.facts.sentences.replies import reports
from leafward.summaries.facts.sentences.responses import agrees
from leafward.summaries.facts.values import FactKind, Sighting, Voice
from leafward.summaries.summarizers.extractive.candidates import OPEN_IN_LIST
from leafward.summaries.summarizers.extractive.turns import FAR, is_answered, keeps_going, turns_of
from leafward.summaries.summarizers.outline import Provenance, SummarySection, line_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.summaries.facts.reader import FactReader
    from leafward.summaries.summarizers.extractive.candidates import Evidence, LineCandidate
    from leafward.summaries.summarizers.extractive.turns import Turn
    from leafward.summaries.survival.spans import SpanMessage

PLANNED = "Planned: "
NOT_DONE = "Not done when this was last summarised: "
_PLANNED = 1.0
"""The worth of such a line alone: nobody said that the step is done."""
_PASSED_OVER = 2
"""Answered requests for other work after which a told step is only what was planned then."""
_COMES_NEXT = late(r"(?i)\W*next(?: steps?)?\b")
"""The beginning of what an answer says comes next."""
_LABEL = late(
    r"(?:Committed: )?(?:(?:Remaining|Next|Still open): )?(?P<label>[A-Z]{1,6}-?\d{1,4})(?=:| [-–—] )"
)
"""The label of a piece of work, by which a plan and a commit name the same."""
_TOLD = 0.6
"""The part of a step's words that an answer which tells of it has."""
_COMMON = 2
"""Words that a request shares at least with the step that it takes up."""
_ASKED_FOR = 0.6
"""The part of its words that it shares with that."""


def settle(
    evidence: Evidence, turns: Sequence[Turn], kept: Sequence[SpanMessage], reader: FactReader
) -> None:
    """Leaves out such steps, or turns them into what was planned; `reader` knows the plan, and has read nothing yet."""
    _leave_out_parts(evidence)
    over = _closed_in(kept, evidence, reader)
    later, work = WorkRequests(turns_of(kept)), WorkRequests(turns)
    left = []
    for candidate in evidence.candidates:
        if candidate.section is SummarySection.NEXT:
            keys = {key for _, key in candidate.carries} or {line_key(candidate.text)}
            listed = is_listed(evidence, candidate)
            if keys <= over or (not listed and later.ask_for(candidate)):
                continue
            if not listed and not evidence.is_carried(candidate) and _is_touched(evidence, candidate, work):
                continue
            place = evidence.place_of(candidate)
            if not listed and (
                work.passed(place) >= _PASSED_OVER
                or (comes_next(candidate.text) and work.went_elsewhere(place))
            ):
                said = max(candidate.sources, default=NO_ENTRY)
                if not (evidence.is_carried(candidate) or evidence.is_left_alone(candidate.text, said)):
                    continue
                put_behind(evidence, candidate)
            elif listed and work.got_others(place):
                if candidate.group != OPEN_IN_LIST:
                    # It stands in its file.
                    continue
                put_behind(evidence, candidate)
            elif not (listed or evidence.is_carried(candidate)) and _may_be_done(evidence, candidate, work):
                put_behind(evidence, candidate)
        elif (
            candidate.provenance is Provenance.SAID
            and comes_next(candidate.text)
            and work.last > evidence.place_of(candidate)
        ):
            # What came next then, in words that name no step.
            continue
        left.append(candidate)
    evidence.candidates = left


_first_of = attrgetter("first")


class WorkRequests:
    """The requests among some that led to work, for all the steps that were told before them."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._working = [turn for turn in turns if turn.works]
        self._asked = [frozenset(content_words(turn.text)) for turn in self._working]
        self._answered = [turn for turn in self._working if is_answered(turn)]
        self._passing = [turn.first for turn in self._working if is_answered(turn) or reports(turn.answer)]
        self._others = [turn.first for turn in self._working if not (keeps_going(turn) or agrees(turn.own))]
        self._got = [turn.first for turn in self._answered if not (keeps_going(turn) or agrees(turn.own))]
        self.last = max((turn.first for turn in self._working), default=-1)
        """The position of the last one; -1 where there is none."""
        self.last_shown = max((turn.entry for turn in turns if turn.works or turn.shows), default=NO_ENTRY)
        """The entry of the last one, or of the last prompt with nothing but output that was pasted."""

    def ask_for(self, candidate: LineCandidate, place: int = -1) -> bool:
        """Whether one behind a position asks for a step."""
        words = frozenset(content_words(candidate.text))
        first = bisect_right(self._working, place, key=_first_of)
        return any(
            len(shared) >= _COMMON and len(shared) >= _ASKED_FOR * len(asked)
            for asked in self._asked[first : first + FAR]
            if (shared := words & asked)
        )

    def answers(self, place: int) -> list[str]:
        """The answers to those behind a position that have one."""
        first = bisect_right(self._answered, place, key=_first_of)
        return [turn.answer for turn in self._answered[first : first + FAR]]

    def passed(self, place: int) -> int:
        """How many behind a position were answered."""
        return len(self._passing) - bisect_right(self._passing, place)

    def went_elsewhere(self, place: int) -> bool:
        """Whether one behind a position asks for something else than to go on."""
        return bool(self._others) and self._others[-1] > place

    def got_others(self, place: int) -> bool:
        """Whether one behind a position asks for something else than to go on, and was answered."""
        return bool(self._got) and self._got[-1] > place


def is_past(evidence: Evidence, candidate: LineCandidate, work: WorkRequests) -> bool:
    """Whether work passed what an earlier summary has as planned once more, or did something about it."""
    return work.passed(evidence.place_of(candidate)) >= _PASSED_OVER or _is_touched(evidence, candidate, work)


def is_listed(evidence: Evidence, candidate: LineCandidate) -> bool:
    """Whether a step is an item of the agent's own plan, or of a checklist in a file: these show themselves when they are done."""
    planned = evidence.reader.plan.open
    return any(
        key in planned or evidence.facts[kind, key].voice is Voice.CODE for kind, key in candidate.carries
    )


def comes_next(text: str) -> bool:
    """Whether a text tells what comes next: only that, until the user asks for something else."""
    return _COMES_NEXT.match(text) is not None


def put_behind(evidence: Evidence, candidate: LineCandidate) -> None:
    """Turns an unticked step, of which nothing tells whether it is done, into what was planned then."""
    candidate.section = SummarySection.CONTEXT
    candidate.provenance = Provenance.EARLIER if evidence.is_carried(candidate) else Provenance.SAID
    candidate.text, candidate.group = PLANNED + candidate.text.removeprefix(NOT_DONE), ""
    candidate.worth = min(candidate.worth, _PLANNED)


def _is_touched(evidence: Evidence, candidate: LineCandidate, work: WorkRequests) -> bool:
    """Whether an answer to work since a step tells of its subject, or that work named something in it: what is left of it would stand there."""
    since = work.answers(evidence.place_of(candidate))
    words = frozenset(content_words(without_marker(candidate.text.removeprefix(PLANNED))))
    if any(len(words.intersection(content_words(answer))) >= _TOLD * len(words) for answer in since):
        return True
    said = max(candidate.sources, default=NO_ENTRY)
    names = any(
        one.kind in {FactKind.PATH, FactKind.IDENTIFIER}
        for one in evidence.reader.texts.prose(candidate.text, Voice.TOLD, said)
    )
    return bool(since) and names and not evidence.is_left_alone(candidate.text, said)


def _may_be_done(evidence: Evidence, candidate: LineCandidate, work: WorkRequests) -> bool:
    """Whether work since, or the user in what was pasted since, may have done a step of an answer."""
    said = max(candidate.sources, default=NO_ENTRY)
    return work.last_shown > said and not evidence.is_left_alone(candidate.text, said)


def _closed_in(kept: Sequence[SpanMessage], evidence: Evidence, reader: FactReader) -> set[str]:
    """The keys of the open steps that are done in the messages that follow the summary."""
    steps = [fact for fact in evidence.facts.values() if fact.kind is FactKind.TODO and fact.is_open]
    if not kept or not steps:
        return set()
    reader.told.tell(
        Sighting(FactKind.TODO, fact.key, fact.text, Voice.TOLD, fact.entry)
        for fact in steps
        if fact.voice in {Voice.TOLD, Voice.AGENT}
    )
    closed: set[str] = set()
    for entry, message in kept:
        for seen in reader.read(entry, message):
            if seen.kind is FactKind.TODO:
                (closed.discard if seen.is_open else closed.add)(seen.key)
    return closed


def _leave_out_parts(evidence: Evidence) -> None:
    """Leaves out, of a step that lists labelled pieces of work, those that were finished since."""
    done: dict[str, int] = {}
    for candidate in evidence.candidates:
        if candidate.tells_work and (named := _LABEL.match(candidate.text)) is not None:
            done[named["label"]] = max(evidence.place_of(candidate), done.get(named["label"], -1))
    if not done:
        return
    for candidate in evidence.candidates:
        if (
            candidate.section is not SummarySection.NEXT
            or "; " not in candidate.text
            or is_listed(evidence, candidate)
        ):
            continue
        place = evidence.place_of(candidate)
        intro, colon, rest = candidate.text.partition(": ")
        if _LABEL.match(f"{intro}: ") is not None:
            intro, colon, rest = "", "", candidate.text
        open_ = [
            part
            for part in rest.split("; ")
            if (named := _LABEL.match(part)) is None or done.get(named["label"], -1) <= place
        ]
        candidate.text = f"{intro}{colon}{'; '.join(open_)}" if open_ else ""
    evidence.candidates = [one for one in evidence.candidates if one.text]
