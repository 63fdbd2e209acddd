"""The state at the end of a span: lines that later work made wrong are left out, and their subjects' new state is added.

Deleted and renamed files, requests that the user took back, steps that were done later, counts of an older run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from leafward.files.file_operation import FileOperation
from leafward.files.shell.effects import effects
from leafward.session.entries import NO_ENTRY, EntryIndex, text_of, tool_calls
from leafward.summaries.facts import forms
from leafward.summaries.facts.call_arguments import COMMAND_ARGUMENTS, PATH_ARGUMENTS, changes_text
from leafward.summaries.facts.outcomes import failed_calls, files_changed, patches_of
from leafward.summaries.facts.prose import affirmed, content_words, reports, without_marker
from leafward.summaries.facts.reader import FactReader
from leafward.summaries.facts.values import ANSWERED, TAKEN_UP, FactKind, Voice
from leafward.summaries.summarizers.extractive.answers.quotes import answered_before
from leafward.summaries.summarizers.extractive.candidates import (
    OUTCOME,
    Evidence,
    LineCandidate,
    add,
    last_written,
)
from leafward.summaries.summarizers.extractive.requests import passed_over
from leafward.summaries.summarizers.extractive.requests.passed_over import NOT_DONE, put_behind
from leafward.summaries.summarizers.extractive.state import contradictions, replaced_values
from leafward.summaries.summarizers.extractive.state.removals import forget_removed
from leafward.summaries.summarizers.extractive.state.settled_troubles import settle_troubles
from leafward.summaries.summarizers.extractive.turns import is_answered
from leafward.summaries.summarizers.outline import Provenance, SummarySection, line_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leafward.session.entries import Body, ToolCall
    from leafward.summaries.facts.text_facts import Known
    from leafward.summaries.summarizers.extractive.requests.kept_answers import KeptAnswers
    from leafward.summaries.summarizers.extractive.turns import Turn
    from leafward.summaries.survival.spans import SpanMessage

_MOVES = re.compile(r"\b(?:rm|mv|cp)\b")

_SUBJECTS = frozenset(
    {
        SummarySection.DONE,
        SummarySection.NEXT,
        SummarySection.DECISIONS,
        SummarySection.CONTEXT,
        SummarySection.IN_PROGRESS,
        SummarySection.BLOCKED,
    }
)
_COUNTED = re.compile(r"(?i)\b(\d[\d,]{0,8}) (?:\w+ )?(?:tests?|specs?)\b")
_DIGIT = re.compile("[0-9]")
_GIVEN = re.compile(r"(?<![\w.-])([\w.-]{2,60})`?\s?(?::|=|→)\s(?=[^;,\d]{0,24}\d)")
"""A name before a value with a figure."""
_FIGURED = frozenset({SummarySection.DONE, SummarySection.CONTEXT, SummarySection.IN_PROGRESS})
_DONE_ALREADY = 0.75
"""The part of a step's words that a later line of finished work has to share."""
_BRACKETS = re.compile(r"\([^()]{0,300}\)")
_SAYS_WHAT = 4
"""Words that make a step specific."""
_TOLD_FILES = 8
"""Deleted or renamed files that are named."""
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
_TELLS_REMOVAL = re.compile(
    r"(?i)^\W*(?:removed|deleted|dropped|renamed|moved|reverted|gelöscht|entfernt|umbenannt|supprimé|renommé)\b"
)
"""The beginning of an outcome that tells of a removal itself."""
_REMOVES = re.compile(r"(?i)^\W*(?:remove|delete|drop|rename|get rid of|clean up)\b")


@dataclass(frozen=True, slots=True)
class GoneFile:
    """A file that no longer has its name."""

    place: int
    entry: EntryIndex
    now: str
    """Its new name; empty where it was deleted."""
    returned: bool = False
    """Whether that is the name that it had before this one."""


