"""The lines of one stretch of a transcript before they become rows: recognised by their shapes, decoded where no shape fits.

Most rows of the chain follow the one before them. Only exceptions are named.
"""

from __future__ import annotations

from array import array
from binascii import unhexlify
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.claude.entries.records import (
    BEGINS,
    BOOKKEEPING_TYPES,
    GLUED,
    HASH,
    INHERITS,
    KEY,
    LINKED,
    NAME,
    NAMED,
    NO_KEY,
    SIDECHAIN,
    SNAPSHOT,
    SYNTHETIC,
    Role,
    is_bulk,
    key_of,
    message_of,
    misses_files,
    row_of,
)
from leafward.agents.claude.entries.row_notes import NamedOffsets, Pointer, Pointers
from leafward.agents.storage.lines import seams
from leafward.agents.storage.stretches import blocks_of
from leafward.base.errors import NotASession
from leafward.session.lines.line_decoding import decode_line

if TYPE_CHECKING:
    from leafward.agents.claude.entries.records import TranscriptRow
    from leafward.agents.claude.entries.shapes import OutsideRow
    from leafward.agents.storage.stretches import Stretch
    from leafward.session.entries import Body

_NO_NAME = "00000000-0000-0000-0000-000000000000"
_DASHES = (8, 13, 18, 23)
_BLANK = 64
"""Bytes from which a line is not checked for being blank."""
_CHAINED = b'{"parentUuid":'

IN_CHAIN, ASIDE = 32, 64
"""Added to the role of a row that was recognised by its shape."""
# Plain numbers: a member of an enumeration costs several times as much to hash or to add.
_REPLY, _FURTHER, _BOOKS = int(Role.REPLY), int(Role.FURTHER), int(Role.BOOKS)

_BLOB = b'{"type":"api-request-blob"'
_SAID_AGAIN = frozenset({"custom-title", "agent-name", "ai-title"})
"""Types of rows that add nothing where they repeat the last row of their type."""
_SILENT = BOOKKEEPING_TYPES - {
    "summary", "ai-title", "agent-name", "last-prompt", "cost-state", "api-request", "api-request-blob", INHERITS, SNAPSHOT
}  # fmt: skip
"""Types of rows with metadata only."""
_SIDE_LINE = "\0"
"""Put before the ids of replies in side lines, so that none continues a reply of the chain."""
_HASH = b'","hash":"'
_HASHED = 86
"""Offset of the hash of a recorded message."""


class SessionCost(NamedTuple):
    """A row with the cost of the session so far, in US dollars."""

    total: object


class DecodedRow(NamedTuple):
    """A row that was decoded."""

    row: TranscriptRow
    flags: int


class SessionFacts(NamedTuple):
    """Facts about the session, from this row on."""

    facts: Body


@dataclass(slots=True)
class BlockState:
    """State that one block passes on to the next."""

    last: str = ""
    """The id of the last row in the chain, in its written form."""
    reply: str = ""
    """The id of the reply that continues; empty behind a decoded row."""
    reply_code: int = 0
    again: dict[str | None, bytes] = field(default_factory=dict)
    """Rows outside the chain that are often repeated word for word, by type."""


@dataclass(frozen=True, slots=True)
class BlockColumns:
    """The content of a block, ready to become rows: columns that processes can exchange."""

    start: array[int]
    """Offsets in the file."""
    codes: bytes
    keys: bytes
    """Sixteen bytes each."""
    jumps: list[tuple[int, bytes]]
    replies: array[int]
    """Rows that begin a reply, or continue one behind another row."""
    reply_names: list[str]
    remarks: list[tuple[int, SessionCost | DecodedRow | SessionFacts]]
    pointers: Pointers
    """Their rows are counted from the first row of the block."""
    prompt: str
    """The last prompt according to the last row that names one; empty without one."""
    requests: NamedOffsets
    blobs: NamedOffsets
    decoded: int
    carried: BlockState


