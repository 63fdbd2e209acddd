"""Lines further on in a large rollout, made entries by a process that does not know what comes before them.

Most of what a line means does not depend on that once a response has ended. So entries are made in runs that begin behind a
line that ends one, as if nothing had come before, and end where a line looks back: a compaction, a rollback, a broken line.
Whoever reads in order takes a run in where what it assumes holds, and makes the entries itself of everything else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.codex.entry_builder import EntryBuilder, LooksBack
from leafward.agents.codex.records import CLOSE, KIND, KINDS, Role, payload_of
from leafward.agents.codex.responses import total_in
from leafward.agents.stretches import blocks_of
from leafward.base.errors import NotASession
from leafward.session.line_decoding import decode_line

if TYPE_CHECKING:
    from leafward.agents.stretches import Stretch

_ENDING = frozenset({Role.USAGE, Role.BOOKS, Role.STARTED, Role.TURN})
"""Lines behind which no response goes on, where usage is recorded; where it is not, what was counted has to be known too."""
_USAGE = b'"type":"token_usage_record"'


class Run(NamedTuple):
    """Lines that follow each other, and the entries that they make."""

    start: int
    stop: int
    """Offsets."""
    entries: EntryBuilder


class Told(NamedTuple):
    """The runs in a stretch."""

    stop: int
    """The offset that the stretch ends at."""
    runs: list[Run]


def tell(stretch: Stretch) -> Told | None:
    """The runs in a stretch; None where it is to be read in order."""
    runs: list[Run] = []
    made: EntryBuilder | None = None
    begin = 0
    try:
        for data, at in blocks_of(stretch):
            start = 0
            while start < len(data):
                if made is None:
                    start, total = settled(data, start, recorded=data.find(_USAGE) >= 0)
                    if start == len(data):
                        break
                    begin = at + start
                    made = EntryBuilder(apart=True, total=total)
                try:
                    made.feed(data[start:], len(data) - start, at + start)
                    start = len(data)
                except LooksBack as met:
                    runs.append(Run(begin, met.at, made))
                    made = None
                    start = met.at - at
    except (OSError, NotASession):
        return None
    if made is not None:
        runs.append(Run(begin, stretch.stop, made))
    return Told(stretch.stop, runs)


def settled(data: bytes, start: int, *, recorded: bool) -> tuple[int, int | None]:
    """Behind the first line that ends a response, and what was counted by then; the end of whole lines where none does.

    Where usage is recorded response by response counts say nothing.
    """
    answered = ended = False
    total = None
    while start < len(data) and not ended:
        end = data.find(b"\n", start)
        head = KIND.match(data, start, end)
        role = KINDS.get(head[1]) if head is not None and data[end - 1] == CLOSE else None
        if role is Role.REPLY or role is Role.RESULT:
            answered = True
        elif answered and recorded:
            ended = role in _ENDING
        elif answered and role is Role.COUNT:
            total = total_in(payload_of(decode_line(data[start:end]) or {}))
            ended = total is not None
        start = end + 1
    return start, total
