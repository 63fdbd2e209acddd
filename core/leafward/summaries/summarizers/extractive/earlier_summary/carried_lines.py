"""Lines of an earlier summary in the next one: each in its section, finished work among the done lines, stale ones left out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.late_pattern import late
from leafward.summaries.facts.demands import demands
from leafward.summaries.facts.passing_states import tells_a_passing_state
from leafward.summaries.facts.told_steps import tells_how_it_stood
from leafward.summaries.facts.values import DROPPED, TAKEN_UP, FactKind
from leafward.summaries.summarizers.extractive.answers.quotes import WAITING
from leafward.summaries.summarizers.extractive.answers.sentence_sections import reached
from leafward.summaries.summarizers.extractive.candidates import BEFORE_KEPT, FileWork, add, asked_since
from leafward.summaries.summarizers.extractive.earlier_summary.carried_goals import sorted_out, without_mark
from leafward.summaries.summarizers.extractive.earlier_summary.earlier_code import code_in, tell_code
from leafward.summaries.summarizers.extractive.ending import LEAD
from leafward.summaries.summarizers.extractive.requests import offers, user_requests
from leafward.summaries.summarizers.extractive.requests.answered_requests import settles
from leafward.summaries.summarizers.extractive.requests.open_requests import is_beside
from leafward.summaries.summarizers.extractive.requests.passed_over import NOT_DONE
from leafward.summaries.summarizers.extractive.state.declared_lines import carry_declared
from leafward.summaries.summarizers.extractive.state.last_state import tells_state
from leafward.summaries.summarizers.extractive.state.overcome import CHECKS
from leafward.summaries.summarizers.extractive.turns import is_answered
from leafward.summaries.summarizers.outline import (
    Provenance,
    SummarySection,
    is_file_alone,
    line_key,
    outline_lines,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leafward.session.entries import EntryIndex
    from leafward.summaries.facts.reader import FactReader
    from leafward.summaries.summarizers.extractive.candidates import Evidence
    from leafward.summaries.summarizers.extractive.turns import Turn

_PREFERS = late(r"(?i)^(?:the )?user (?:prefers|wants|asked|requires|insists|does(?:n't| not) want)\b")
_ROW = late(r"\s*\|\s*")
_FILE_LINE = late(
    r"`([^`\n]{1,300})` (changed|read|named)(?: (\d{1,6})×)?(?:, \d{1,9} lines)?(?:: (.{1,4000}))?"
)
_OF_THE_END = late(r"(?:(?:Asked|Answered|Said) last|Last reply): ")
_LAST_REQUEST = late(rf"{user_requests.LAST_REQUEST}(?:{BEFORE_KEPT})?: ")
_SAID_BY_USER = late(r"^(?:\[[^\]]{1,20}\] )?[\"“](.{3,400}?)[\"”]?(?: \(.{1,120}\))?$")
_MORE_NAMES = late(r" and \d{1,4} more$")
_FILES_LINE = late(r"(Changed|Read|Named in commands): (`.{1,4000})")
_FILE_OF_LINE = late(r"`([^`\n]{1,300})`(?: (\d{1,6})×)?")
_NAMES_LINE = late(r"Names in use: |Changed `")
_RUN_LINE = late(
    r"(?:(?:Run|Named|Failed(?: with exit -?\d+)?:) )?`(.{1,300})`(?: passes)?(?: \((?:once|\d+ times).*|: .*)?"
)
"""Lines of ours about one file, names or a command: they are made again rather than carried on beside newer ones."""


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


@dataclass(frozen=True, slots=True)
class _Since:
    """The time between the earlier summary and the next one."""

    evidence: Evidence
    turns: Sequence[Turn]
    kept: FactReader
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
    turns, kept = behind.turns, behind.kept.told
    changed = any(work.changes for work in evidence.files.values())
    worked = any(turn.works for turn in turns) or changed or kept.answers > 0
    closed = {
        fact.key: fact.outcome
        for fact in evidence.facts.values()
        if fact.kind is FactKind.TODO and not fact.is_open
    }
    told = evidence.reader.told
    since = _Since(
        evidence,
        turns,
        behind.kept,
        worked,
        behind.went_on is not None and behind.went_on.works,
        any(times and CHECKS.search(command) for command, times in evidence.reader.passed.items()),
        told.answers + kept.answers > 0,
        closed,
        told.tests_passed or kept.tests_passed,
    )
    outline = list(outline_lines(previous))
    every = [*turns, *behind.later]
    # The work of then is answered before anything else is asked.
    ended = told.answers > 0 if turns else behind.went_on is not None and is_answered(behind.went_on)
    went_on = bool(every) and every[0].first > 0 and ended
    reached_all = (
        not every
        and not behind.kept.plan.open
        and behind.went_on is not None
        and settles([behind.went_on], behind.went_on, changed=changed)
    )
    goals = sorted_out(
        [
            line.text
            for line in outline
            if line.section is SummarySection.GOAL and line.text not in user_requests.SETTLED
        ],
        [turn for turn in (every if went_on else turns) if not is_beside(turn)],
        answered=went_on,
        over=reached_all,
        in_turn=_ALL_REQUESTS in previous,
    )
    before, not_done = SummarySection.GOAL, False
    for (section, text, is_open, code_of, file), below in zip_longest(outline, outline[1:]):
        code = [(text, code_of)] if code_of is not None else list(code_in(text))
        for piece, intro in code:
            tell_code(evidence, piece, intro, entry)
        if code:
            continue
        lead = ""
        if section is SummarySection.GOAL:
            if text not in goals:
                continue
            if evidence.size:
                section, lead = goals[text]
                text = without_mark(text) if lead else text
        text = _worded_today(text, went_on=evidence.size > 0)
        if not text:
            continue
        if text.endswith(_INTRODUCES) or section is not before:
            # Items of a list with this introduction were not done, whatever their wording.
            not_done = text.endswith(_INTRODUCES) and _NOT_YET.search(text) is not None
        before = section
        if (
            below is not None
            and below.file
            and below.file != file
            and below.file in text
            and is_file_alone(text)
        ):
            # The lines below it name the file.
            continue
        if _holds_nothing(text) or _is_made_anew(evidence, text, entry):
            continue
        placed = _placed(since, _Line(section, text, lead), is_open=is_open, not_done=not_done)
        line = _placed_by_words(placed) if placed is not None else None
        if line is not None and file and not line.lead and file.rpartition("/")[2] not in text:
            line = line._replace(lead=f"`{file}`: ")
        if line is not None and not _is_stale(since, line):
            _add(since, line, entry)
    if goals and not turns and not any(section is SummarySection.GOAL for section, _ in goals.values()):
        nothing = user_requests.SETTLED[bool(behind.later)]
        add(evidence, SummarySection.GOAL, nothing, (entry,), 3.0, first=True)


def _worded_today(text: str, *, went_on: bool) -> str:
    """A line in words that hold now; empty where it only said how things stood at the end."""
    text = _ROW.sub(" - ", text.strip("| ")) if text.startswith("|") else text
    if tells_state(text) or (went_on and text.startswith(LEAD)):
        return ""
    if went_on and _OF_THE_END.match(text):
        # A request was made and answered since.
        return _OF_THE_END.sub("Asked: ", text) if text.startswith("Asked") else ""
    return text


def _holds_nothing(text: str) -> bool:
    """Whether a line only introduces others, comments code, is markup, or lists names that are listed again."""
    return (
        text.endswith((*_INTRODUCES, "{", "}", "(", "["))
        or text.startswith(("//", "/*", "#"))
        or text == "(none)"
        or _MARKUP.match(text) is not None
        or _NAMES_LINE.match(text) is not None
    )


def _placed(since: _Since, line: _Line, *, is_open: bool | None, not_done: bool) -> _Line | None:
    """The line in the section to which its outcome belongs; None where nothing of it holds any more."""
    section, text, lead = line
    if section in _WORK and _LAST_REQUEST.match(text):
        asked = _LAST_REQUEST.sub("Asked: ", text)
        return _Line(SummarySection.DONE, asked, lead) if since.turns else line
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
        # In a list of the user's messages, requests are answered, and rules still hold.
        return _Line(SummarySection.CONSTRAINTS, said[1], lead) if demands(said[1]) else None
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


def _add(since: _Since, line: _Line, entry: EntryIndex) -> None:
    section, text, lead = line
    if section is SummarySection.CONSTRAINTS:
        asked = since.evidence.reader.rules.asked_since(text) or since.kept.rules.revoked_by(text)
        text = asked_since(text, asked)
    add(
        since.evidence,
        section,
        text,
        (entry,),
        _CARRIED_WORTH.get(section, 0.3),
        first=section is SummarySection.GOAL,
        lead=lead,
        provenance=Provenance.EARLIER,
        # Lines of code in an earlier summary are kept only where they hold a name.
        names_something=section is SummarySection.CONTEXT and _CODE.search(text) is not None,
    )


def _is_made_anew(evidence: Evidence, text: str, entry: EntryIndex) -> bool:
    """Whether the new summary has a line of ours in another form; its counts are added to the current ones."""
    file_line = _FILE_LINE.fullmatch(text)
    if file_line is not None:
        path, done, times, names = file_line.groups()
        work = evidence.files.setdefault(path, FileWork(path, last=-1, sources=[entry]))
        count = int(times or 1)
        if done == "changed":
            work.changes += count
        elif done == "read":
            work.reads += count
        else:
            work.named += count
        for name in _MORE_NAMES.sub("", names or "").removesuffix("…").split(", "):
            if name:
                work.names.setdefault(name, -1)
        return True
    listed = _FILES_LINE.fullmatch(text)
    if listed is not None:
        for path, times in _FILE_OF_LINE.findall(listed[2]):
            work = evidence.files.setdefault(path, FileWork(path, last=-1, sources=[entry]))
            if listed[1] == "Changed":
                work.changes += int(times or 1)
            elif listed[1] == "Read":
                work.reads += int(times or 1)
            else:
                work.named += int(times or 1)
        return True
    if carry_declared(evidence, text, entry):
        return True
    command = _RUN_LINE.fullmatch(text)
    fact = evidence.facts.get((FactKind.COMMAND, command[1])) if command is not None else None
    if fact is None or fact.last not in evidence.position:
        return False
    return text.startswith("Failed") or text.endswith(" passes") or fact.count >= 2


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
    r"(?i)\(?(?:currently )?in progress\)|^\W*(?:in progress|wip|ongoing|pending)\b\W*[:–—-]|\bstill (?:investigating|debugging|working on)\b|\b(?:still in progress|(?:not|n['’]t) yet\b|currently (?:working|implementing|debugging|investigating|in the middle)"
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
    r"(?i)^\W*(?:the )?(?:user['’]s )?(?:most recent|latest|last|final) (?:edit|change|action|step|message|request|question|command|run)s?\b"
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
