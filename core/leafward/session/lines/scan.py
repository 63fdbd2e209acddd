"""Bytes to columns: one pass over a session file that keeps the place, kind and parent of each entry.

No body is kept and most are not even decoded. A line is first matched at fixed positions (the form of pi's messages), then
against the two anchored forms of pi's other entries, and decoded in full where neither fits, so the order of keys is never
assumed. The same scan goes on at a byte offset when the file has grown.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO

from leafward.base.late_pattern import late
from leafward.session.columns import ID_SIZE, Columns, cut_cycles, link
from leafward.session.entries import (
    ENTRY_TYPES,
    MARK,
    MESSAGE_ROLES,
    NAMING,
    OWN_TYPES,
    Body,
    Damage,
    EntryIndex,
    Kind,
    is_own,
)
from leafward.session.lines.abridged_lines import BOM, LINE_LIMIT, LongLine, long_line
from leafward.session.lines.line_decoding import CURRENT_VERSION, decode_line, kind_of, version_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    Watch = Callable[["Scan", int, list[bytes]], object]
    """A function that receives a scan, its first new entry, and the line of each new entry."""

CHUNK = 1 << 19
"""Bytes read at a time; small enough to stay in the processor's cache with the copies of their lines."""
_SMALLEST_CHUNK = 1 << 12
"""Clearing a whole chunk costs more than reading a usual session: the rest of a file gets no more room than it needs."""

# A message as pi writes it: the id at 24, the parent's id at 46, the time at 69, the role's first two letters at 114.
_MESSAGE = struct.Struct("24s8s14s8s15s24x23s")
_MESSAGE_START = b'{"type":"message","id":"'
_PARENT_KEY = b'","parentId":"'
_TIME_KEY = b'","timestamp":"'
_ROLE_KEY = b'","message":{"role":"'
_ROLE_TAIL = {
    _ROLE_KEY + b"us": int(Kind.USER),
    _ROLE_KEY + b"as": int(Kind.ASSISTANT),
    _ROLE_KEY + b"to": int(Kind.TOOL_RESULT),
}
_CLOSE = ord("}")

_ID_FIRST = late(
    rb'\{"type":"(\w+)","id":"([!#-\[\]-~]{8})","parentId":(?:"([!#-\[\]-~]{8})"|null),"timestamp":"[^"\\]{1,40}"'
    rb'(?:,"message":\{"role":"(\w+)"|(?=[,}]))'
)
# Three keys closed by the line's one last brace are the outermost object's own: inside a string their quotes would be
# escaped, and inside a nested object a second brace would follow.
_ID_LAST = late(
    rb'"id":"([!#-\[\]-~]{8})","parentId":(?:"([!#-\[\]-~]{8})"|null)(?:,"timestamp":"[^"\\]{1,40}")?\}\s*\Z'
)
_PLAIN_TYPE = late(rb'\{"type":"(custom|custom_message)","customType":"([^"\\]*)"')
_ODD_ID = late(rb"[^!#-\[\]-~]")
_PLAIN_ID = bytes(code for code in range(0x21, 0x7F) if code not in b'"\\')

_TYPE_BYTES = {name.encode(): kind for name, kind in ENTRY_TYPES.items()}
_ROLE_BYTES = {name.encode(): kind for name, kind in MESSAGE_ROLES.items()}
_OWN_TYPE = OWN_TYPES.encode()
_MARK = f'"{MARK}":'.encode()
_NOTING = NAMING | {Kind.CUSTOM}
"""Kinds that include Leafward's notes."""
_WITHOUT_PARENT = (Damage.MALFORMED, Damage.EXTRA_HEADER, Damage.NO_ID)
"""Damage of lines whose parent is the entry before them in the file."""


@dataclass(frozen=True, slots=True)
class Pending:
    """An unterminated last line that is not a whole entry (yet)."""

    offset: int
    size: int
    """Bytes."""


