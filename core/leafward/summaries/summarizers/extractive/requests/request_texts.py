"""How a request is quoted: what it needs beside its own words to be understood alone, and its outcome."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences import labels, prose, questions, responses
from leafward.summaries.facts.sentences.content_words import ENGLISH, content_words
from leafward.summaries.facts.sentences.replies import announces, reports
from leafward.summaries.summarizers.extractive.answers.passages import passages, without_questions
from leafward.summaries.summarizers.extractive.answers.quotes import OPEN_LIMIT, REQUEST_LIMIT
from leafward.summaries.summarizers.extractive.answers.sentence_forms import (
    bids,
    is_heading,
    leaves_unnamed,
    only_leads,
    speaks_only,
)
from leafward.summaries.summarizers.extractive.answers.sentence_sections import section_of_sentence
from leafward.summaries.summarizers.extractive.candidates import OUTCOME, REPLY, quoted
from leafward.summaries.summarizers.extractive.requests.answered_requests import (
    asks_for_plan,
    tells_outcome,
)
from leafward.summaries.summarizers.extractive.requests.current_goal import stands_for_an_aside
from leafward.summaries.summarizers.extractive.requests.exchange import verdict_of
from leafward.summaries.summarizers.extractive.requests.offers import accepted
from leafward.summaries.summarizers.extractive.requests.open_requests import LOOKS
from leafward.summaries.summarizers.extractive.turns import (
    CHOOSES,
    SUBSTANTIAL,
    TELLING,
    Turn,
    asks_back,
    goal_of,
    position,
    question_of,
    turn_before,
)
from leafward.summaries.summarizers.outline import SummarySection, cut, named_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.summaries.summarizers.extractive.requests.same_work import SameWork

_GO_AHEAD = re.compile(
    r"(?i)\b(?:start|begin|go ahead|proceed|continue)\b(?: \w+)? implement|\bimplement (?:it|this|that)\b"
)
"""A go-ahead without further words refers to the plan before it."""
_WAY_LIMIT = 140
OUTCOME_LIMIT = 120
"""Characters of a request's outcome."""
ENDING_LIMIT = OUTCOME_LIMIT + 24
"""Characters of what is quoted of a reply behind a request, with our words around it."""
_TITLE = re.compile(r"\s*#{1,6} ([^\n]{3,100}?)[ \t]*(?:\n|$)")
_LISTED = re.compile(r"\s*(?:[-*+•✅✓]|\d{1,2}[.)])\s")
"""The beginning of an item of a list."""
_JOINS = re.compile(r"[/._-]")
"""The signs between the words of a path."""
_I_DID = re.compile(r"I(?:['’]ve| have)?\b")
_STOPS = (".", "!", "。", "！")
_PAST = re.compile(
    r"(?i)\b(?:was|were|had|did|didn['’]t|wasn['’]t|weren['’]t|used to|the (?:\w+ )?(?:problem|issue|cause|bug|reason)|because|fail\w*|broken|still|my (?:mistake|bad|fault)|sorry)\b"
)
"""A sign that a statement is about the trouble that was mended."""
_STATED = frozenset({SummarySection.CONTEXT, SummarySection.DECISIONS})
_YES_NO = late(r"(?i)\W*(yes|no|yep|nope|correct|ja|nein|oui|non|s[ií])\b\W{0,2}[.!]")
"""A verdict that is a sentence of its own."""
_HEADING = re.compile(r"\s#{2,} ")
_ENDS = re.compile(r"(?<!\s\d)(?<!\s\d\d)(?<=[.!?]) |(?<=[。！？])| (?=(?:[-*•]|\d{1,2}[.)]|#{1,6}) \S)")
"""The end of a sentence, or the place before an item or a heading, in a text on one line."""
_ALONE = 60
"""Characters of a request from which it is understood alone."""
_ASKED_FIRST = " (asked first: "
_REMARK = REQUEST_LIMIT - OUTCOME_LIMIT - len(_ASKED_FIRST)
"""Characters of a request beside which there is room for the first one."""
_NUMBER = re.compile(
    r"(?i)^(?:#|(?:我?[选選用要]择?)?(?:方案|第)?|案|(?:la |el |l['’])?(?:opci[oó]n|opção|option|nummer|n[uú]mero) )?(\d{1,2}|[a-d])"
    r"(?:[.):,、，]|\s*$|\s+(?:please|bitte|por favor|s['’]il)\b|[番号つ个個번]?目?(?:[でをがに吧로]|\W*$))"
)
"""The beginning of a reply that chooses a way by its number alone."""
_WAY = "(?:option|opci[oó]n|opção|方案|选项|案|옵션)"
"""The word before the number of a way, where its choice has none."""
_LISTS = re.compile(r"(?i)(?<![\w.])(?:2[.)]|b\))\s")
"""A sign of a list in the user's own text."""
_TAIL = 200
"""Characters of the last sentences of a long request."""
_DATA = re.compile(r"[!-~]{100}")
"""Characters without a blank that are no words: a record that was pasted, a token."""
_TELLS = 2
"""Content words from which a sentence tells something."""


