"""Commands that failed and errors that were printed, as lines: those that are still in the way of the work."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.late_pattern import late
from leafward.files.checks import check_of
from leafward.session.entries import text_of
from leafward.summaries.facts.calls.call_arguments import command_of, paths_of
from leafward.summaries.facts.calls.declined_calls import DECLINED
from leafward.summaries.facts.calls.printed_errors import NO_TESTS
from leafward.summaries.facts.calls.verdicts import REFUSED
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.values import Fact, FactKind, Voice, gather
from leafward.summaries.summarizers.extractive.candidates import Evidence, add, sources_of
from leafward.summaries.summarizers.extractive.requests.exchange import reports_result
from leafward.summaries.summarizers.extractive.state.failure_replies import (
    is_dismissed,
    is_meant,
    tells_failure,
)
from leafward.summaries.summarizers.extractive.state.lookups import asks
from leafward.summaries.summarizers.extractive.state.overcome import Passed, end_of, is_check
from leafward.summaries.summarizers.extractive.turns import is_answered
from leafward.summaries.summarizers.outline import LINE_LIMIT, SummarySection, harmless

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.session.entries import Body, EntryIndex, ToolCall
    from leafward.summaries.facts.reader import FactReader
    from leafward.summaries.facts.values import Sighting
    from leafward.summaries.summarizers.extractive.turns import Turn
    from leafward.summaries.survival.spans import SpanMessage

_GIVEN_UP = re.compile(r"(?i)\b(?:abort|cancel|interrupt|stopped by)")
_FRAME = re.compile(
    r"Traceback \(most recent|make(?:\[\d+\])?: \*\*\*"
    r"|(?i:\W*(?:(?:command|process|shell|script) )?(?:exited with (?:code|status)|exit (?:code|status))[:=]? ?-?\d{1,3}\W*$)"
)
"""Text around an error that tells nothing about it."""
_AT_A_PLACE = re.compile(
    r"\s*(?:@?[\w./-]{1,60}:[\w-]{1,40}: )?/?(?:[\w.@-]{1,100}/){0,20}([\w.@-]{1,100}\.(\w{1,10}))"
    r"(?::\d{1,7}:\d{1,7}: |\(\d{1,7},\d{1,7}\): )"
)
"""A compiler's error: the file that it names, and the ending of the file."""
_PARTED = late(r"\|\s*(?:grep|rg|head|tail|sed|awk)\b")
"""A command whose output is read in part."""
_ERRORS_ALONE = late(r"\|\s*(?:grep|rg)\b(?![^|]*\s-\w*v)[^|]*(?i:error)")
"""A filter that lets every error through."""
_PARTS = re.compile(r"\s*(?:&&|;)\s*")
_CUT_OFF = re.compile(r"(?i)\W*command timed out after \d")
"""The beginning of the result of a command that Claude Code, Codex or pi ended after its time."""
_LEADS = {"failed": "Failed: ", DECLINED: "Declined by the user: "}
_NOT_AGAIN = ", not run again: "
"""The end of the lead of a command that failed, where nothing tells whether that is still in the way."""
_STILL = 0.4
"""The part of the span after which a command that failed last counts as a present obstacle."""
_OBSTACLES = 4
"""Failed commands that are told."""
_RESULTS = 8
"""Messages after a call that are searched for its output."""
_NOT_THERE = "(?i:no such file|(?:command )?not found|can(?:no|')t (?:open|find|access|stat)|does not exist)"
_MISUSED = late(r"(?im)^\s*usage: {1,4}\S|: (?:command )?not found$")
"""What is printed where a command was put wrongly, or its program is not there: that tells nothing of the work."""
_SCRIPT = re.compile(r"[./~]*\w[\w.@/-]*(?:/|\.)[\w.@-]+")
"""A word that is a path, or the name of a file."""


class KeptFacts(NamedTuple):
    """The messages behind a span, read."""

    messages: Sequence[SpanMessage]
    reader: FactReader
    seen: Sequence[Sighting]
    """Their facts."""
    later: Sequence[Turn]
    """The turns in them."""
    finished: bool = False
    """Whether they answer the last request of the span."""


class CommandRuns(NamedTuple):
    """The commands of a span, and what succeeded in it and behind it."""

    commands: Sequence[Fact]
    passed: Passed
    """What succeeded in the span."""
    later: Passed | None
    """What succeeded in the messages that are kept; None where no command failed, or none are kept."""

    @classmethod
    def of(cls, evidence: Evidence, messages: Sequence[SpanMessage], kept: KeptFacts) -> CommandRuns:
        """The commands of a span. The kept messages are only read where a command failed."""
        commands = [fact for fact in evidence.facts.values() if fact.kind is FactKind.COMMAND]
        read_on = kept.messages and any(map(is_broken, commands))
        return cls(
            commands,
            Passed(evidence, messages),
            Passed(_evidence_of(kept), kept.messages) if read_on else None,
        )

    def is_overcome(self, fact: Fact) -> bool:
        """Whether a command that failed succeeded later in another way: then it is in nobody's way."""
        return self.passed.overcame(fact) or (self.later is not None and self.later.overcame(fact))