def settle(
    evidence: Evidence,
    messages: Sequence[SpanMessage],
    turns: Sequence[Turn],
    cwd: str,
    kept: Sequence[SpanMessage],
    answers: KeptAnswers,
    known: Known,
) -> frozenset[str]:
    """Leaves out the lines that no longer hold, and adds their present state; `kept` are the messages that follow the summary.

    `answers` is what they answer. `known` are texts that were read already.
    Returns the files that no longer have their names.
    """
    contradictions.take_back(evidence, messages, [*turns, *answers.later[:1]], cwd)
    contradictions.refute(evidence, messages, [*turns, *answers.later[:1]])
    settle_troubles(evidence, messages, turns, answers.later)
    gone = gone_files(messages, evidence.calls, cwd)
    failed = failed_calls(message for _, message in kept)
    for path in (path for _, message in kept for path in files_changed(message, failed, cwd)):
        # The messages that follow write it again.
        gone.pop(path, None)
    _files(evidence, gone)
    calls = {
        place: tool_calls(body) for place, (_, body) in enumerate(kept) if body.get("role") == "assistant"
    }
    for path in gone_files(kept, calls, cwd):
        # The messages that follow tell it themselves.
        evidence.candidates = _without(evidence, path, len(messages))
    written = last_written(evidence.files)
    ended = _answers(messages, turns)
    _fulfil(evidence, written, ended)
    _take_up(evidence, turns)
    _steps(evidence, turns, ended, behind=answers.finished and not turns)
    carried = [
        one for one in evidence.candidates if one.section is SummarySection.NEXT and evidence.is_carried(one)
    ]
    if carried and any(_plans(body) for _, body in messages):
        for candidate in carried:
            # The steps of an earlier summary are not those of the plan now.
            put_behind(evidence, candidate)
    passed_over.settle(evidence, turns, kept, FactReader(cwd, known))
    for work in evidence.files.values():
        for name, place in work.taken.items():
            # It is written nowhere any more, or elsewhere.
            written[name] = max(place, written.get(name, place))
    evidence.candidates = [
        candidate for candidate in evidence.candidates if not _is_overtaken(evidence, candidate, written)
    ]
    replaced_values.renew(evidence, [*turns, *answers.later])
    forget_removed(evidence, turns)
    _counts(evidence)
    return frozenset(gone)


def gone_files(
    messages: Sequence[SpanMessage], calls: Mapping[int, Sequence[ToolCall]], cwd: str
) -> dict[str, GoneFile]:
    """The files that were deleted or renamed and did not come back, by their names; `calls` are those of the messages, by position."""
    gone: dict[str, GoneFile] = {}
    failed = failed_calls(message for _, message in messages)
    for place, made in calls.items():
        entry = messages[place].entry
        for call in made:
            if call.id in failed:
                continue
            arguments = call.arguments
            if changes_text(arguments):
                for name in PATH_ARGUMENTS:
                    if isinstance(arguments.get(name), str):
                        gone.pop(forms.canonical_path(arguments[name], cwd), None)
            for patch in patches_of(arguments):
                path = forms.canonical_path(patch.path, cwd)
                now = forms.canonical_path(patch.moved_to, cwd) if patch.moved_to else ""
                gone.pop(now or path, None)
                if patch.verb == "delete" or now not in ("", path):
                    gone[path] = GoneFile(place, entry, now)
            command = next(
                (arguments[name] for name in COMMAND_ARGUMENTS if isinstance(arguments.get(name), str)), ""
            )
            if _MOVES.search(command) is None:
                continue
            for one in effects(command):
                if one.glob or one.by is not None:
                    continue
                path = forms.canonical_path(one.path, cwd)
                now = forms.canonical_path(one.to, cwd) if one.to is not None else ""
                before = gone.pop(now or path, None)
                if one.operation is FileOperation.DELETE or (
                    one.operation is FileOperation.MOVE and now != path
                ):
                    returned = before is not None and before.now == path
                    gone[path] = GoneFile(place, entry, now, returned)
    return gone


def _files(evidence: Evidence, gone: dict[str, GoneFile]) -> None:
    listed = 0
    # Names that a renamed file had for a time.
    between = {what.now for what in gone.values()}
    for path, what in sorted(gone.items(), key=lambda item: (-item[1].place, item[0])):
        if "." not in path.rsplit("/", 1)[-1]:
            continue
        left = _without(evidence, path, what.place)
        work = evidence.files.pop(path, None)
        if work is not None and what.now and what.now in evidence.files:
            renamed = evidence.files[what.now]
            renamed.changes += work.changes
            renamed.names = {**work.names, **renamed.names}
        if work is None and len(left) == len(evidence.candidates):
            continue
        evidence.candidates = left
        if listed < _TOLD_FILES and path not in between and not what.returned:
            listed += 1
            now = what.now
            while now in gone:
                now = gone[now].now
            text = f"Renamed `{path}` to `{now}`" if now else f"Deleted `{path}`"
            add(evidence, SummarySection.DONE, text, (what.entry,), 3.0)