def goal_text(turns: Sequence[Turn], goal: Turn, same: SameWork) -> str:
    """The goal, with what was asked first or asked back where it does not tell its purpose alone."""
    text = _with_error(
        goal, with_way(_opened(goal.text, open_limit(goal.text)), goal.own, turn_before(turns, goal))
    )
    begun = goal_of(turns)
    if begun is goal:
        begun = None
    if stands_for_an_aside(goal, turns):
        asked = whole_sentences(begun.text, OUTCOME_LIMIT) if begun is not None else ""
        return (
            f"{cut(whole_sentences(text, _REMARK), _REMARK)}{_ASKED_FIRST}{cut(asked, OUTCOME_LIMIT)})"
            if asked
            else text
        )
    if begun is not None and goal.words < TELLING and _GO_AHEAD.search(goal.text):
        # Sentences that only ask to read something say less.
        wanted = (one for one in prose.sentences(begun.text) if not LOOKS.match(one))
        return f"{text}{_ASKED_FIRST}{next(wanted, begun.text)[:OUTCOME_LIMIT]})"
    if offer := accepted(turns, goal):
        return _with_offer(text, offer)
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
        asked = whole_sentences(_HEADING.split(begun.text)[0], OUTCOME_LIMIT)
        return f"{cut(whole_sentences(text, _REMARK), _REMARK)}{_ASKED_FIRST}{cut(asked, OUTCOME_LIMIT)})"
    if question := _question_before(turns, goal):
        return f"{text} (asked: {question})"
    return with_subject(turns, goal, text)


def open_limit(request: str) -> int:
    """The characters of an open request that are quoted: more of one in words than of one with data in it."""
    return REQUEST_LIMIT if _DATA.search(request, 0, OPEN_LIMIT) else OPEN_LIMIT


def _opened(text: str, limit: int) -> str:
    """The first sentences of a request that fit, and behind them the last ones of a long one in prose: limits often stand there."""
    if len(text) <= limit or limit < OPEN_LIMIT or _HEADING.search(text) is not None:
        return whole_sentences(text, limit)
    ends = [found.end() for found in _ENDS.finditer(text)]
    tail = next((text[end:] for end in ends if 0 < len(text) - end <= _TAIL), "")
    head = whole_sentences(text, limit - len(tail) - 3)
    return f"{head} {tail}" if tail and head.endswith(" …") else whole_sentences(text, limit)


def last_text(turns: Sequence[Turn], latest: Turn, limit: int = REQUEST_LIMIT) -> str:
    """The last request, with the offer that it accepts, the way that it chooses, or the request that names its subject."""
    text = _with_error(latest, _opened(heading_apart(latest.text), limit))
    if offer := accepted(turns, latest):
        return _with_offer(text, offer)
    return with_subject(turns, latest, with_way(text, latest.own, turn_before(turns, latest)))


def _with_offer(text: str, offer: str) -> str:
    """A request with the offer that it accepts; nothing of a request that tells by itself what is wanted is cut for that."""
    return f"{text} (asked: {offer})" if len(text) <= _REMARK else text


def _with_error(turn: Turn, text: str) -> str:
    """A brief request with the first error of the text that was pasted with it: alone it often does not say what is wrong."""
    shown = turn.pasted or turn.screen
    if not shown or shown in text or len(text) > _REMARK:
        return text
    return f"{text} (pasted: {cut(shown, OUTCOME_LIMIT)})"


def with_subject(turns: Sequence[Turn], turn: Turn, text: str) -> str:
    """A request of a word, or about something that other words name, with the last one before it that names its subject: alone nobody knows what it is about."""
    if turn.runs or len(text) > _ALONE or "(" in text or not (turn.words <= 1 or leaves_unnamed(turn.text)):
        return text
    before = [
        one
        for one in turns[: position(turns, turn)]
        if one.words > 1 and not (responses.is_pleased(one.own) or leaves_unnamed(one.text))
    ]
    return (
        f"{text} (asked before: {cut(whole_sentences(before[-1].text, OUTCOME_LIMIT), OUTCOME_LIMIT)})"
        if before
        else text
    )


