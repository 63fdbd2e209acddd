"""The session that a verb about whole sessions means, among all that the catalogue knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.agents import agent_of as recognised_agent
from leafward.base import config as settings
from leafward.base.errors import NotFound, Refused
from leafward.base.safe_text import safe_line
from leafward.catalog import Catalogue
from leafward.cli.output import note
from leafward.cli.selection import configured_stores, session_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.catalog import Card


def chosen_card(selector: str) -> tuple[Card, Sequence[Card]]:
    """The session a user means, and all there are."""
    path = str(session_path(selector).absolute())
    config, problems = settings.load()
    for problem in problems:
        note(str(problem))
    catalogue = Catalogue(config)
    catalogue.refresh()
    cards = catalogue.cards()
    found = next((card for card in cards if card.path == path), None)
    if found is None:
        # It lies in no agent's store.
        alone = Catalogue(config, [session_path(selector)])
        alone.refresh()
        found = alone.card(path)
    if found is None:
        raise NotFound(
            f"no session {safe_line(selector)!r} for {recognised_agent(session_path(selector), configured_stores).title}"
        )
    if found.problem is not None:
        raise Refused(f"{safe_line(path)} cannot be read as a session: {found.problem}")
    return found, cards
