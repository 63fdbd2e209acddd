"""Facts about an entry, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from leafward.session.entries import DAMAGE_CODE, NATIVE_ROLE, NATIVE_TYPE, Body, EntryIndex, Kind

if TYPE_CHECKING:
    from leafward.session.session import Session


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
