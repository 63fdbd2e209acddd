"""The user's requests as lines: the current one, the last one, and the outcomes of the others."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from leafward.summaries.facts import demands, prose
from leafward.summaries.facts.outcomes import files_changed
from leafward.summaries.facts.prose import content_words
from leafward.summaries.facts.values import DROPPED, FactKind
from leafward.summaries.summarizers.candidates import BEFORE_KEPT, OUTCOME, Evidence, add
from leafward.summaries.summarizers.exchange import closing
from leafward.summaries.summarizers.open_requests import (
    ERRAND,
    LOOKS,
    goal_among,
    is_over,
    is_unchallenged,
    leads_to,
    obstacle,
    open_aside,
    settles,
    stands_for_an_aside,
)
from leafward.summaries.summarizers.outline import LINE_LIMIT, SummarySection, cut, named_files
from leafward.summaries.summarizers.passages import bids, quotable
from leafward.summaries.summarizers.quotes import REQUEST_LIMIT
from leafward.summaries.summarizers.sentence_sections import section_of_sentence
from leafward.summaries.summarizers.turns import (
    CHOOSES,
    SUBSTANTIAL,
    TELLING,
    Turn,
    asks_back,
    goal_of,
    is_answered,
    last_of,
    position,
    question_of,
    turn_before,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leafward.summaries.summarizers.candidates import FileWork
    from leafward.summaries.survival.spans import SpanMessage

LAST_REQUEST = "Last request"
NOTHING_OPEN = "The last request is answered; go on with what is asked next."
"""The goal where nothing that was asked is open."""
_NOTHING_OPEN_BEFORE = "What was asked before the messages that were kept is answered; go on with these."
SETTLED = (NOTHING_OPEN, _NOTHING_OPEN_BEFORE)
"""The goals of ours that say that there is none."""
_GO_AHEAD = re.compile(
    r"(?i)\b(?:start|begin|go ahead|proceed|continue)\b(?: \w+)? implement|\bimplement (?:it|this|that)\b"
)
"""A go-ahead without further words refers to the plan before it."""
_NAMES = re.compile(r"[\w-]+(?:\.[\w-]+)*")
_WAY_LIMIT = 140
_OUTCOME = 120
"""Characters of a request's outcome."""
_TITLE = re.compile(r"\s*#{1,6} ([^\n]{3,100}?)[ \t]*(?:\n|$)")
_STOPS = (".", "!", "。", "！")
_PAST = re.compile(
    r"(?i)\b(?:was|were|had|did|didn['’]t|wasn['’]t|weren['’]t|used to|the (?:\w+ )?(?:problem|issue|cause|bug|reason)|because|fail\w*|broken|still|my (?:mistake|bad|fault)|sorry|war|waren|hatte|était|avait)\b"
)
"""A sign that a statement is about the trouble that was mended."""
_EARLIER = 180
"""Characters of an earlier request, so that its outcome has room on the line."""
_BRIEFLY = 100
"""Characters of a request that the goal holds already."""
_HEADING = re.compile(r"\s#{2,} ")
_ENDS = re.compile(r"(?<!\s\d)(?<!\s\d\d)(?<=[.!?]) |(?<=[。！？])| (?=(?:[-*•]|\d{1,2}[.)]|#{1,6}) \S)")
"""The end of a sentence, or the place before an item or a heading, in a text on one line."""
_ALONE = 60
"""Characters of a request from which it is understood alone."""
_OFFER = 160
"""Characters of an offer that was accepted."""
_ASKED_FIRST = " (asked first: "
_REMARK = REQUEST_LIMIT - _OUTCOME - len(_ASKED_FIRST)
"""Characters of a request beside which there is room for the first one."""
_NUMBER = re.compile(r"(?i)^#?(\d{1,2}|[a-d])(?:[.):,]|\s*$|\s+(?:please|bitte|s['’]il)\b)")
"""The beginning of a reply that chooses a way by its number alone."""
_LISTS = re.compile(r"(?i)(?<![\w.])(?:2[.)]|b\))\s")
"""A sign of a list in the user's own text."""
DECLINED = "Declined by the user: "
_SAID_TO = "Answered by the user: "
_GOING_ON = frozenset(
    content_words("begin start go proceed continue apply do run this that weitermachen anfangen loslegen")
)
"""Words of an offer that does not name the work."""
_SHARED = 2
_MOST = 0.6
"""The part of a request's words that an offer has to share to be accepted by it later."""
_NO = 1.2
"""The worth of a line about a declined offer."""
_ASKED = 4
"""Earlier requests that may be quoted."""


