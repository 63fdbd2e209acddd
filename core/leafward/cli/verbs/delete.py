"""The verb `delete`: moves a session to the trash, or brings it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.figures import counted, first_few
from leafward.base.safe_text import pasted_path, shell_word
from leafward.catalogue.lineage import forks_of, parents
from leafward.catalogue.trash import bring_back, find_thrown, refuse_foreign, refuse_taken, throw_away
from leafward.cli.output.page import emit_json, page, say
from leafward.cli.output.written import after
from leafward.cli.selection import chosen_card

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.catalogue.cards.card import Card
    from leafward.catalogue.trash import TrashedSession


def delete(selector: str, undo: bool, dry_run: bool, as_json: bool) -> int:
    """`leafward delete`."""
    if undo:
        return _bring_back(find_thrown(selector), dry_run, as_json)
    card, cards = chosen_card(selector)
    refuse_foreign(card)
    forks = forks_of(card, cards, parents(cards))
    thrown = None if dry_run else throw_away(card)
    with after(f"{card.path} was moved to {thrown.file}" if thrown is not None else ""):
        return _report(card, forks, thrown, dry_run, as_json)


def _report(
    card: Card, forks: Sequence[Card], thrown: TrashedSession | None, dry_run: bool, as_json: bool
) -> int:
    if as_json:
        emit_json(
            {
                "session": card.path,
                "id": card.id,
                "title": card.title,
                "entries": card.entries,
                "bytes": card.size,
                "forks": [{"id": fork.id, "path": fork.path, "title": fork.title} for fork in forks],
                "trash": str(thrown.file) if thrown is not None else None,
                "undo": ["leafward", "delete", "--undo", card.id],
                "dry_run": dry_run,
                "diagnostics": [],
            }
        )
        return 0
    size = f"{counted(card.entries or 0, 'entry', 'entries')}, {card.size:,} bytes"
    say(f"{'would move' if dry_run else 'moved'} to the trash: {card.title}   {size}")
    if forks:
        stay = "stay" if len(forks) > 1 else "stays"
        titles = first_few([fork.title for fork in forks], 3)
        say(f"{counted(len(forks), 'fork')} of it {stay}: {titles}")
    if thrown is not None:
        say(page().style(f"leafward delete --undo {shell_word(card.id)}  brings it back", "faint"))
    return 0


def _bring_back(thrown: TrashedSession, dry_run: bool, as_json: bool) -> int:
    if dry_run:
        refuse_taken(thrown)
    else:
        bring_back(thrown)
    with after(f"{thrown.path} was brought back" if not dry_run else ""):
        if as_json:
            emit_json(
                {
                    "session": str(thrown.path),
                    "id": thrown.id,
                    "title": thrown.title,
                    "bytes": thrown.size,
                    "restored": not dry_run,
                    "dry_run": dry_run,
                    "diagnostics": [],
                }
            )
        else:
            say(f"{'would bring' if dry_run else 'brought'} back {pasted_path(str(thrown.path))}")
    return 0
