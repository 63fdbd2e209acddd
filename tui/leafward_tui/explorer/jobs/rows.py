"""What rows say that takes reading: numbers of entries, notes, what came of a result, facts that compactions lost."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING

from leafward.base.errors import LeafwardError
from leafward.context.basis import Basis
from leafward.context.call_status import outcome
from leafward.context.entry_metrics import FAILED, HAS_TEXT
from leafward.files.edits import calls_delta, delta_in
from leafward.files.tool_calls import Action, command_text, file_calls, table_of
from leafward.files.working_set import changed_files
from leafward.session.entries import Kind, text_of
from leafward.session.headline import call_of, headline
from leafward.session.journal.operations import archived_branches
from leafward.session.row_layout import Density
from leafward.summaries.survival import Status, Stopped
from leafward_tui.explorer.jobs.session import PUBLISH_EVERY
from leafward_tui.explorer.model.exploration import Findings
from leafward_tui.explorer.widgets.peek import Glance
from leafward_tui.ui.cells import cell_len, count, counted, fit
from leafward_tui.ui.survival_cache import survivals_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from leafward.context.entry_metrics import EntryMetrics
    from leafward.session.session import Session
    from leafward_tui.ui.glyphs import Glyphs
    from leafward_tui.ui.services import Job

PAUSE = 0.15
"""Seconds that counting rests after a key."""
_NAP = 0.01
"""Seconds between two looks at whether it may go on."""
_LOST_NAP = 0.02
"""Seconds between two compactions whose lost facts are counted."""
_CHUNK = 1024
"""Entries counted between two looks at what is wanted first."""
MOST_BYTES = 24 << 20
"""Bytes of the path above a compaction beyond which its lost facts are counted only when somebody asks for them."""


@dataclass(slots=True)
class CountOrder:
    """In which order the entries of a session are counted: what is on the screen first. Set from the screen's thread."""

    wanted: list[range] = field(default_factory=list)
    """What is on the screen."""
    paused_until: float = 0.0
    """By the monotonic clock."""

    def pause(self, seconds: float = PAUSE) -> None:
        """Leaves the interpreter to the keys for a moment; what is on the screen is counted all the same."""
        self.paused_until = time.monotonic() + seconds


def count_entries(
    session: Session, metrics: EntryMetrics, order: CountOrder, counted_more: Callable[[], object], job: Job
) -> Findings:
    """Counts all entries into the metrics; `counted_more` hears of it at most four times a second."""
    broken: list[int] = []
    reported = 0.0
    for span in _outward(session):
        while order.wanted or order.paused_until > time.monotonic():
            if order.wanted:
                urgent, order.wanted = order.wanted, []
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
    """What the filters go by, once everything is counted."""
    total = len(metrics)
    kind, flags, parent = session.columns.kind, metrics.flags, session.columns.parent
    failed = list(compress(range(total), flags.translate(_flag_mask(FAILED))))
    edits = [index for index, number in enumerate(metrics.edits) if number]
    silent = bytearray(total)
    for index in compress(range(total), map(int, metrics.calls)):
        if kind[index] == Kind.ASSISTANT and not flags[index] & HAS_TEXT:
            result = index + 1
            silent[index] = result < total and kind[result] == Kind.TOOL_RESULT and parent[result] == index
    return Findings(failed, edits, silent, archived_branches(session))


def _flag_mask(flag: int) -> bytes:
    return bytes(bool(value & flag) for value in range(256))


def note_rows(
    session: Session,
    density: Density,
    wanted: Sequence[tuple[int, list[range]]],
    glyphs: Glyphs,
    noted: Callable[[int, str], object],
    job: Job,
) -> None:
    """Works out the notes of rows, each told by its first entry and its entries; `noted` hears each."""
    for head, spans in wanted:
        if job.unwanted():
            return
        by_entry = density is Density.ENTRIES and session.columns.kind[head] != Kind.COMPACTION
        text = outcome_of(session, head, glyphs) if by_entry else note_of(session, spans, head, glyphs)
        job.report(partial(noted, head, text))


def note_of(session: Session, entries: Iterable[range], head: int, glyphs: Glyphs) -> str:
    """The note of a row: sizes before and after for a compaction, files and failures for a turn."""
    if session.columns.kind[head] == Kind.COMPACTION:
        before, after = Basis.of(session).change(head)
        size = f"{after.sign}{count(after.total, zero=glyphs.zero)}"
        if not before.total:
            return size
        larger = ", larger than before" if after.total > before.total else ""
        return f"{before.sign}{count(before.total)} {glyphs.arrow} {size}{larger}"
    spans = list(entries)
    changes = changed_files(session, [index for span in spans for index in span])
    names = [change.path.rpartition("/")[2] for change in changes]
    parts = []
    if names:
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        parts.append("edited " + ", ".join(names[:3]) + more)
    failed = _failures(session, spans, glyphs)
    if failed:
        parts.append(failed)
    if not parts:
        calls = sum(1 for span in spans for index in span if session.columns.kind[index] == Kind.TOOL_RESULT)
        reply = _last_words(session, spans)
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
    """What came of a tool's result in a word: lines changed, `ok`, `exit 1`, `error`."""
    body = session.body(index) or {}
    message = body.get("message") or {}
    if session.columns.kind[index] != Kind.TOOL_RESULT:
        return ""
    call = call_of(session, index, message.get("toolCallId"))
    table = table_of(session)
    came = outcome(body, table)
    if came.exit_code:
        return f"exit {came.exit_code}"
    if not came.ok:
        return "error"
    made = (
        [one for one in file_calls(call, table) if one.action is not Action.READ] if call is not None else []
    )
    if made:
        added, removed = delta_in(body) or calls_delta(made, table)
        return f"+{added} {glyphs.minus}{removed}"
    return "ok" if call is not None and command_text(call, table) else ""


def glance_at(session: Session, spans: Sequence[range], head: int, _job: Job) -> Glance:
    """What a turn came to: who spoke last, and the files it changed."""
    changes = changed_files(session, [index for span in spans for index in span])
    reply = _last_words(session, spans)
    if reply:
        return Glance("ai", reply, tuple(changes))
    first = headline(session, head)
    return Glance(first.word, first.text, tuple(changes))


def _last_words(session: Session, spans: Sequence[range]) -> str:
    for span in reversed(spans):
        for index in reversed(span):
            if session.columns.kind[index] == Kind.ASSISTANT:
                message = (session.body(index) or {}).get("message") or {}
                if text_of(message.get("content")).strip():
                    return headline(session, index).text
    return ""


def count_lost(
    session: Session, compactions: Sequence[int], counted_one: Callable[[int, int], object], job: Job
) -> None:
    """Counts the facts that compactions lost; `counted_one` hears each with its number."""
    reports = survivals_of(session)
    for head in compactions:
        if _bytes_above(session, head) > MOST_BYTES:
            continue
        try:
            report = reports.report(session, head, job.unwanted)
        except Stopped:
            return
        except (LeafwardError, OSError):
            continue
        lost = sum(1 for fate in report.fates if fate.status is Status.LOST)
        job.report(partial(counted_one, head, lost))
        time.sleep(_LOST_NAP)


def _bytes_above(session: Session, entry: int) -> int:
    """Bytes of the lines on the path to an entry, back to the compaction before the one before it."""
    columns, tree = session.columns, session.tree
    total = 0
    for run in tree.path_runs(columns.parent[entry]):
        stop = columns.start[run.stop] if run.stop < len(columns) else session.scan.end
        total += stop - columns.start[run.start]
    return total
