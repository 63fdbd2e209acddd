"""Contents of rows that take reading: tokens, calls, edits, notes, lost facts; visible rows first, while no key waits."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING

from rich.cells import cell_len

from leafward.base.figures import counted, first_few
from leafward.base.safe_text import safe_line
from leafward.session.entries import BOOKKEEPING, DAMAGED, Kind
from leafward.session.headlines.entry_headline import call_of, headline
from leafward.session.tree.density import Density
from leafward_tui.explorer.controllers.controller import ExplorerController, ExplorerMeans
from leafward_tui.explorer.model.exploration import Findings
from leafward_tui.explorer.model.folds import LineKind
from leafward_tui.explorer.model.row_texts import RowTexts
from leafward_tui.ui.delay import Delay
from leafward_tui.ui.text.cells import fit
from leafward_tui.ui.words.size_change import SizeChange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from leafward.context.entry_metrics import EntryMetrics
    from leafward.session.session import Session
    from leafward_tui.explorer.lost_facts import Counted
    from leafward_tui.ui.appearance.glyphs import Glyphs
    from leafward_tui.ui.jobs import Job

_BOOKS = BOOKKEEPING - DAMAGED
"""Kinds without a row among the entries of the conversation."""
PUBLISH_EVERY = 0.25
"""Seconds between two reports while entries are read or counted."""
REST = 0.04
"""Seconds before the notes of new rows are looked up: their frame comes first."""
IDLE = 0.25
"""Seconds without a move of the cursor before lost facts are counted: the count slows down the keys."""


class RowMetrics(ExplorerController):
    """Fills the columns of the tree."""

    def __init__(self, means: ExplorerMeans) -> None:
        super().__init__(means)
        self._order: CountOrder | None = None
        self._noting, self._idling = Delay(means.view.after), Delay(means.view.after)
        self._noted_in: Density | None = None
        """The density of the notes."""

    def begin(self) -> None:
        """Forgets all numbers and notes: another session is opened."""
        exploration = self._state.exploration
        self._noted_in = exploration.layout.density if exploration is not None else None
        self._state.texts = RowTexts()
        self._order = None

    # --- numbers ------------------------------------------------------------------------------------------------------

    def count_more(self, done: Callable[[Findings], object]) -> None:
        """Counts as `count` does, behind a count under way: a session may grow faster than one ends."""
        self._jobs.after("count", partial(self.count, done))
        self.rows_shown()

    def count(self, done: Callable[[Findings], object]) -> None:
        """Counts tokens, calls and edits; `done` gets the findings that filters need, once all are known."""
        session, metrics = self._state.session, self._state.metrics
        if session is None or metrics is None:
            return
        self._order = CountOrder(self._entries_on_screen())
        self._jobs.latest(
            "count",
            partial(count_entries, session, metrics, self._order, self._view.tree.redraw_rows),
            done,
            lambda problem: self._view.fail(f"cannot read the session any more: {problem}"),
        )
        self.rows_shown()

    def rest(self) -> None:
        """Pauses the count for a moment, so that keys are handled at once."""
        if self._order is not None:
            self._order.pause()

    def rows_shown(self) -> None:
        """Counts the rows that came on the screen first."""
        if self._order is not None:
            self._order.on_screen = self._entries_on_screen()
        self._noting.start(REST, self.note_rows)

    def _entries_on_screen(self) -> list[range]:
        return [span for _, spans in self._rows_on_screen() for span in spans]

    def _rows_on_screen(self) -> Iterator[tuple[int, list[range]]]:
        """First entries of the rows that are on the screen, each with the entries of its row."""
        exploration = self._state.exploration
        if exploration is None:
            return
        layout = exploration.layout
        for line in map(exploration.lines.line, self._view.tree.rows_on_screen()):
            if line.kind is LineKind.ROW:
                yield layout.head[line.row], layout.entries_of(line.row)

    # --- notes --------------------------------------------------------------------------------------------------------

    def forget_note(self, head: int) -> None:
        """Drops the note of the row that begins with an entry, because the row has grown; one under way may be of before."""
        self._jobs.cancel("note")
        self._state.texts.notes.pop(head, None)

    def laid_out(self) -> None:
        """Drops the notes of another density: they are about other rows."""
        exploration = self._state.exploration
        if exploration is not None and exploration.layout.density is not self._noted_in:
            self._noted_in = exploration.layout.density
            self._jobs.cancel("note")
            self._state.texts.notes = {}

    def note_rows(self) -> None:
        """Looks up the notes of the rows on the screen."""
        self.await_idle()
        exploration = self._state.exploration
        if exploration is None:
            return
        layout, notes = exploration.layout, self._state.texts.notes
        every = layout.density is not Density.TURNS
        rows = [
            (head, spans)
            for head, spans in self._rows_on_screen()
            if head not in notes and (every or layout.tree.kind[head] == Kind.COMPACTION)
        ]
        if rows:
            self._jobs.latest(
                "note",
                partial(
                    note_rows,
                    exploration.session,
                    layout.density,
                    rows,
                    self._services.glyphs,
                    notes.__setitem__,
                ),
                lambda _none: self._view.tree.redraw_rows(),
                self._view.fail,
            )

    # --- lost facts ---------------------------------------------------------------------------------------------------

    def await_idle(self) -> None:
        """Counts lost facts of the compactions on the screen once no key was pressed for a moment."""
        self._jobs.cancel("lost")
        self._idling.start(IDLE, self.count_lost)

    def count_lost(self) -> None:
        """Starts counting for the compactions on the screen that have no number yet."""
        exploration = self._state.exploration
        if exploration is None or not self._view.on_top:
            return
        self._view.prefetch()
        kind, counted = exploration.layout.tree.kind, self._state.texts.counted
        now = (-1, len(exploration.session))
        compactions = [
            head
            for head, _ in self._rows_on_screen()
            if kind[head] == Kind.COMPACTION and counted.get(head) not in now
        ]
        if compactions:
            from leafward_tui.explorer.lost_facts import count_lost

            self._jobs.latest(
                "lost",
                partial(count_lost, exploration.session, compactions, self._take_lost),
                lambda _none: None,
                self._view.fail,
            )

    def _take_lost(self, head: int, found: Counted) -> None:
        texts = self._state.texts
        texts.counted[head] = found.entries
        texts.lost[head] = found.lost
        texts.repeated[head] = (found.repeated, found.tokens)
        self._view.tree.redraw_rows()


_BROKEN_OFF = {"aborted": "aborted", "length": "cut off"}
"""Outcomes of a reply that its model did not end; an error has its own text in the row."""
PAUSE = 0.15
"""Seconds that counting rests after a move of the cursor."""
LONGEST_PAUSE = 1.0
"""Seconds after which a part is counted all the same: a held key, or an agent that writes, moves the cursor without a rest."""
_FRAME = 0.04
"""Seconds before counting begins: rows that were just laid out are painted first."""
_NAP = 0.01
"""Seconds between two checks whether it may go on."""
_CHUNK = 1024
"""Entries counted between two checks for entries on the screen."""


@dataclass(slots=True)
class CountOrder:
    """The order in which entries of a session are counted: those on the screen first. Set from the screen's thread."""

    on_screen: list[range] = field(default_factory=list)
    """The entries on the screen."""
    paused_since: float = 0.0
    """The beginning of the pause, by the monotonic clock."""
    paused_until: float = 0.0
    """The end of the pause."""

    def pause(self) -> None:
        """Pauses for a moment, so that keys are handled at once; the entries on the screen are counted all the same."""
        now = time.monotonic()
        if now >= self.paused_until:
            self.paused_since = now
        self.paused_until = min(now + PAUSE, self.paused_since + LONGEST_PAUSE)


