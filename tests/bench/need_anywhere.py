"""What our summary holds of sessions that were never compacted: `python -m tests.bench.need_anywhere FOLDER`.

Each session is cut at two places. What of the messages before a cut is used again behind it is looked for in our summary of
them, in their last characters, and in the best that they allow, all of one size: a tenth of their tokens. Needed is what
`tests.bench.need` calls so. The weights are the package's own, so a figure counts only for sessions that they were not fitted on.
"""

from __future__ import annotations

import random
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.recognition import agent_of
from leafward.base.errors import LeafwardError
from leafward.context.message_columns import message_body
from leafward.context.model_context import context_at
from leafward.session.entries import NO_ENTRY, EntryIndex
from leafward.session.messages import message_text
from leafward.summaries.fates.report import facts_of
from leafward.summaries.summarizers.extractive.summarizer import Extractive
from leafward.summaries.summarizers.summary import tokens_of
from leafward.summaries.survival.earlier_plan import plan_before
from leafward.summaries.survival.spans import ReplacedSpan, SpanMessage
from leafward.summaries.survival.text_match import FactMatch, FactText, file_names
from tests.bench.need import best_of, last_tokens, needed, span_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from leafward.session.session import Session

_PLACES = (0.4, 0.6)
"""Places of the cuts, as parts of the path to the leaf."""
_LEAST = 6
"""Messages before a cut."""
_PART = 10
"""Tokens of the messages for one of the text."""
_LEAST_TOKENS = 150
_DRAWS = 2000
_SEED = 15


class Held(NamedTuple):
    """Needed facts at one cut, and how many of them each text holds."""

    needed: int
    ours: int
    end: int
    """The last characters."""
    best: int


def _spans(session: Session) -> Iterator[ReplacedSpan]:
    path = session.tree.path(session.leaf)
    for place in _PLACES:
        at = EntryIndex(path[int(len(path) * place)])
        messages = tuple(
            SpanMessage(one.entry, message_body(session, one))
            for one in context_at(session, at).messages
            if one.sent and one.role not in ("system", "compactionSummary")
        )
        if len(messages) >= _LEAST:
            yield ReplacedSpan(at, "", messages, "", NO_ENTRY, plan_before(session, messages), (), "")


def held_in(session: Session) -> list[Held]:
    """The figures of each cut of a session behind which something is used again."""
    found = []
    for there in _spans(session):
        facts = facts_of(there.messages, session.cwd, plan=there.plan)
        wanted = needed(session, there, facts)
        whole = sum(tokens_of(message_text(message)) for _, message in there.messages)
        size = max(_LEAST_TOKENS, whole // _PART)
        ours = Extractive().summarize(span_of(session, there), size).text
        texts = [
            FactText(text, session.cwd) for text in (ours, last_tokens(there, size), best_of(wanted, size))
        ]
        names, told = file_names(facts), {FactMatch.VERBATIM, FactMatch.PARAPHRASED}
        counts = [sum(text.holds(fact, names) in told for fact in wanted) for text in texts]
        if wanted:
            found.append(Held(len(wanted), *counts))
    return found


def _times(sessions: Sequence[Sequence[Held]]) -> float:
    return sum(one.ours for held in sessions for one in held) / max(
        1, sum(one.end for held in sessions for one in held)
    )


def main(arguments: Sequence[str]) -> int:
    """Prints the sums over all sessions of the folders, and the interval over sessions drawn anew."""
    sessions = []
    for path in sorted(path for folder in arguments for path in Path(folder).rglob("*.jsonl")):
        with suppress(LeafwardError), closing(agent_of(path).open(path)) as session:
            if held := held_in(session):
                sessions.append(held)
    if not sessions:
        print("nothing is used again")
        return 1
    every = [one for held in sessions for one in held]
    of, ours, end, best = (sum(column) for column in zip(*every, strict=True))
    draws = random.Random(_SEED)
    times = sorted(_times(draws.choices(sessions, k=len(sessions))) for _ in range(_DRAWS))
    edge = _DRAWS // 40
    print(f"{len(every)} places of {len(sessions)} sessions, {of} facts used again")
    print(f"ours {ours}, the last characters {end}, best possible {best}")
    print(
        f"ours is {_times(sessions):.2f} x the last characters ({times[edge]:.2f} to {times[-1 - edge]:.2f})"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