def _question_before(turns: Sequence[Turn], turn: Turn) -> str:
    """The question that a short request answers; empty where it is a request of its own."""
    before = turn_before(turns, turn)
    if before is None or turn.words > SUBSTANTIAL or not asks_back(before.answer):
        return ""
    return question_of(before.answer)


def with_way(text: str, own: str, before: Turn | None) -> str:
    """A request that chooses one of several ways by its number, with the text of that way from the answer before it.

    `own` is the request as it was typed.
    """
    if before is None:
        return text
    chosen = CHOOSES.search(text)
    bare = (
        _NUMBER.match(own)
        if chosen is None and not _LISTS.search(own, 1) and ("?" in before.said or "？" in before.said)
        else None
    )
    if chosen is None and bare is None:
        return text
    word, number = (chosen[1], chosen[2]) if chosen is not None else (_WAY, bare[1] if bare else "")
    name = chosen[0] if chosen is not None else number
    for form in (
        rf"(?im)\b{word} ?{number}\**\s*[:：–—-]\s*([^\n()]{{4,200}})",
        # The list of ways comes last.
        rf"(?im)^\W{{0,4}}{number}(?:[.)]\s+|[．、）]\s*)([^\n]{{4,200}})",
        rf"(?im)\b{word} ?{number}\**\s*\(([^\n()]{{4,200}})",
    ):
        if named := re.findall(form, before.said):
            return f"{text} ({name}: {_shortened(named[-1])})"
    return text


def _shortened(text: str) -> str:
    """The beginning of a text, up to the end of its sentence."""
    return cut(re.split(r"(?<=[.!?])\s|\s[-–—]\s", text.replace("*", ""))[0].strip(" :."), _WAY_LIMIT)


def with_outcome(text: str, request: Turn, end: Turn, same: SameWork) -> str:
    """A request with what came of it: what the answer reports of it, else its first statement, and the files that were changed.

    What the answer says is quoted: no call shows that it is so. A decision is no outcome: it has a section of its own. A
    statement about code that was written anew since may no longer hold. Where `end` tells no outcome, only how it begins is told.
    """
    changed = changed_for(request, end, same)
    if end.doubted:
        return text
    if not tells_outcome(request, end, changed=bool(changed), looked=same.only_looked(end)):
        return with_ending(text, request, end.answer, same)
    report = _report_of(end.answer, request.text)
    told = cut(_outcome_of(request, end, changed, report, same), OUTCOME_LIMIT)
    return _with_came(text, "" if is_heading(told) else told, changed, beside=not report)


def _with_came(text: str, said: str, changed: Sequence[str], *, beside: bool = False) -> str:
    """A request with what the reply says of it, else with the files that were changed for it; `beside` with both."""
    files = f"changed {named_files(changed)}" if changed else ""
    came = said if said.startswith(REPLY) or not said else quoted(said)
    came = f"{came} ({files})" if came and files and beside else came or files
    return f"{text}{OUTCOME}{came}" if came else text


def _outcome_of(request: Turn, end: Turn, changed: Sequence[str], told: str, same: SameWork) -> str:
    """What the answer says of a request for which some files were `changed`, and of which it reports what is `told`; empty where it says nothing of it."""
    if said := verdict_of(end):
        return said
    if not changed and asks_for_plan(request.text):
        # A sentence out of the plan that was asked for is no outcome; how that begins says what it is.
        return " ".join(end.answer.replace("*", "").split())
    if not told and changed:
        told = _statement_of(end, same)
        # What was wrong before is told in the past, a longer statement seldom only says what was done, and in another
        # language it may as well be an order to the user.
        short = (
            len(told) <= OUTCOME_LIMIT
            and told.endswith(_STOPS)
            and len(content_words(told)) > _TELLS
            and not _PAST.search(told)
            and ENGLISH.search(told)
            and _is_for(told, end.answer, request.text)
        )
        return told if short else ""
    if not told and not end.works and (title := _TITLE.match(end.answer)):
        # What was asked for is the text itself, and its first sentence is no outcome.
        told = f'{REPLY}gives the text "{title[1].strip()}"'
    told = told or _statement_of(end, same) or _short(end.answer)
    if told and questions.asks(request.text) and (verdict := _YES_NO.match(end.answer)):
        told = f"{verdict[1]}. {told}"
    return told


def _report_of(answer: str, request: str) -> str:
    """What an answer says that the agent did, else its first report of finished work, a short one rather than one that is cut.

    Empty where it has none that is about the request: names something of that, or begins the answer.
    """
    done = [
        whole
        for one in passages(without_questions(answer), shortest=8)
        if (
            section_of_sentence(one.text) is SummarySection.DONE
            or (reports(one.text) and len(content_words(one.text)) >= _TELLS)
        )
        and (whole := one.alone())
    ]
    done = [one for one in done if _is_for(one, answer, request)]
    did = (one for one in done if _I_DID.match(one))
    return next(did, "") or next((one for one in done if len(one) <= OUTCOME_LIMIT), done[0] if done else "")


