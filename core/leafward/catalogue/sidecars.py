"""Sidecars and the catalogue: a card made with an older state of its sidecar is no longer valid."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from leafward.agents.base import SessionCandidate
from leafward.agents.registry import native
from leafward.catalogue.index import UNREAD
from leafward.session.sidecar import Owner, every_sidecar, sidecar_path

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from leafward.catalogue.cards.card import Card
    from leafward.catalogue.index import Index


def _stamps_of_sidecars() -> dict[str, list[int]]:
    """Size and time of every sidecar, by its file name."""
    found = {}
    for path in every_sidecar():
        try:
            now = os.stat(path)
        except OSError:
            continue
        found[path.name] = [now.st_size, now.st_mtime_ns]
    return found


def changed_beside(
    index: Index, cards: Mapping[str, Card], others: Collection[str]
) -> list[SessionCandidate]:
    """Sessions, apart from `others`, whose sidecar changed since their cards were made.

    The index is told that their cards are out of date, so that a refresh that is stopped finds them again.
    """
    now = _stamps_of_sidecars()
    if now == index.kept:
        return []
    before = index.kept
    different = {name for name in now.keys() | before.keys() if now.get(name) != before.get(name)}
    index.kept, index.changed = now, True
    found = []
    for path, card in cards.items():
        stamp = index.stamp(path)
        if stamp is None or card.agent == native().name or path in others:
            continue
        owners = Owner(card.agent, card.id), Owner(card.agent, os.path.realpath(path))
        if any(sidecar_path(owner).name in different for owner in owners):
            found.append(SessionCandidate(path, stamp, card.agent))
            folder, name = os.path.split(path)
            index.folders[folder][name] = UNREAD
    return found
