"""Stored records of a session, copied while it is open: the bytes, and the places of messages and parts in them."""

from __future__ import annotations

import os
import tempfile
from array import array
from hashlib import blake2b
from threading import Lock
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.agents.opencode.storage.records import StoredRow
    from leafward.agents.opencode.storage.row_seals import RowSeals

_IN_MEMORY = 4 << 20
"""Bytes of a session up to which they stay in memory; a larger one goes to a temporary file without a name."""
_BUFFER = 1 << 20
"""Bytes written to that file at a time: always the same memory, which stays in the processor's cache."""


class Spool:
    """Records of one session, one after the other, readable at any offset and from any thread."""

    def __init__(self, begin: int = 0) -> None:
        """`begin`: the offset of the first record, behind those that are not copied."""
        self._memory = bytearray()
        self._file: IO[bytes] | None = None
        self._lock = Lock()
        self.begin = self.size = begin

    def add(self, data: bytes) -> int:
        """Appends a record and a newline; returns the record's offset."""
        start = self.size
        self.size += len(data) + 1
        if self._file is not None:
            self._file.write(data)
            self._file.write(b"\n")
            return start
        self._memory += data
        self._memory += b"\n"
        if len(self._memory) > _IN_MEMORY:
            self._file = tempfile.TemporaryFile(prefix="leafward-", buffering=_BUFFER)  # noqa: SIM115  # as long as the session is
            self._file.write(self._memory)
            self._memory = bytearray()
        return start

    def finish(self) -> None:
        """Ends the adding."""
        if self._file is not None:
            self._file.flush()

    def at(self, offset: int, size: int) -> bytes:
        """Some bytes."""
        offset -= self.begin
        file = self._file
        if file is None:
            return bytes(memoryview(self._memory)[offset : offset + size])
        if hasattr(os, "pread"):
            return os.pread(file.fileno(), size, offset)
        with self._lock:
            file.seek(offset)
            return file.read(size)

    def close(self) -> None:
        """Closes the temporary file."""
        if self._file is not None:
            self._file.close()


class Records:
    """The places of messages and parts: in the spool, and in the agent's store."""

    def __init__(self, spool: Spool, database: str | None = None, seals: RowSeals | None = None) -> None:
        """`seals`, where they are wanted, are made of each record."""
        self.spool = spool
        self._seals = seals
        self._earlier: Callable[[int], bytes] | None = None
        self._copied_from = 0
        """The number of the first record in the spool."""
        self.start = array("q")
        self.size = array("i") if seals is None else seals.size
        self.row = array("q") if seals is None else seals.row
        self._database = database
        self._paths: list[str] = []

    def add(self, one: StoredRow) -> int:
        """Adds one record; returns its number."""
        if self._seals is not None:
            self._seals.add(one)
        self.start.append(self.spool.add(one.data))
        self.size.append(len(one.data))
        self.row.append(one.row)
        if self._database is None:
            self._paths.append(one.path)
        return len(self.start) - 1

    def begin_behind(self, earlier: Callable[[int], bytes]) -> None:
        """Lets `earlier` give the records that the seals know already, which lie in the database alone."""
        self._copied_from, self._earlier = len(self.row), earlier
        self.start.frombytes(bytes(self.start.itemsize * len(self.row)))

    @property
    def in_database(self) -> bool:
        """Whether they lie in a database and not in files of their own."""
        return self._database is not None

    def data(self, number: int) -> bytes:
        """A record as stored."""
        if self._earlier is not None and number < self._copied_from:
            return self._earlier(number)
        return self.spool.at(self.start[number], self.size[number])

    def several(self, first: int, behind: int) -> list[bytes]:
        """Records that were added one after the other, up to `behind`, in a single read."""
        if first >= behind:
            return []
        if first < self._copied_from:
            return [self.data(number) for number in range(first, behind)]
        begin, last = self.start[first], behind - 1
        data = self.spool.at(begin, self.start[last] + self.size[last] - begin)
        places = [self.start[number] - begin for number in range(first, behind)]
        return [
            data[place : place + size] for place, size in zip(places, self.size[first:behind], strict=True)
        ]

    def digest(self, behind: int) -> bytes:
        """A digest of the first records, up to `behind`."""
        end = self.start[behind - 1] + self.size[behind - 1] if behind else 0
        digest = blake2b(digest_size=16)
        for at in range(0, end, _BUFFER):
            digest.update(self.spool.at(at, min(_BUFFER, end - at)))
        return digest.digest()

    def path(self, number: int) -> str:
        """The file or database of a record."""
        return self._database if self._database is not None else self._paths[number]
