"""The project folders of sessions, as they are on this machine."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from leafward.agents.registry import agent_named
from leafward.base.regular_files import read_regular

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from leafward.catalogue.cards.card import Card

_CONFIG_LIMIT = 1 << 20
"""Most bytes that are read of a git configuration."""
_REMOTE = re.compile(r'\[remote "origin"\][^\[]*?^[ \t]*url[ \t]*=[ \t]*(\S+)', re.MULTILINE)
_ASKED = 3
"""Number of a folder's sessions that are asked for their remote."""


def missing_folders(projects: Iterable[str]) -> frozenset[str]:
    """The folders that do not exist; whether they were moved or removed cannot be told."""
    return frozenset(one for one in set(projects) if one and os.path.isabs(one) and not os.path.isdir(one))


def successors(cards: Sequence[Card], missing: Iterable[str]) -> Mapping[str, str]:
    """Folders that projects with a missing folder may have now: one with the same git remote, else one with the same name.

    Of several, the one that was worked in last. A remote is known if a session recorded it. Reads files.
    """
    there: dict[str, int] = {}
    held: dict[str, list[Card]] = {folder: [] for folder in missing}
    for card in sorted(cards, key=lambda card: -card.modified):
        if card.project in held:
            held[card.project].append(card)
        elif card.project and card.project not in there and os.path.isdir(card.project):
            there[card.project] = card.modified
    if not held or not there:
        return {}
    by_name: dict[str, str] = {}
    for folder in there:
        by_name.setdefault(os.path.basename(os.path.normpath(folder)), folder)
    by_remote: dict[str, str] | None = None
    found = {}
    for folder, mine in held.items():
        remotes = [remote for card in mine[:_ASKED] if (remote := agent_named(card.agent).remote(card.path))]
        if remotes and by_remote is None:
            by_remote = {}
            for one in there:
                if remote := _remote_of(one):
                    by_remote.setdefault(remote, one)
        same = (by_remote or {}).get(_plain(remotes[0])) if remotes else None
        new = same or by_name.get(os.path.basename(os.path.normpath(folder)))
        if new is not None:
            found[folder] = new
    return found


def _remote_of(folder: str) -> str:
    """The remote of the repository in a folder, normalised for comparison; empty if there is none."""
    try:
        text = read_regular(os.path.join(folder, ".git", "config"), _CONFIG_LIMIT).decode("utf-8", "replace")
    except OSError:
        return ""
    match = _REMOTE.search(text)
    return _plain(match[1]) if match is not None else ""


def _plain(remote: str) -> str:
    """A remote without protocol, user and ending: `git@host:a/b.git` and `https://host/a/b` become equal."""
    text = re.sub(r"^[a-z+]+://", "", remote.strip().casefold())
    text = text.rpartition("@")[2].replace(":", "/")
    return text.removesuffix("/").removesuffix(".git")
