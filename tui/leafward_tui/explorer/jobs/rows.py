"""What rows say in words that takes reading: notes of turns and compactions, what came of a result."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from leafward.context.basis import Basis
from leafward.context.call_status import outcome
from leafward.files.edits import calls_delta, delta_in
from leafward.files.tool_calls import Action, command_text, file_calls, table_of
from leafward.files.working_set import changed_files
from leafward.session.density import Density
from leafward.session.entries import Kind, text_of
from leafward.session.headline import call_of, headline
from leafward_tui.explorer.widgets.peek import Glance
from leafward_tui.ui.cells import cell_len, count, counted, fit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from leafward.session.session import Session
    from leafward_tui.ui.glyphs import Glyphs
    from leafward_tui.ui.services import Job


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
