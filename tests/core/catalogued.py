"""Stores of sessions, and the catalogue of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from leafward.base.config import Config
from leafward.catalogue.cards.replies import Replies
from leafward.catalogue.lineage import parents, with_parents
from leafward.catalogue.listing import Catalogue
from leafward.session.lines.scan import Scan
from tests.core.listed_sessions import START, Draft, file_name

if TYPE_CHECKING:
    from leafward.catalogue.cards.card import Card


def listed(*paths: Path, **settings: Any) -> Catalogue:
    found = Catalogue(Config(**settings), paths)
    found.refresh()
    return found


def cards_of(found: Catalogue) -> dict[str, Card]:
    return {Path(card.path).name: card for card in found.cards()}


def config(store: Path) -> Config:
    return Config(roots={"pi": (str(store),)})


def fill(store: Path, count: int, *, replies: int = 1) -> list[Path]:
    """Sessions in three projects, the last one written last."""
    paths = []
    for number in range(count):
        draft = Draft(f"0{number:07d}-aaaa", cwd=f"/home/ada/p{number % 3}", start=START + number * 60_000)
        draft.user(f"prompt {number}")
        for _ in range(replies):
            draft.assistant("word " * 300, total=1000)
        name = file_name(draft.id)
        paths.append(draft.write(store / f"--home-ada-p{number % 3}--" / name, mtime=START + number * 1000))
    return paths


def cards_in(place: Path, index: Path) -> list[Card]:
    """Sessions found below a folder, with an index of its own; nothing may go wrong."""
    catalogue = Catalogue(Config(roots={"pi": ()}), [place], index_path=index)
    catalogue.refresh()
    assert not catalogue.trouble
    cards = catalogue.cards()
    return with_parents(cards, parents(cards))


def cards_by_id(place: Path, index: Path) -> dict[str, Card]:
    """The same by the ids of the sessions."""
    return {card.id: card for card in cards_in(place, index)}


def replies_in(*lines: bytes) -> Replies:
    """Usage and files in the lines of a native file, header first."""
    taken = Replies()
    Scan(taken.watch).take_whole(b"".join(line + b"\n" for line in lines))
    return taken
