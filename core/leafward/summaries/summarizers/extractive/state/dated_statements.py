"""What replies said before files changed for a later request: its heading says so, because nothing tells whether it holds still.

Where nobody named since what a statement names, nothing was done to that. What a turn told that only looked and talked is left out
then: it described what was changed, planned it or proposed it.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cache
from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.session.entries import NO_ENTRY
from leafward.summaries.facts.calls.call_arguments import command_of
from leafward.summaries.facts.calls.outcomes import failed_calls, files_changed, files_changed_by, looks
from leafward.summaries.facts.sentences.labels import names_cause
from leafward.summaries.summarizers.extractive.answers.carried_out import takes_up
from leafward.summaries.summarizers.extractive.answers.last_reply import LAST_REPLY
from leafward.summaries.summarizers.extractive.candidates import PROPOSED
from leafward.summaries.summarizers.extractive.requests.passed_over import PLANNED
from leafward.summaries.summarizers.extractive.state.settled_troubles import names_trouble
from leafward.summaries.summarizers.outline import Provenance, SummarySection

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from leafward.summaries.facts.values import FactKind
    from leafward.summaries.summarizers.extractive.candidates import Evidence, LineCandidate
    from leafward.summaries.summarizers.extractive.turns import Turn
    from leafward.summaries.survival.spans import SpanMessage

_MEASURED = late(
    r"(?i)(?=.*\d).*\b(?:(?:better|worse|faster|slower|higher|lower|tighter) than|(?:best|worst|highest|lowest|fastest|slowest)\b.{0,40}\d|\d\S* vs\b|vs\.? ~?\d|baseline)\b"
    r"|.*\bdid(?:n['’]t| not) (?:improve|help|reduce)\b"
)
"""What came of runs that were compared: no changed file ages that."""


_PASSING = (PROPOSED, LAST_REPLY)
"""The beginnings of what work behind it makes history."""


def date_statements(
    evidence: Evidence,
    turns: Sequence[Turn],
    kept: Sequence[SpanMessage],
    later: Sequence[Turn],
    named: Collection[tuple[FactKind, str]],
    cwd: str,
) -> None:
    """Puts such statements under their heading.

    `turns` are those of the span, `later` those of the `kept` messages, `named` the facts in these.
    """
    begun = later[0].first - evidence.size if later else len(kept)
    last = max((work.changed for work in evidence.files.values()), default=-1)
    if _change_files(kept[begun:], cwd):
        end = evidence.size
    else:
        # What is said amid the work tells why that changes what it does.
        end = min(evidence.last_turn - 1, evidence.size if _change_files(kept[:begun], cwd) else last)
    begins = [turn.first for turn in turns]

    @cache
    def reports(place: int) -> bool:
        """Whether a reply can report more than looks: a change, or a command before other work than it proposes."""
        at = bisect_right(begins, place) - 1
        if at < 0:
            # Nothing tells of a turn from before the span.
            return True
        made = [call for one in range(begins[at], place + 1) for call in evidence.calls.get(one, ())]
        if any(any(files_changed_by(call, cwd)) for call in made):
            return True
        taken_up = at + 1 < len(turns) and takes_up(turns[at + 1])
        return not taken_up and any(command_of(call.arguments) and not looks(call.arguments) for call in made)

    left = []
    for candidate in evidence.candidates:
        if (
            candidate.section is SummarySection.CONTEXT
            and candidate.provenance is Provenance.SAID
            and (evidence.place_of(candidate) < end or _is_worked_past(evidence, candidate, last))
            and (candidate.text.startswith(_PASSING) or not _MEASURED.match(candidate.text))
            and not evidence.is_left_alone(candidate.text, max(candidate.sources, default=NO_ENTRY), named)
        ):
            candidate.provenance = Provenance.DATED
            if candidate.text.startswith(_PASSING) or not (
                candidate.text.startswith(PLANNED)
                or names_cause(candidate.text)
                or reports(evidence.place_of(candidate))
            ):
                continue
        left.append(candidate)
    evidence.candidates = left


def _is_worked_past(evidence: Evidence, candidate: LineCandidate, last: int) -> bool:
    """Whether the `last` change is behind the last reply and the calls that it leads to.

    Where that reply tells of a trouble, these calls mend it: the change may be one of them.
    """
    if not candidate.text.startswith(LAST_REPLY):
        return False
    place = evidence.place_of(candidate)
    led_to = min((at for at in evidence.calls if at >= place), default=last + 1)
    return last > led_to or (last == led_to and names_trouble(candidate.text))


def _change_files(messages: Sequence[SpanMessage], cwd: str) -> bool:
    """Whether a call in some messages changed a file."""
    failed = failed_calls(message for _, message in messages)
    return any(any(files_changed(message, failed, cwd)) for _, message in messages)
