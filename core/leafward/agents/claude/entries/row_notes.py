"""Notes of single rows about others: the place of the conversation, the kept rows of a compaction, recorded messages."""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.claude.entries.records import (
    CHANGED_OUTSIDE,
    HASH,
    KEY,
    MICROCOMPACTION,
    NAME,
    NO_KEY,
    SNAPSHOT,
    Role,
    cleared_in,
    key_of,
    message_of,
    missing_in,
    request_in,
    text_in,
)
from leafward.agents.claude.entries.session_details import SessionDetails
from leafward.agents.claude.entries.versions import clears_pictures
from leafward.base.figures import finite
from leafward.session.entries import object_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.session.entries import Body


PICTURES = ("image", "document")
"""Types of blocks of a user's message that show something."""
_SHOWING = frozenset({Role.PROMPT, Role.COMMAND, Role.INJECTED})
_UNDERSCORE = re.compile(r"_([a-z])")
INFERRED = "this compaction names no row of this file that it follows; Leafward uses the row before it"
"""The note on a compaction whose place was inferred."""


class Pointer(NamedTuple):
    """A row that tells the place of the conversation."""

    row: int
    leaf: bytes
    """The named row; zeros where it names none."""
    empty: bool
    """Whether everything was taken back."""
    exact: bool
    """Whether the entries that follow the named row so far were taken back (`explicit`)."""


class Pointers:
    """All pointers, in 21 bytes each."""

    def __init__(self) -> None:
        self._rows = array("i")
        self._leaves = bytearray()
        self._flags = bytearray()

    def add(self, pointer: Pointer) -> None:
        """Adds a pointer."""
        self._rows.append(pointer.row)
        self._leaves += pointer.leaf
        self._flags.append(pointer.empty + 2 * pointer.exact)

    def extend(self, others: Pointers, base: int) -> None:
        """Adds the pointers of rows further on, which are counted from `base`."""
        self._rows.extend(map(base.__add__, others._rows))
        self._leaves += others._leaves
        self._flags += others._flags

    def __reversed__(self) -> Iterator[Pointer]:
        for at in range(len(self._rows) - 1, -1, -1):
            leaf, flags = bytes(self._leaves[at * KEY : (at + 1) * KEY]), self._flags[at]
            yield Pointer(self._rows[at], leaf, empty=bool(flags & 1), exact=bool(flags & 2))


class NamedOffsets:
    """Offsets in the file of items with names of a fixed length."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._names = bytearray()
        self._start = array("q")

    def __len__(self) -> int:
        return len(self._start)

    def add(self, name: str, at: int) -> None:
        """Adds a name with its offset; names of other lengths are ignored."""
        if len(name) == self._width and name.isascii():
            self._names += name.encode("ascii")
            self._start.append(at)

    def extend(self, others: NamedOffsets) -> None:
        """Adds items that were found further on."""
        self._names += others._names
        self._start.extend(others._start)

    def places(self) -> dict[str, int]:
        """All offsets by name; the last where several items share one."""
        names, width = self._names.decode("ascii", "replace"), self._width
        return {names[at * width : (at + 1) * width]: start for at, start in enumerate(self._start)}


@dataclass(slots=True)
class Boundary:
    """The rows that a compaction says it kept."""

    anchor: bytes = NO_KEY
    """The row that the kept rows follow."""
    kept: list[bytes] = field(default_factory=list)
    """The kept rows, in order."""
    segment: tuple[bytes, bytes] | None = None
    """The first and the last kept row, where the others are not named."""
    missing: bool = False
    """Whether the rows before it are missing in this file."""
    inferred: bool = False
    """Whether its named parent was never written: the row of the conversation before it in the file replaces it."""

    @property
    def tail(self) -> bytes:
        """The last kept row."""
        return self.segment[1] if self.segment is not None else self.kept[-1] if self.kept else NO_KEY


def metadata_of(body: Body) -> Body:
    """The details in the row that begins a compaction; `--output-format stream-json` prints their names in another form."""
    return object_at(body, "compactMetadata") or _camel(object_at(body, "compact_metadata"))


def _camel(body: Body) -> Body:
    """An object and those right in it with names in camel case."""
    return {
        _name(key): {_name(inner): one for inner, one in value.items()} if isinstance(value, dict) else value
        for key, value in body.items()
    }


def _name(name: str) -> str:
    return _UNDERSCORE.sub(lambda found: found[1].upper(), name)


def boundary_of(body: Body) -> Boundary:
    """The rows that a compaction kept."""
    metadata = metadata_of(body)
    found = Boundary()
    kept = metadata.get("preservedMessages")
    segment = metadata.get("preservedSegment")
    if isinstance(segment, dict):
        found.anchor = key_of(segment.get("anchorUuid"))
        found.segment = key_of(segment.get("headUuid")), key_of(segment.get("tailUuid"))
    if isinstance(kept, dict):
        found.anchor = key_of(kept.get("anchorUuid"))
        listed = kept.get("allUuids") or kept.get("uuids")
        found.kept = [key_of(one) for one in (listed if isinstance(listed, list) else ())]
    return found


class Microcompaction(NamedTuple):
    """A row that says what is cleared from there on."""

    results: int
    """The results that it names."""
    pictures: bool
    """Whether pictures may be cleared too."""


def microcompaction_of(body: Body) -> Microcompaction:
    """A microcompaction by its row: one that clears no result was written for pictures."""
    results = len(cleared_in(body))
    return Microcompaction(results, not results or clears_pictures(body.get("version")))


def has_pictures(body: Body) -> bool:
    """Whether a user's row shows a picture or a document beside its text."""
    content = message_of(body).get("content")
    parts = content if isinstance(content, list) else ()
    return any(isinstance(part, dict) and part.get("type") in PICTURES for part in parts)


