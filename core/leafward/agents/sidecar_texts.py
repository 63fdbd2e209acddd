"""Sidecars of other agents' sessions, searched together with the agents' own files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from leafward.agents.base import SessionText
from leafward.session.sidecar import Owner, every_sidecar, sidecar_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def kept_texts(agent: str, sessions: Iterable[tuple[str, str]]) -> Iterator[SessionText]:
    """The sidecars of sessions, given by path and id; the id is empty where only the session itself tells it."""
    there = {path.name for path in every_sidecar()}
    if not there:
        return
    for path, name in sessions:
        kept = sidecar_path(Owner(agent, name or os.path.realpath(path)))
        if kept.name in there:
            yield SessionText(path, str(kept))
        elif not name:
            yield SessionText(path)
