"""Facts about an entry, as JSON."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from leafward.base.safe_text import safe_line
from leafward.session.entries import DAMAGE_CODE, NATIVE_ROLE, NATIVE_TYPE, Body, EntryIndex, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from leafward.session.session import Session


def shown_ids(session: Session, entries: Iterable[int]) -> dict[int, str]:
    """Short ids of entries for a list: as much of each id as distinguishes it from all others, so that it can be typed.

    At least eight characters; opencode's ids begin with the time and need more. None is longer than `_LONGEST_ID`.
    """
    listed = {entry: session.columns.id(EntryIndex(entry)) for entry in entries if entry >= 0}
    every = sorted({session.columns.id(EntryIndex(entry)) for entry in range(len(session))})
    sizes: dict[str, int] = {}
    for name in listed.values():
        at = bisect_left(every, name)
        beside = (*every[max(0, at - 1) : at], *every[at + 1 : at + 2])
        alike = max((_alike(name, other) for other in beside), default=0)
        sizes[name] = min(max(_SHORTEST_ID, alike + 1), _LONGEST_ID)
    return {entry: safe_line(name[: sizes[name]], _LONGEST_ID) for entry, name in listed.items()}


def _alike(one: str, other: str) -> int:
    """Length of the common beginning of two ids."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))


_SHORTEST_ID, _LONGEST_ID = 8, 20


def entry_facts(
    session: Session, index: int, on_path: bool, tokens: int, body: Body | None
) -> dict[str, Any]:
    """Facts about an entry, with the same keys in every verb that lists entries."""
    columns = session.columns
    kind = Kind(columns.kind[index])
    parent = columns.parent[index]
    linked = parent >= 0 and kind not in (Kind.MALFORMED, Kind.HEADER)
    role: object = NATIVE_ROLE.get(kind)
    type_: object = NATIVE_TYPE.get(kind)
    if kind is Kind.UNKNOWN:
        message = (body or {}).get("message")
        type_ = (body or {}).get("type")
        role = message.get("role") if isinstance(message, dict) else None
    damage = columns.damage.get(index)
    return {
        "index": index,
        "id": session.columns.id_at(index),
        "parent": session.columns.id_at(parent) if linked else None,
        "kind": type_ if isinstance(type_, str) else "unknown",
        "role": role if isinstance(role, str) else None,
        "label": session.labels.get(EntryIndex(index)),
        "tokens": tokens,
        "on_path": on_path,
        "damage": DAMAGE_CODE[damage] if damage is not None else None,
    }
