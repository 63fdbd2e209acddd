"""Stated facts as lines: failures, demands, decisions, todos, commands, URLs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.late_pattern import late
from leafward.summaries.facts.call_arguments import command_of
from leafward.summaries.facts.printed_errors import DECLINED
from leafward.summaries.facts.prose import content_words, is_to_try
from leafward.summaries.facts.questions import without_fillers
from leafward.summaries.facts.values import ANSWERED, DROPPED, TAKEN_UP, Fact, FactKind, Voice, gather
from leafward.summaries.summarizers.extractive.candidates import Evidence, add, asked_since, leads_somewhere
from leafward.summaries.summarizers.extractive.requests.exchange import reports_result
from leafward.summaries.summarizers.extractive.state.overcome import CHECKS, Passed, end_of
from leafward.summaries.summarizers.extractive.turns import is_answered
from leafward.summaries.summarizers.outline import LINE_LIMIT, SummarySection, harmless, named_files

if TYPE_CHECKING:
    from collections.abc import Sequence

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
_OUR_HEADINGS = frozenset(section.title.casefold() for section in SummarySection)
_CHANGED_FILES = 4
"""Files that are named as changed where no other line tells the work."""
_LEADS = {"failed": "Failed: ", DECLINED: "Declined by the user: "}
_STILL = 0.4
"""The part of the span after which a command that failed last counts as a present obstacle."""
_OBSTACLES = 4
"""Failed commands that are told."""
_RESULTS = 8
"""Messages after a call that are searched for its output."""
_ASKING = frozenset(
    {"grep", "rg", "ls", "which", "test", "[", "diff", "find", "cmp", "pgrep", "command", "cat"}
)
"""Programs that answer a question by failing: it finds nothing, or there is no such file."""
_UNMINDED = 2
"""Answers with a result behind a failed check, after which it is in nobody's way."""
_RULE = 2
"""The worth of a rule beside other lines: likely needed facts do not crowd it out."""
_AHEAD = 3
"""Checklists whose open items come next."""
_TODO_LINE = 220
"""Characters of todos that share a line."""


class KeptFacts(NamedTuple):
    """The messages behind a span, read."""

    messages: Sequence[SpanMessage]
    reader: FactReader
    seen: Sequence[Sighting]
    """Their facts."""
    later: Sequence[Turn]
    """The turns in them."""