def tell_obstacles(
    evidence: Evidence,
    messages: Sequence[SpanMessage],
    turns: Sequence[Turn],
    kept: KeptFacts,
    runs: CommandRuns,
) -> None:
    """Adds the commands that failed last, each with what it printed, and the other errors that they printed."""
    missed = _Missed(evidence, messages, runs.commands)
    broken = [
        fact
        for fact in _failed_commands(evidence, messages, [*turns, *kept.later], runs)
        if not (
            is_dismissed(messages, end := end_of(evidence, fact))
            or is_meant(messages, end)
            or missed.is_over(fact)
            or missed.ran_on(fact)
        )
    ]
    failed_at = [place for fact in broken if (place := end_of(evidence, fact)) >= 0]
    errors = [
        fact
        for fact in _remaining_errors(evidence, messages, kept, failed_at)
        if not missed.has_printed(fact)
    ]
    for fact in broken[-_OBSTACLES:]:
        end = end_of(evidence, fact)
        until = min((place for place in failed_at if place > end), default=max(1, evidence.size))
        printed = _first_of(evidence, errors, end, min(until, end + _RESULTS))
        first = fact is broken[-1] and printed is not None
        if printed is not None and "\n" not in fact.key:
            # A command that failed says little without what it printed.
            errors.remove(printed)
        else:
            printed = None
        answers = [turn.answer for turn in turns if turn.first < end <= turn.last and is_answered(turn)]
        broke_off = missed.was_cut_off(fact) or runs.passed.did_not_run(fact)
        went_on = (broke_off and runs.passed.checked > end) or bool(answers)
        # Where work is open, what failed last is in its way; of answered work only the answer tells.
        unsure = went_on and (broke_off or not any(map(tells_failure, answers)))
        _tell_failure(evidence, fact, printed, first=first, unsure=unsure)
    for fact in errors:
        worth = 0.8 * evidence.recency(fact)
        add(evidence, SummarySection.BLOCKED, fact.text, sources_of(fact), worth, limit=220)


def _failed_commands(
    evidence: Evidence, messages: Sequence[SpanMessage], turns: Sequence[Turn], runs: CommandRuns
) -> list[Fact]:
    """The commands whose last run failed not long ago, that were not overcome and are in the way."""
    went_on = _last_success(messages)
    ran_last: dict[str, int] = {}
    for fact in runs.commands:
        end = end_of(evidence, fact)
        ran_last.update({part: max(end, ran_last.get(part, -1)) for part in _tried_in(fact)})
    total = max(1, evidence.size)
    return [
        fact
        for fact in runs.commands
        if is_broken(fact)
        # Not where all that it tried was tried again.
        and (end := end_of(evidence, fact)) == min(map(ran_last.__getitem__, _tried_in(fact)))
        and (end + 1) / total > _STILL
        and not runs.is_overcome(fact)
        and _is_in_the_way(evidence, fact, went_on, turns)
    ]


