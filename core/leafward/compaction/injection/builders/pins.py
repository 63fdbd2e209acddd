"""Pins of the user: given now, or stored with the latest compaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.compaction.injection.values import (
    Contribution,
    OfferedBullet,
    SourceKind,
    SourceRef,
    from_entry,
)

if TYPE_CHECKING:
    from leafward.compaction.injection.builders.builder_input import BuildInput

_GIVEN = SourceRef(SourceKind.CONFIG, note="pin")


def pins(inputs: BuildInput) -> Contribution:
    """The given pins, then those of the latest compaction."""
    items = [OfferedBullet(pin, (_GIVEN,), rank=rank) for rank, pin in enumerate(inputs.settings.pins)]
    known = {item.text for item in items}
    items += [
        OfferedBullet(pin, (from_entry(entry, note="pin"),), rank=len(items) + rank)
        for rank, (pin, entry) in enumerate(inputs.found.pins)
        if pin not in known
    ]
    return Contribution({"pins": tuple(items)})