class RowBlock:
    """Rows in the order of their lines."""

    def __init__(self, carried: BlockState, *, begun: bool) -> None:
        self.start: list[int] = []
        self.codes: list[int] = []
        """Roles; with `IN_CHAIN` and `ASIDE` those of rows that were recognised by their shape."""
        self.names: list[str] = []
        """Ids in their written form; zeros for a missing one."""
        self.jumps: list[tuple[int, bytes]] = []
        """Rows whose parent is not the row before them in the chain, with the key of their parent."""
        self.replies: list[int] = []
        """Rows that begin a reply, or continue one behind another row."""
        self.reply_names: list[str] = []
        """The id of each, which tells whether it belongs to a side line."""
        self.remarks: list[tuple[int, SessionCost | DecodedRow | SessionFacts]] = []
        self.pointers = Pointers()
        self.prompt = ""
        """The last prompt."""
        self.requests = NamedOffsets(NAME)
        self.blobs = NamedOffsets(HASH)
        self.decoded = 0
        self.carried = carried
        """State of the lines before; once the block's own lines are read, the state for the next block."""
        self._begun = begun
        """Whether the session's beginning is known: the first rows are read completely."""

    def columns(self, keys: bytes) -> BlockColumns:
        """The content of the block, with the ids of the rows."""
        return BlockColumns(
            array("q", self.start),
            bytes(self.codes),
            keys,
            self.jumps,
            array("i", self.replies),
            self.reply_names,
            self.remarks,
            self.pointers,
            self.prompt,
            self.requests,
            self.blobs,
            self.decoded,
            self.carried,
        )

    def keys(self) -> bytes | None:
        """The ids of the rows, sixteen bytes each; None where one is not a UUID in the usual form."""
        joined = "".join(self.names).encode("ascii", "replace")
        count = len(self.names)
        if len(joined) != count * NAME or any(joined[dash::NAME] != b"-" * count for dash in _DASHES):
            return None
        try:
            keys = unhexlify(joined.translate(None, b"-"))
        except ValueError:
            return None
        return keys if len(keys) == count * KEY else None

    # --- lines ---

    def read_lines(self, data: bytes, stop: int, at: int) -> None:
        """Reads whole lines; the first lies `at` bytes into the file."""
        from leafward.agents.claude.entries.shapes import (
            UNTOLD,
            body_of,
            chain_row,
            facts_in,
            outside_row,
            role_of,
        )

        starts, codes, names = self.start, self.codes, self.names
        carried, last = self.carried, self.carried.last
        said: object = None
        copied = False
        end = at + stop
        for line in BytesIO(data):
            start, at = at, at + len(line)
            if at > end:
                break
            try:
                if not line.startswith(_CHAINED):
                    outside = outside_row(line)
                    if outside.type in _SILENT or self._outside(outside, line, start):
                        starts.append(start)
                        codes.append(_BOOKS)
                        names.append(_NO_NAME)
                        continue
                elif self._begun:
                    row = chain_row(line)
                    name, above, role = row.uuid, row.parent_uuid, role_of(row)
                    key = NO_KEY if above == last else key_in(above)
                    if role != UNTOLD and name and key is not None and name != above:
                        code = role | IN_CHAIN | ASIDE if row.is_sidechain is True else role | IN_CHAIN
                        facts = facts_in(row)
                        if facts != said or copied:
                            said, copied = facts, bool(row.forked_from or row.request_session_id)
                            self.remarks.append((len(codes), SessionFacts(body_of(row))))
                        if key is not NO_KEY:
                            self.jumps.append((len(codes), key))
                        if role == _REPLY and row.message is not None:
                            reply = row.message.id
                            if reply == carried.reply and code == carried.reply_code:
                                code += _FURTHER - _REPLY
                            else:
                                carried.reply, carried.reply_code = reply, code
                                self.replies.append(len(codes))
                                self.reply_names.append(_reply_name(reply, is_aside=bool(code & ASIDE)))
                        starts.append(start)
                        codes.append(code)
                        names.append(name)
                        last = name
                        continue
            except (ValueError, RecursionError):
                # No shape fits.
                pass
            carried.last = last
            self.decode(line, start)
            last, said = carried.last, None
        carried.last = last

    def _outside(self, row: OutsideRow, line: bytes, at: int) -> bool:
        """Notes a row outside the chain; False where it has to be decoded whole."""
        match row.type:
            case "api-request":
                self.requests.add(str(row.id), at)
            case "api-request-blob":
                self.blobs.add(str(row.hash), at)
            case "cost-state":
                self.remarks.append((len(self.codes), SessionCost(row.total_cost)))
            case "last-prompt" if row.leaf_uuid:
                exact = row.explicit is True
                self.pointers.add(Pointer(len(self.codes), key_of(row.leaf_uuid), empty=False, exact=exact))
                self._ask(row.last_prompt)
            case "file-history-snapshot":
                return not misses_files(line)
            case kind:
                return self.carried.again.get(kind) == line
        return True

    def _ask(self, prompt: object) -> None:
        if isinstance(prompt, str) and prompt.strip():
            self.prompt = prompt

    def decode(self, line: bytes, at: int, flags: int = 0) -> None:
        """Decodes one line of any shape, even one that is not a row as a whole."""
        self.carried.reply = ""
        whole = line
        line = line.removesuffix(b"\n").removesuffix(b"\r")
        if len(line) < _BLANK and not line.strip(b"\0 \t"):
            return
        if not flags and is_bulk(line) and (not line.startswith(_BLOB) or self._blob(line, at)):
            self._add(_BOOKS, at, _NO_NAME)
            return
        self.decoded += 1
        body = decode_line(line)
        if body is not None:
            self._row(row_of(body), at, flags)
            if (kind := str(body.get("type"))) in _SAID_AGAIN:
                title = body.get("customTitle", "-")
                # A title with blanks around it differs each time.
                self.carried.again[kind] = (
                    whole if isinstance(title, str) and title.strip() == title != "" else b""
                )
            return
        for first, stop in seams(line, 0, len(line), BEGINS):
            piece = line[first:stop]
            body = decode_line(piece)
            if body is not None:
                self._row(row_of(body), at + first, GLUED if first else 0)
                self.carried.again.clear()
            elif piece.strip():
                self._add(int(Role.BROKEN), at + first, _NO_NAME)

    def _blob(self, line: bytes, at: int) -> bool:
        """Notes a recorded message; False where its hash is not at its usual offset."""
        if not line.startswith(_HASH, _HASHED - len(_HASH)):
            return False
        self.blobs.add(line[_HASHED : _HASHED + HASH].decode("ascii", "replace"), at)
        return True

    def _add(self, code: int, at: int, name: str) -> None:
        self.start.append(at)
        self.codes.append(code)
        self.names.append(name)

    def _row(self, row: TranscriptRow, at: int, flags: int) -> None:
        """Adds one decoded row."""
        body, role = row.body, row.role
        index = len(self.codes)
        key = key_of(body.get("uuid"))
        above = key_of(body.get("parentUuid"))
        if role is Role.BOUNDARY and above == NO_KEY:
            above = key_of(body.get("logicalParentUuid"))
        self._begun = self._begun or (key != NO_KEY and body.get("timestamp") is not None)
        name = uuid_text(key)
        if above != NO_KEY:
            flags |= LINKED
        if key != NO_KEY:
            flags |= NAMED
        if body.get("isSidechain") is True:
            flags |= SIDECHAIN
        if key == NO_KEY:
            hangs = above == NO_KEY
        else:
            hangs = above != NO_KEY and uuid_text(above) == self.carried.last
            self.carried.last = name
        if not hangs:
            self.jumps.append((index, above))
        if role is Role.REPLY:
            message = message_of(body)
            reply = message.get("id")
            if isinstance(reply, str) and reply and message.get("model") != SYNTHETIC:
                self.replies.append(index)
                self.reply_names.append(_reply_name(reply, is_aside=bool(flags & SIDECHAIN)))
        if body.get("type") == "api-request":
            self.requests.add(str(body.get("id")), at)
        elif body.get("type") == "api-request-blob":
            self.blobs.add(str(body.get("hash")), at)
        elif body.get("type") == "last-prompt":
            self._ask(body.get("lastPrompt"))
            leaf, exact = body.get("leafUuid", ""), body.get("explicit") is True
            if leaf or (leaf is None and exact):
                self.pointers.add(Pointer(index, key_of(leaf), empty=leaf is None, exact=exact))
        self._add(int(role), at, name)
        self.remarks.append((index, DecodedRow(row, flags)))


