"""Entries made from lines further on in a large rollout, by a process that does not know the lines before them.

Once a response has ended, the meaning of most lines does not depend on earlier ones. So entries are made in runs that begin
behind a line that ends a response, as if nothing preceded it, and end where a line looks back: a compaction, a rollback, a broken
line. The reader in order takes over a run where its assumptions hold, and makes the entries of all other lines itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.codex.entries.entry_builder import Dependence, EntryBuilder
from leafward.agents.codex.entries.items import effort_of
from leafward.agents.codex.entries.records import CLOSE, KIND, KINDS, Role, line_at, payload_of
from leafward.agents.codex.entries.responses import total_in
from leafward.agents.storage.stretches import blocks_of
from leafward.base.errors import NotASession
from leafward.session.lines.line_decoding import decode_line

if TYPE_CHECKING:
    from leafward.agents.storage.stretches import Stretch

_ENDING = frozenset({Role.USAGE, Role.BOOKS, Role.STARTED, Role.TURN})
"""Roles behind which no response continues, where usage is recorded; where it is not, the count so far has to be known as well."""
_DEPENDENT = frozenset(
    {Role.META, Role.COMPACTED, Role.ROLLBACK, Role.REVIEW, Role.REVIEWED, Role.UNKNOWN, Role.ASIDE}
)
"""Roles that have no meaning without all earlier lines, or are too rare to bother."""
_USAGE = b'"type":"token_usage_record"'
_TURN = b'"type":"turn_context"'


class LineRun:
    """Lines in a row, the entries that they make, and the assumptions about the lines before them."""

    def __init__(self, start: int, total: int | None) -> None:
        """`total` is the assumed count so far; None means that usage is recorded response by response."""
        self.start = self.stop = start
        """Offsets."""
        self.entries = EntryBuilder(_DEPENDENT)
        self.entries.begin_apart(total)
        self._settings: tuple[str | None, str | None] = None, None
        """The model and the effort that the turn before is assumed to have set."""

    def feed(self, data: bytes, at: int) -> None:
        """Adds whole lines, up to one that depends on the lines before the run: that raises Dependence."""
        if not self.entries.has_turns and (settings := _first_settings(data)) is not None:
            # Most turns repeat the settings of the turn before.
            self._settings = self.entries.model, self.entries.effort = settings
        try:
            self.entries.feed(data, len(data), at)
            self.stop = at + len(data)
        except Dependence as met:
            self.stop = met.at
            raise

    def follows(self, before: EntryBuilder) -> bool:
        """Whether the assumptions hold behind the lines read so far."""
        entries = self.entries
        return (
            before.is_settled
            and not (before.compactions.ahead and entries.begins_anew)
            and not (entries.ends.is_early and before.ends_in_result)
            and before.responses.leads_to(entries.responses)
            and (not entries.has_turns or self._settings == (before.model, before.effort))
        )


class StretchRuns(NamedTuple):
    """The runs in a stretch."""

    stop: int
    """Offset of the end of the stretch."""
    runs: list[LineRun]


def runs_of(stretch: Stretch) -> StretchRuns | None:
    """The runs in a stretch; None where it has to be read in order."""
    runs: list[LineRun] = []
    run: LineRun | None = None
    try:
        for data, at in blocks_of(stretch):
            start = 0
            while start < len(data):
                if run is None:
                    start, total = response_end(data, start, recorded=data.find(_USAGE) >= 0)
                    if start == len(data):
                        break
                    run = LineRun(at + start, total)
                    runs.append(run)
                try:
                    run.feed(data[start:], at + start)
                    start = len(data)
                except Dependence as met:
                    run = None
                    start = met.at - at
    except (OSError, NotASession):
        return None
    return StretchRuns(stretch.stop, runs)


def _first_settings(data: bytes) -> tuple[str, str | None] | None:
    """The model and the effort that the first turn in some lines sets; None without one."""
    place = data.find(_TURN)
    while place >= 0:
        end = data.find(b"\n", place)
        line = line_at(data, data.rfind(b"\n", 0, place) + 1, end)
        if line is not None and line.role is Role.TURN:
            payload = payload_of(line.body or {})
            model = payload.get("model")
            return (model, effort_of(payload)) if isinstance(model, str) else None
        place = data.find(_TURN, end)
    return None


def response_end(data: bytes, start: int, *, recorded: bool) -> tuple[int, int | None]:
    """The end of the first line that ends a response, and the count by then; the end of all lines where none does.

    Counts have no meaning where usage is recorded response by response.
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
