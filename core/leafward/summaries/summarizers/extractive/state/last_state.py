"""The state of the work at the end of a span: the last edited file, and the output of the last test run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from leafward.files.running_commands import process_in
from leafward.files.shell.writes import edits
from leafward.session.entries import NO_ENTRY, EntryIndex, text_of, tool_calls
from leafward.summaries.facts.calls.call_arguments import command_of
from leafward.summaries.facts.calls.named_folders import folder_of
from leafward.summaries.facts.calls.outcomes import counts_in, failed_calls, files_changed_by, runs_tests
from leafward.summaries.facts.calls.printed_errors import NO_TESTS, UNTOLD, outcome_of
from leafward.summaries.facts.calls.restorations import BroughtBack
from leafward.summaries.facts.forms import forms
from leafward.summaries.facts.sentences.prose import sentences
from leafward.summaries.facts.user_words import user_words
from leafward.summaries.summarizers.extractive.answers.sentence_sections import tells_runs_alone
from leafward.summaries.summarizers.extractive.candidates import (
    BEFORE_KEPT,
    FIRST_OF_ALL,
    Evidence,
    LineCandidate,
)
from leafward.summaries.summarizers.outline import SummarySection, cut, harmless, read_outline

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from leafward.session.entries import Body, ToolCall
    from leafward.summaries.survival.spans import SpanMessage

_FILE = "Last file edited"
_BY_TOOL = " by a tool"
"""Behind it where a command edited files since whose names are not known."""
_RUN = "Last test run"
_COUNTS = "Last counts of tests"
"""The beginning of a line about an earlier run, where the last one printed no counts."""
_PRINTED = "printed "
_PASSED = "passed"
_FAILING = re.compile(r"(?<![\d,])[1-9][\d,]* (?:fail|error)")
"""A count of failures."""
_PASSING = re.compile(r"(?<![\d,])[1-9][\d,]* pass|passed [1-9]")
"""A count of passes."""
_CHAINED = re.compile(r"&&|;")
_COUNTS_TESTS = re.compile(r"pass|fail|ok\b")
_CHANGED_SINCE = "; files were changed after it"
_AGAIN = "; started again, no result yet"
_SAID = 80
"""Characters that are quoted of what the user said about the tests."""
_COMMAND = 120
"""Characters of a command that are quoted."""
_OF_STATE = re.compile(rf"(?:{_FILE}(?:{_BY_TOOL})?|{_RUN}|{_COUNTS})(?:{BEFORE_KEPT})?: `")


class _Edited(NamedTuple):
    """The last edit of files that are still there as it left them."""

    last: int
    """Its position; -1 where there is none."""
    place: int = -1
    """The position of the last edit of a file that is known by name."""
    path: str = ""
    """That file, by its present name; empty where there is none."""
    hidden: bool = False
    """Whether files were edited since whose names are not known."""


def tells_state(line: str) -> bool:
    """Whether a line of an earlier summary is one of ours about the last edit or the last run."""
    return _OF_STATE.match(line) is not None


def tell_state(
    evidence: Evidence,
    messages: Sequence[SpanMessage],
    kept: Sequence[SpanMessage],
    previous: tuple[str, EntryIndex],
    names: Mapping[str, str],
    cwd: str,
) -> None:
    """Adds a line about each; without one in the span, the line of the previous summary is carried on.

    Behind a run that printed no counts, as one that does not compile, the last counts are those of an earlier run.

    `names` are files that were renamed since, each with its present name, and those that are gone, with none: the last of the
    other files is named.
    """
    before = {
        line.partition(":")[0].removesuffix(BEFORE_KEPT): line.removesuffix(_AGAIN)
        for _, line, _ in read_outline(previous[0])
        if tells_state(line)
    }
    edited = _last_edit(messages, evidence.failed_calls, names, evidence.brought_back, cwd)
    later = _last_edit(kept, failed_calls(m for _, m in kept), {}, BroughtBack(), cwd)
    behind = BEFORE_KEPT * (later.last >= 0)
    if edited.path:
        lead = _FILE + _BY_TOOL * edited.hidden + behind
        _add(evidence, f"{lead}: `{harmless(edited.path, _COMMAND)}`", messages[edited.place].entry)
    elif edited.last < 0 and (line := before.get(_FILE) or before.get(_FILE + _BY_TOOL)) is not None:
        lead, _, path = line.partition(": ")
        if path := names.get(path.strip("`"), path.strip("`")):
            _add(evidence, f"{lead.removesuffix(BEFORE_KEPT)}{behind}: `{path}`", previous[1])
    gone = [path for path, now in names.items() if not now]
    run = _last_run(messages, gone)
    since = edited.last > (-1 if run is None else run[0])
    if run is not None:
        place, command, printed = run
        lead = _RUN + BEFORE_KEPT * (_last_run(kept, gone) is not None)
        again = evidence.reader.calls.unfinished().get(command, NO_ENTRY) > messages[place].entry
        told = f"{printed}{_CHANGED_SINCE * since}{_AGAIN * again}"
        if printed != _PASSED and (said := _said_to_pass(messages[place:])):
            told = f"{told}; the user said since: {cut(said, _SAID)}"
        text = f"{lead}: `{harmless(command, _COMMAND)}` {told}"
        _add(evidence, text, messages[place].entry)
        counted = None if _has_counts(printed) else _last_run(messages, gone, counted=True)
        passed = printed == _PASSED
        if counted is not None and passed and _FAILING.search(counted[2]):
            # What failed in an earlier run passed in the last one.
            return
        if counted is not None:
            place, command, printed = counted
            _add(evidence, f"{_COUNTS}: `{harmless(command, _COMMAND)}` {printed}", messages[place].entry)
        elif (
            not _has_counts(printed)
            and (line := _counts_before(before))
            and not (passed and _FAILING.search(line))
        ):
            _add(evidence, line, previous[1])
        return
    if _last_run(kept, gone) is not None:
        # The kept messages tell how it stands now.
        return
    if (line := before.get(_RUN)) is not None:
        _add(
            evidence,
            line.removesuffix(_CHANGED_SINCE) + _CHANGED_SINCE * (since or line.endswith(_CHANGED_SINCE)),
            previous[1],
        )
    if (line := before.get(_COUNTS)) is not None:
        _add(evidence, line, previous[1])


def _said_to_pass(messages: Sequence[SpanMessage]) -> str:
    """The last sentence by which the user said since a run that the tests pass; empty where none does."""
    said = (
        sentence
        for _, body in messages
        if (words := user_words(body)) is not None
        for sentence in sentences(words)
        if tells_runs_alone(sentence)
    )
    return next(reversed(list(said)), "")


def _counts_before(before: Mapping[str, str]) -> str:
    """The line about the last counts that an earlier summary had; empty where it had none."""
    run = before.get(_RUN, "").removesuffix(_CHANGED_SINCE)
    if _has_counts(run.rpartition("` ")[2]):
        return f"{_COUNTS}: {run.partition(': ')[2]}"
    return before.get(_COUNTS, "")


def _has_counts(printed: str) -> bool:
    return printed.startswith(_PRINTED) and counts_in(printed) != ""


def _add(evidence: Evidence, text: str, source: EntryIndex) -> None:
    evidence.candidates.append(
        LineCandidate(SummarySection.CONTEXT, text, FIRST_OF_ALL, (source,), first=True)
    )


def _last_edit(
    messages: Sequence[SpanMessage],
    failed: frozenset[str],
    names: Mapping[str, str],
    back: BroughtBack,
    cwd: str,
) -> _Edited:
    """The last edit, and the last one of a file that git did not bring back since and that has a name; see `tell_state`."""
    hidden = -1
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place].message
        for call in reversed(tool_calls(message)) if message.get("role") == "assistant" else ():
            if call.id in failed:
                continue
            for path in reversed([*files_changed_by(call, cwd), *_edited_by_command(call, cwd)]):
                now = names.get(path, path)
                if not path:
                    hidden = max(hidden, place)
                elif now and not back.covers(path, place, cwd):
                    return _Edited(max(hidden, place), place, now, hidden >= 0)
    return _Edited(hidden)


def _edited_by_command(call: ToolCall, cwd: str) -> Iterator[str]:
    """The files of the project that a call's command edited; an empty name where that is not known."""
    for path in edits(command_of(call.arguments), folder_of(call)):
        edited = forms.canonical_path(path, cwd) if path else ""
        if not edited.startswith(("/", "~", "..")):
            yield edited


