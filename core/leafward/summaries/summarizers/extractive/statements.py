"""Stated facts as lines: demands, decisions, todos, commands, URLs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.session.entries import NO_ENTRY
from leafward.summaries.facts.calls.call_arguments import PATH_ARGUMENTS, first_of, strings_in
from leafward.summaries.facts.calls.printed_errors import ended_with
from leafward.summaries.facts.sentences.checklists import OPEN_IN, TICKED, is_to_try
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.facts.sentences.negation import negated
from leafward.summaries.facts.sentences.prose import sentences
from leafward.summaries.facts.sentences.questions import without_fillers
from leafward.summaries.facts.values import ANSWERED, DROPPED, TAKEN_UP, Fact, FactKind, Reach, Voice
from leafward.summaries.summarizers.extractive.candidates import (
    OPEN_IN_LIST,
    OUTCOME,
    SAID_WITH,
    SAID_WITH_LAST,
    SAID_WITH_OPEN,
    Evidence,
    add,
    asked_since,
    leads_somewhere,
    sources_of,
)
from leafward.summaries.summarizers.extractive.state.obstacles import (
    CommandRuns,
    KeptFacts,
    failed,
    is_broken,
    tell_obstacles,
)
from leafward.summaries.summarizers.extractive.state.overcome import end_of, is_check
from leafward.summaries.summarizers.outline import SummarySection, harmless, named_files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from leafward.session.entries import EntryIndex
    from leafward.summaries.summarizers.extractive.turns import Turn
    from leafward.summaries.survival.spans import SpanMessage

_OUR_HEADINGS = frozenset(section.title.casefold() for section in SummarySection)
_CHANGED_FILES = 4
"""Files that are named as changed where no other line tells the work."""
_RULE = 2
"""The worth of a rule beside other lines: likely needed facts do not crowd it out."""
_LIMIT = 0.7
"""The part of that which a limit on answered work has: it does not crowd out what is general."""
_LEADS = {Reach.LASTING: "", Reach.OPEN: SAID_WITH_OPEN, Reach.EARLIER: SAID_WITH}
_AHEAD = 3
"""Checklists whose open items come next."""
_TODO_LINE = 220
"""Characters of todos that share a line."""
_OFTEN = 8
"""Commands that are told because they ran more than once."""


def stated(
    evidence: Evidence,
    messages: Sequence[SpanMessage],
    turns: Sequence[Turn],
    kept: KeptFacts,
) -> None:
    """Lines made of facts: what the user demands, decisions, todos, commands that fail, errors not yet gone.

    What passes in the messages behind the span is in nobody's way.
    """
    runs = CommandRuns.of(evidence, messages, kept)
    goals = [
        (negated(said), frozenset(content_words(said)))
        for one in evidence.candidates
        if one.section is SummarySection.GOAL
        for said in sentences(one.text)
    ]
    asked_last = turns[-1].entry if turns and not kept.later else NO_ENTRY
    for fact in evidence.facts.values():
        if fact.kind is FactKind.CONSTRAINT:
            if fact.is_open:
                _demand(evidence, fact, kept, goals, asked_last)
        elif (
            fact.kind is FactKind.URL
            and fact.voice is not Voice.OUTPUT
            and fact.key in evidence.addresses
            and leads_somewhere(fact.text)
        ):
            add(
                evidence,
                SummarySection.CONTEXT,
                fact.text,
                sources_of(fact),
                0.2,
                limit=300,
                lead="Address: ",
            )
    _checklists(evidence)
    tell_obstacles(evidence, messages, turns, kept, runs)
    _repeated_commands(evidence, runs)


def _demand(
    evidence: Evidence,
    fact: Fact,
    kept: KeptFacts,
    goals: Sequence[tuple[bool, AbstractSet[str]]],
    asked_last: EntryIndex,
) -> None:
    """Adds a demand of the user's, with the request in the kept messages that may end it: bare only where it lasts.

    What an open request asks for stands in the goal already: `goals` are the words of each sentence there, and whether it denies.
    `asked_last` is the last request of the path; NO_ENTRY where that is not in the span.
    """
    reach = evidence.reader.requests.reach_of(fact, answered=kept.finished)
    since = kept.reader.rules.revoked_by(fact.text)
    if reach is Reach.OVER or (reach is Reach.OPEN and _is_among(fact.text, goals)):
        return
    of_last = reach is Reach.EARLIER and NO_ENTRY < asked_last <= fact.last
    add(
        evidence,
        SummarySection.CONSTRAINTS,
        asked_since(without_fillers(fact.text), since),
        sources_of(fact),
        _RULE * (2.5 + 1.5 * evidence.recency(fact)) * (_LIMIT if reach is Reach.EARLIER else 1.0),
        limit=260,
        lead=SAID_WITH_LAST if of_last else _LEADS[reach],
    )


def _is_among(demand: str, said: Sequence[tuple[bool, AbstractSet[str]]]) -> bool:
    """Whether a sentence has the words of a demand, and denies as that does."""
    words, denies = frozenset(content_words(demand)), negated(demand)
    return any(denies is other and words <= there for other, there in said)


def _checklists(evidence: Evidence) -> None:
    """Adds the todos of the span by their lists; open items of the first lists come next."""
    lists: dict[tuple[bool, str], list[Fact]] = {}
    for fact in evidence.facts.values():
        if (
            fact.kind is FactKind.TODO
            and fact.last in evidence.position
            and fact.outcome not in (DROPPED, ANSWERED, TAKEN_UP)
            and fact.last not in evidence.left
        ):
            lists.setdefault((fact.is_open, fact.about[-1] if fact.about else ""), []).append(fact)
    ahead = 0
    for (is_open, heading), items in lists.items():
        # The plan's own order tells the next step.
        done = len(lists.get((False, heading), ())) if is_open else 0
        if done and done >= len(items):
            # The rest of a list that was worked through was dropped rather than forgotten.
            _todos(evidence, is_open, heading, items, 0.4)
            continue
        # What is to be tried in the end does not come next.
        soon = is_open and ahead < _AHEAD and not is_to_try(heading)
        _todos(evidence, is_open, heading, items, 3.0 if soon else 1.0)
        ahead += soon


def _repeated_commands(evidence: Evidence, runs: CommandRuns) -> None:
    """Adds the commands that ran and were named most often: checks that pass as done, the others as context."""
    ran = evidence.reader.calls.ran
    often = [
        fact
        for fact in runs.commands
        if fact.count >= 2 and "\n" not in fact.text and (ran[fact.key] or fact.outcome)
    ]
    chains = [fact for fact in runs.commands if " && " in fact.key and is_broken(fact)]
    undecided = evidence.reader.calls.undecided()
    for fact in sorted(often, key=lambda fact: (-len(fact.entries), fact.key))[:_OFTEN]:
        worth = 0.5 + 0.1 * min(8, fact.count)
        # After a pipe the exit code is another program's.
        passes = fact.outcome == "exit 0" and is_check(fact.key) and "|" not in fact.key
        ended_last = undecided.get(fact.key, NO_ENTRY) <= fact.ended
        passes = passes and ended_last
        if passes and not any(_failed_in(evidence, fact, chain) for chain in chains):
            calls = evidence.reader.calls
            count = _passes(calls.passed[fact.key], calls.failed[fact.key], _places(evidence, fact))
            section, text, limit = SummarySection.DONE, f"`{harmless(fact.key, 160)}` passes{count}", 0
        else:
            if failed(fact) and runs.passed.overcame(fact):
                # It ran in other words in the end.
                continue
            text = _runs_text(evidence, fact, runs, ended_last=ended_last)
            section, limit = SummarySection.CONTEXT, 220
            if fact.outcome in ("", "exit 0"):
                # It tells nothing beyond the command, which may be needed.
                worth = 0.0
        add(evidence, section, text, (fact.entry, fact.last), worth, limit=limit)


def _runs_text(evidence: Evidence, fact: Fact, runs: CommandRuns, *, ended_last: bool) -> str:
    """A command with the number of its runs and, where it `ended_last`, the last outcome."""
    times = evidence.reader.calls.ran[fact.key]
    # Of a failure that was overcome the end says nothing any more.
    told = (
        ended_last and fact.outcome not in ("", "exit 0") and not (is_broken(fact) and runs.is_overcome(fact))
    )
    often, last = (f"{times} times{_places(evidence, fact)}", "the last ") if times > 1 else ("once", "")
    ran = f" ({often}; {last}{ended_with(fact.outcome)})" if told else f" ({often})"
    ran = ran if times else ""
    return f"Ran `{harmless(fact.key, 160)}`{ran}"


def _failed_in(evidence: Evidence, fact: Fact, chain: Fact) -> bool:
    """Whether a command is a part of a chain that failed after it: that may be the part that did."""
    return end_of(evidence, chain) > end_of(evidence, fact) and fact.key in chain.key.split(" && ")


def _places(evidence: Evidence, fact: Fact) -> str:
    """The number of folders in which a command ran, where it ran in several: there it is as many commands."""
    folders = evidence.reader.calls.folders.get(fact.key, ())
    return f", in {len(folders)} folders" if len(folders) > 1 else ""


def _passes(passed: int, failed: int, places: str) -> str:
    """The successful runs of a command that succeeded last, in brackets; with the number of earlier runs that failed."""
    often = (f"{passed} times" if passed > 1 else "once") + places
    if failed:
        return f" ({often}; {failed} earlier {'run' if failed == 1 else 'runs'} did not)"
    return f" ({often})" if passed > 1 else ""


def changed(evidence: Evidence) -> None:
    """Adds the changed files, where no other line tells the work."""
    done = any(
        (candidate.section is SummarySection.DONE and candidate.worth > 0)
        or (candidate.asks and OUTCOME in candidate.text)
        for candidate in evidence.candidates
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


def _todos(evidence: Evidence, is_open: bool, heading: str, items: list[Fact], weight: float) -> None:
    """Adds the items of one checklist: they share lines that say where they stand, or who ticked them.

    What is ticked somebody calls done: no call shows it.
    """
    section = SummarySection.NEXT if is_open else SummarySection.DONE
    worth, length = (1.2 if is_open else 0.3) * weight, 0
    under = f"{harmless(heading, 80)}: " if heading else ""
    under = "" if under[:-2].casefold() in _OUR_HEADINGS else under
    for fact in items:
        # Of a long list the first items tell most.
        length += len(fact.text)
        rank = 0.7 ** (length // _TODO_LINE) if heading else 1.0
        group = _open_in(evidence, fact, heading) if is_open else _ticked_in(evidence, fact)
        add(
            evidence,
            section,
            # The items that share a line are read apart again.
            fact.text.replace("; ", ", ") if group else fact.text,
            (fact.entry,),
            worth * rank,
            limit=200,
            carries=(fact,),
            group=f"{group}{under}" if group else "",
        )


def _open_in(evidence: Evidence, fact: Fact, heading: str) -> str:
    """The words before a step of a list: where it stands open. None before one that was only said."""
    if fact.key in evidence.reader.plan.open:
        return OPEN_IN_LIST
    file = _file_of(evidence, fact)
    said_in = ("a request" if fact.voice is Voice.USER else "a reply") if heading else ""
    return f"{OPEN_IN}{file or said_in}: " if file or said_in else ""


def _ticked_in(evidence: Evidence, fact: Fact) -> str:
    """The words before what is ticked in a list: by whom, or where."""
    file = _file_of(evidence, fact)
    users = fact.voice is Voice.USER and fact.entry == fact.last
    return f"{TICKED}in {file}: " if file else f"{TICKED}by the {'user' if users else 'agent'}: "


def _file_of(evidence: Evidence, fact: Fact) -> str:
    """The file into which a call wrote an item of a checklist; empty for any other item."""
    calls = evidence.calls.get(evidence.position[fact.entry], ()) if fact.voice is Voice.CODE else ()
    paths = [
        first_of(call.arguments, PATH_ARGUMENTS)
        for call in calls
        if any(fact.text in text for text in strings_in(call.arguments))
    ]
    return named_files(paths[-1:])
