"""Commits as lines of finished work: those that were taken back since are none."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

from leafward.files.running_commands import process_in
from leafward.session.entries import EntryIndex, text_of, tool_calls
from leafward.summaries.facts.calls.call_arguments import command_of
from leafward.summaries.facts.calls.named_folders import folder_of
from leafward.summaries.facts.calls.outcomes import failed_calls
from leafward.summaries.facts.sentences.content_words import content_words
from leafward.summaries.summarizers.extractive.candidates import (
    ANSWERED_BY_USER,
    OUTCOME,
    REVERTED_SINCE,
    Evidence,
    LineCandidate,
    add,
)
from leafward.summaries.summarizers.extractive.state.git_branch import GitBranches
from leafward.summaries.summarizers.outline import SummarySection

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from leafward.summaries.summarizers.extractive.turns import Turn
    from leafward.summaries.survival.spans import SpanMessage

COMMITTED = "Committed: "
REVERTED = "Reverted: "
_COMMIT = re.compile(
    r"\bgit\b[^|;&\n]{0,80}\bcommit\b[^\n]{0,40}?-\w*m\s*(?:\"([^\"\n]{4,200})|'([^'\n]{4,200}))"
)
_FROM_INPUT = re.compile(
    r"\bgit\b[^|;&\n]{0,80}\bcommit\b[^\n]{0,40}?(?:-F ?-|--file[= ]-)[^\n]{0,20}<<-? ?[\"']?\w{1,40}[\"']?[^\n]{0,80}\n\s*([^\n]{4,200})"
)
"""A commit whose message is a here-document that git reads: its first line is the title."""
_COMMITS = re.compile(r"\bgit\b[^|;&\n]{0,80}\bcommit\b(?![^|;&\n]*--dry-run)")
_PUSHES = re.compile(r"\bgit\b[^|;&\n]{0,80}\bpush\b(?![^|;&\n]*--dry-run)")
_UNCOMMITTED = re.compile(
    r"(?i)\b(?:uncommitted|not (?:yet |been )*committed|nothing (?:\w+ )*committed|(?:haven|hasn|isn|aren)['’]t (?:yet |been )*committed"
    r"|nicht (?:\w+ )?committe?t|pas (?:encore )?(?:été )?commité\w*|sin (?:hacer )?commit)\b|(?:未|没有?)提交|未コミット"
)
_UNPUSHED = re.compile(
    r"(?i)\b(?:unpushed|not (?:yet |been )*pushed|nothing (?:\w+ )*pushed|(?:haven|hasn|isn|aren)['’]t (?:yet |been )*pushed"
    r"|nicht (?:\w+ )?ge?pusht|pas (?:encore )?(?:été )?poussé\w*|sin (?:hacer )?push)\b|(?:未|没有?)推送"
)
"""Statements that a later commit, or push, makes wrong."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？;；])\s*")
_FAILED = re.compile(
    r"(?m)^(?:fatal: |error: (?:pathspec|Your local changes|could not|cannot|failed to push)|nothing (?:added )?to commit|no changes added to commit|Aborting commit)"
)
"""What git prints where it made no commit, or pushed none."""
_NAMED = re.compile(r"(?m)^\[[^\]\n]{1,120} ([0-9a-f]{7,40})\] ")
"""The name of a new commit, as git prints it."""
_TAKES_BACK = re.compile(
    r"\bgit\b[^|;&\n]{0,60}\b(?:(revert)\b(?![^|;&\n]*--(?:abort|continue|skip|quit))(?: --?[\w=-]+)* (HEAD|[0-9a-f]{7,40})(?=[\s;&|]|$)|reset\b(?: --?[\w=-]+)* (?:HEAD(?:~(\d{0,2})|(\^))|([0-9a-f]{7,40})(?=\s*(?:$|[;&|\n]))))"
)
"""A revert of one commit, or a reset to one before the last ones; a reset of files names these behind the commit."""
_first_of = attrgetter("first")


@dataclass(slots=True)
class _Commit:
    line: LineCandidate
    place: int
    name: str

    def has_name(self, name: str) -> bool:
        """Whether a name, perhaps a shorter or longer one, is that of the commit."""
        return bool(self.name) and (self.name.startswith(name) or name.startswith(self.name))


def settled(
    evidence: Evidence,
    messages: Sequence[SpanMessage],
    turns: Sequence[Turn],
    kept: Sequence[SpanMessage],
    cwd: str,
) -> None:
    """Adds the commits that were made and not taken back, here or in the `kept` messages, and the branch."""
    waiting: dict[str, tuple[EntryIndex, str, str]] = {}
    branches = GitBranches(cwd)
    made: list[_Commit] = []
    total = max(1, len(messages))
    uncommitted, unpushed = _Left(_UNCOMMITTED, evidence), _Left(_UNPUSHED, evidence)
    for place, (entry, message) in enumerate(messages):
        role = message.get("role")
        if role == "assistant":
            for call in evidence.calls.get(place, ()):
                if command := command_of(call.arguments):
                    waiting[call.id] = (entry, command, folder_of(call))
        elif role == "toolResult":
            began, command, folder = waiting.pop(str(message.get("toolCallId")), (entry, "", ""))
            if "git" not in command:
                continue
            printed, broken = text_of(message.get("content")), bool(message.get("isError"))
            named = _NAMED.search(printed)
            failed = _FAILED.search(printed) is not None
            branches.add(command, folder, printed, began, failed=broken or failed)
            if broken or process_in(printed) is not None or (named is None and failed):
                # It waits, or git says that it did nothing, which the exit code of a later command hides.
                continue
            _take_back(evidence, command, made, turns, messages, cwd)
            if _COMMITS.search(command) is not None:
                uncommitted.outdate(evidence, place)
            if _PUSHES.search(command) is not None and not failed:
                unpushed.outdate(evidence, place)
            match = _FROM_INPUT.search(command) or _COMMIT.search(command)
            if match is None:
                continue
            title = match[1] or match[match.re.groups]
            if title.startswith("$("):
                # The message is a here-document in the command: its first line is the title.
                title = next((line for line in command[match.end() :].split("\n") if line.strip()), "")
            worth = 0.6 + 0.9 * (place + 1) / total
            if "--amend" in command and made:
                # The commit before it is no more.
                _remove(evidence, made.pop().line)
            before = len(evidence.candidates)
            add(evidence, SummarySection.DONE, title, (began, entry), worth, limit=160, lead=COMMITTED)
            for line in evidence.candidates[before:]:
                made.append(_Commit(line, place, named[1] if named is not None else ""))
                uncommitted.add(line, evidence)
                unpushed.add(line, evidence)
    refused = failed_calls(body for _, body in kept) if made else frozenset()
    for _, body in kept if made else ():
        for call in tool_calls(body) if body.get("role") == "assistant" else ():
            if call.id not in refused and "git" in (command := command_of(call.arguments)):
                _take_back(evidence, command, made, turns, messages, cwd)
    if (on := branches.told()) is not None:
        add(evidence, SummarySection.CONTEXT, on[0], (on[1],), 1.0)


