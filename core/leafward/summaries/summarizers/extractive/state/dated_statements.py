"""What replies said before files changed for a later request: its heading says so, because nothing tells whether it holds still.

Where nobody named since what a statement names, nothing was done to that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late
from leafward.session.entries import NO_ENTRY
from leafward.summaries.facts.outcomes import failed_calls, files_changed
from leafward.summaries.summarizers.extractive.answers.last_reply import LAST_REPLY
from leafward.summaries.summarizers.extractive.candidates import PROPOSED
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


def date_statements(
    evidence: Evidence,
    kept: Sequence[SpanMessage],
    later: Sequence[Turn],
    named: Collection[tuple[FactKind, str]],
    cwd: str,
) -> None:
    """Puts such statements under their heading.

    `later` are the turns of the `kept` messages, `named` the facts in these.
    """
    begun = later[0].first - evidence.size if later else len(kept)
    last = max((work.changed for work in evidence.files.values()), default=-1)
    if _change_files(kept[begun:], cwd):
        end = evidence.size
    else:
        # What is said amid the work tells why that changes what it does.
        end = min(evidence.last_turn - 1, evidence.size if _change_files(kept[:begun], cwd) else last)
    for candidate in evidence.candidates:
        if (
            candidate.section is SummarySection.CONTEXT
            and candidate.provenance is Provenance.SAID
            and (evidence.place_of(candidate) < end or _is_worked_past(evidence, candidate, last))
            and (candidate.text.startswith((PROPOSED, LAST_REPLY)) or not _MEASURED.match(candidate.text))
            and not evidence.is_left_alone(candidate.text, max(candidate.sources, default=NO_ENTRY), named)
        ):
            candidate.provenance = Provenance.DATED


def _is_worked_past(evidence: Evidence, candidate: LineCandidate, last: int) -> bool:
    """Whether the last reply was followed by more than the calls that it leads to, and the `last` change is behind those."""
    if not candidate.text.startswith(LAST_REPLY):
        return False
    place = evidence.place_of(candidate)
    return last > min((at for at in evidence.calls if at >= place), default=last)


def _change_files(messages: Sequence[SpanMessage], cwd: str) -> bool:
    """Whether a call in some messages changed a file."""
    failed = failed_calls(message for _, message in messages)
    return any(any(files_changed(message, failed, cwd)) for _, message in messages)