class _Missed:
    """The looks in the wrong place: what a command names was not where it was looked for."""

    def __init__(self, evidence: Evidence, messages: Sequence[SpanMessage], commands: Sequence[Fact]) -> None:
        self._evidence, self._messages, self._commands = evidence, messages, commands
        self._went_on = _last_success(messages)
        self._calls = {call.id: call for calls in evidence.calls.values() for call in calls}

    def is_over(self, fact: Fact) -> bool:
        """Whether a failed command was such a look, and its file was reached in another way since, or work went on without it."""
        place = end_of(self._evidence, fact)
        names = {word.rpartition("/")[2] for word in fact.key.split() if _SCRIPT.fullmatch(word) is not None}
        if place < 0 or not names:
            return False
        printed = self._printed(place)
        missing = {name for name in names if _is_missing(name, printed)}
        return bool(missing) and (
            self._went_on > place
            or any(
                end_of(self._evidence, other) > place
                and not missing.isdisjoint(word.rpartition("/")[2] for word in other.key.split())
                for other in self._commands
            )
        )

    def ran_on(self, fact: Fact) -> bool:
        """Whether the agent only cut a command off after its time, such as a server, and no check was to end."""
        return not is_check(fact.key) and self.was_cut_off(fact)

    def was_cut_off(self, fact: Fact) -> bool:
        """Whether the agent ended a command after its time."""
        place = end_of(self._evidence, fact)
        return place >= 0 and _CUT_OFF.match(self._printed(place)) is not None

    def has_printed(self, error: Fact) -> bool:
        """Whether an error blocks nothing: a program that only reads printed it, such a look, a command that was put wrongly or cut off, or a call whose file came up again since."""
        place = self._evidence.position.get(error.last, -1)
        ran = str(self._messages[place].message.get("toolCallId")) if place >= 0 else ""
        call = self._calls.get(ran)
        script = command_of(call.arguments) if call is not None else "|"
        if not is_check(script) and place >= 0 and _was_cut_off(self._messages[place].message):
            return True
        if not is_check(script) and self._went_on > place and _MISUSED.search(error.text) is not None:
            return True
        if call is not None and not script and self._is_tried_again(call, place):
            return True
        return "|" not in script and asks(script)

    def _is_tried_again(self, call: ToolCall, place: int) -> bool:
        """Whether a call behind a position has a file of one that runs no command."""
        files = set(paths_of(call.arguments))
        return any(
            at > place and any(not files.isdisjoint(paths_of(other.arguments)) for other in calls)
            for at, calls in self._evidence.calls.items()
        )

    def _printed(self, place: int) -> str:
        """What the calls at a position printed, or the result there."""
        ids = {call.id for call in self._evidence.calls.get(place, ())}
        results = (
            body
            for _, body in self._messages[place : place + _RESULTS]
            if body.get("role") == "toolResult" and (not ids or str(body.get("toolCallId")) in ids)
        )
        return "\n".join(text_of(body.get("content")) for body in (results if ids else islice(results, 1)))


def _was_cut_off(result: Body) -> bool:
    """Whether the agent ended a command after its time."""
    return _CUT_OFF.match(text_of(result.get("content"))) is not None


def _is_missing(name: str, printed: str) -> bool:
    """Whether an output says that there is no file of a name."""
    file = re.escape(name)
    says = rf"{file}['\"`’]?: {_NOT_THERE}|{_NOT_THERE}\S*:? ['\"`‘]?\S*{file}(?![\w-])"
    return name in printed and re.search(says, printed) is not None


def _last_success(messages: Sequence[SpanMessage]) -> int:
    """The position of the last result of a call that did not fail; -1 where there is none."""
    results = (
        place
        for place in range(len(messages) - 1, -1, -1)
        if (body := messages[place].message).get("role") == "toolResult" and not body.get("isError")
    )
    return next(results, -1)


def _remaining_errors(
    evidence: Evidence, messages: Sequence[SpanMessage], kept: KeptFacts, failed_at: Sequence[int]
) -> list[Fact]:
    """The errors that were printed soon after the failed commands at `failed_at` and are perhaps still there."""
    compiled, behind = _compiled_last(evidence, messages, kept), sorted(failed_at)
    return [
        fact
        for fact in evidence.facts.values()
        if fact.kind is FactKind.ERROR
        and fact.voice is Voice.OUTPUT
        and fact.last in evidence.failed
        and _is_soon_behind(evidence.position.get(fact.last, -1), behind)
        and not _GIVEN_UP.search(fact.text)
        and not _FRAME.match(fact.text)
        and compiled.get(_compiled(fact), -1) <= evidence.position.get(fact.last, -1)
        and len(content_words(fact.text)) > 1
        and not _is_changed_since(evidence, fact)
    ]


def _is_soon_behind(place: int, runs: Sequence[int]) -> bool:
    """Whether a position is soon behind one of some others, which are in order."""
    before = bisect_left(runs, place)
    return before > 0 and place - runs[before - 1] <= _RESULTS


def _first_of(evidence: Evidence, errors: Sequence[Fact], ran: int, until: int) -> Fact | None:
    """The first of the errors that were printed behind the position of a run, up to another one."""
    behind = [fact for fact in errors if ran < evidence.position.get(fact.last, -1) <= until]
    return min(behind, key=lambda fact: evidence.position[fact.last], default=None)


def _tell_failure(evidence: Evidence, fact: Fact, printed: Fact | None, *, first: bool, unsure: bool) -> None:
    """Adds a command that failed, with the error that it printed: such a line is worth both.

    `unsure` says that nothing tells that this is in the way: then only what happened is told.
    """
    section = SummarySection.CONTEXT if unsure else SummarySection.BLOCKED
    lead = _LEADS.get(fact.outcome, f"Failed with {fact.outcome}: ")
    if unsure and fact.outcome != DECLINED:
        lead = lead.replace(": ", _NOT_AGAIN)
    text, worth = f"`{harmless(fact.key, 160)}`", 1.5 * evidence.recency(fact)
    sources: tuple[EntryIndex, ...] = (fact.entry, fact.last)
    if printed is not None:
        text, sources = f"{text}: {harmless(printed.text, 160)}", (*sources, printed.last)
        worth += 0.8 * evidence.recency(printed)
    add(evidence, section, text, sources, worth, first=first and not unsure, limit=LINE_LIMIT, lead=lead)


