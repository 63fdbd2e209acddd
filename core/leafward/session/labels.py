"""The labels that a session's entries have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.session.columns import look_up
from leafward.session.entries import EntryIndex, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafward.session.source import Source


def labels_in(source: Source) -> dict[EntryIndex, str]:
    """The labels by entry: the last line about an entry counts, anywhere in the tree (pi 1.5.2)."""
    labels: dict[EntryIndex, str] = {}
    columns = source.scan.columns
    if Kind.LABEL not in columns.kind:
        return labels
    marks = [(index, body or {}) for index, body in source.bodies(_positions(columns.kind, Kind.LABEL))]
    targets = look_up(columns, [(index, str(body.get("targetId"))) for index, body in marks])
    for (_, body), target in zip(marks, map(EntryIndex, targets), strict=True):
        if target < 0:
            continue
        label = body.get("label")
        labels.pop(target, None)
        if isinstance(label, str) and label:
            labels[target] = label
    return labels


def _positions(kinds: bytearray, kind: Kind) -> Iterator[int]:
    at = kinds.find(kind)
    while at >= 0:
        yield at
        at = kinds.find(kind, at + 1)