def _last_run(
    messages: Sequence[SpanMessage], gone: Collection[str], *, counted: bool = False
) -> tuple[int, str, str] | None:
    """Position, command and outcome of the last test run that ended, or of the last one that printed counts.

    What ran a file that is gone was a trial.
    """
    names = {path.rpartition("/")[2] for path in gone}
    waiting: dict[str, tuple[int, Body]] = {}
    ends: dict[str, tuple[int, Body]] = {}
    """The results with which processes ended that went on behind the result of their command."""
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place].message
        role = message.get("role")
        if role == "toolResult":
            waiting[str(message.get("toolCallId"))] = (place, message)
        elif role == "bashExecution":
            command = forms.canonical_command(str(message.get("command") or ""))
            code = message.get("exitCode")
            if isinstance(code, int) and runs_tests(command):
                text = str(message.get("output") or "")
                if not counted or counts_in(text):
                    return place, command, _printed(text, command, f"exit {code}")
        elif role == "assistant":
            runs = [
                run
                for call in tool_calls(message)
                if (there := waiting.pop(call.id, None)) is not None
                and (run := _ended(call, there, ends, counted=counted)) is not None
                and names.isdisjoint(word.rpartition("/")[2] for word in run[1].split())
            ]
            if runs:
                return max(runs)
    return None


