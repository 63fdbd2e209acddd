"""One transcript of Claude Code: its file read into columns, and each entry translated on request."""

from __future__ import annotations

import os
from bisect import bisect_left
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents.claude.entries.entry_builder import EntryBuilder
from leafward.agents.claude.entries.kept_reading import RowsRead, kept_reading, unpacked_reading
from leafward.agents.claude.entries.left_out import LEFT_OUT, LEFT_OUT_CODE, leave_out
from leafward.agents.claude.entries.position import leaf_of
from leafward.agents.claude.entries.records import NAMED, SIDECHAIN, UNTERMINATED, Role, rows_in
from leafward.agents.claude.entries.requests import Requests, corrected
from leafward.agents.claude.entries.row_notes import INFERRED
from leafward.agents.claude.entries.transcript_rows import Rows
from leafward.agents.claude.entries.translation import Translator
from leafward.agents.claude.entries.versions import window_of
from leafward.agents.claude.lineage import spent_before
from leafward.agents.claude.source import TranscriptFile
from leafward.agents.claude.store import TranscriptName, place_of, stands_for, stem
from leafward.agents.storage.lines import SPACE, another_session, marked_note, oversize_notes, stretch_of
from leafward.agents.storage.stretches import Stretches
from leafward.base.errors import NotASession, Refused
from leafward.base.gc_pause import gc_paused
from leafward.base.times import iso_time, milliseconds, written_time
from leafward.session.columns import Columns
from leafward.session.entries import SUBAGENT, EntryIndex, Kind
from leafward.session.lines.line_decoding import decode_line
from leafward.session.lines.scan import Pending
from leafward.session.source import GOES_ON, EntryLocation, SourceRemark
from leafward.session.transcript import KeptReading, Transcript, unknown_records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from leafward.agents.claude.entries.blocks import BlockColumns
    from leafward.agents.claude.lineage import ForkParent
    from leafward.session.entries import Body

_NAMED = bytes(bool(flags & NAMED) for flags in range(256))
_OF_THE_MAIN_LINE = bytes(bool(flags & NAMED and not flags & SIDECHAIN) for flags in range(256))

_TELL = "leafward.agents.claude.entries.blocks:read_stretch"
_BRIDGED = 5_000
"""Milliseconds."""
_GAP = (
    "the row that this one follows is not in this file: resumed here, Claude Code begins with it and sends nothing of what is"
    " before it; a fork does"
)
_TOLD_BACK = 500
"""Entries that are searched for the model in force."""