def failed(fact: Fact) -> bool:
    """Whether the last run of a command failed: a server that refused a request, and tests of which none ran, did not."""
    return fact.outcome not in {"", "exit 0", NO_TESTS} and not fact.outcome.startswith(REFUSED)


def is_broken(fact: Fact) -> bool:
    """Whether the last run of a command failed, and the failure is more than a negative answer."""
    # Its output tells that a check failed whose exit code nobody saw.
    return failed(fact) and (
        not asks(fact.key) or (fact.outcome == "failed" and check_of(fact.key) is not None)
    )


def _compiled(fact: Fact | Sighting) -> str:
    """The ending of the file that a compiler's error names with a place in it; empty for any other error."""
    found = _AT_A_PLACE.match(fact.text)
    return found[2] if found is not None else ""


def _is_changed_since(evidence: Evidence, fact: Fact) -> bool:
    """Whether the file that a compiler's error names was changed after it was printed: it may be mended."""
    found = _AT_A_PLACE.match(fact.text)
    if found is None:
        return False
    place = evidence.position.get(fact.last, -1)
    return any(
        work.changed > place for path, work in evidence.files.items() if path.rpartition("/")[2] == found[1]
    )


def _compiled_last(evidence: Evidence, messages: Sequence[SpanMessage], kept: KeptFacts) -> dict[str, int]:
    """Where errors at places of files were printed last, by the ending of the files: a later run has all that are left.

    Not so one of whose output only a part was read.
    """
    last: dict[str, int] = {}
    parted: set[int] | None = None
    for fact in evidence.facts.values():
        if fact.kind is FactKind.ERROR and fact.voice is Voice.OUTPUT and (ending := _compiled(fact)):
            parted = _parted_outputs(evidence, messages) if parted is None else parted
            place = evidence.position.get(fact.last, -1)
            if place not in parted:
                last[ending] = max(place, last.get(ending, -1))
    for seen in kept.seen:
        if seen.kind is FactKind.ERROR and seen.voice is Voice.OUTPUT and (ending := _compiled(seen)):
            last[ending] = max(1, evidence.size)
    return last


def _parted_outputs(evidence: Evidence, messages: Sequence[SpanMessage]) -> set[int]:
    """The positions of the results of which another program let only a part through."""
    piped = {
        call.id
        for calls in evidence.calls.values()
        for call in calls
        if _PARTED.search(command := command_of(call.arguments)) is not None
        and _ERRORS_ALONE.search(command) is None
    }
    return {place for place, (_, body) in enumerate(messages) if str(body.get("toolCallId")) in piped}


def _tried_in(fact: Fact) -> Sequence[str]:
    """The checks that a command runs one after the other, else the command; each without what only reads its output.

    What else stands in a chain only prepares its checks.
    """
    parts = [part.partition(" | ")[0].strip() for part in _PARTS.split(fact.key)]
    return [part for part in parts if is_check(part)] or [fact.key.partition(" | ")[0]]


def _is_in_the_way(evidence: Evidence, fact: Fact, went_on: int, turns: Sequence[Turn]) -> bool:
    """Whether a failed command is an obstacle: a check, or the last thing that was tried and not answered.

    `went_on` is the position of the last result of a call that did not fail.
    """
    place = end_of(evidence, fact)
    if fact.outcome == DECLINED:
        # Until the user asked for other work, and that was done.
        return not any(turn.first > place and turn.works and is_answered(turn) for turn in turns)
    if is_check(fact.key) and ("\n" not in fact.text or check_of(fact.key) is not None):
        # A script may name anything. A check that failed in a way that nobody minded: a result was reported since, and the user went on from it.
        return not any(
            turn.last > place and is_answered(turn) and reports_result(turn.answer) for turn in turns[:-1]
        )
    return went_on <= place and not any(
        turn.first <= place < turn.last and is_answered(turn) for turn in turns
    )


def _evidence_of(kept: KeptFacts) -> Evidence:
    """The facts of the kept messages, with their positions."""
    facts = {(fact.kind, fact.key): fact for fact in gather(kept.seen)}
    position = {entry: place for place, (entry, _) in enumerate(kept.messages)}
    return Evidence(facts, [], {}, len(kept.messages), position, kept.reader)
