"""The lines of one stretch of a transcript before they become rows: told by their bytes, and decoded where that does not go.

Rows of the chain hang on the one before them for the most part. Only what does not is named.
"""

from __future__ import annotations

import re
from binascii import unhexlify
from typing import TYPE_CHECKING, NamedTuple

from leafward.agents.claude.records import (  # fmt: skip
    BEGINS,
    GLUED,
    KEY,
    LINKED,
    NAMED,
    NO_KEY,
    SIDECHAIN,
    Role,
    is_bulk,
    is_one,
    key_of,
    message_of,
    row_of,
)
from leafward.agents.claude.shapes import ABOVE, CHAINED, NAME, OPENING
from leafward.agents.lines import seams
from leafward.session.line_decoding import decode_line

if TYPE_CHECKING:
    from leafward.agents.claude.records import Row
    from leafward.agents.claude.shapes import RowFacts, Shapes
    from leafward.session.entries import Body

_NO_NAME = b"00000000-0000-0000-0000-000000000000"
_DASHES = (8, 13, 18, 23)
_BLANK = 64
"""Bytes from which a line is not looked at for being blank."""

_REPLY, _BOOKS = int(Role.REPLY), int(Role.BOOKS)

_TYPE = 23
"""Bytes by which rows outside the chain are told apart."""
_BULKY = {
    b'{"type":"api-request-bl': b'ob"',
    b'{"type":"api-request-sh': b'ape"',
    b'{"type":"file-history-s': b'napshot"',
}
"""Rows that are large and never looked into: how the rest of their type is written."""
_SMALL = re.compile(
    rb'\{"type":"(?:tools-used","tools":\[(?:"[^"]*+",?+)*+\],"sessionId":"[^"]*+"\}|file-history-delta","messageId":"[^"]*+",'
    rb'"snapshotMessageId":"[^"]*+","trackingPath":"[^"]*+","backup":\{[^{}\\]*+\},"timestamp":"[^"]*+"\})'
)
"""Small rows that say nothing."""
_BLOB = b'{"type":"api-request-bl'
_REQUEST = b'{"type":"api-request","'
_POINTS = b'{"type":"last-prompt","'
_COSTS = b'{"type":"cost-state","s'
_COST = re.compile(rb'\{"type":"cost-state","sessionId":"[^"\\]*+","totalCostUSD":([0-9]+\.[0-9]+),"')
_COST_ENDS = (b',"hasUnknownModelCost":false}', b',"hasUnknownModelCost":true}')
_SAID_AGAIN = frozenset({"mode", "permission-mode", "atis-latch", "custom-title", "agent-name", "ai-title"})
"""Types of rows that say nothing new where they say what the last of their type said."""
_POINTER = re.compile(
    rb'\{"type":"last-prompt","lastPrompt":("[^"\\]*+(?:\\.[^"\\]*+)*+"),"leafUuid":"([^"]{36})","sessionId":"[^"\\]*+"\}'
)
_ID, _REQUESTED = b'","id":"', 79
"""What stands before the id of a recorded request, and where that stands."""
_DIGEST, _ENDS = b',"requestDigest":"', 84
"""What it ends with, and how many bytes that are."""
_HASH = b'","hash":"'
_HASHED = 86
"""Where the hash of a recorded message stands."""
HASH = 64


class PromptMark(NamedTuple):
    """A row that says what was asked last, and where the conversation stands."""

    leaf: bytes
    prompt: str


class Spent(NamedTuple):
    """A row that says what the session has cost so far, in US dollars."""

    total: float


class Decoded(NamedTuple):
    """A row that was decoded."""

    row: Row
    flags: int


class Facts(NamedTuple):
    """What rows from here on say of the session."""

    ahead: RowFacts
    behind: RowFacts