class SameWork:
    """The turns of a span that changed the same files, or what an earlier one's answer tells of."""

    def __init__(
        self, messages: Sequence[SpanMessage], failed: frozenset[str], cwd: str, files: Mapping[str, FileWork]
    ) -> None:
        """`failed` are the failed calls, `files` the work on each file."""
        self._messages, self._failed, self._cwd, self._files = messages, failed, cwd, files

    def goes_on(self, begun: Turn, goal: Turn) -> bool:
        """Whether a later request's work changed a file that the first one's work changed, or the work just before it."""
        first = set(self._changed(begun.first, begun.last))
        if not first:
            return False
        since = set(self._changed(goal.first, len(self._messages) - 1))
        place = goal.first
        while not since and place > begun.last:
            place -= 1
            since = set(self._changed(place, place))
        return not first.isdisjoint(since) or (not since and place == begun.last)

    def changed(self, turn: Turn) -> list[str]:
        """The files that the work on a request changed; one that changed none and was followed by others may be a remark."""
        return self._changed(turn.first, turn.last)

    def overtakes(self, statement: str, turn: Turn) -> bool:
        """Whether a file or a name of code in a statement was written anew after the turn that it ends."""
        named = set(_NAMES.findall(statement))
        return any(
            (work.changed > turn.last and path.rpartition("/")[2] in named)
            or any(work.names.get(name, -1) > turn.last for name in named)
            for path, work in self._files.items()
        )

    def _changed(self, begin: int, end: int) -> list[str]:
        return list(
            dict.fromkeys(
                path
                for _, message in self._messages[begin : end + 1]
                for path in files_changed(message, self._failed, self._cwd)
            )
        )


def requests(
    evidence: Evidence, turns: Sequence[Turn], same: SameWork, *, first: bool, is_split: bool, since: bool
) -> None:
    """Adds the user's requests: the current one as the goal, the last ones as work in progress; see `goal_among`.

    `since` says that the kept messages have a later one.
    """
    lead = f"{LAST_REQUEST}{BEFORE_KEPT * since}: "
    goal = goal_among(turns, is_split=is_split) if first else None
    latest = last_of(turns)

    def settled(turn: Turn | None) -> bool:
        """Whether a request is over, and no step of the agent's own list is open."""
        return (
            turn is not None
            and not (is_split or evidence.reader.plan.open)
            and settles(turns, turn, changed=bool(same.changed(turn)))
        )

    all_over = settled(latest)
    answered = []
    if goal is not None and is_over(goal, turns):
        # A request that is over is no goal.
        answered.append(goal)
        goal = open_aside(turns)
    if goal is not None and latest is not None and goal is not latest:
        of_latest = leads_to(turns, goal, latest)
        # Where a step was agreed to that the answer to a question offered, the question does not say what it is for.
        consented = latest is not turns[-1] and demands.asks(latest.text)
        if (all_over and of_latest) or (
            not (of_latest or consented) and settled(goal) and is_unchallenged(goal, turns)
        ):
            # Answered too: the last request says more of what is wanted now.
            answered.append(goal)
            goal = latest
    if goal is latest and all_over:
        goal = None
    for turn in answered:
        _asked(evidence, turns, turn, 1.0, same)
    if goal is not None:
        text = _without_dropped(evidence, _goal_text(turns, goal, same))
        add(evidence, SummarySection.GOAL, text, (goal.entry,), 3.0, first=True, limit=REQUEST_LIMIT)
    _earlier(evidence, [turn for turn in turns if turn not in (goal, latest, *answered)], same)
    if stopped := obstacle(turns, since=since):
        add(evidence, SummarySection.BLOCKED, stopped, (turns[-1].entry,), 2.0)
    if latest is None:
        return
    if first and goal is None and all_over:
        text = _with_outcome(_last_text(turns, latest), closing(turns, latest), same)
        _last(evidence, SummarySection.DONE, text, latest, lead)
        nothing = _NOTHING_OPEN_BEFORE if since else NOTHING_OPEN
        add(evidence, SummarySection.GOAL, nothing, (latest.entry,), 3.0, first=True)
        return
    if latest.left:
        return
    agreed = turns[-1]
    goes_on = agreed.works or (agreed.waits and (agreed.shows or prose.keeps_going(agreed.own)))
    if agreed is not latest and goes_on and not is_answered(agreed):
        _agreed(evidence, turns, goal, latest, lead, same)
    else:
        _latest(evidence, turns, goal, latest, lead, same)