def _without(evidence: Evidence, path: str, until: int) -> list[LineCandidate]:
    """The lines but those about a file up to a position; the last request stays, its outcome does not."""
    name = path.rsplit("/", 1)[-1]
    named = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])(?!\.\w)")
    for candidate in evidence.candidates:
        if candidate.first and candidate.asks and evidence.place_of(candidate) <= until:
            asked, _, came = candidate.text.partition(OUTCOME)
            if named.search(came) and not _TELLS_REMOVAL.match(came):
                candidate.text = asked
    return [
        candidate
        for candidate in evidence.candidates
        if not (
            candidate.section in _SUBJECTS
            and not candidate.first
            and name in candidate.text
            and named.search(candidate.text)
            and evidence.place_of(candidate) <= until
        )
    ]


def _is_overtaken(evidence: Evidence, candidate: LineCandidate, written: Mapping[str, int]) -> bool:
    """Whether everything that an attributed line names was written anew since: it tells of the code before that.

    Of an earlier summary only code and what it says of files: what it found out about names may hold still.
    """
    if candidate.section is not SummarySection.CONTEXT or candidate.provenance is Provenance.RECORDED:
        return False
    if candidate.asks:
        return False
    place = evidence.place_of(candidate)
    seen = evidence.reader.prose(candidate.text, Voice.TOLD, NO_ENTRY)
    files = {one.key.rpartition("/")[2] for one in seen if one.kind is FactKind.PATH}
    if candidate.provenance is Provenance.EARLIER and not (files or candidate.group):
        return False
    names = files | {one.key.removesuffix("()") for one in seen if one.kind is FactKind.IDENTIFIER}
    if names and candidate.provenance is Provenance.SAID:
        given = _GIVEN.findall(candidate.text)
        if len(given) > 1 and any(written.get(name, -1) > place for name in names.intersection(given)):
            # It has another value now, and nobody writes the old one again.
            return True
    return bool(names) and all(written.get(name, -1) > place for name in names)


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
        seen = evidence.reader.prose(candidate.text, Voice.TOLD, NO_ENTRY)
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


def _take_up(evidence: Evidence, turns: Sequence[Turn]) -> None:
    """Leaves out told next steps that the user requested since: they are in progress, or done.

    Items of a checklist, or of the agent's own plan, show themselves when they are done.
    """
    evidence.candidates = [
        candidate
        for candidate in evidence.candidates
        if candidate.section is not SummarySection.NEXT
        or passed_over.is_listed(evidence, candidate)
        or not passed_over.is_asked_for(candidate, turns, evidence.place_of(candidate))
    ]


def _steps(evidence: Evidence, turns: Sequence[Turn], ended: Sequence[EntryIndex], *, behind: bool) -> None:
    """Leaves out a step when a later line of finished work matches it, or several match its parts.

    `ended` are the answers that ended work; `behind` says that the kept messages have the one to the work around the summary.
    """
    done = [
        (evidence.place_of(candidate), frozenset(content_words(affirmed(candidate.text))))
        for candidate in evidence.candidates
        if candidate.section is SummarySection.DONE
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


def _said_by_model(candidate: LineCandidate) -> str:
    """The part of a line in the model's words: the outcome of a request's line."""
    return candidate.text.partition(OUTCOME)[2] if candidate.asks else candidate.text


def _counts(evidence: Evidence) -> None:
    """Keeps, of the lines that count tests, those of the last run."""
    counted = [
        (evidence.place_of(candidate), match[1], candidate)
        for candidate in evidence.candidates
        if candidate.section in _FIGURED
        and _holds_digit(candidate.text)
        and (match := _COUNTED.search(_said_by_model(candidate))) is not None
    ]
    if not counted:
        return
    last = max(counted, key=lambda item: item[0])[1]
    old = set()
    for _, count, candidate in counted:
        if count == last:
            continue
        if candidate.asks:
            # The request stays, its outcome of then does not.
            candidate.text = candidate.text.partition(OUTCOME)[0]
        else:
            old.add(id(candidate))
    evidence.candidates = [candidate for candidate in evidence.candidates if id(candidate) not in old]


def _holds_digit(text: str) -> bool:
    return _DIGIT.search(text) is not None if text.isascii() else any(map(str.isdigit, text))
