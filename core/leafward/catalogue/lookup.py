"""Finds the session that a user names, without reading any session whole."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.agents.recognition import names_one, within
from leafward.base.errors import Ambiguous, NotFound
from leafward.base.regular_files import open_regular
from leafward.base.safe_text import safe_line
from leafward.catalogue.backups import shown_once
from leafward.catalogue.cards.quick_card import peek
from leafward.catalogue.exclusions import EXCLUDED, Exclusion
from leafward.catalogue.index import Index
from leafward.catalogue.namesakes import short_ids
from leafward.catalogue.roots import listings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from leafward.agents.base import Trouble
    from leafward.base.config import Config
    from leafward.catalogue.cards.card import Card


_NAMED_AT_MOST = 5


_TITLE_SHOWN = 40


def find_session(text: str, config: Config) -> Path:
    """The file of the session that a user means: a path, an id, a unique prefix of an id, or a file's name.

    Raises NotFound; if several sessions match, the error names the first few.
    """
    path = Path(os.path.abspath(os.path.expanduser(text)))
    if text and names_one(path):
        return path
    if text and (inside := within(path)) is not None:
        raise NotFound(
            f"{safe_line(text)} holds {len(inside.files):,} sessions; name one; `leafward ls` lists them"
        )
    if text and path.is_dir():
        raise NotFound(f"{safe_line(text)} is a folder; name a session in it; `leafward ls` lists them")
    if text and path.parent.is_file():
        raise _not_inside(path)
    if not text or os.sep in text:
        raise NotFound(f"no file {safe_line(text)!r}")
    exact: list[Card] = []
    close: list[Card] = []
    for card in sighted(config, (), os.environ, []):
        name = os.path.basename(card.path)
        if text in {card.id, name, name.rpartition(".")[0]}:
            exact.append(card)
        elif card.id.startswith(text):
            close.append(card)
    fitting = exact or close
    if not fitting:
        raise NotFound(f"no session {safe_line(text)!r}; `leafward ls` lists them")
    if len(fitting) > 1:
        fitting.sort(key=lambda card: (-card.modified, card.path))
        choices = ", ".join(
            f"{safe_line(card.id)} ({card.title[:_TITLE_SHOWN]})" for card in fitting[:_NAMED_AT_MOST]
        )
        more = f", {len(fitting) - _NAMED_AT_MOST} more" if len(fitting) > _NAMED_AT_MOST else ""
        how = "have the name" if exact else "start with"
        raise Ambiguous(f"several sessions {how} {safe_line(text)!r}: {choices}{more}")
    return Path(fitting[0].path)


def _not_inside(path: Path) -> NotFound:
    """The error for a session that its file does not show: the file cannot be read, or holds no such session."""
    session, file = safe_line(path.name), safe_line(str(path.parent))
    try:
        open_regular(path.parent).close()
    except OSError as error:
        return NotFound(f"cannot read {file}: {error.strerror or error}")
    return NotFound(f"no session {session!r} in {file}; `leafward ls` lists those that can be read")


def typed_ids(cards: Iterable[Card], config: Config, places: Sequence[Path]) -> dict[str, str]:
    """The shortest prefix of each card's id that no other session in the stores has, as verbs accept it.

    If no `places` are named, `cards` are all sessions of the stores.
    """
    return short_ids([*cards, *(sighted(config, (), os.environ, []) if places else ())])


def sighted(
    config: Config, paths: Sequence[Path], env: Mapping[str, str], trouble: list[Trouble]
) -> Iterator[Card]:
    """Cards for finding sessions by name or id, without reading any whole: from the index if valid, else from a look at the file.

    They cover all stores, or the folders and files named; folders that cannot be searched are added to `trouble`.
    """
    index = Index()
    exclusion = Exclusion(() if paths else config.exclude, env)
    cards: dict[str, Card] = {}
    for listing in listings(config, paths, env, index.cards.__contains__, lambda: False, trouble):
        known = index.folders.get(listing.folder, {})
        for name, stamp in listing.files.items():
            candidate = listing.candidate(name)
            if exclusion(candidate.path):
                continue
            known_card = index.cards.get(candidate.path) if known.get(name) == stamp else None
            card = (
                known_card if known_card is not None and known_card.problem != EXCLUDED else peek(candidate)
            )
            if not exclusion(card.project):
                cards[card.path] = card
    yield from shown_once(cards)[0].values()