def _goal_text(turns: Sequence[Turn], goal: Turn, same: SameWork) -> str:
    """The goal, with what was asked first or asked back where it does not tell its purpose alone."""
    text = _with_way(_whole_sentences(goal.text, REQUEST_LIMIT), goal.own, turn_before(turns, goal))
    begun = goal_of(turns)
    if begun is goal:
        begun = None
    if stands_for_an_aside(goal, turns):
        asked = _whole_sentences(begun.text, _OUTCOME) if begun is not None else ""
        return (
            f"{cut(_whole_sentences(text, _REMARK), _REMARK)}{_ASKED_FIRST}{cut(asked, _OUTCOME)})"
            if asked
            else text
        )
    if begun is not None and goal.words < TELLING and _GO_AHEAD.search(goal.text):
        # Sentences that only ask to read something say less.
        wanted = (one for one in prose.sentences(begun.text) if not LOOKS.match(one))
        return f"{text}{_ASKED_FIRST}{next(wanted, begun.text)[:_OUTCOME]})"
    if offer := _accepted(turns, goal):
        return f"{cut(text, _REMARK)} (asked: {offer})"
    if (
        begun is not None
        and begun.first < goal.first
        and (
            (begun.words >= TELLING and same.goes_on(begun, goal))
            # Nothing of the request is cut for what was asked first.
            or (goal is not turns[-1] and len(text) <= _REMARK and not same.changed(goal))
        )
    ):
        # Alone it does not name the purpose of the work.
        asked = _whole_sentences(_HEADING.split(begun.text)[0], _OUTCOME)
        return f"{cut(_whole_sentences(text, _REMARK), _REMARK)}{_ASKED_FIRST}{cut(asked, _OUTCOME)})"
    if question := _question_before(turns, goal):
        return f"{text} (asked: {question})"
    return _with_subject(turns, goal, text)


def _without_dropped(evidence: Evidence, text: str) -> str:
    """A request without the sentences that set a rule which no longer holds, where others are left."""
    said = list(prose.sentences(text))
    dropped = [
        one
        for one in said
        if (rule := evidence.facts.get((FactKind.CONSTRAINT, prose.sentence_key(one)))) is not None
        and rule.outcome == DROPPED
    ]
    if not dropped or len(dropped) == len(said):
        return text
    for one in dropped:
        text = text.replace(one, "").strip()
    return text.replace("  ", " ")


def _earlier(evidence: Evidence, turns: Sequence[Turn], same: SameWork) -> None:
    """Adds the newest answered requests among those between the goal and the last one."""
    total = max(1, evidence.size)
    earlier = [
        turn
        for turn in turns
        if turn.works
        and is_answered(turn)
        and turn.words > SUBSTANTIAL
        # An answered question is closed, and so is a request to show something.
        and not demands.asks(turn.text)
        and not demands.refutes(turn.own)
        and not LOOKS.match(turn.text)
    ]
    for turn in earlier[-_ASKED:]:
        _asked(evidence, turns, turn, 0.2 + 0.5 * (turn.first + 1) / total + 0.03 * min(12, turn.words), same)


def _asked(evidence: Evidence, turns: Sequence[Turn], turn: Turn, worth: float, same: SameWork) -> None:
    """Adds an answered request with its outcome."""
    text = _with_outcome(
        cut(_whole_sentences(_heading_apart(turn.text), _EARLIER), _EARLIER), closing(turns, turn), same
    )
    # The outcome does not make a request less worth telling.
    worth *= max(1.0, len(text) / max(1, len(text.partition(OUTCOME)[0])))
    add(evidence, SummarySection.DONE, text, (turn.entry,), worth, limit=LINE_LIMIT, lead="Asked: ")