def lines_of(data: bytes, stop: int) -> list[bytes]:
    """The whole lines of a buffer that ends with a partial line or with lines that do not count; each with its line end."""
    # This finds the line ends twice as fast as `split`.
    lines = BytesIO(data if data.find(b"\n", stop) < 0 else data[:stop]).readlines()
    if lines and not lines[-1].endswith(b"\n"):
        lines.pop()
    return lines


def read_stretch(stretch: Stretch) -> BlockColumns | None:
    """The rows of a stretch that lies further on in a transcript; None where it has to be read in order."""
    block = RowBlock(BlockState(), begun=True)
    try:
        for data, at in blocks_of(stretch):
            block.read_lines(data, len(data), at)
    except (OSError, NotASession):
        return None
    keys = block.keys()
    return block.columns(keys) if keys is not None else None


def _reply_name(reply: str, *, is_aside: bool) -> str:
    """The key of a reply: its id, with a mark in a side line."""
    return _SIDE_LINE + reply if is_aside else reply


def key_in(name: str | None) -> bytes | None:
    """A UUID in the form of `key_of`; None for any other id."""
    plain = name.replace("-", "") if name is not None and len(name) == NAME else ""
    try:
        key = unhexlify(plain)
    except ValueError:
        return None
    return key if len(key) == KEY and key != NO_KEY else None


def uuid_text(key: bytes) -> str:
    """A key in the form of a UUID."""
    name = key.hex()
    return f"{name[:8]}-{name[8:12]}-{name[12:16]}-{name[16:20]}-{name[20:]}"