class Block:
    """Rows in the order of their lines."""

    def __init__(self, shapes: Shapes, again: dict[bytes, bytes], last: bytes, *, begun: bool) -> None:
        self.start: list[int] = []
        self.codes: list[int] = []
        """Roles; with `IN_CHAIN` and `ASIDE` those of rows that were told by their bytes."""
        self.names: list[bytes] = []
        """Ids as they are written; zeros for none."""
        self.jumps: list[tuple[int, bytes]] = []
        """Rows that do not hang on the one before them in the chain, with the key of what they hang on."""
        self.replies: list[tuple[int, bytes]] = []
        """Rows that begin a reply, or go on with one after something else; with its id."""
        self.remarks: list[tuple[int, PromptMark | Spent | Decoded | Facts]] = []
        self.requests: list[tuple[bytes, int]] = []
        self.blobs: list[tuple[bytes, int]] = []
        self.last = last
        """The id of the last row in the chain, as it is written."""
        self.decoded = 0
        self._begun = begun
        """Whether it is known when the session began: the first rows are looked at closely."""
        self._shapes = shapes
        self._again = again

    def keys(self) -> bytes | None:
        """The ids of the rows, sixteen bytes each; None where one is no UUID as it is usually written."""
        joined = b"".join(self.names)
        count = len(self.names)
        if any(joined[dash::NAME] != b"-" * count for dash in _DASHES):
            return None
        try:
            keys = unhexlify(joined.translate(None, b"-"))
        except ValueError:
            return None
        return keys if len(keys) == count * KEY else None

    # --- lines ---

    def tell(self, data: bytes, stop: int, at: int) -> None:
        """Whole lines, `at` bytes into the file, without a NUL."""
        find, known_row = data.find, self._shapes.known_row
        starts, codes, names = self.start, self.codes, self.names
        ahead = behind = None
        last = self.last
        start = 0
        while start < stop:
            end = find(b"\n", start, stop)
            if data.startswith(CHAINED, start):
                above = data[start + ABOVE : start + OPENING]
                key = NO_KEY if above == last else key_in(above)
                row = known_row(data, start, end) if key is not None and self._begun else None
                if row is not None and key is not None and above != row[1]:
                    role, name, opening, closing = row
                    if key is not NO_KEY:
                        self.jumps.append((len(codes), key))
                    if role == _REPLY:
                        self.replies.append((len(codes), self._shapes.reply))
                    if closing is not behind or opening.facts is not ahead or closing.copied:
                        ahead, behind = opening.facts, closing
                        self.remarks.append((len(codes), Facts(ahead, behind)))
                    starts.append(at + start)
                    codes.append(role + opening.code)
                    names.append(name)
                    last = name
                    start = end + 1
                    continue
            elif self._outside(data, start, end, at + start):
                starts.append(at + start)
                codes.append(_BOOKS)
                names.append(_NO_NAME)
                start = end + 1
                continue
            self.last = last
            self.decode(data, start, end, at + start)
            last, ahead = self.last, None
            start = end + 1
        self.last = last

    def _outside(self, data: bytes, start: int, end: int, at: int) -> bool:
        """Whether a row outside the chain is told by its bytes."""
        begins = data[start : start + _TYPE]
        again = self._again.get(begins)
        if again is not None and again == data[start:end]:
            return True
        if (rest := _BULKY.get(begins)) is not None:
            if not data.startswith(rest, start + _TYPE) or not is_one(data, start, end):
                return False
            if begins == _BLOB:
                self._blob(data, start, at)
            return True
        if begins == _REQUEST:
            place = start + _REQUESTED
            name = data[place : place + NAME]
            if (
                data[place - len(_ID) : place] != _ID
                or data[place + NAME : place + NAME + 2] != b'",'
                or b"\\" in name
                or data[end - _ENDS : end - _ENDS + len(_DIGEST)] != _DIGEST
                or data.rfind(_REQUEST, start, end) > start
            ):
                return False
            self.requests.append((name, at))
            return True
        if begins == _POINTS:
            found = _POINTER.fullmatch(data, start, end)
            leaf = key_in(found[2]) if found is not None else None
            value = decode_line(b'{"":%b}' % found[1]) if found is not None else None
            if leaf is None or value is None:
                return False
            self.remarks.append((len(self.codes), PromptMark(leaf, value[""])))
            return True
        if begins == _COSTS:
            found = _COST.match(data, start, end)
            if (
                found is None
                or not data.endswith(_COST_ENDS, start, end)
                or data.rfind(_COSTS, start, end) > start
            ):
                return False
            self.remarks.append((len(self.codes), Spent(float(found[1]))))
            return True
        return _SMALL.fullmatch(data, start, end) is not None

    def decode(self, data: bytes, start: int, end: int, at: int, flags: int = 0) -> None:
        """One line of any shape; also one that is no row as a whole."""
        self._shapes.interrupt()
        if data[end - 1 : end] == b"\r" and end > start:
            end -= 1
        if end - start < _BLANK and not data[start:end].strip(b"\0 \t"):
            return
        if not flags and is_bulk(data, start, end):
            if data.startswith(_BLOB, start):
                self._blob(data, start, at)
            self._add(_BOOKS, at, _NO_NAME)
            return
        self.decoded += 1
        body = decode_line(data[start:end])
        if body is not None:
            self._row(row_of(body), at, flags)
            if str(body.get("type")) in _SAID_AGAIN:
                self._remember(body, data[start:end])
            return
        for first, stop in seams(data, start, end, BEGINS):
            piece = data[first:stop]
            body = decode_line(piece)
            place = at + first - start
            if body is not None:
                self._row(row_of(body), place, GLUED if first > start else 0)
                self._again.clear()
            elif piece.strip():
                self._add(int(Role.BROKEN), place, _NO_NAME)

    def _blob(self, data: bytes, start: int, at: int) -> None:
        """A recorded message."""
        place = start + _HASHED
        if data[place - len(_HASH) : place] == _HASH:
            self.blobs.append((data[place : place + HASH], at))

    def _remember(self, body: Body, line: bytes) -> None:
        title = body.get("customTitle", "-")
        if isinstance(title, str) and title.strip() == title != "":
            self._again[line[:_TYPE]] = line
        else:
            self._again.pop(line[:_TYPE], None)

    def _add(self, code: int, at: int, name: bytes) -> None:
        self.start.append(at)
        self.codes.append(code)
        self.names.append(name)

    def _row(self, row: Row, at: int, flags: int) -> None:
        """One decoded row."""
        body, role = row.body, row.role
        index = len(self.codes)
        key = key_of(body.get("uuid"))
        above = key_of(body.get("parentUuid"))
        if role is Role.BOUNDARY and above == NO_KEY:
            above = key_of(body.get("logicalParentUuid"))
        self._begun = self._begun or (key != NO_KEY and body.get("timestamp") is not None)
        name = written(key)
        if above != NO_KEY:
            flags |= LINKED
        if key != NO_KEY:
            flags |= NAMED
        if body.get("isSidechain") is True:
            flags |= SIDECHAIN
        if key == NO_KEY:
            hangs = above == NO_KEY
        else:
            hangs = above != NO_KEY and written(above) == self.last
            self.last = name
        if not hangs:
            self.jumps.append((index, above))
        if role is Role.REPLY:
            message = message_of(body)
            reply = message.get("id")
            if isinstance(reply, str) and reply and message.get("model") != "<synthetic>":
                self.replies.append((index, reply.encode("utf-8", "surrogatepass")))
        if body.get("type") == "api-request":
            self.requests.append((str(body.get("id")).encode("utf-8", "surrogatepass"), at))
        elif body.get("type") == "api-request-blob":
            self.blobs.append((str(body.get("hash")).encode("utf-8", "surrogatepass"), at))
        self._add(int(role), at, name)
        self.remarks.append((index, Decoded(row, flags)))


def key_in(name: bytes) -> bytes | None:
    """A UUID as `key_of` gives it; None for any other id."""
    plain = name.translate(None, b"-")
    try:
        key = unhexlify(plain)
    except ValueError:
        return None
    return key if len(plain) == 32 and key != NO_KEY else None


def written(key: bytes) -> bytes:
    """A key as a UUID is written."""
    name = key.hex()
    return f"{name[:8]}-{name[8:12]}-{name[12:16]}-{name[16:20]}-{name[20:]}".encode("ascii")