def _ended(
    call: ToolCall, there: tuple[int, Body], ends: dict[str, tuple[int, Body]], *, counted: bool
) -> tuple[int, str, str] | None:
    """Position, command and outcome of a test run that ended, with `counted` of one that printed counts.

    `there` is the place and the message of the call's result. A call that saw a process end goes into `ends`, by process.
    """
    typed = command_of(call.arguments)
    command = forms.canonical_command(typed)
    text = text_of(there[1].get("content"))
    if not runs_tests(command):
        waited_for = call.arguments.get("session_id", call.arguments.get("cell_id"))
        if waited_for is not None and process_in(text) is None:
            ends.setdefault(str(waited_for), there)
        return None
    process = process_in(text) if ends else None
    if process is not None and process in ends:
        there = ends[process]
        text = text_of(there[1].get("content"))
    if counted and not counts_in(text):
        return None
    outcome = outcome_of(text, bool(there[1].get("isError")), typed, there[1].get("exitCode"))
    if counted and outcome == NO_TESTS:
        return None
    return (there[0], command, _printed(text, command, outcome)) if outcome else None


def _printed(text: str, command: str, outcome: str) -> str:
    """The result of a run in words: its counts, else its outcome."""
    if outcome == NO_TESTS:
        return "ran no tests"
    counts = counts_in(text)
    if _CHAINED.search(command) and not _COUNTS_TESTS.search(counts):
        # A linter before the tests counts errors.
        counts = ""
    if counts and (outcome == "exit 0" or _FAILING.search(counts)):
        return f"{_PRINTED}{counts}"
    if counts and _PASSING.search(counts):
        return f"{_PRINTED}{counts}, but failed"
    if outcome not in ("exit 0", UNTOLD):
        return "failed" if outcome == "failed" else f"failed with {outcome}"
    # After a pipe the exit code is another program's.
    return "printed no counts" if outcome == UNTOLD or "|" in command else _PASSED