class ClaudeReader:
    """Reads one transcript, and keeps its file open while the session is."""

    translation: Translator
    """The entries as they were last read."""

    def __init__(
        self,
        path: Path,
        lineage: Callable[[str, Rows], ForkParent | None],
        spawner: Callable[[str], str | None],
    ) -> None:
        self.path = path
        self._lineage = lineage
        self._spawner = spawner
        self._file: TranscriptFile | None = None
        self.columns = Columns()
        self.size = 0
        """Bytes of the file that were read."""
        self._seal = b""
        self._known: RowsRead | None = None
        self._version: object = None

    def kept(self) -> KeptReading | None:
        """The reading, without titles and texts; None where a later reading cannot go on from there."""
        return kept_reading(self._known) if self._known is not None else None

    def go_on_from(self, data: bytes) -> None:
        """Takes what a reader of the same file kept, before anything is read."""
        self._known = unpacked_reading(data)

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def window(self, index: int) -> int | None:
        """The context window that Claude Code gives a model at an entry, in tokens; None where the model's name alone tells it."""
        parents, kinds, at = self.columns.parent, self.columns.kind, index
        for _ in range(_TOLD_BACK):
            if at < 0:
                break
            if kinds[at] == Kind.ASSISTANT:
                message = (self.translation.body(at) or {}).get("message") or {}
                if message.get("model"):
                    return window_of(self._version, str(message["model"]))
            at = parents[at]
        return None

    def read(self, stop: Callable[[], bool]) -> Transcript:
        """Reads the transcript, later only appended lines. Raises NotASession where the file is unreadable or holds no row."""
        before, file = self._file, TranscriptFile(os.path.abspath(self.path))
        try:
            self._file = file
            with gc_paused():
                made = self._read(file, stop)
        except BaseException:  # an interrupt too: files opened before stay open, new ones are closed
            self._file = before
            file.close()
            raise
        if before is not None:
            before.close()
        return made

    def _read(self, file: TranscriptFile, stop: Callable[[], bool]) -> Transcript:
        rows, size, pending = self._rows(file, stop)
        if rows.role.count(Role.BROKEN) == len(rows):
            empty = not file.size
            raise NotASession(
                f"{self.path} is {'empty' if empty else 'not a session: no line of it is a record'}"
            )
        leave_out(rows, self.row)
        place = place_of(file.path)
        session = _session_id(file.path, place, rows)
        self._version = rows.notes.facts.version
        seed = int.from_bytes(
            blake2b(session.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "big"
        )
        builder = EntryBuilder(rows, seed, own=place.helper or _all_side(rows))
        self.columns, self.size, self._seal = builder.columns, size, file.seal(size)
        header = _header(session, place, rows, file)
        self.translation = Translator(builder, self.region, self.row, str(header["cwd"]))
        wrong: list[int] = []
        if rows.notes.requests and builder.compactions.kept:
            wrong = corrected(builder, Requests(rows, self.row, self.translation.rows))
        _title(header, rows, builder)
        inherited = self._descend(header, place, rows, builder)
        if not (rows.mended or rows.left_out or stop() or (len(rows) and rows.flags[-1] & UNTERMINATED)):
            self._known = RowsRead(rows, size, file.identity, file.seal(size), file.long_lines)
        return Transcript(
            header,
            builder.columns,
            EntryIndex(leaf_of(builder)),
            (Path(file.path),),
            size,
            [
                *([marked_note(file.path, "Claude Code")] if file.is_marked else ()),
                *oversize_notes(file.path, file.long_lines),
                *_notes(rows, builder, wrong, Path(file.path)),
                *_gaps(rows, builder, self.row, Path(file.path)),
            ],
            pending,
            inherited,
            hoisted=builder.hoisted,
            kept_until=builder.compactions.kept_until,
            changed_outside={builder.entry[row]: name for row, name in rows.notes.changed_outside.items()},
            side_lines=builder.side_lines,
            missing={
                builder.entry[row]: rows.notes.missing[key]
                for key, row in rows.find(set(rows.notes.missing)).items()
            },
        )

    def _rows(self, file: TranscriptFile, stop: Callable[[], bool]) -> tuple[Rows, int, Pending | None]:
        """The rows of a transcript, the end of the last one, and a line behind it that is not complete yet."""
        rows, size = self._go_on(file)
        self._known = None
        pending = None
        stretches: Stretches[BlockColumns] = Stretches(file, _TELL, size)
        stretches.read(rows.feed, rows.take, stop)
        size = stretches.end
        for data, whole, at in file.blocks(stop, size):
            if whole:
                rows.feed(data, whole, at)
                size = at + file.extent(at, whole)
            elif decode_line(data) is not None:
                rows.read_unterminated(data, at)
                size = at + file.extent(at, len(data))
            elif data.strip(SPACE):
                pending = Pending(at, file.extent(at, len(data)))
        return rows, size, pending

    def _go_on(self, file: TranscriptFile) -> tuple[Rows, int]:
        """The rows of the last reading and their end, where the file only grew since."""
        known = self._known
        if (
            known is None
            or known.identity != file.identity
            or known.size > file.size
            or known.seal != file.seal(known.size)
        ):
            return Rows(), 0
        file.long_lines.update(known.long_lines)
        return known.rows, known.size

    def _descend(self, header: Body, place: TranscriptName, rows: Rows, builder: EntryBuilder) -> int:
        """Notes the source of the session; returns how many of its entries are copies."""
        if place.helper:
            parent = self._spawner(os.path.abspath(self.path)) or place.parent
            if parent is None:
                other_id = next((one for one in rows.notes.facts.ids if one != place.id), None)
                parent = os.path.join(place.project, f"{other_id}.jsonl") if other_id else None
            if parent is not None:
                header["parentSession"] = parent
            header["relation"] = SUBAGENT
            header["warm_up"] = _is_warm_up(builder, self.translation.body)
            return 0
        found = self._lineage(os.path.abspath(self.path), rows)
        if found is None:
            return 0
        header["parentSession"], header["relation"] = found.path, found.relation
        if builder.costs:
            # The total of a copy continues the total of its source.
            first = min(builder.costs)
            row: Body = next(rows_in(self.row(builder.columns.start[first])), {})
            builder.costs[first] -= spent_before(found.path, builder.costs[first], row.get("startTime"))
        entry = builder.entry
        return entry[found.copied] if found.copied < len(entry) else len(builder.columns)

    def reopened(self) -> TranscriptFile:
        """The file, opened again for another reading. Raises NotASession, and Refused where it differs from the file that was read.

        It may have grown meanwhile: its first `Transcript.size` bytes are those that were read.
        """
        file = TranscriptFile(os.path.abspath(self.path))
        if file.size < self.size or file.seal(self.size) != self._seal:
            file.close()
            raise Refused(f"{self.path} was changed since it was read: reload it")
        return file

    # --- entries ---

    def _span(self, index: int) -> tuple[int, int]:
        """Begin and end of an entry's stretch of the file."""
        return stretch_of(self.columns, index, self.size)

    def _opened(self) -> TranscriptFile:
        if self._file is None:
            raise OSError(9, "the session was closed", str(self.path))
        return self._file

    def region(self, index: int) -> bytes:
        """The stretch of the file that belongs to an entry."""
        start, stop = self._span(index)
        return self._opened().region(start, stop - start)

    def row(self, at: int) -> bytes:
        """The bytes from an offset to the end of its line."""
        return self._opened().read_line(at)

    def records(self, index: int) -> list[bytes]:
        """The rows of an entry."""
        return self.region(index).rstrip(b"\n").split(b"\n")

    def origin(self, index: int) -> EntryLocation:
        """The place of the entry's first row."""
        start, stop = self._span(index)
        place = self._opened().long_lines.get(start)
        if place is not None:
            return EntryLocation(self.path, start, place.size)
        first = self._opened().at(start, min(stop - start, 1 << 16)).find(b"\n")
        return EntryLocation(self.path, start, first if first >= 0 else stop - start)


def _session_id(path: str, place: TranscriptName, rows: Rows) -> str:
    """The session's id: the file's name, or the id in the rows of a file with another name."""
    if place.id:
        return place.id
    return next(iter(rows.notes.facts.ids), "") or stem(path)


def _header(session: str, place: TranscriptName, rows: Rows, file: TranscriptFile) -> Body:
    """The header of a session, without its title and source."""
    facts = rows.notes.facts
    header: Body = {
        "type": "session",
        "id": session,
        "timestamp": _begun(rows, file),
        "cwd": _folder(place, list(facts.folders)),
    }
    for name, value in (("agentVersion", facts.version), ("branch", facts.branch)):
        if isinstance(value, str) and value:
            header[name] = value
    return header


def _all_side(rows: Rows) -> bool:
    """Whether every row of the chain belongs to a side line: then there is no main line beside it."""
    return 1 in rows.flags.translate(_NAMED) and 1 not in rows.flags.translate(_OF_THE_MAIN_LINE)


def _begun(rows: Rows, file: TranscriptFile) -> str | None:
    """The time of the session's first own row; for a copy that nobody has continued, the time when its file was written."""
    copied = rows.notes.facts.copied
    if copied < 0:
        return written_time(rows.notes.facts.created)
    own = next((at for at in range(copied, len(rows)) if rows.role[at] in _SPOKEN), -1)
    if own < 0:
        return iso_time(file.written)
    row: Body = next(rows_in(file.read_line(rows.start[own])), {})
    return written_time(row.get("timestamp") or rows.notes.facts.created)


_SPOKEN = frozenset({Role.PROMPT, Role.REPLY})


def _folder(place: TranscriptName, folders: list[str]) -> str:
    """The folder of a session: the first that its project's name stands for, as the folder changes during a session."""
    name = os.path.basename(place.project)
    for folder in folders:
        if stands_for(name, folder):
            return folder
    return folders[0] if folders else ""


def _title(header: Body, rows: Rows, builder: EntryBuilder) -> None:
    """The name given by a user, or the title where there is none (Claude Code 2.1)."""
    facts = rows.notes.facts
    name = facts.title or facts.agent_name
    if name:
        header["name"] = name
    title = facts.ai_title
    if not title and facts.summaries:
        # A summary may belong to another session: it counts where its leaf is in this file.
        found = rows.find({leaf for leaf, _ in facts.summaries})
        title = next((text for leaf, text in reversed(facts.summaries) if leaf in found), None)
    if not title and Kind.USER not in builder.columns.kind:
        title = facts.last_prompt
    if title:
        header["title"] = title


def _is_warm_up(builder: EntryBuilder, body: Callable[[int], Body | None]) -> bool:
    """Whether a sub-agent was only started in advance (2.0) and got no request."""
    kinds = builder.columns.kind
    if len(kinds) > 3 or not kinds or kinds[0] != Kind.USER:
        return False
    message = (body(0) or {}).get("message") or {}
    content = message.get("content")
    return isinstance(content, list) and [one.get("text") for one in content] == ["Warmup"]


def _gaps(
    rows: Rows, builder: EntryBuilder, line: Callable[[int], bytes], path: Path
) -> Iterator[SourceRemark]:
    """Remarks on rows that stay behind the row before them, though a resumed Claude Code begins with them.

    It looks for the row that was written last, at most five seconds before (2.1.332).
    """
    for row in sorted(rows.inferred - rows.notes.boundaries.keys()):
        above = rows.above[bisect_left(rows.jumps, row)]
        times = [
            milliseconds(next(rows_in(line(rows.start[one])), {}).get("timestamp")) for one in (above, row)
        ]
        if times[0] is not None and times[1] is not None and times[1] - times[0] > _BRIDGED:
            yield SourceRemark("gap", _GAP, EntryIndex(builder.entry[row]), path, rows.start[row])


def _notes(rows: Rows, builder: EntryBuilder, wrong: list[int], path: Path) -> list[SourceRemark]:
    """Notes on a transcript."""
    notes: list[SourceRemark] = []
    for row, boundary in rows.notes.boundaries.items():
        if boundary.missing:
            entry = builder.entry[row]
            text = "what this compaction summarised is in another file"
            notes.append(SourceRemark("missing-base", text, EntryIndex(entry), path, rows.start[row]))
        elif boundary.inferred:
            notes.append(
                SourceRemark(
                    "inferred-parent", INFERRED, EntryIndex(builder.entry[row]), path, rows.start[row]
                )
            )
    if rows.notes.facts.inherited >= 0:
        row = rows.notes.facts.inherited
        text = (
            "this sub-agent goes on in the conversation of the session that started it, which is sent with it"
        )
        notes.append(SourceRemark(GOES_ON, text, EntryIndex(builder.entry[row]), path, rows.start[row]))
    for row, version in rows.left_out.items():
        text = LEFT_OUT.format(version)
        notes.append(SourceRemark(LEFT_OUT_CODE, text, EntryIndex(builder.entry[row]), path, rows.start[row]))
    notes += [another_session(entry, path, builder.columns.start[entry]) for entry in builder.apart]
    for entry in wrong:
        text = "what this compaction says it kept differs from the next request; Leafward follows the request"
        notes.append(
            SourceRemark("kept-differs", text, EntryIndex(entry), path, builder.columns.start[entry])
        )
    row = rows.role.find(Role.UNKNOWN)
    if row >= 0 and rows.notes.facts.types:
        notes.append(unknown_records(rows.notes.facts.types, builder.entry[row], path, rows.start[row]))
    return notes