class RowNotes:
    """The notes of all rows of a file, by row where they are about one."""

    def __init__(self) -> None:
        self.facts = SessionDetails()
        self.pointers = Pointers()
        self.boundaries: dict[int, Boundary] = {}
        self.stored_anew: dict[int, bytes] = {}
        """Prompts that were written a second time, each with the id under which it was sent, which later rows name."""
        self.changed_outside: dict[int, str] = {}
        """Rows that tell of a file that changed since the agent last saw it, with its name."""
        self.missing: dict[bytes, tuple[str, ...]] = {}
        """Files that Claude Code tracks and did not find when a prompt was sent, by the prompt's key."""
        self.requests_by_command: list[int] = []
        """Prompts that a person typed as commands."""
        self.microcompactions: dict[int, Microcompaction] = {}
        self.pictures: set[int] = set()
        """Rows of a user that show a picture or a document."""
        self.costs: dict[int, float] = {}
        """The cost since the last row that records one, in US dollars."""
        self.requests = NamedOffsets(NAME)
        self.blobs = NamedOffsets(HASH)
        """Recorded messages."""
        self._spent = 0.0

    def add(self, row: int, body: Body, role: Role) -> bool:
        """Adds the notes of a decoded row; returns whether it records a cost."""
        self.facts.note(body, role, row)
        if isinstance(body.get("sentAsUuid"), str):
            self.stored_anew[row] = key_of(body["sentAsUuid"])
        kind = body.get("type")
        if role is Role.ATTACHED:
            file = object_at(body, "attachment")
            if file.get("type") == CHANGED_OUTSIDE and isinstance(file.get("filename"), str):
                self.changed_outside[row] = file["filename"]
        elif role is Role.BOUNDARY:
            self.boundaries[row] = boundary_of(body)
        elif body.get("subtype") == MICROCOMPACTION and kind == "system":
            self.microcompactions[row] = microcompaction_of(body)
        elif role is Role.BOOKS and kind == "cost-state":
            return self.spend(row, body.get("totalCostUSD"))
        elif role is Role.BOOKS and kind == SNAPSHOT:
            prompt, names = missing_in(body)
            if prompt != NO_KEY and names:
                self.missing[prompt] = names
        if kind == "user" and role in _SHOWING and has_pictures(body):
            self.pictures.add(row)
        if role is Role.PROMPT and request_in(text_in(message_of(body).get("content"))) is not None:
            self.requests_by_command.append(row)
        return False

    def spend(self, row: int, recorded: object) -> bool:
        """Notes a running total, of which a smaller one than before begins anew; returns whether the row adds a cost."""
        total = finite(recorded)
        if total is None:
            return False
        more = total - self._spent if total >= self._spent else total
        self._spent = total
        if more > 0:
            self.costs[row] = more
        return more > 0