def stated(
    evidence: Evidence,
    messages: Sequence[SpanMessage],
    turns: Sequence[Turn],
    kept: KeptFacts,
) -> None:
    """Lines made of facts: what the user demands, decisions, todos, commands that fail, errors not yet gone.

    What passes in the messages behind the span is in nobody's way.
    """
    total = max(1, evidence.size)

    def recency(fact: Fact) -> float:
        return (evidence.position.get(fact.last, -1) + 1) / total

    checklist: dict[tuple[bool, str], list[Fact]] = {}
    passed = Passed(evidence, messages)
    results = (
        place
        for place in range(len(messages) - 1, -1, -1)
        if (body := messages[place].message).get("role") == "toolResult" and not body.get("isError")
    )
    went_on = next(results, -1)
    commands = [fact for fact in evidence.facts.values() if fact.kind is FactKind.COMMAND]
    ran_last: dict[str, int] = {}
    for fact in commands:
        ran_last[_unpiped(fact)] = max(end_of(evidence, fact), ran_last.get(_unpiped(fact), -1))
    broken = [
        fact
        for fact in commands
        if _is_broken(fact)
        and end_of(evidence, fact) == ran_last[_unpiped(fact)]
        and (end_of(evidence, fact) + 1) / total > _STILL
        and not passed.overcame(fact)
        and _is_in_the_way(evidence, fact, went_on, [*turns, *kept.later])
    ]
    later = passed
    if kept.messages and any(map(_is_broken, commands)):
        later = Passed(_evidence_of(kept), kept.messages)
        broken = [fact for fact in broken if not later.overcame(fact)]
    compiled = _compiled_last(evidence, messages, kept)
    failed_at = [place for fact in broken if (place := end_of(evidence, fact)) >= 0]
    errors: list[Fact] = []
    for fact in evidence.facts.values():
        sources = tuple(dict.fromkeys((*fact.entries[:3], fact.entry)))
        if fact.kind is FactKind.CONSTRAINT:
            if not fact.is_open:
                continue
            add(
                evidence,
                SummarySection.CONSTRAINTS,
                asked_since(without_fillers(fact.text), kept.reader.rules.revoked_by(fact.text)),
                sources,
                _RULE * (2.5 + 1.5 * recency(fact)),
                limit=260,
            )
        elif fact.kind is FactKind.TODO and fact.last in evidence.position:
            if fact.outcome not in (DROPPED, ANSWERED, TAKEN_UP) and fact.last not in evidence.left:
                checklist.setdefault((fact.is_open, fact.about[-1] if fact.about else ""), []).append(fact)
        elif (
            fact.kind is FactKind.ERROR
            and fact.voice is Voice.OUTPUT
            and fact.last in evidence.failed
            and any(0 < evidence.position.get(fact.last, -1) - place <= _RESULTS for place in failed_at)
            and not _GIVEN_UP.search(fact.text)
            and not _FRAME.match(fact.text)
            and compiled.get(_compiled(fact), -1) <= evidence.position.get(fact.last, -1)
            and len(content_words(fact.text)) > 1
            and not _is_changed_since(evidence, fact)
        ):
            errors.append(fact)
        elif fact.kind is FactKind.URL and fact.voice is not Voice.OUTPUT and leads_somewhere(fact.text):
            add(evidence, SummarySection.CONTEXT, fact.text, sources, 0.2, limit=300, lead="See ")
    ahead = 0
    for (is_open, heading), items in checklist.items():
        # The plan's own order tells the next step.
        done = len(checklist.get((False, heading), ())) if is_open else 0
        if done and done >= len(items):
            # The rest of a list that was worked through was dropped rather than forgotten.
            _todos(evidence, is_open, heading, items, 0.4)
            continue
        # What is to be tried in the end does not come next.
        soon = is_open and ahead < _AHEAD and not is_to_try(heading)
        _todos(evidence, is_open, heading, items, 3.0 if soon else 1.0)
        ahead += soon
    for fact in broken[-_OBSTACLES:]:
        lead = _LEADS.get(fact.outcome, f"Failed with {fact.outcome}: ")
        end = end_of(evidence, fact)
        until = min((place for place in failed_at if place > end), default=total)
        printed = _first_of(evidence, errors, end, min(until, end + _RESULTS))
        text, sources, worth = f"`{harmless(fact.key, 160)}`", (fact.entry, fact.last), 1.5 * recency(fact)
        if printed is not None and "\n" not in fact.key:
            # A command that failed says little without what it printed: the line is worth both.
            errors.remove(printed)
            text, sources = f"{text}: {harmless(printed.text, 160)}", (*sources, printed.last)
            worth += 0.8 * recency(printed)
        add(
            evidence,
            SummarySection.BLOCKED,
            text,
            sources,
            worth,
            first=fact is broken[-1] and printed is not None,
            limit=LINE_LIMIT,
            lead=lead,
        )
    for fact in errors:
        sources = tuple(dict.fromkeys((*fact.entries[:3], fact.entry)))
        add(evidence, SummarySection.BLOCKED, fact.text, sources, 0.8 * recency(fact), limit=220)
    often = [fact for fact in commands if fact.count >= 2 and "\n" not in fact.text]
    chains = [fact for fact in commands if " && " in fact.key and _is_broken(fact)]
    for fact in sorted(often, key=lambda fact: (-len(fact.entries), fact.key))[:8]:
        times = evidence.reader.ran[fact.key]
        sources = (fact.entry, fact.last)
        worth = 0.5 + 0.1 * min(8, fact.count)
        passes = fact.outcome == "exit 0" and CHECKS.search(fact.key) and "|" not in fact.key
        if passes and not any(_failed_in(evidence, fact, chain) for chain in chains):
            # After a pipe the exit code is another program's.
            count = _passes(evidence.reader.passed[fact.key], evidence.reader.failed[fact.key])
            add(evidence, SummarySection.DONE, f"`{harmless(fact.key, 160)}` passes{count}", sources, worth)
            continue
        # Of a failure that was overcome the end says nothing any more.
        told = bool(fact.outcome) and not (
            _is_broken(fact) and (passed.overcame(fact) or later.overcame(fact))
        )
        ended = f"; ended with {fact.outcome} last" if told else ""
        often_or_once = f"{times} times" if times > 1 else "once"
        ran = f" ({often_or_once}{ended})" if times else ""
        text = f"{'Run' if times else 'Named'} `{harmless(fact.key, 160)}`{ran}"
        add(evidence, SummarySection.CONTEXT, text, sources, worth, limit=220)


