"""Distinguishes sessions with the same title: forks carry the title of their parent, and prompts repeat."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from leafward.catalogue.cards.card import Card, Details


class Namesake(NamedTuple):
    """Facts that distinguish a session from others with its title; a fact is empty if they all share it."""

    prompt: str = ""
    """The last prompt."""
    model: str = ""
    cost: str = ""
    cost_first: bool = False
    """Whether another session has the last prompt and the model too, so that only the cost distinguishes them."""

    def words(self, width: int, cells: Callable[[str], int], fit: Callable[[str, int], str]) -> str:
        """The facts in `width` cells: a long prompt is cut; the model and the cost are shown whole or left out.

        `cells` measures a text, `fit` cuts a text to a number of cells.
        """
        found = fit(f"last: {self.prompt}", width) if self.prompt and width >= LEAST_PROMPT else ""
        for fact in (self.cost, self.model) if self.cost_first else (self.model, self.cost):
            gap = _GAP if found else ""
            if fact and cells(found + gap + fact) <= width:
                found += gap + fact
        return found


_GAP = "   "
LEAST_PROMPT = 14
"""Least cells for which a prompt is shown."""


def told_apart(
    cards: Iterable[Card], details: Callable[[str], Details], cost_of: Callable[[str], str]
) -> dict[str, Namesake]:
    """The distinguishing facts of each session that shares its title with another of `cards`, by path.

    `details` gives the details of a path; `cost_of` formats its cost, empty if none is known.
    """
    same: dict[str, list[Card]] = {}
    for card in cards:
        if card.problem is None:
            same.setdefault(card.title, []).append(card)
    found: dict[str, Namesake] = {}
    for title, group in same.items():
        if len(group) < 2:
            continue
        prompts = [details(card.path).last_prompt for card in group]
        columns = (
            [prompt if prompt != title else "" for prompt in prompts],
            [card.model or "" for card in group],
            [cost_of(card.path) for card in group],
        )
        telling = [column if len(set(column)) > 1 else [""] * len(group) for column in columns]
        alike = Counter(zip(*columns[:2], strict=True))
        found |= {
            card.path: Namesake(prompt, model, cost, alike[own] > 1)
            for card, own, prompt, model, cost in zip(
                group, zip(*columns[:2], strict=True), *telling, strict=True
            )
            if prompt or model or cost
        }
    return found


_SHORTEST_ID = 8


def short_ids(cards: Iterable[Card]) -> dict[str, str]:
    """The shortest unique prefix of each id, by id. Verbs accept these if `cards` are all sessions of the stores."""
    ids = sorted({card.id for card in cards})
    sizes = dict.fromkeys(ids, _SHORTEST_ID)
    for one, other in pairwise(ids):
        if one[:_SHORTEST_ID] != other[:_SHORTEST_ID]:
            continue
        needed = 1 + next(
            (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), len(one)
        )
        sizes[one], sizes[other] = max(sizes[one], needed), max(sizes[other], needed)
    return {name: name[:size] for name, size in sizes.items()}
