"""What the calls of a span did, as far as a question asks about it: commands that failed, their errors, commits, written names."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice, takewhile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.compaction.exam.answers import Choice
from leafward.files.checks import check_of
from leafward.files.file_names import in_folder
from leafward.session.entries import NO_ENTRY, text_of
from leafward.summaries.facts.calls import restorations
from leafward.summaries.facts.calls.declarations import declared_in
from leafward.summaries.facts.calls.declined_calls import DECLINED
from leafward.summaries.facts.calls.named_folders import folder_of
from leafward.summaries.facts.calls.outcomes import STEPS, failed_calls, is_typed, looks, patches_of
from leafward.summaries.facts.calls.telling_errors import tells
from leafward.summaries.facts.forms import forms
from leafward.summaries.facts.values import Fact, FactKind, Sighting, Voice

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from leafward.session.entries import Body, EntryIndex, ToolCall
    from leafward.summaries.facts.call_reader import Written
    from leafward.summaries.survival.span_reading import SpanReading

_COMMITTED = late(r"(?m)^\[[^\]\n]{1,120} [0-9a-f]{7,40}\] (\S[^\n]{2,240})$")
"""What git prints of a new commit: its branch and name, then its subject."""
_MAKES_COMMITS = late(r"\bgit\b[^|;&\n]{0,80}\b(?:revert|cherry-pick|merge|rebase|pull|am)\b")
"""Other commands of git that may make commits."""
_MIXED = re.compile(r"\||;\s*\S|&\s*$")
"""A sign that a part of a command may have failed where the whole passed."""
_ANSWERS_ERROR = late(r"\"errors?\"\s{0,9}:\s{0,9}(?:[{\[]\s{0,9})?(?:\"[^\"]|true)")
"""An error in what a server answered: the command that asked ended well, but not as it was meant to."""
_FINDS = late(
    r"(?:! )?(?:grep|rg|pgrep|diff|cmp|lsof|which|type|command -v|test|\[\[?|gh (?:pr checks|run watch))(?=\s|$)"
)
"""Programs whose exit code tells what they found."""
_REDIRECTED = late(r"\s*(?:\d?>|\|)")
_PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_LEAST_PART = 4
"""Letters of a part of a name by which it tells its file."""
_LEAST_NAME = 8
"""Characters from which a name is that of one thing."""
_DOCUMENTS = frozenset({"", ".md", ".mdx", ".rst", ".txt"})
_TRIED = 12
"""Names, or failed commands, the last ones, that are looked for in all calls."""
MOST = 48
"""Most runs, the last ones, among which wrong answers are looked for."""
_BESIDE = 24
"""Files, the first ones, that are looked for in the calls with a name."""
_WORD = late(r"[\w$]+")


@dataclass(slots=True)
class CallRecords:
    """What the results of a span tell about its commands."""

    ended: dict[str, Sighting] = field(default_factory=dict)
    """The last outcome of each command, in the order of these; its entry is that of the call."""
    called: dict[str, EntryIndex] = field(default_factory=dict)
    """The last call of each command, in the order of these."""
    declined: dict[str, Sighting] = field(default_factory=dict)
    """The commands that the user ever declined, in the order in which he did so last."""
    errors: list[tuple[Sighting, tuple[Sighting, ...]]] = field(default_factory=list)
    """The failed commands, each with the errors that it printed, in order."""
    seen: dict[str, EntryIndex] = field(default_factory=dict)
    """The last entry with each error, whatever printed it."""
    complained: set[str] = field(default_factory=set)
    """The commands whose last run printed an error, however it ended."""
    commits: list[tuple[str, EntryIndex]] = field(default_factory=list)
    """The subjects of commits in order; empty ones where nothing tells them."""

    def called_since(self, command: str, ended: str) -> bool:
        """Whether a command was called after one that ended, or as a part of it or of a later one: that may be its last run."""
        at = self.ended[ended].entry
        if self.called.get(command, NO_ENTRY) > at:
            return True
        since = takewhile(lambda one: one[1] >= at, reversed(self.called.items()))
        step = _last_step(command)
        return bool(step) and any(step in key and _is_step(step, key) for key, _ in since)

    def passed_since(self, failed: Sighting) -> bool:
        """Whether what a failed command did last passed later, by itself or as a part of another command."""
        step = _last_step(failed.key)
        return any(
            one.outcome == "exit 0" and one.entry > failed.entry and step in key
            for key, one in self.ended.items()
        )


def call_records(reading: SpanReading) -> CallRecords:
    """Reads what the results of a span tell."""
    there = CallRecords()
    for (entry, message), found in zip(reading.messages, reading.found, strict=True):
        errors = [one for one in found if one.kind is FactKind.ERROR and one.voice is Voice.OUTPUT]
        there.seen.update((one.key, entry) for one in errors)
        for one in found:
            if one.kind is not FactKind.COMMAND:
                continue
            if not one.outcome:
                if one.voice is Voice.CALL:
                    there.called.pop(one.key, None)
                    there.called[one.key] = one.entry
                continue
            if one.outcome == DECLINED:
                there.declined.pop(one.key, None)
                there.declined[one.key] = one
                continue
            there.ended.pop(one.key, None)
            there.ended[one.key] = one
            there.complained.discard(one.key)
            if errors or _ANSWERS_ERROR.search(_printed(message)):
                there.complained.add(one.key)
            if _is_failure(one.outcome):
                there.errors.append((one, tuple(errors)))
            there.commits += [(subject, entry) for subject in _committed(one, message)]
    return there


def _committed(command: Sighting, result: Body) -> list[str]:
    """The subjects of the commits that a command made, as far as it printed them; an empty one for one of which nothing tells it."""
    printed = _printed(result)
    if "git" not in command.text and " changed" not in printed:
        return []
    subjects = _COMMITTED.findall(printed) if "] " in printed else []
    # One that failed may have failed in what followed its commit.
    made = restorations.commits(command.text) or _MAKES_COMMITS.search(command.text) is not None
    return subjects or [""] * made


def _printed(result: Body) -> str:
    return text_of(result.get("content")) or str(result.get("output") or "")


def _last_step(command: str) -> str:
    """The last command of a script, without what becomes of its output."""
    return _REDIRECTED.split(STEPS.split(command)[-1].strip())[0]


def _is_step(step: str, script: str) -> bool:
    """Whether a script runs a command with these words alone."""
    return any(_last_step(one) == step for one in STEPS.split(script))


def _is_failure(outcome: str) -> bool:
    return outcome == "failed" or (outcome.startswith("exit ") and outcome != "exit 0")


def _is_work(command: str) -> bool:
    """Whether somebody would type a command to do something: of one that only looks an exit code tells what it found."""
    return is_typed(command) and not looks({"command": command}) and not _FINDS.match(_last_step(command))


def failed_last(there: CallRecords) -> Choice | None:
    """The last command that failed and did not pass since, beside those whose last run passed."""
    # Of one that was called again since nothing tells how that ended.
    works = [
        one
        for one in reversed(there.ended.values())
        if _is_work(one.text) and there.called.get(one.key, one.entry) <= one.entry
    ]
    failures = islice((one for one in works if _is_failure(one.outcome)), _TRIED)
    failed = next((one for one in failures if not there.passed_since(one)), None)
    if failed is None:
        return None
    passed = [
        one
        for one in works
        if one.outcome == "exit 0" and one.key not in there.complained and not _MIXED.search(one.text)
    ]
    # Runs of the same program first: one that hardly ever fails would be told by its name.
    passed.sort(key=lambda one: _program(one.key) != _program(failed.key))
    return Choice(_fact(failed), [_fact(one) for one in passed])


def _program(command: str) -> str:
    return command.partition(" ")[0]


def check_last(there: CallRecords) -> Choice | None:
    """The check that ended last, whatever it proves and however it ended, beside other ones."""
    checks = [
        one for one in reversed(there.ended.values()) if is_typed(one.text) and check_of(one.text) is not None
    ]
    if not checks:
        return None
    last = checks[0]
    others = [one for one in checks[1:MOST] if not there.called_since(one.key, last.key)]
    return Choice(_fact(last), [_fact(one) for one in others])


def declined_last(there: CallRecords) -> Choice | None:
    """The last command that the user declined and that was not run since, beside those that were never declined and ran."""
    left = [
        one
        for key, one in there.declined.items()
        if key not in there.ended or there.ended[key].entry < one.entry
    ]
    ran = [
        one for key, one in reversed(there.ended.items()) if key not in there.declined and is_typed(one.text)
    ]
    return Choice(_fact(left[-1]), [_fact(one) for one in ran]) if left else None


def error_last(there: CallRecords) -> Choice | None:
    """The first error of the command that failed last, if it did not pass since, beside those of earlier failures that came up no more."""
    if not there.errors:
        return None
    failed, printed = there.errors[-1]
    right = next((one for one in printed if tells(one.text)), None)
    if right is None or there.passed_since(failed):
        return None
    wrong = {
        one.key: one
        for _, run in there.errors[:-1]
        for one in run
        if tells(one.text) and there.seen[one.key] < right.entry
    }
    return Choice(_fact(right), [_fact(one) for one in reversed(wrong.values())])


def commit_last(there: CallRecords) -> Choice | None:
    """The subject of the last commit beside earlier ones."""
    if not there.commits or not there.commits[-1][0]:
        return None
    facts = [
        Fact(FactKind.DECISION, subject, subject, entry, Voice.OUTPUT, [entry])
        for subject, entry in there.commits
        if subject
    ]
    return Choice(facts[-1], facts[-2::-1])


def _fact(one: Sighting) -> Fact:
    return Fact(one.kind, one.key, one.text, one.entry, one.voice, [one.entry], outcome=one.outcome)


def written_names(
    reading: SpanReading, changed: Mapping[str, Fact], cwd: str
) -> Iterator[tuple[str, Choice]]:
    """Names that the calls of a span declare in one of its files, the last first, beside files that no call names with them.

    A name that shares a word with one of the files is left out: its form would tell the file.
    """
    failed = failed_calls(message for _, message in reading.messages)
    where: dict[str, dict[str, EntryIndex]] = {}
    for place, (entry, _) in enumerate(reading.messages):
        for call, path, names in (*_declared(reading.written[place]), *_patched(reading.calls[place])):
            key = forms.canonical_path(path, cwd)
            if call not in failed and key in changed:
                for name in names:
                    where.setdefault(name, {})[key] = entry
    named = sorted(
        ((files, name) for name, files in where.items() if len(files) == 1 and len(name) >= _LEAST_NAME),
        key=lambda one: (-max(one[0].values()), one[1]),
    )
    given = [str(call.arguments) for calls in reading.calls for call in calls] if named else []
    alike: dict[str, list[str]] = {}
    """The changed files of each kind."""
    for one in changed:
        alike.setdefault(PurePosixPath(one).suffix, []).append(one)
    for files, name in named[:_TRIED]:
        ((path, entry),) = files.items()
        parts = [part.casefold() for part in (name, *_PART.findall(name)) if len(part) >= _LEAST_PART]
        kind = PurePosixPath(path).suffix
        others = [one for one in alike[kind][: _BESIDE + 1] if one != path]
        # The code in a document defines nothing.
        if (
            others
            and kind not in _DOCUMENTS
            and not any(part in one.casefold() for part in parts for one in (path, *others))
        ):
            together = "\n".join(text for text in given if name in text)
            wrong = [changed[one] for one in others if PurePosixPath(one).name not in together]
            right = Fact(FactKind.PATH, path, changed[path].text, entry, Voice.CHANGED, [entry], about=[name])
            yield name, Choice(right, wrong)


def _declared(written: Sequence[Written]) -> Iterator[tuple[str, str, list[str]]]:
    """The names that calls declare: the call, the file, the names."""
    for one in written:
        yield one.call, one.path, [name for name, _ in one.declared]


def _patched(calls: Sequence[ToolCall]) -> Iterator[tuple[str, str, list[str]]]:
    """The names that patches declare anew."""
    for call in calls:
        for patch in patches_of(call.arguments):
            old = frozenset(_WORD.findall("\n".join(old for old, _ in patch.replaced)))
            new = "\n".join((patch.content, *(new for _, new in patch.replaced)))
            yield (
                call.id,
                in_folder(patch.moved_to or patch.path, folder_of(call)),
                [name for name, _ in declared_in(new) if name not in old],
            )
