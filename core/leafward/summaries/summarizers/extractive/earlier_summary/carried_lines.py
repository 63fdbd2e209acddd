"""Lines of an earlier summary in the next one: each in its section, finished work among the done lines, stale ones left out."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.late_pattern import late
from leafward.summaries.facts.sentences.demands import demands, is_for_once
from leafward.summaries.facts.sentences.prose import sentences
from leafward.summaries.facts.sentences.replies import tells_a_passing_state
from leafward.summaries.facts.sentences.standing_orders import orders_agent
from leafward.summaries.facts.sentences.told_steps import tells_how_it_stood
from leafward.summaries.facts.sentences.wishes import is_wish
from leafward.summaries.facts.values import DROPPED, TAKEN_UP, FactKind
from leafward.summaries.summarizers.extractive.answers.answer_lists import stands_alone
from leafward.summaries.summarizers.extractive.answers.last_reply import WAITING
from leafward.summaries.summarizers.extractive.answers.sentence_sections import reached
from leafward.summaries.summarizers.extractive.candidates import (
    ASKED,
    ASKED_BEFORE,
    BEFORE_KEPT,
    SAID_WITH,
    SAID_WITH_ANY,
    add,
    asked_since,
)
from leafward.summaries.summarizers.extractive.earlier_summary.carried_goals import (
    is_newest,
    last_listed,
    sorted_out,
    without_mark,
)
from leafward.summaries.summarizers.extractive.earlier_summary.earlier_code import code_in, tell_code
from leafward.summaries.summarizers.extractive.earlier_summary.remade_lines import is_made_anew
from leafward.summaries.summarizers.extractive.ending import LEAD
from leafward.summaries.summarizers.extractive.requests import offers, user_requests
from leafward.summaries.summarizers.extractive.requests.answered_requests import settles
from leafward.summaries.summarizers.extractive.requests.current_goal import is_beside
from leafward.summaries.summarizers.extractive.requests.passed_over import NOT_DONE
from leafward.summaries.summarizers.extractive.state.last_state import tells_state
from leafward.summaries.summarizers.extractive.state.overcome import is_check
from leafward.summaries.summarizers.extractive.turns import is_answered
from leafward.summaries.summarizers.outline import (
    Provenance,
    SummarySection,
    harmless,
    line_key,
    outline_lines,
)
from leafward.summaries.summarizers.outline_items import is_file_alone

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leafward.session.entries import EntryIndex
    from leafward.summaries.facts.reader import FactReader
    from leafward.summaries.summarizers.extractive.candidates import Evidence
    from leafward.summaries.summarizers.extractive.turns import Turn
    from leafward.summaries.summarizers.outline import OutlineLine

_PREFERS = late(r"(?i)^(?:the )?user (?:prefers|wants|asked|requires|insists|does(?:n't| not) want)\b")
_ROW = late(r"\s*\|\s*")
_OF_THE_END = ("Said last: ", "Last reply: ")
_LAST_REQUEST = late(
    rf"{user_requests.LAST_REQUEST}(?:{BEFORE_KEPT}|{user_requests.ASKED_BACK}|{user_requests.ANSWERED})?: "
)
_SAID_BY_USER = late(r"^(?:\[[^\]]{1,20}\] )?[\"“](.{3,400}?)(?:[\"”](?: \(.{1,120}\)| [:–—-] .{1,160})?)?$")
_NAMES_LINE = late(r"Names that came up: |Changed `")
"""Lines of ours with names that the next summary lists again."""


class _Line(NamedTuple):
    """A line on its way into the next summary."""

    section: SummarySection
    text: str
    lead: str = ""
    """Words before the text that say how it stands now."""


class Since(NamedTuple):
    """What came behind an earlier summary."""

    turns: Sequence[Turn]
    later: Sequence[Turn]
    """The turns of the messages that are kept."""
    kept: FactReader
    """The reader of these messages."""
    went_on: Turn | None
    """The turn from before the summary, where the span has no request of its own."""


class _Since(NamedTuple):
    """The time between the earlier summary and the next one."""

    evidence: Evidence
    turns: Sequence[Turn]
    kept: FactReader
    changed: bool
    """Whether any file was changed."""
    worked: bool
    """Whether any turn or file was worked on, or the messages that are kept end the work."""
    went_on: bool
    """Whether the agent went on with the work of then by itself."""
    ran_well: bool
    """Whether any check passed since."""
    answered: bool
    closed: Mapping[str, str]
    """Outcomes of the steps that are no longer open, by the key of their line."""
    passed: bool
    """Whether a run of tests ended well, here or in the messages that are kept."""


def carry(
    evidence: Evidence,
    previous: str,
    entry: EntryIndex,
    behind: Since,
) -> None:
    """Adds the lines of the previous summary, each in its section; finished work moves to the done ones.

    Where work followed, only the last request of then is still in progress, and only until the next one.
    """
    if not previous:
        return
    since = _since(evidence, behind)
    outline = list(outline_lines(previous))
    goals = _goals(since, behind, outline, in_turn=_ALL_REQUESTS in previous)
    lasting = any(section is SummarySection.GOAL for section, _ in goals.values())
    asked = last_listed(previous) if lasting and not behind.turns else ""
    if asked:
        # The list has every message of the user's, so the last one is what was asked last.
        goals.update({goal: (SummarySection.CONTEXT, ASKED_BEFORE) for goal in goals if is_newest(goal)})
        lead = f"{user_requests.LAST_REQUEST}: "
        add(evidence, SummarySection.GOAL, asked, (entry,), 3.0, first=True, lead=lead)
    before, not_done = SummarySection.GOAL, False
    for read, below in zip_longest(outline, outline[1:]):
        if _tell_code(evidence, read, entry):
            continue
        line = _read_today(evidence, read, goals)
        if line is None:
            continue
        if line.text.endswith(_INTRODUCES) or line.section is not before:
            # Items of a list with this introduction were not done, whatever their wording.
            not_done = line.text.endswith(_INTRODUCES) and _NOT_YET.search(line.text) is not None
        before = line.section
        if _names_file_of(line, read, below) or _holds_nothing(line.text):
            continue
        if is_made_anew(evidence, line.text, entry) or (read.listed and _is_listed_anew(evidence, line.text)):
            continue
        carried = _carried(since, line, read, not_done=not_done)
        if carried is not None:
            _add(since, carried, entry, Provenance.DATED if read.dated else Provenance.EARLIER, read.listed)
    if goals and not (behind.turns or lasting):
        goal = user_requests.GO_ON if behind.later else user_requests.GOT_REPLY
        add(evidence, SummarySection.GOAL, goal, (entry,), 3.0, first=True)


def _is_listed_anew(evidence: Evidence, item: str) -> bool:
    """Whether a list of the span has an item, before which the heading of its list may stand."""
    items = (item, item.partition(": ")[2])
    facts = [evidence.facts.get((FactKind.TODO, line_key(one))) for one in items if one]
    return any(fact is not None and fact.last in evidence.position for fact in facts)


def _since(evidence: Evidence, behind: Since) -> _Since:
    """What the turns, the files and the checks tell of the time since the earlier summary."""
    told, kept = evidence.reader.told, behind.kept.told
    changed = any(work.changes for work in evidence.files.values())
    return _Since(
        evidence=evidence,
        turns=behind.turns,
        kept=behind.kept,
        changed=changed,
        worked=any(turn.works for turn in behind.turns) or changed or kept.answers > 0,
        went_on=behind.went_on is not None and behind.went_on.works,
        ran_well=any(times and is_check(command) for command, times in evidence.reader.calls.passed.items()),
        answered=told.answers + kept.answers > 0,
        closed={
            fact.key: fact.outcome
            for fact in evidence.facts.values()
            if fact.kind is FactKind.TODO and not fact.is_open
        },
        passed=told.tests_passed or kept.tests_passed,
    )


def _goals(
    since: _Since, behind: Since, outline: Sequence[OutlineLine], *, in_turn: bool
) -> dict[str, tuple[SummarySection, str]]:
    """The goals of the earlier summary, each with its new section and lead: see `sorted_out`."""
    turns, last = behind.turns, behind.went_on
    every = [*turns, *behind.later]
    # The work of then is answered before anything else is asked.
    ended = since.evidence.reader.told.answers > 0 if turns else last is not None and is_answered(last)
    went_on = bool(every) and every[0].first > 0 and ended
    reached_all = (
        not every
        and not behind.kept.plan.open
        and last is not None
        and settles([last], last, changed=since.changed)
    )
    return sorted_out(
        [
            line.text
            for line in outline
            if line.section is SummarySection.GOAL
            and line.text not in (user_requests.GO_ON, user_requests.GOT_REPLY)
            and not _is_past_request(line.text, turns)
        ],
        [turn for turn in (every if went_on else turns) if not is_beside(turn)],
        answered=went_on,
        over=reached_all,
        in_turn=in_turn,
    )


def _is_past_request(goal: str, turns: Sequence[Turn]) -> bool:
    """Whether a goal only tells the last request of then, and another one was made since."""
    return bool(turns) and _LAST_REQUEST.match(goal) is not None


def _tell_code(evidence: Evidence, read: OutlineLine, entry: EntryIndex) -> bool:
    """Adds the code that a line consists of; whether it is code."""
    code = [(read.text, read.code_of)] if read.code_of is not None else list(code_in(read.text))
    for piece, intro in code:
        tell_code(evidence, piece, intro, entry)
    return bool(code)


def _read_today(
    evidence: Evidence, read: OutlineLine, goals: Mapping[str, tuple[SummarySection, str]]
) -> _Line | None:
    """A line in words that hold now, a goal in its new section; None where nothing of it is left."""
    section, text, lead = read.section, read.text, ""
    if section is SummarySection.GOAL and _LAST_REQUEST.match(text) and text not in goals:
        section, text, lead = SummarySection.CONTEXT, _LAST_REQUEST.sub("", text), ASKED_BEFORE
    if section is SummarySection.GOAL:
        if text not in goals:
            return None
        if evidence.size:
            section, lead = goals[text]
            text = without_mark(text) if lead else text
    if section is SummarySection.CONSTRAINTS and text.startswith(SAID_WITH_ANY):
        text, lead = text.partition(": ")[2], SAID_WITH
    text = _worded_today(text, went_on=evidence.size > 0)
    return _Line(section, text, lead) if text else None


def _names_file_of(line: _Line, read: OutlineLine, below: OutlineLine | None) -> bool:
    """Whether a line only names the file of the lines below it, which name it themselves."""
    return (
        below is not None
        and bool(below.file)
        and below.file != read.file
        and below.file in line.text
        and is_file_alone(line.text)
    )


def _carried(since: _Since, line: _Line, read: OutlineLine, *, not_done: bool) -> _Line | None:
    """The line as it goes into the next summary; None where it is stale."""
    placed = _placed(since, line, is_open=read.is_open, not_done=not_done)
    carried = _placed_by_words(placed) if placed is not None else None
    if carried is None or _is_stale(since, carried):
        return None
    if read.file and not carried.lead and read.file.rpartition("/")[2] not in line.text:
        return carried._replace(lead=f"`{read.file}`: ")
    if _is_item_alone(carried, read):
        return carried._replace(lead=f"{harmless(read.intro, _INTRO)}: ")
    return carried


def _is_item_alone(line: _Line, read: OutlineLine) -> bool:
    """Whether a line is an item that says little without the words that lead to it."""
    return (
        line.section in _LED
        and not line.lead
        and 0 < len(read.intro) <= _INTRO
        and not stands_alone(line.text)
    )


def _worded_today(text: str, *, went_on: bool) -> str:
    """A line in words that hold now; empty where it only said how things stood at the end."""
    text = _ROW.sub(" - ", text.strip("| ")) if text.startswith("|") else text
    of_the_end = text.startswith((LEAD, *_OF_THE_END))
    return "" if tells_state(text) or (went_on and of_the_end) else text


def _holds_nothing(text: str) -> bool:
    """Whether a line only introduces others, comments code, is markup, or lists names that are listed again."""
    return (
        text.rstrip("*_ ").endswith((*_INTRODUCES, "{", "}", "(", "["))
        or text.startswith(("//", "/*", "#"))
        or text == "(none)"
        or _MARKUP.match(text) is not None
        or _NAMES_LINE.match(text) is not None
    )


def _placed(since: _Since, line: _Line, *, is_open: bool | None, not_done: bool) -> _Line | None:
    """The line in the section to which its outcome belongs; None where nothing of it holds any more."""
    section, text, lead = line
    if section is SummarySection.CONTEXT and since.turns:
        text = _LAST_REQUEST.sub(ASKED_BEFORE, text)
    if section in _WORK and _LAST_REQUEST.match(text):
        asked = _LAST_REQUEST.sub(ASKED, text)
        return _Line(SummarySection.DONE, asked, lead) if since.turns else line
    line = _Line(section, text, lead)
    outcome = since.closed.get(line_key(text))
    if outcome == DROPPED or (outcome == TAKEN_UP and tells_how_it_stood(text)):
        return None
    if is_open is False or outcome not in (None, TAKEN_UP):
        if section is SummarySection.IN_PROGRESS and _FAILED_THEN.search(text):
            # The finished work is that it no longer fails.
            return None
        return _Line(SummarySection.DONE if section in _WORK else section, text, lead)
    if section is not SummarySection.IN_PROGRESS:
        return line
    if since.passed and _BROKEN_THEN.search(text):
        return None
    if text.startswith(WAITING) and since.turns:
        return None
    if not_done and not since.answered:
        return _Line(SummarySection.NEXT, text, NOT_DONE)
    if not since.worked:
        stood = _STOOD_THEN.search(text) and not (_ABOUT_STEPS.match(text) or _SAID_BY_USER.match(text))
        if not (since.went_on and since.ran_well and stood) or is_open:
            return line
        # The agent has gone on with it, and what it ran ended well.
        return line._replace(section=SummarySection.CONTEXT)
    if reached(text) and not _FAILED_THEN.search(text):
        return _Line(SummarySection.DONE, text, lead)
    # An unticked box is still to be done, whatever was worked on since.
    return _Line(SummarySection.NEXT, text, lead) if is_open else None


def _placed_by_words(line: _Line) -> _Line | None:
    """The line in the section that its words belong to; None for words about a step or an answered request."""
    section, text, lead = line
    if section is SummarySection.CONTEXT and (said := _SAID_BY_USER.match(text)) is not None:
        # In a list of the user's messages, requests are answered, and rules that last still hold.
        # Of a message with several sentences those that ask for work are over.
        rules = [
            one
            for one in sentences(said[1])
            if demands(one) and not (is_for_once(one, ordered=False) or is_wish(one))
        ]
        lead = lead if all(map(orders_agent, rules)) else SAID_WITH
        return _Line(SummarySection.CONSTRAINTS, " ".join(rules), lead) if rules else None
    if section in {SummarySection.NEXT, SummarySection.IN_PROGRESS} and _ABOUT_STEPS.match(text):
        return None
    if section is SummarySection.NEXT and _QUOTES_USER.match(text):
        section = SummarySection.CONTEXT
    if section is SummarySection.CONTEXT and _PREFERS.search(text):
        section = SummarySection.CONSTRAINTS
    return _Line(section, text, lead)


def _is_stale(since: _Since, line: _Line) -> bool:
    """Whether a line was true only when the earlier summary was written."""
    section, text, _ = line
    if section in _LASTING:
        if since.worked and (_WAS_GOING_ON.search(text) or tells_a_passing_state(text)):
            return True
        if since.evidence.size and _NEWEST_THEN.search(text):
            return True
        if since.answered and _CURRENT_THEN.search(text):
            return True
    if section is SummarySection.CONTEXT and since.passed and _BROKEN_THEN.search(text):
        return True
    if section is SummarySection.CONSTRAINTS and since.evidence.reader.rules.is_revoked(text):
        return True
    return text.startswith(offers.DECLINED) and offers.is_wanted(text, since.turns)


def _add(since: _Since, line: _Line, entry: EntryIndex, provenance: Provenance, listed: str = "") -> None:
    section, text, lead = line
    if section is SummarySection.CONSTRAINTS:
        asked = since.evidence.reader.rules.asked_since(text) or since.kept.rules.revoked_by(text)
        text = asked_since(text, asked)
    before = since.evidence.candidates[-1] if since.evidence.candidates else None
    if (
        before is not None
        and section in _LED
        and lead not in ("", ASKED_BEFORE)
        and before.text.startswith(lead)
        and (before.section, before.sources, before.provenance) == (section, (entry,), provenance)
        and len(before.text) + len(text) <= _TOGETHER
    ):
        # The items of one list share its words.
        before.text = f"{before.text}; {harmless(text)}"
        return
    add(
        since.evidence,
        section,
        text,
        (entry,),
        _CARRIED_WORTH.get(section, 0.3),
        first=section is SummarySection.GOAL,
        lead=lead,
        provenance=provenance,
        group=listed if section in _WORK else "",
        # Lines of code in an earlier summary are kept only where they hold a name.
        names_something=section is SummarySection.CONTEXT and _CODE.search(text) is not None,
    )


_LED = frozenset({SummarySection.CONTEXT, SummarySection.DECISIONS, SummarySection.DONE})
"""Sections of lines that tell something: a step or a rule is worded as one."""
_INTRO = 100
"""Characters of the words before an item."""
_TOGETHER = 290
"""Characters of a line of several items."""
_CARRIED_WORTH = {
    SummarySection.GOAL: 3.0,
    SummarySection.CONSTRAINTS: 6.0,
    SummarySection.DECISIONS: 2.2,
    SummarySection.BLOCKED: 0.5,
    SummarySection.IN_PROGRESS: 0.4,
    SummarySection.NEXT: 0.6,
    SummarySection.DONE: 0.5,
    SummarySection.CONTEXT: 0.5,
}
_ALL_REQUESTS = "Primary Request and Intent"
"""The heading of Claude Code's summaries (2.0 and 2.1) above all requests of the session."""
_INTRODUCES = (":", "：")
"""The ends of a line that introduces others."""
_WORK = frozenset({SummarySection.NEXT, SummarySection.IN_PROGRESS, SummarySection.DONE})
_LASTING = frozenset({SummarySection.CONTEXT, SummarySection.DECISIONS})
_WAS_GOING_ON = late(
    r"(?i)\(?(?:currently )?in progress\)|^\W*(?:in progress|wip|ongoing|pending)\b\W*[:–—-]|^\W*(?:now |currently )?(?:checking|investigating|looking into|debugging|working on)\b|\bstill (?:investigating|debugging|working on)\b|\b(?:still in progress|(?:not|n['’]t) yet\b|currently (?:working|implementing|debugging|investigating|in the middle)"
    r"|\b(?:fix|change|edit|update|work|review|test)(?:es|s)? (?:is |are |still )*(?:pending|in progress|under way)\b"
    r"|(?:was|were) (?:in the middle of|about to|working on|just about)|noch nicht|in arbeit|pas encore|en cours)\b|进行中|尚未|还没"
)
"""Work that was in progress when an earlier summary was written."""
_CURRENT_THEN = late(r"(?i)\((?:current(?: (?:issue|problem|task|work|bug))?|ongoing|unresolved|unsolved)\)")
"""The mark of what was the current trouble then."""
_MARKUP = late(r"^[<‹]/?[\w-]{1,60}[>›]$|^[<‹]([\w-]{1,60})[>›].*[<‹]/\1[>›]$")
"""A tag alone, or one element: an agent's markup around a summary is not its content."""
_FAILED_THEN = late(
    r"(?i)\b(?:is|are|was|were|keeps?) (?:still |now )?(?:failing|broken|empty|missing|wrong|undefined|stuck)\b|\bfails?\b"
)
_BROKEN_THEN = late(
    r"(?i)^\W*(?:error: |--- fail\b|fail(?:ed)?: )|\b(?:is|are) (?:still |now )?(?:failing|broken|empty|undefined|stuck)\b"
)
"""Something that was broken when an earlier summary was written."""
_STOOD_THEN = late(
    r"(?i)\b(?:errors?|issues?|problems?|conflicts?|bugs?|broken|fail\w*|was|were|had|(?:do|does)(?:n['’]t| not))\b"
)
"""Trouble, or what was before: how the work stood when an earlier summary was written."""
_CODE = late(
    r"^(?:return|defer|var|const|let|import|func|def|class|type|if|for|while)\b.{0,200}$(?<![.!?])|[;{]$|^\w[\w.]{0,60}(?:, ?\w{1,40})? :?= \S"
)
_NEWEST_THEN = late(
    r"(?i)^\W*(?:the )?(?:user['’]s )?(?:most recent|latest|last|final) (?:edit|change|action|step|message|request|question|command|run)s?\b|^\W*most recently\b"
)
"""The newest of its kind at the time of an earlier summary, which is not the newest any more."""
_ABOUT_STEPS = late(
    r"(?i)^(?:this|that|it|these) (?:directly |also |all )?(?:follows?|is|was|are|were|aligns?|continues?|addresses)\b"
)
"""A sentence about a step, which is not one itself."""
_QUOTES_USER = late(
    r"(?i)^(?:the )?user(?:['’]s (?:\w+ ){0,2}(?:question|request|words?|message|ask)\b|\b(?: \w+)? (?:said|asked|wrote)\b)[^:]{0,30}: *[\"“'‘]"
)
"""A quotation of the user in a list of steps, which is a request and not a step."""
_NOT_YET = late(
    r"(?i)\b(?:not|n['’]t|never) yet\b|\b(?:remain(?:s|ing)?|still|noch nicht|pas encore)\b|尚未|还没"
)
