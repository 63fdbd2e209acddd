"""What the explorer does off the UI thread. Loaded when some of it starts: the first frame does without."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING

from leafward.agents import agent_of, native
from leafward.context.call_status import outcome
from leafward.context.entry_metrics import FAILED, HAS_TEXT, EntryMetrics
from leafward.context.model_context import context_at, lacks_prompt
from leafward.files.edits import Action, calls_delta, command_text, delta_in, file_calls, table_of
from leafward.files.working_set import changed_files
from leafward.query.search.case_folding import folded
from leafward.query.search.passages import passages
from leafward.query.search.text_match import Phrase
from leafward.session.entries import Kind, text_of
from leafward.session.headline import call_of, headline
from leafward.session.journal.operations import archived_branches
from leafward.session.session import Session
from leafward_tui.explorer.model.exploration import Exploration, Findings
from leafward_tui.explorer.widgets.peek import Glance
from leafward_tui.ui.cells import count, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from leafward.agents import Agent
    from leafward.session.prefetch import Ahead
    from leafward_tui.explorer.model.graph import Density
    from leafward_tui.ui.glyphs import Glyphs

PUBLISH_EVERY = 0.25
"""Seconds between two repaints while something loads."""

PAUSE = 0.15
"""Seconds that counting rests after a key."""

_NAP = 0.01
"""Seconds between two looks at whether it may go on."""

_CHUNK = 1024
"""Entries counted between two looks at what is wanted first."""


def open_session(
    path: Path,
    density: Density,
    height: int,
    stop: Callable[[], bool],
    progress: Callable[[int, int, int], object],
    ahead: Ahead | None = None,
    stores: Callable[[], Iterable[tuple[Agent, Path]]] = tuple,
) -> tuple[Exploration, EntryMetrics]:
    """Reads and lays out a session. `progress` hears bytes read, bytes in all and entries. Raises LeafwardError.

    What was scanned `ahead` is not scanned again. `stores` are folders of sessions that nothing in them tells (`agent_of`).
    """
    size = path.stat().st_size if path.exists() else 0
    said = time.monotonic()

    def publish(end: int, entries: int) -> None:
        nonlocal said
        now = time.monotonic()
        if now - said >= PUBLISH_EVERY:
            said = now
            progress(end, size, entries)

    scan = ahead.take(stop, publish) if ahead is not None else None
    agent = agent_of(path, stores)
    if agent is native():
        session = Session.open(path, stop, lambda scan: publish(scan.end, len(scan.columns)), scan)
    else:
        session = agent.open(path, stop)
    findings = Findings(archived=archived_branches(session))
    return Exploration(session, density, height, findings), EntryMetrics(session)


@dataclass(slots=True)
class CountJob:
    """Counting all entries of a session, what is on the screen first."""

    session: Session
    tallies: EntryMetrics
    wanted: list[range] = field(default_factory=list)
    """What is on the screen; set from the UI thread."""
    paused_until: float = 0.0
    """By the monotonic clock; set from the UI thread."""

    def pause(self, seconds: float = PAUSE) -> None:
        """Leaves the interpreter to the keys for a moment; what is on the screen is counted all the same."""
        self.paused_until = time.monotonic() + seconds

    def run(self, stop: Callable[[], bool], publish: Callable[[], object]) -> list[int]:
        """Counts until done or stopped; `publish` is called at most four times a second. Returns broken entries."""
        broken: list[int] = []
        said = 0.0
        for span in self._order():
            while self.wanted or self.paused_until > time.monotonic():
                if self.wanted:
                    urgent, self.wanted = self.wanted, []
                    for asked in urgent:
                        broken += self.tallies.fill(self.session, asked, stop)
                    publish()
                    said = time.monotonic()
                else:
                    time.sleep(_NAP)
                if stop():
                    return broken
            broken += self.tallies.fill(self.session, span, stop)
            if stop():
                break
            if time.monotonic() - said >= PUBLISH_EVERY:
                publish()
                said = time.monotonic()
        return broken

    def _order(self) -> Iterable[range]:
        """All entries in chunks, outward from the leaf."""
        total = len(self.session)
        middle = max(0, self.session.leaf)
        for step in range(0, total, _CHUNK):
            below = range(max(0, middle - step - _CHUNK + 1), max(0, middle - step + 1))
            above = range(middle + 1 + step, min(total, middle + 1 + step + _CHUNK))
            if below:
                yield below
            if above:
                yield above


def findings_of(session: Session, tallies: EntryMetrics) -> Findings:
    """What the filters go by, once everything is counted."""
    total = len(tallies)
    kind, flags, parent = session.columns.kind, tallies.flags, session.columns.parent
    failed = list(compress(range(total), flags.translate(_flag_mask(FAILED))))
    edits = [index for index, number in enumerate(tallies.edits) if number]
    silent = bytearray(total)
    for index in compress(range(total), map(int, tallies.calls)):
        if kind[index] == Kind.ASSISTANT and not flags[index] & HAS_TEXT:
            result = index + 1
            silent[index] = result < total and kind[result] == Kind.TOOL_RESULT and parent[result] == index
    return Findings(failed, edits, silent, archived_branches(session))


def _flag_mask(flag: int) -> bytes:
    return bytes(bool(value & flag) for value in range(256))


def note_of(session: Session, entries: Iterable[range], head: int, glyphs: Glyphs) -> str:
    """The note of a row: sizes before and after for a compaction, files and failures for a turn."""
    if session.columns.kind[head] == Kind.COMPACTION:
        before = (session.body(head) or {}).get("tokensBefore")
        context = context_at(session, head)
        size = count(context.size.total, zero=glyphs.zero)
        size += " + prompt" if lacks_prompt(session, context) else ""
        known = isinstance(before, int)
        return f"{count(before, zero=glyphs.zero)} {glyphs.arrow} {size}" if known else size
    spans = list(entries)
    changes = changed_files(session, [index for span in spans for index in span])
    names = [change.path.rpartition("/")[2] for change in changes]
    told = []
    if names:
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        told.append("edited " + ", ".join(names[:3]) + more)
    failed = _failures(session, spans)
    if failed:
        told.append(failed)
    if not told:
        calls = sum(1 for span in spans for index in span if session.columns.kind[index] == Kind.TOOL_RESULT)
        reply = _last_words(session, spans)
        told.append(reply or (counted(calls, "call") if calls else ""))
    return f" {glyphs.zero} ".join(part for part in told if part)


def _failures(session: Session, spans: list[range]) -> str:
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
    return f"failed: {first.word} {first.text[:40]}{rest}"


def glance_at(session: Session, spans: Sequence[range], head: int) -> Glance:
    """What a turn came to: who spoke last, and the files it changed."""
    changes = changed_files(session, [index for span in spans for index in span])
    said = _last_words(session, spans)
    if said:
        return Glance("ai", said, tuple(changes))
    told = headline(session, head)
    return Glance(told.word, told.text, tuple(changes))


def _last_words(session: Session, spans: Sequence[range]) -> str:
    for span in reversed(spans):
        for index in reversed(span):
            if session.columns.kind[index] == Kind.ASSISTANT:
                message = (session.body(index) or {}).get("message") or {}
                if text_of(message.get("content")).strip():
                    return headline(session, index).text
    return ""


def search(
    session: Session, query: str, stop: Callable[[], bool], publish: Callable[[list[int]], object]
) -> list[int]:
    """Entries whose full text holds `query`, case ignored: prompts, replies, calls, results and summaries.

    `publish` hears what was found so far at most four times a second.
    """
    wanted = Phrase(query)
    found: list[int] = []
    said = time.monotonic()
    kinds, table = session.columns.kind, table_of(session)
    for number, (index, body) in enumerate(session.bodies(range(len(session)))):
        if body is not None and any(
            wanted.is_in(folded(passage.text)) for passage in passages(body, Kind(kinds[index]), table)
        ):
            found.append(index)
        if number % 256 == 0:
            if stop():
                break
            if time.monotonic() - said >= PUBLISH_EVERY:
                said = time.monotonic()
                publish(list(found))
    return found


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
