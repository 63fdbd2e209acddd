"""A scan as bytes, for a cache: a later scan of the same file goes on at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.session.columns import ID_SIZE, Columns
from leafward.session.entries import Damage
from leafward.session.lines.line_decoding import CURRENT_VERSION
from leafward.session.lines.scan import Scan

if TYPE_CHECKING:
    from collections.abc import Mapping


def packed(scan: Scan) -> tuple[dict[str, Any], bytes] | None:
    """The values of a scan as JSON types, and its columns.

    None for a file of an old version, with ids of another form, or with damage other than broken lines.
    """
    columns = scan.columns
    if (
        scan.version < CURRENT_VERSION
        or scan.header is None
        or scan.long_lines
        or not columns.is_settled
        or scan.orphans
        or not len(columns)
    ):
        return None
    values = {
        "entries": len(columns),
        "header": scan.header,
        "offset": scan.header_offset,
        "version": scan.version,
        "end": scan.end,
        "last": scan.last,
        "own": columns.own,
        "broken": [(index, columns.other_ids[index]) for index in columns.damage],
    }
    return values, b"".join((columns.start.tobytes(), columns.parent.tobytes(), columns.kind, columns.ids))


def unpacked(values: Mapping[str, Any], data: bytes) -> Scan:
    """The scan that was packed. Raises ValueError for columns of another length."""
    entries = values["entries"]
    columns = Columns(own=values["own"])
    at = 0
    for column in (columns.start, columns.parent):
        size = entries * column.itemsize
        column.frombytes(data[at : at + size])
        at += size
    columns.kind += data[at : at + entries]
    columns.ids += data[at + entries :]
    if len(columns.kind) != entries or len(columns.ids) != entries * ID_SIZE:
        raise ValueError("columns of another length")
    for index, name in values["broken"]:
        columns.damage[index], columns.other_ids[index] = Damage.MALFORMED, name
    scan = Scan.of(columns, values["header"], values["last"], values["end"])
    scan.header_offset, scan.version = values["offset"], values["version"]
    return scan
