"""Lines as pi writes them, and what a scan says of them."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from leafward.session.entries import Kind
from leafward.session.lines.scan import Scan
from tests.pi_file import HEADER

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = json.dumps(HEADER, separators=(",", ":")).encode() + b"\n"


def line(type_: str, entry: object, parent: object = None, **fields: Any) -> bytes:
    """A line as pi writes it: the id behind the payload of a custom entry, before everything else elsewhere."""
    place = {"id": entry, "parentId": parent, "timestamp": "2026-11-21T21:00:00.000Z"}
    first: dict[str, Any] = {"type": type_}
    body = {**first, **fields, **place} if type_ == "custom" else {**first, **place, **fields}
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def message(entry: object, parent: object = None, role: str = "user", content: object = "x") -> bytes:
    return line("message", entry, parent, message={"role": role, "content": content})


def scanned(data: bytes) -> Scan:
    scan = Scan()
    scan.advance(io.BytesIO(data))
    return scan


def entries(scan: Scan) -> list[tuple[str, int, Kind]]:
    """Id, parent and kind of every entry."""
    columns = scan.columns
    return [
        (columns.id(index), columns.parent[index], Kind(columns.kind[index])) for index in range(len(columns))
    ]


def everything(scan: Scan) -> dict[str, Any]:
    """All that a scan says of a file."""
    columns = scan.columns
    return {
        "entries": entries(scan),
        "starts": list(columns.start),
        "damage": dict(columns.damage),
        "own": list(columns.own),
        "header": (scan.header, scan.header_offset, scan.version, scan.bom),
        "last": scan.last,
        "pending": scan.pending,
        "end": scan.end,
    }


def ids(scan: Scan) -> list[str]:
    return [entry for entry, _, _ in entries(scan)]


def parents(scan: Scan) -> list[int]:
    return [parent for _, parent, _ in entries(scan)]


def kinds(scan: Scan) -> list[Kind]:
    return [kind for _, _, kind in entries(scan)]


def roots(scan: Scan) -> Iterator[int]:
    return (index for index, parent in enumerate(parents(scan)) if parent < 0)


def assert_no_cycle(scan: Scan) -> None:
    above = parents(scan)
    for index in range(len(above)):
        steps = 0
        while index >= 0:
            index, steps = above[index], steps + 1
            assert steps <= len(above)


ONE, TWO, THREE = (
    message("00000001"),
    message("00000002", "00000001", "assistant"),
    message("00000003", "00000002"),
)