class Scan:
    """The state of reading one file: the entries so far, and the offset where reading goes on."""

    def __init__(self, watch: Watch | None = None) -> None:
        """`watch` is called while `end` is still the offset of the bytes that it receives."""
        self.watch = watch
        self.header: Body | None = None
        self.header_offset = -1
        self.bom = False
        self.columns = Columns()
        self.end = 0
        """Bytes consumed: the offset at which the next `advance` reads on."""
        self.pending: Pending | None = None
        self.long_lines: dict[int, LongLine] = {}
        """Lines above `LINE_LIMIT`, by their offsets: they are never read in full."""
        self.version = CURRENT_VERSION
        self.decoded = 0
        """Lines that had to be decoded in full; counted for tests."""
        self._parsed_any = False
        self._last_good = -1
        self._jumps: list[tuple[int, bytes | str]] = []
        self.orphans: dict[int, bytes | str] = {}
        """Entries whose parent is not in the file, with the parent's id."""
        self._made_up: set[str] = set()

    @classmethod
    def of(cls, columns: Columns, header: Body, last: int, end: int) -> Scan:
        """A scan for columns that were made without scanning."""
        scan = cls()
        scan.columns, scan.header, scan.end = columns, header, end
        scan._last_good, scan._parsed_any = last, True
        return scan

    def go_on_as(self, other: Scan) -> None:
        """Takes over the state of another scan of the same entries and more, so that holders of this one see the growth."""
        self.columns, self.header, self.header_offset = other.columns, other.header, other.header_offset
        self.end, self.pending, self._last_good = other.end, other.pending, other._last_good
        self.long_lines = other.long_lines

    @property
    def last(self) -> EntryIndex:
        """The last undamaged entry: pi's leaf. -1 in an empty session."""
        return EntryIndex(self._last_good)

    def discredit(self, entries: Collection[int]) -> None:
        """Marks entries whose lines proved not to be objects as damage: nothing can name them any more, as in pi.

        Their children wait for an entry with that id, as orphans do.
        """
        columns = self.columns
        lost: dict[int, str] = {}
        for index in sorted(entries):
            lost[index] = columns.id(index)
            columns.kind[index] = Kind.MALFORMED
            columns.damage[index] = Damage.MALFORMED
            columns.ids[index * ID_SIZE : (index + 1) * ID_SIZE] = bytes(ID_SIZE)
            columns.other_ids[index] = f"line@{columns.start[index]}"
            self.orphans.pop(index, None)
        above = -1
        for index, parent in enumerate(columns.parent):
            placed = index in lost or columns.damage.get(index) in _WITHOUT_PARENT
            if placed and (index in lost or parent in lost):
                columns.parent[index] = above
            elif parent in lost:
                columns.parent[index] = -1
                columns.damage[index] = Damage.ORPHAN
                self.orphans[index] = lost[parent]
            if columns.kind[index] not in (Kind.MALFORMED, Kind.HEADER):
                above = index
        cut_cycles(columns)
        self._last_good = above

    def advance(
        self,
        file: BinaryIO,
        stop: Callable[[], bool] = lambda: False,
        publish: Callable[[], object] = lambda: None,
    ) -> int:
        """Reads from `end` to the end of the file and returns the number of new entries.

        `stop` and `publish` are called after each chunk; a stopped scan is complete up to its end and can go on.
        """
        first = len(self.columns)
        unclosed = self.columns.damage.get(first - 1) is Damage.UNTERMINATED
        left = file.seek(0, os.SEEK_END) - self.end
        file.seek(self.end)
        buffer = bytearray(max(_SMALLEST_CHUNK, min(CHUNK, left + 1)))
        filled = 0
        stopped = False
        pending: Pending | None = None
        left_open = False
        while not stopped:
            if filled >= LINE_LIMIT:
                place, is_whole = long_line(file, self.end, buffer, CHUNK, stop)
                buffer, filled = bytearray(CHUNK), 0
                if place is None:
                    stopped = True
                elif is_whole or decode_line(place.line) is not None:
                    left_open = self._place(place) and not is_whole
                    self.end += place.size + is_whole
                    file.seek(self.end)
                    publish()
                    stopped = stop()
                else:
                    pending = Pending(self.end, place.size)
                    break
                continue
            if filled == len(buffer):
                buffer.extend(bytes(len(buffer)))
            with memoryview(buffer) as view:
                got = file.readinto(view[filled:])  # type: ignore[attr-defined]  # typeshed's BinaryIO lacks it
            filled += got
            if unclosed and buffer[: min(filled, 2)].lstrip(b"\r").startswith(b"\n"):
                del self.columns.damage[first - 1]
                unclosed = False
            used = self._whole_lines(buffer, filled)
            if used:
                buffer[: filled - used] = buffer[used:filled]
                filled -= used
                self.end += used
            if not got:
                break
            publish()
            stopped = stop()
        self.pending = pending
        unclosed = left_open or (filled > 0 and not stopped and self._last_line(bytes(buffer[:filled])))
        return self._settle(first, unclosed=unclosed)

    def take_whole(self, content: bytes) -> int:
        """Does the same as `advance` with a whole file in memory of which nothing was read before."""
        self.end = self._whole_lines(content, len(content))
        self.pending = None
        return self._settle(0, unclosed=self.end < len(content) and self._last_line(content[self.end :]))

    def _settle(self, first: int, *, unclosed: bool) -> int:
        """Links the entries from `first` on, and returns their number."""
        link(self.columns, first, self._jumps, self.orphans)
        if unclosed:  # after the links: other damage of the entry outlives the missing newline
            self.columns.damage.setdefault(len(self.columns) - 1, Damage.UNTERMINATED)
        self._jumps = []
        return len(self.columns) - first

    def _place(self, place: LongLine) -> bool:
        """Adds a line by its abridged form; returns whether it is an entry."""
        before = len(self.columns)
        self.long_lines[self.end] = place
        self._line(place.line, self.end, decode=True)
        if len(self.columns) == before:
            return False
        if self.watch is not None:
            self.watch(self, before, [place.line])
        self.columns.damage.setdefault(before, Damage.OVERSIZE)
        return True

    def _whole_lines(self, buffer: bytearray | bytes, filled: int) -> int:
        """Adds every terminated line of `buffer[:filled]`; returns their size in bytes."""
        first = len(self.columns)
        used = buffer.rfind(b"\n", 0, filled) + 1
        if used:
            with memoryview(buffer) as view:
                stream = BytesIO(buffer if used == len(buffer) else view[:used])
            entries = self._lines(stream)
            if self.watch is not None and entries:
                self.watch(self, first, entries)
        return used

    def _lines(self, lines: BytesIO) -> list[bytes]:
        """Adds lines; returns those that became entries, if they are watched."""
        columns, position, is_watched = self.columns, self.end, self.watch is not None
        entries: list[bytes] = []
        if self.header is None or self.version < 2:
            for line in lines:
                before = len(columns)
                self._line(line[:-1], position)
                position += len(line)
                if len(columns) > before:
                    entries.append(line)
                if self._parsed_any if self.header is None else self.version >= 2:
                    break
        starts: list[int] = []
        ids: list[bytes] = []
        kinds: list[int] = []
        index = len(columns)
        last_id = self._previous_id()
        unpack, tail_kind, jumps = _MESSAGE.unpack_from, _ROLE_TAIL.get, self._jumps
        shape_size = _MESSAGE.size + 1
        for line in lines:
            size = len(line)
            if size > shape_size and line[-2] == _CLOSE:
                start, entry_id, parent_key, parent_id, time_key, tail = unpack(line)
                kind = tail_kind(tail)
                if (
                    kind is not None
                    and start == _MESSAGE_START
                    and parent_key == _PARENT_KEY
                    and time_key == _TIME_KEY
                ):
                    starts.append(position)
                    ids.append(entry_id)
                    kinds.append(kind)
                    if parent_id != last_id:
                        jumps.append((index, parent_id))
                    last_id = entry_id
                    index += 1
                    position += size
                    if is_watched:
                        entries.append(line)
                    continue
            self._take(starts, ids, kinds, lines)
            before = len(columns)
            self._line(line[:-1], position)
            last_id = self._previous_id()
            index = len(columns)
            position += size
            if is_watched and index > before:
                entries.append(line)
        self._take(starts, ids, kinds, lines)
        return entries

    def _previous_id(self) -> bytes | None:
        """The id that makes the next entry a child of the one before it; None where that takes a look-up."""
        columns = self.columns
        last = len(columns) - 1
        if last < 0 or last != self._last_good or last in columns.other_ids:
            return None
        return bytes(columns.ids[-ID_SIZE:])

    def _take(self, starts: list[int], ids: list[bytes], kinds: list[int], block: BytesIO) -> None:
        """Moves the lines that the fast loop gathered into the columns, each entry a child of the one before it."""
        if not kinds:
            return
        columns = self.columns
        joined = b"".join(ids)
        first = len(columns)
        fresh = len(self._jumps)
        while fresh and self._jumps[fresh - 1][0] >= first:
            fresh -= 1
        named = [parent for _, parent in self._jumps[fresh:] if isinstance(parent, bytes)]
        if (joined + b"".join(named) if named else joined).translate(None, _PLAIN_ID):
            # An escape or a quote inside an id: the fixed positions do not hold, so these lines are decoded.
            del self._jumps[fresh:]
            behind = block.tell()
            for start in starts:
                block.seek(start - self.end)
                self._line(block.readline()[:-1], start, decode=True)
            block.seek(behind)
        else:
            columns.start.fromlist(starts)
            columns.kind += bytes(kinds)
            columns.parent.extend(range(first - 1, first - 1 + len(kinds)))
            columns.ids += joined
            self._last_good = first + len(kinds) - 1
            self._parsed_any = True
        starts.clear()
        ids.clear()
        kinds.clear()

    def _line(self, line: bytes, offset: int, *, decode: bool = False) -> None:
        """Adds one line of any form."""
        if not line.strip():
            return
        if self._parsed_any and self.version >= 2 and not decode and self._anchored(line, offset):
            return
        if offset == 0 and line.startswith(BOM):
            self.bom = True
            line = line[len(BOM) :]
        self.decoded += 1
        body = decode_line(line)
        if body is None:
            self._add(Kind.MALFORMED, offset, None, None, Damage.MALFORMED)
            return
        kind = kind_of(body)
        if kind is Kind.HEADER:
            if self._parsed_any:
                self._add(kind, offset, None, None, Damage.EXTRA_HEADER)
            else:
                self._parsed_any = True
                self.header, self.header_offset, self.version = body, offset, version_of(body)
            return
        if not self._parsed_any:
            self._parsed_any = True
            self.version = CURRENT_VERSION if "id" in body else 1
        if self.version < 2:
            self._add(kind, offset, self._made_up_id(line), None, None)
            return
        entry_id, parent_id = body.get("id"), body.get("parentId")
        if not isinstance(entry_id, str) or not entry_id:
            self._add(kind, offset, None, None, Damage.NO_ID)
        else:
            self._add(
                kind, offset, entry_id, parent_id if isinstance(parent_id, str) and parent_id else "", None
            )
            if kind in _NOTING and is_own(body):
                self.columns.own.append(len(self.columns) - 1)

    def _anchored(self, line: bytes, offset: int) -> bool:
        """Adds a line in one of the two forms of pi's other entries; False where it has neither."""
        found = _ID_FIRST.match(line)
        if found is not None and line.rstrip().endswith(b"}"):
            type_, entry_id, parent_id, role = found.groups()
            kind = _ROLE_BYTES.get(role) if type_ == b"message" else _TYPE_BYTES.get(type_)
            own = b""
        else:
            plain = _PLAIN_TYPE.match(line)
            found = _ID_LAST.search(line, max(0, len(line) - 160)) if plain else None
            if plain is None or found is None:
                return False
            entry_id, parent_id = found.groups()
            kind, own = _TYPE_BYTES[plain[1]], plain[2]
        if kind is None or (kind in (Kind.CUSTOM, Kind.HEADER) and not own):
            return False
        if kind in NAMING and _MARK in line:
            return False  # whether the mark is ours, only decoding tells
        self._add(kind, offset, entry_id, parent_id or b"", None)
        if kind is Kind.CUSTOM and own.startswith(_OWN_TYPE):
            self.columns.own.append(len(self.columns) - 1)
        return True

    def _add(
        self,
        kind: Kind,
        offset: int,
        entry_id: bytes | str | None,
        parent_id: bytes | str | None,
        damage: Damage | None,
    ) -> None:
        """Appends one entry. A `parent_id` of None means the last whole entry before it, an empty one a root."""
        columns = self.columns
        index = len(columns)
        columns.start.append(offset)
        columns.kind.append(kind)
        plain = entry_id.encode() if isinstance(entry_id, str) and entry_id.isascii() else entry_id
        if isinstance(plain, bytes) and len(plain) == ID_SIZE and not _ODD_ID.search(plain):
            columns.ids.extend(plain)
        else:
            columns.ids.extend(bytes(ID_SIZE))
            columns.other_ids[index] = f"line@{offset}" if entry_id is None else str(entry_id)
        columns.parent.append(self._last_good if parent_id is None else -1)
        if parent_id:
            self._jumps.append((index, parent_id))
        if damage is not None:
            columns.damage[index] = damage
        if kind not in (Kind.MALFORMED, Kind.HEADER):
            self._last_good = index

    def _made_up_id(self, line: bytes) -> str:
        """A version 1 entry's id: made from content and position, so that it is the same in every run."""
        # See `Columns.digest`.
        from hashlib import blake2b

        salt = len(self.columns).to_bytes(8, "big")
        while True:
            made = blake2b(line, digest_size=ID_SIZE // 2, key=salt).hexdigest()
            if made not in self._made_up:
                self._made_up.add(made)
                return made
            salt += b"+"

    def _last_line(self, line: bytes) -> bool:
        """Adds the unterminated end: as an entry if it is a whole object (as in pi), else as pending.

        Returns whether it is an entry.
        """
        if not line.strip():
            return False
        if decode_line(line.removeprefix(BOM)) is None:
            self.pending = Pending(self.end, len(line))
            return False
        before = len(self.columns)
        self._line(line, self.end, decode=True)
        if self.watch is not None:
            self.watch(self, before, [line])
        self.end += len(line)
        return len(self.columns) > before