def count_entries(
    session: Session, metrics: EntryMetrics, order: CountOrder, counted_more: Callable[[], object], job: Job
) -> Findings:
    """Counts all entries into the metrics; `counted_more` is called at most four times a second."""
    broken: list[int] = []
    reported = 0.0
    time.sleep(_FRAME)
    for span in _outward(session):
        while order.on_screen or order.paused_until > time.monotonic():
            if order.on_screen:
                urgent, order.on_screen = order.on_screen, []
                for one in urgent:
                    broken += metrics.fill(session, one, job.unwanted)
                job.report(counted_more)
                reported = time.monotonic()
            else:
                time.sleep(_NAP)
            if job.unwanted():
                return Findings()
        broken += metrics.fill(session, span, job.unwanted)
        if job.unwanted():
            return Findings()
        if time.monotonic() - reported >= PUBLISH_EVERY:
            job.report(counted_more)
            reported = time.monotonic()
    if broken:
        session.discredit(broken)
    return findings_of(session, metrics)


def _outward(session: Session) -> Iterable[range]:
    """All entries in chunks, outward from the leaf."""
    total = len(session)
    middle = max(0, session.leaf)
    for step in range(0, total, _CHUNK):
        below = range(max(0, middle - step - _CHUNK + 1), max(0, middle - step + 1))
        above = range(middle + 1 + step, min(total, middle + 1 + step + _CHUNK))
        if below:
            yield below
        if above:
            yield above