def _is_for(said: str, answer: str, request: str) -> bool:
    """Whether what an answer says is about a request: it names something of that, or the answer begins with it."""
    if _is_about(said, request):
        return True
    first = next((line for line in answer.split("\n") if len(content_words(line)) >= _TELLS), "")
    # An item of a list may be about anything.
    begun = (one for one in prose.sentences(first) if len(content_words(one)) >= _TELLS)
    return not _LISTED.match(first) and said == next(begun, "")


def _is_about(report: str, request: str) -> bool:
    """Whether a report, or a path, names something of a request; the verb that a report begins with may be of anything."""
    words = content_words(report)[1:] if " " in report else content_words(_JOINS.sub(" ", report))
    return not set(content_words(request)).isdisjoint(words)


def with_ending(text: str, turn: Turn, answer: str, same: SameWork, *, waits: bool = False) -> str:
    """A request of which nothing decides whether it is done, with the first statement of the last reply to it: answers begin with how it stands.

    Where that says nothing, or the reply asked what was answered since, the files are named that were changed for the request. With
    `waits` its question is still open, and stands on a line of its own: beside that, only what is done counts.
    """
    looked = same.only_looked(turn) and not same.changed(turn)
    said = [
        whole
        for one in passages(without_questions(answer), shortest=8)
        if (
            ((section := section_of_sentence(one.text)) is SummarySection.DONE and not looked)
            or (waits and reports(one.text))
            # A step and a choice have a line of their own too, and a few words say little.
            or (
                section is SummarySection.CONTEXT
                and not (waits or announces(one.text) or asks_back(one.text) or bids(one.text))
                and one.text.endswith(_STOPS)
                and len(content_words(one.text)) > SUBSTANTIAL
            )
        )
        and (whole := one.alone())
    ]
    changed = same.changed(turn)
    first = _first_telling(said) if not (waits and changed) and (waits or not asks_back(answer)) else ""
    return _with_came(text, cut(first, OUTCOME_LIMIT), changed)


def changed_for(request: Turn, end: Turn, same: SameWork) -> list[str]:
    """The files that the work on a request changed, or that on the prompt whose answer ends it."""
    return list(dict.fromkeys([*same.changed(request), *same.changed(end)]))


def _statement_of(end: Turn, same: SameWork) -> str:
    """What an answer calls the short answer or the cause, else its first statement that does not only lead to the next one; empty where it has none that may still hold."""
    found = passages(without_questions(end.answer), shortest=8)
    led = (one.text for one in found if labels.concludes(one.text) or labels.names_cause(one.text))
    said = {
        whole: section
        for one in found
        if (section := section_of_sentence(one.text)) in _STATED
        and not (announces(one.text) or bids(one.text) or same.overtakes(one.text, end))
        and (whole := one.alone())
        and (whole.endswith(_STOPS) or len(content_words(whole)) >= _TELLS)
    }
    stated = [one for one, section in said.items() if section is SummarySection.CONTEXT]
    # Behind words that only lead to it, a reason is the answer.
    return next(led, "") or _first_telling([*stated, *said] if stated else stated)


def _short(answer: str) -> str:
    """A short answer whole: of its sentences none may be told alone. Empty where it is long, or names nothing."""
    plain = answer.replace("**", "").strip()
    if len(plain) > OUTCOME_LIMIT or "\n" in plain or asks_back(plain) or speaks_only(plain):
        return ""
    names = "`" in plain or any(map(str.isdecimal, plain))
    return plain if names or len(content_words(plain)) > _TELLS else ""


def _first_telling(said: Sequence[str]) -> str:
    """The first of some statements that does not only lead to the next one; empty where there is none."""
    return next((one for one in said if not only_leads(one)), said[0] if said else "")


def whole_sentences(text: str, limit: int) -> str:
    """The first sentences and items of a text that fit; the text where not even one does."""
    if len(text) <= limit:
        return text
    end = max((found.start() for found in _ENDS.finditer(text, 0, limit - 1)), default=0)
    return f"{text[:end].rstrip()} …" if end > 0.3 * min(limit, REQUEST_LIMIT) else text


def heading_apart(text: str) -> str:
    """A request up to the first section of what stands below it, unless its words only lead to that."""
    first, *below = _HEADING.split(text, maxsplit=1)
    return f"{first} …" if below and not first.endswith((":", "：")) else text
