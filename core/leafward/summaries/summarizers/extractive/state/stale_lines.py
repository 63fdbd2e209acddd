"""The state at the end of a span: lines that later work made wrong are left out, and their subjects' new state is added.

Deleted and renamed files, requests that the user took back, steps that were done later, counts of an older run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from leafward.session.entries import NO_ENTRY, tool_calls
from leafward.summaries.facts.calls.outcomes import failed_calls, files_changed
from leafward.summaries.facts.reader import FactReader
from leafward.summaries.facts.sentences.labels import names_cause
from leafward.summaries.facts.values import FactKind, Voice
from leafward.summaries.summarizers.extractive.candidates import (
    OUTCOME,
    Evidence,
    LineCandidate,
    last_written,
)
from leafward.summaries.summarizers.extractive.requests import passed_over
from leafward.summaries.summarizers.extractive.state import contradictions, replaced_values
from leafward.summaries.summarizers.extractive.state.gone_files import (
    gone_files,
    present_name,
    take_along,
    tell_gone,
    without_file,
)
from leafward.summaries.summarizers.extractive.state.past_steps import settle_steps
from leafward.summaries.summarizers.extractive.state.removals import forget_removed
from leafward.summaries.summarizers.extractive.state.settled_troubles import settle_troubles
from leafward.summaries.summarizers.outline import Provenance, SummarySection

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leafward.summaries.facts.known_texts import Known
    from leafward.summaries.summarizers.extractive.requests.kept_answers import KeptAnswers
    from leafward.summaries.summarizers.extractive.turns import Turn
    from leafward.summaries.survival.spans import SpanMessage

_COUNTED = re.compile(
    r"(?i)\b(\d[\d,]{0,8})(?: (?:\w+ )?(?:tests?|specs?)|/\1 (?:(?:\w+ )?(?:tests?|specs?)|pass(?:ed|es|ing)?))\b"
)
"""A count of tests: `18 tests`, `18/18 passing`."""
_DIGIT = re.compile("[0-9]")
_GIVEN = re.compile(r"(?<![\w.-])([\w.-]{2,60})`?\s?(?::|=|→)\s(?=[^;,\d]{0,24}\d)")
"""A name before a value with a figure."""
_FIGURED = frozenset(
    {SummarySection.GOAL, SummarySection.DONE, SummarySection.CONTEXT, SummarySection.IN_PROGRESS}
)


def settle(
    evidence: Evidence,
    messages: Sequence[SpanMessage],
    turns: Sequence[Turn],
    cwd: str,
    kept: Sequence[SpanMessage],
    answers: KeptAnswers,
    known: Known,
) -> dict[str, str]:
    """Leaves out the lines that no longer hold, and adds their present state; `kept` are the messages that follow the summary.

    `answers` is what they answer. `known` are texts that were read already.
    Returns the files that no longer have their names, each with its present one; empty where it was deleted.
    """
    contradictions.take_back(evidence, messages, [*turns, *answers.later[:1]], cwd)
    contradictions.refute(evidence, messages, [*turns, *answers.later[:1]])
    contradictions.doubt(evidence, messages, turns)
    settle_troubles(evidence, messages, turns, answers.later)
    gone = gone_files(messages, evidence.calls, evidence.failed_calls, cwd)
    failed = failed_calls(message for _, message in kept)
    for path in (path for _, message in kept for path in files_changed(message, failed, cwd)):
        # The messages that follow write it again.
        gone.pop(path, None)
    gone = take_along(evidence, gone)
    tell_gone(evidence, gone, turns)
    calls = {
        place: tool_calls(body) for place, (_, body) in enumerate(kept) if body.get("role") == "assistant"
    }
    for path in gone_files(kept, calls, failed, cwd):
        # The messages that follow tell it themselves.
        evidence.candidates = without_file(evidence, path, len(messages))
    written = last_written(evidence.files)
    settle_steps(evidence, messages, turns, written, behind=answers.finished and not turns)
    passed_over.settle(
        evidence, turns, kept, FactReader(cwd, known, tuple(evidence.reader.plan.items.items()))
    )
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
    return {path: present_name(path, gone) for path in gone}


def _is_overtaken(evidence: Evidence, candidate: LineCandidate, written: Mapping[str, int]) -> bool:
    """Whether everything that an attributed line names was written anew since: it tells of the code before that.

    Of an earlier summary only code and what it says of files: what it found out about names may hold still.
    """
    if candidate.section is not SummarySection.CONTEXT or candidate.provenance is Provenance.RECORDED:
        return False
    if candidate.asks or candidate.reports or names_cause(candidate.text):
        return False
    place = evidence.place_of(candidate)
    seen = evidence.reader.texts.prose(candidate.text, Voice.TOLD, NO_ENTRY)
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


def _counts(evidence: Evidence) -> None:
    """Keeps, of the lines that count tests, those of the last run."""
    counted = [
        (evidence.place_of(candidate), match[1], candidate)
        for candidate in evidence.candidates
        if candidate.section in _FIGURED
        and _holds_digit(candidate.text)
        and (match := _COUNTED.search(candidate.came)) is not None
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