def findings_of(session: Session, metrics: EntryMetrics) -> Findings:
    """The findings that the filters need, once everything is counted."""
    from leafward.context.entry_metrics import FAILED, HAS_TEXT
    from leafward.context.projection import edited_entries
    from leafward.session.journal.operation_log import archived_branches

    total = len(metrics)
    kind, flags = session.columns.kind, metrics.flags
    has_failed = bytes(bool(value & FAILED) for value in range(256))
    failed = list(compress(range(total), flags.translate(has_failed)))
    edits = [index for index, number in enumerate(metrics.edits) if number]
    silent = bytearray(total)
    for index in compress(range(total), map(int, metrics.calls)):
        if kind[index] == Kind.ASSISTANT and not flags[index] & HAS_TEXT:
            silent[index] = _is_answered(session, index, metrics.calls[index])
    return Findings(failed, edits, silent, archived_branches(session), edited_entries(session, session.place))


def _is_answered(session: Session, reply: int, calls: int) -> bool:
    """Whether a result of each call follows a reply, and no entry with a row of its own precedes the first result.

    Progress of a command, snapshots and hooks stand between a call and its result in Claude Code's sessions (2.1.14 to
    2.1.49).
    """
    kind, parent, at, found = session.columns.kind, session.columns.parent, reply + 1, 0
    while at < len(kind) and parent[at] == at - 1 and found < calls:
        if kind[at] == Kind.TOOL_RESULT:
            found += 1
        elif kind[at] not in _BOOKS and not (found and kind[at] == Kind.INJECTED):
            break
        at += 1
    return found >= calls


def note_rows(
    session: Session,
    density: Density,
    rows: Sequence[tuple[int, list[range]]],
    glyphs: Glyphs,
    noted: Callable[[int, str], object],
    job: Job,
) -> None:
    """Works out the notes of rows, each given by its first entry and its entries; `noted` gets each note."""
    for head, spans in rows:
        if job.unwanted():
            return
        by_entry = density is Density.ENTRIES and session.columns.kind[head] != Kind.COMPACTION
        text = outcome_of(session, head, glyphs) if by_entry else note_of(session, spans, head, glyphs)
        job.report(partial(noted, head, text))


def note_of(session: Session, entries: Iterable[range], head: int, glyphs: Glyphs) -> str:
    """The note of a row: sizes before and after for a compaction, files and failures for a turn."""
    from leafward.context.basis import Basis
    from leafward.files.working_set import changed_files

    if session.columns.kind[head] == Kind.COMPACTION:
        return SizeChange.of(Basis.of(session), head).text(glyphs)
    spans = list(entries)
    changes = changed_files(session, [index for span in spans for index in span])
    names = [safe_line(change.path.rpartition("/")[2]) for change in changes]
    parts = []
    if names:
        parts.append(f"edited {first_few(names, 3)}")
    failed = _failures(session, spans, glyphs)
    if failed:
        parts.append(failed)
    if not parts:
        calls = sum(1 for span in spans for index in span if session.columns.kind[index] == Kind.TOOL_RESULT)
        from leafward_tui.explorer.controllers.glance import last_words

        reply = last_words(session, spans)
        parts.append(reply or (counted(calls, "call") if calls else ""))
    return f" {glyphs.zero} ".join(part for part in parts if part)


def _failures(session: Session, spans: list[range], glyphs: Glyphs) -> str:
    kinds = session.columns.kind
    results = [index for span in spans for index in span if kinds[index] == Kind.TOOL_RESULT]
    failed = [
        index
        for index, body in session.bodies(results)
        if body and (body.get("message") or {}).get("isError") is True
    ]
    if not failed:
        return ""
    first = headline(session, failed[0])
    rest = f" and {len(failed) - 1} more" if len(failed) > 1 else ""
    text = fit(first.within(40, cell_len, glyphs.gap), 40, ellipsis=glyphs.ellipsis)
    return f"failed: {first.word} {text}{rest}"


def outcome_of(session: Session, index: int, glyphs: Glyphs) -> str:
    """The outcome of a call, a command or a reply: lines changed, `ok`, `exit 1`, `error`, `aborted`, `cut off`."""
    from leafward.context.call_status import outcome
    from leafward.files.edits import calls_delta, delta_in
    from leafward.files.tool_calls import FileAction, command_text, file_calls, table_of

    body = session.body(index) or {}
    message = body.get("message") or {}
    kind = session.columns.kind[index]
    if kind == Kind.ASSISTANT:
        return _BROKEN_OFF.get(str(message.get("stopReason")), "")
    if kind not in (Kind.TOOL_RESULT, Kind.BASH):
        return ""
    call = call_of(session, index, message.get("toolCallId")) if kind == Kind.TOOL_RESULT else None
    table = table_of(session)
    came = outcome(body, table)
    if came.exit_code:
        return f"exit {came.exit_code}"
    if not came.ok:
        return came.stopped or "error"
    if kind == Kind.BASH:
        return "ok"
    made = (
        [one for one in file_calls(call, table) if one.action is not FileAction.READ]
        if call is not None
        else []
    )
    if made:
        added, removed = delta_in(body) or calls_delta(made, table)
        return f"+{added} {glyphs.minus}{removed}"
    return "ok" if call is not None and command_text(call, table) else ""
