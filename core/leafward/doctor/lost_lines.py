"""Lines missing from the files of an agent that numbers its lines one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from leafward.session.entries import EntryIndex
from leafward.session.foreign import ForeignFiles
from leafward.session.lines.line_decoding import decode_line

if TYPE_CHECKING:
    from pathlib import Path

    from leafward.session.session import Session


class LostLines(NamedTuple):
    """Lines that are missing one after the other."""

    first: int
    last: int
    before: EntryIndex
    """The entry that holds the next line."""

    def __str__(self) -> str:
        return f"{self.first:,}" if self.first == self.last else f"{self.first:,} to {self.last:,}"


def lost_lines(session: Session) -> list[LostLines]:
    """The lines that are missing between others of their file. Decodes every line of an agent that numbers them."""
    source = session.source
    field = source.transcript.numbered if isinstance(source, ForeignFiles) else ""
    lost: list[LostLines] = []
    path: Path | None = None
    last = -1
    for index in map(EntryIndex, range(len(session) if field else 0)):
        if session.is_kept(index):
            continue
        if (place := session.origin(index).path) != path:
            path, last = place, -1
        for record in session.records(index):
            number = (decode_line(record) or {}).get(field)
            if type(number) is int:
                if 0 <= last < number - 1:
                    lost.append(LostLines(last + 1, number - 1, index))
                last = max(last, number)
    return lost