def _last(
    evidence: Evidence, section: SummarySection, text: str, turn: Turn, lead: str, limit: int = REQUEST_LIMIT
) -> None:
    add(evidence, section, text, (turn.entry,), 2.0, first=True, limit=limit, lead=lead)


def _last_text(turns: Sequence[Turn], latest: Turn) -> str:
    text = _whole_sentences(_heading_apart(latest.text), REQUEST_LIMIT)
    if offer := _accepted(turns, latest):
        return f"{cut(text, _REMARK)} (asked: {offer})"
    return _with_subject(turns, latest, _with_way(text, latest.own, turn_before(turns, latest)))


def _with_subject(turns: Sequence[Turn], turn: Turn, text: str) -> str:
    """A request of a word with the last one before it that names its subject: alone nobody knows what it is about."""
    if turn.words > 1 or turn.runs or len(text) > _ALONE or "(" in text:
        return text
    before = [
        one for one in turns[: position(turns, turn)] if one.words > 1 and not demands.is_pleased(one.own)
    ]
    return (
        f"{text} (asked before: {cut(_whole_sentences(before[-1].text, _OUTCOME), _OUTCOME)})"
        if before
        else text
    )


def _accepted(turns: Sequence[Turn], turn: Turn) -> str:
    """The offer that a request accepts with its first words, and says more of; empty where it accepts none that names its work."""
    before = turn_before(turns, turn)
    question = question_of(before.answer) if before is not None and demands.agrees(turn.own) else ""
    named = set(content_words(demands.without_offer(question))) - _GOING_ON
    return cut(question, _OFFER) if demands.offers(question) and len(named) >= _SHARED else ""


def _agreed(
    evidence: Evidence, turns: Sequence[Turn], goal: Turn | None, latest: Turn, lead: str, same: SameWork
) -> None:
    """Adds the work that the user agreed to, or wanted more of, as work in progress: the turn behind the last request."""
    agreed, text, turn = turns[-1], _last_text(turns, latest), turns[-1]
    question = question_of(turns[-2].answer)
    way = _with_way(agreed.own, agreed.own, turns[-2])
    if question:
        text = way if way != agreed.own else f"{agreed.own} (asked: {question})"
    elif demands.asks(agreed.own):
        # A short question is not an agreement.
        text = f"{agreed.own} (asked before: {text[:_OUTCOME]})"
    elif ERRAND.match(agreed.own):
        # The errand is a request of its own; the request before it is treated like any other.
        text = agreed.own
        if latest is not goal and is_answered(latest):
            _asked(evidence, turns, latest, 1.0, same)
    elif latest is goal:
        return
    else:
        turn = latest
    _last(evidence, SummarySection.IN_PROGRESS, text, turn, lead)


def _latest(
    evidence: Evidence, turns: Sequence[Turn], goal: Turn | None, latest: Turn, lead: str, same: SameWork
) -> None:
    """Adds the last request: as done once it is answered, briefly where the goal holds it already."""
    answered = is_answered(latest)
    if latest is not goal:
        text = _last_text(turns, latest)
        text = _with_outcome(text, closing(turns, latest), same) if answered else text
        _last(evidence, SummarySection.DONE if answered else SummarySection.IN_PROGRESS, text, latest, lead)
    elif goal is not goal_of(turns) and not answered:
        brief = _whole_sentences(latest.text, _BRIEFLY)
        _last(evidence, SummarySection.IN_PROGRESS, brief, latest, lead, _BRIEFLY)


def _question_before(turns: Sequence[Turn], turn: Turn) -> str:
    """The question that a short request answers; empty where it is a request of its own."""
    before = turn_before(turns, turn)
    if before is None or turn.words > SUBSTANTIAL or not asks_back(before.answer):
        return ""
    return question_of(before.answer)