def _take_back(
    evidence: Evidence,
    command: str,
    made: list[_Commit],
    turns: Sequence[Turn],
    messages: Sequence[SpanMessage],
    cwd: str,
) -> None:
    """Takes the commits out that a command reverts, or resets away, and what was told of the work in them."""
    found = _TAKES_BACK.search(command)
    if found is None:
        return
    reverts, name, count, caret, target = found.groups()
    if target:
        # Behind a commit from before the span, or by somebody else, any of them may be gone.
        kept = next((at for at, one in enumerate(made, 1) if one.has_name(target)), 0)
        gone = made[kept:]
    elif not reverts:
        number = 1 if caret else int(count or 1)
        gone = made[-number:] if number else []
    elif name == "HEAD":
        gone = made[-1:]
    else:
        gone = [one for one in made if one.has_name(name)]
    if not gone:
        return
    ids = {id(one) for one in gone}
    made[:] = [one for one in made if id(one) not in ids]
    places = [one.place for one in made]
    if "--hard" in command and not reverts:
        # What was changed between the commits that are left and the last that is gone is not in the files any more.
        evidence.undo(range(max(places, default=-1) + 1, gone[-1].place + 1), cwd)
    over: list[Turn] = []
    """The turns of which no commit stands, and no change is there."""
    for one in gone:
        if reverts:
            one.line.text = REVERTED + one.line.text.removeprefix(COMMITTED)
        turn = turns[number - 1] if (number := bisect_right(turns, one.place, key=_first_of)) else None
        if turn is not None and one.place <= turn.last and ("--hard" in command or reverts):
            behind = bisect_left(places, turn.first)
            if behind == len(places) or places[behind] > turn.last:
                over.append(turn)
    lines = frozenset[int]() if reverts else {id(one.line) for one in gone}
    _forget_work(evidence, messages, over, lines)


def _forget_work(
    evidence: Evidence, messages: Sequence[SpanMessage], over: Sequence[Turn], lines: Collection[int]
) -> None:
    """Leaves out some lines, by their ids, and what was told of the work of turns of which nothing is left."""
    requests = {turn.entry for turn in over}
    ends = {(messages[turn.last].entry,) for turn in over}
    left = []
    for candidate in evidence.candidates:
        if id(candidate) in lines:
            continue
        if candidate.asks and OUTCOME in candidate.text and not requests.isdisjoint(candidate.sources):
            candidate.text = f"{candidate.text.partition(OUTCOME)[0]}{OUTCOME}{REVERTED_SINCE}"
        elif candidate.tells_work and candidate.sources in ends:
            continue
        left.append(candidate)
    evidence.candidates = left


class _Left:
    """The lines that say of something that it is still to be committed, or pushed: the next commit, or push, makes that wrong."""

    def __init__(self, states: re.Pattern[str], evidence: Evidence) -> None:
        self._states = states
        self._lines: list[LineCandidate] = []
        for candidate in evidence.candidates:
            self.add(candidate, evidence)

    def add(self, candidate: LineCandidate, evidence: Evidence) -> None:
        """Adds a line, if it is one. The user's own words stay, and of an earlier summary nothing tells when it was said."""
        if (
            self._states.search(candidate.text) is not None
            and not candidate.text.startswith(ANSWERED_BY_USER)
            and candidate.sources
            and all(source in evidence.position for source in candidate.sources)
        ):
            self._lines.append(candidate)

    def outdate(self, evidence: Evidence, place: int) -> None:
        """Leaves out what the lines from before a commit, or push, say."""
        later = []
        for candidate in self._lines:
            if evidence.place_of(candidate) >= place:
                later.append(candidate)
                continue
            asked, arrow, told = (
                candidate.text.partition(OUTCOME) if candidate.asks else ("", "", candidate.text)
            )
            if self._states.search(told) is None:
                continue
            left = " ".join(one for one in _SENTENCE.split(told) if self._states.search(one) is None)
            if content_words(left):
                candidate.text = f"{asked}{arrow}{left}"
            elif asked:
                candidate.lose_outcome()
            else:
                _remove(evidence, candidate)
        self._lines = later


def _remove(evidence: Evidence, line: LineCandidate) -> None:
    evidence.candidates = [one for one in evidence.candidates if one is not line]
