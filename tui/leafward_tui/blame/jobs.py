"""What the blame does beside the screen: functions of values. Each may raise LeafwardError, OSError, Cancelled."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from leafward.base.config import Config
    from leafward.branches.reason import Reason
    from leafward.catalog import Card
    from leafward.query.blame import Author, Blame
    from leafward_tui.ui.services import Job

__all__ = ["Blamed", "read_blame", "read_reason"]


class Blamed(NamedTuple):
    """Who wrote the lines of a file."""

    blame: Blame
    short: dict[str, str]
    """By id of a session as much of it as tells it from the others."""


def read_blame(path: Path, cards: Sequence[Card] | None, config: Config, job: Job) -> Blamed:
    """Who wrote the lines of a file; of all sessions where none are given."""
    from leafward.catalog import short_ids, sighted
    from leafward.query.blame import blame
    from leafward.query.blame_sources import concerned
    from leafward.query.search.text_search import ripgrep

    if cards is None:
        cards = list(sighted(config, [], os.environ, []))
    job.give_way()
    real = os.path.realpath(path)
    found = blame(real, concerned(cards, real), program=ripgrep(), stop=job.unwanted)
    return Blamed(found, short_ids(cards))


def read_reason(author: Author, job: Job) -> Reason:
    """What the turn of a line was for, from its session."""
    from leafward.agents import agent_named
    from leafward.branches.reason import reason_of

    session = agent_named(author.card.agent).open(Path(author.card.path), job.unwanted)
    try:
        return reason_of(session, author.entry, author.prompt)
    finally:
        session.close()