def _with_way(text: str, own: str, before: Turn | None) -> str:
    """A request that chooses one of several ways by its number, with the text of that way from the answer before it.

    `own` is the request as it was typed.
    """
    if before is None:
        return text
    chosen = CHOOSES.search(text)
    bare = (
        None if chosen is not None or "?" not in before.said or _LISTS.search(own, 1) else _NUMBER.match(own)
    )
    if chosen is None and bare is None:
        return text
    word, number = (chosen[1], chosen[2]) if chosen is not None else ("option", bare[1] if bare else "")
    name = chosen[0] if chosen is not None else number
    for form in (
        rf"(?im)\b{word} {number}\**\s*[:–—-]\s*([^\n()]{{4,200}})",
        # The list of ways comes last.
        rf"(?im)^\W{{0,4}}{number}[.)]\s+([^\n]{{4,200}})",
        rf"(?im)\b{word} {number}\**\s*\(([^\n()]{{4,200}})",
    ):
        if named := re.findall(form, before.said):
            return f"{text} ({name}: {_shortened(named[-1])})"
    return text


def declined(evidence: Evidence, turns: Sequence[Turn]) -> None:
    """Adds the model's offers that the user declined."""
    for number, (turn, then) in enumerate(pairwise(turns)):
        question = question_of(turn.answer)
        if question and demands.declines(then.own, question) and not is_wanted(question, turns[number + 2 :]):
            no = cut(next(prose.sentences(then.own), then.own), _OUTCOME)
            lead, text = DECLINED, f"{cut(question, _OFFER)} ({no})"
            if _GOING_ON.issuperset(content_words(demands.without_offer(question))):
                # What was declined is not named: what was said against it is all that can be told.
                lead, text = _SAID_TO, f"{no} (asked: {question})"
            add(evidence, SummarySection.DECISIONS, text, (then.entry,), _NO, limit=LINE_LIMIT, lead=lead)


def is_wanted(offer: str, turns: Sequence[Turn]) -> bool:
    """Whether one of some requests asks for an earlier offer."""
    words = frozenset(content_words(offer))
    return any(
        len(asked & words) >= max(_SHARED, _MOST * len(asked))
        for turn in turns
        if (asked := frozenset(content_words(turn.text)))
    )


def _shortened(text: str) -> str:
    """The beginning of a text, up to the end of its sentence."""
    return cut(re.split(r"(?<=[.!?])\s|\s[-–—]\s", text.replace("*", ""))[0].strip(" :."), _WAY_LIMIT)


def _with_outcome(text: str, turn: Turn, same: SameWork) -> str:
    """A request with its outcome: the answer's first report of work, else the changed files, else its first statement.

    A decision is no outcome: it has a section of its own. A statement about code that was written anew since may no longer hold.
    """
    passages = [(one, section_of_sentence(one)) for one in quotable(turn.answer, shortest=8)]
    done = [
        one
        for one, section in passages
        if section is SummarySection.DONE or (prose.reports(one) and len(content_words(one)) >= _SHARED)
    ]
    # A short report rather than one that is cut.
    told = next((one for one in done if len(one) <= _OUTCOME), done[0] if done else "")
    if not told and not turn.works and (title := _TITLE.match(turn.answer)):
        # What was asked for is the text itself, and its first sentence is no outcome.
        told = f'the text "{title[1].strip()}"'
    if not told:
        said = (
            one
            for one, section in passages
            if section is SummarySection.CONTEXT
            and not (prose.announces(one) or bids(one) or same.overtakes(one, turn))
        )
        told = next(said, "")
        if files := same.changed(turn):
            changed = f"changed {named_files(files)}"
            # What was wrong before is told in the past, and a longer statement seldom only says what was done.
            short = (
                len(told) <= _OUTCOME
                and told.endswith(_STOPS)
                and len(content_words(told)) > _SHARED
                and not _PAST.search(told)
            )
            told = f"{told.rstrip('.。')} ({changed})" if short else changed
    return f"{text}{OUTCOME}{cut(told, _OUTCOME)}" if told else text


def _whole_sentences(text: str, limit: int) -> str:
    """The first sentences and items of a text that fit; the text where not even one does."""
    if len(text) <= limit:
        return text
    end = max((found.start() for found in _ENDS.finditer(text, 0, limit - 1)), default=0)
    return f"{text[:end].rstrip()} …" if end > 0.3 * limit else text


def _heading_apart(text: str) -> str:
    """A request up to the first section of what stands below it, unless its words only lead to that."""
    first, *below = _HEADING.split(text, maxsplit=1)
    return f"{first} …" if below and not first.endswith((":", "：")) else text
