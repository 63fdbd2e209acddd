"""Counts the replies of one large native session in several processes: this one up to an offset, others from there on.

This process also scans the whole file for the places and kinds of its lines; decoding the replies takes longer.
"""

from __future__ import annotations

from contextlib import ExitStack
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Self

from leafward.agents.storage.lines import OpenFile
from leafward.agents.storage.stretches import Stretch, blocks_of, cuts_of, shared_by
from leafward.base.errors import NotASession
from leafward.base.times import parse_time
from leafward.base.worker_processes import Stopped, WorkerProcesses, awaited
from leafward.catalogue.cards.daily_usage import Meter
from leafward.catalogue.cards.replies import Replies
from leafward.session.columns import Columns
from leafward.session.entries import NO_ENTRY
from leafward.session.lines.line_decoding import CURRENT_VERSION, decode_line, version_of
from leafward.session.lines.scan import Scan

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from leafward.session.entries import Body

_COUNT = "leafward.catalogue.cards.shared_replies:count"
_HEAD = 1 << 14
"""Bytes within which a header ends."""
_OWN = (0.45, 0.2, 0.0)
"""Share of the replies that this process counts beside one, two or more others; it also scans the whole file."""


class ReplyStretch(NamedTuple):
    """A stretch of lines whose replies a process counts."""

    lines: Stretch
    header: Body
    began: int
    """Time at which the session began, in milliseconds."""


class Counted(NamedTuple):
    """Usage of a stretch's replies, the files that they touched, and the time of the latest reply."""

    meter: Meter
    touches: list[tuple[str, bool]]
    spoken: int


def count(asked: ReplyStretch) -> Counted | None:
    """Counts the replies of a stretch; None if something in it is odd. Runs in a worker process."""
    replies = Replies(Meter(asked.began))
    replies.passes_on = True
    try:
        for data, at in blocks_of(asked.lines):
            scan = Scan.of(Columns(), asked.header, NO_ENTRY, at)
            scan.watch = replies.watch
            scan.take_whole(data)
    except (OSError, NotASession):
        return None
    return Counted(replies.meter, replies.touches, replies.spoken)


class SharedReplies:
    """The replies that other processes count while this one reads a session."""

    def __init__(self, path: str, replies: Replies) -> None:
        """Limits `replies` to its share if the session is large and there are processors for the rest."""
        self._stack = ExitStack()
        self._replies = replies
        self._asked: list[tuple[ReplyStretch, Future[Counted | None]]] = []
        with OpenFile(path) as file:
            others = shared_by(file, 0)
            header = decode_line(file.at(0, _HEAD).partition(b"\n")[0]) if others else None
            if header is None or header.get("type") != "session" or version_of(header) != CURRENT_VERSION:
                return
            cuts, identity = cuts_of(file, 0), file.identity
        cuts = cuts[max(1, int(len(cuts) * _OWN[min(others, len(_OWN)) - 1])) :]
        processes: WorkerProcesses[ReplyStretch, Counted] = WorkerProcesses(others, _COUNT)
        self._stack.enter_context(processes)
        began = parse_time(header.get("timestamp")) or 0
        for start, stop in pairwise(cuts):
            asked = ReplyStretch(Stretch(path, identity, start, stop), header, began)
            self._asked.append((asked, processes.ask(asked)))
        replies.until = cuts[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def join(self, end: int, stop: Callable[[], bool]) -> bool:
        """Adds the counts of the other processes; False if one failed, if they do not end at `end`, or if `stop` is true."""
        if self._asked and end != self._asked[-1][0].lines.stop:
            return False
        # Stretches that no process has begun are counted here, from the end: the processes take them from the start.
        here: list[Counted | None] = []
        while self._asked and not stop() and self._asked[-1][1].cancel():
            here.append(count(self._asked.pop()[0]))
        try:
            found = [awaited(future, stop) for _, future in self._asked]
        except Stopped:
            return False
        for counted in (*found, *reversed(here)):
            if counted is None:
                return False
            self._replies.join(counted.meter, counted.touches, counted.spoken)
        return True