def _first_of(evidence: Evidence, errors: Sequence[Fact], ran: int, until: int) -> Fact | None:
    """The first of the errors that were printed behind the position of a run, up to another one."""
    behind = [fact for fact in errors if ran < evidence.position.get(fact.last, -1) <= until]
    return min(behind, key=lambda fact: evidence.position[fact.last], default=None)


def _failed_in(evidence: Evidence, fact: Fact, chain: Fact) -> bool:
    """Whether a command is a part of a chain that failed after it: that may be the part that did."""
    return end_of(evidence, chain) > end_of(evidence, fact) and fact.key in chain.key.split(" && ")


def _passes(passed: int, failed: int) -> str:
    """The successful runs of a command that succeeded last, in brackets; with the number of earlier runs that failed."""
    often = f"{passed} times" if passed > 1 else "once"
    if failed:
        return f" ({often}; {failed} earlier {'run' if failed == 1 else 'runs'} did not)"
    return f" ({often})" if passed > 1 else ""


def changed(evidence: Evidence) -> None:
    """Adds the changed files, where no other line tells the work."""
    done = any(
        candidate.section is SummarySection.DONE and candidate.worth > 0 for candidate in evidence.candidates
    )
    works = sorted(
        (work for work in evidence.files.values() if work.changes),
        key=lambda work: (-work.changes, work.path),
    )
    if done or not works:
        return
    sources = tuple(dict.fromkeys(work.sources[-1] for work in works[:_CHANGED_FILES]))
    names = named_files([work.path for work in works], _CHANGED_FILES)
    add(evidence, SummarySection.DONE, f"Changed {names}", sources, 1.0)


def _is_broken(fact: Fact) -> bool:
    """Whether the last run of a command failed, and the failure is more than a negative answer."""
    if fact.outcome in {"", "exit 0", "failed"}:
        return fact.outcome == "failed"
    # After a pipe the exit code is that of the last program.
    last = fact.key.rpartition("|")[2].split()
    return not (last and last[0] in _ASKING)


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


def _unpiped(fact: Fact) -> str:
    """A command without what only reads its output: the same run, looked at in another way."""
    return fact.key.partition(" | ")[0]


def _is_in_the_way(evidence: Evidence, fact: Fact, went_on: int, turns: Sequence[Turn]) -> bool:
    """Whether a failed command is an obstacle: a check, or the last thing that was tried and not answered.

    `went_on` is the position of the last result of a call that did not fail.
    """
    place = end_of(evidence, fact)
    if fact.outcome == DECLINED:
        return True
    if CHECKS.search(fact.key) is not None:
        # A check that failed in a way that nobody minded: results were reported since.
        return (
            sum(turn.last > place and is_answered(turn) and reports_result(turn.answer) for turn in turns)
            < _UNMINDED
        )
    return went_on <= place and not any(
        turn.first <= place < turn.last and is_answered(turn) for turn in turns
    )


def _evidence_of(kept: KeptFacts) -> Evidence:
    """The facts of the kept messages, with their positions."""
    facts = {(fact.kind, fact.key): fact for fact in gather(kept.seen)}
    position = {entry: place for place, (entry, _) in enumerate(kept.messages)}
    return Evidence(facts, [], {}, len(kept.messages), position, kept.reader)


def _todos(evidence: Evidence, is_open: bool, heading: str, items: list[Fact], weight: float) -> None:
    """Adds items of one checklist as lines: those under a heading together, because alone they are often unclear."""
    section = SummarySection.NEXT if is_open else SummarySection.DONE
    worth = (1.2 if is_open else 0.3) * weight
    if not heading or harmless(heading, 80).casefold() in _OUR_HEADINGS:
        for fact in items:
            add(evidence, section, fact.text, (fact.entry,), worth, limit=200, carries=(fact,))
        return
    groups: list[tuple[str, list[Fact]]] = []
    for fact in items:
        text = harmless(fact.text, 120)
        if groups and len(groups[-1][0]) + len(text) <= _TODO_LINE:
            line, together = groups[-1]
            groups[-1] = (f"{line}; {text}", [*together, fact])
        else:
            groups.append((text, [fact]))
    lead = f"{harmless(heading, 80)}: "
    for line, together in groups:
        sources = tuple(dict.fromkeys(fact.entry for fact in together))
        add(evidence, section, line, sources, worth, limit=LINE_LIMIT, lead=lead, carries=tuple(together))
        worth *= 0.7
