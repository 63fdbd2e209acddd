"""The result under the cursor: its text, its session, the next one."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from leafward.base.safe_text import pasted_path
from leafward_tui.search.model.finds import FindKind, HitText
from leafward_tui.ui.open_target import OpenTarget
from leafward_tui.ui.screens.screen_controller import ScreenController

if TYPE_CHECKING:
    from leafward.catalogue.cards.card import Card
    from leafward.query.search.query import Query
    from leafward.query.search.text_match import Hit
    from leafward_tui.search.display import SearchDisplay
    from leafward_tui.search.state import SearchState
    from leafward_tui.ui.jobs import Job
    from leafward_tui.ui.screens.screen_controller import Means

_OF_TURNS = frozenset({"prompt", "summary", "name"})
"""Parts of entries that stand for a row of the tree even where a row is a turn."""


class Results(ScreenController["SearchState", "SearchDisplay"]):
    """Owns the keys of the results."""

    def __init__(self, means: Means[SearchState, SearchDisplay]) -> None:
        super().__init__(means)
        self.actions = {
            "find.next": partial(self._view.move_to, FindKind.SESSION, 1),
            "find.previous": partial(self._view.move_to, FindKind.SESSION, -1),
            "hit.open": self.open,
            "copy.text": self.copy,
        }

    def enabled(self, intent_id: str) -> bool:  # noqa: ARG002  all of them need a result
        """Whether one of its intents does something now."""
        return self._view.line is not None

    def look(self) -> None:
        """Shows the text of the result under the cursor."""
        line = self._view.line
        if line is None or not self._view.text_shown:
            return
        card, hit = line.found.card, line.hit or next(iter(line.found.hits), None)
        self._view.show_hit(card, hit)
        if hit is not None:
            fill = partial(self._view.fill_hit, hit)
            work = partial(text_of_hit, card, hit, self._state.query)
            self._jobs.latest("text", work, fill, lambda why: fill(HitText(problem=why)))

    def open(self) -> None:
        """Opens the session in the explorer at this hit; on a line of hidden hits, shows those instead."""
        line = self._view.line
        if line is None:
            return
        found = line.found
        if line.opens:
            self._view.finds.open_up(found.card.path)
            self._view.opened_up()
            return
        hit = line.hit or next(iter(found.hits), None)
        if hit is not None:
            target = OpenTarget(hit.entry, words_at(hit), hit.part not in _OF_TURNS)
            self._services.screens.session(Path(found.card.path), found.card.agent, target)

    def copy(self) -> None:
        """Copies the path of the session and the id of the entry, in the form that the verbs take."""
        line = self._view.line
        if line is not None:
            path = pasted_path(line.found.card.path)
            self._services.copy(f"{path} {line.hit.entry}" if line.hit is not None else path)


_LONGEST_STRETCH = 120
"""Characters of a stretch of text that is searched for as a whole."""


def words_at(hit: Hit) -> str:
    """The words to look for in the session so that the hit's place is found: all that the query found there.

    It is the shortest stretch of the shown text with each of the found words; the first of them where they lie far apart.
    """
    found = [hit.text[start:stop].casefold() for start, stop in hit.spans]
    stretches = []
    for first, (start, _) in enumerate(hit.spans):
        missing = set(found)
        for word, (_, stop) in zip(found[first:], hit.spans[first:], strict=True):
            missing.discard(word)
            if not missing:
                stretches.append((stop - start, start, stop))
                break
    if not stretches or min(stretches)[0] > _LONGEST_STRETCH:
        return " ".join(hit.matched.split())
    _, start, stop = min(stretches)
    return hit.text[start:stop]


AROUND = 6000
"""Characters of a text shown before the first hit, and after it."""


def text_of_hit(card: Card, hit: Hit, query: Query, job: Job) -> HitText:
    """The text of a hit, read from its session. Raises LeafwardError, OSError."""
    from leafward.agents.registry import agent_named
    from leafward.base.safe_text import safe
    from leafward.files.tool_calls import table_of
    from leafward.query.passages import Passage, passages
    from leafward.query.search.text_match import Matcher

    with closing(agent_named(card.agent).open(Path(card.path), job.unwanted)) as session:
        index = session.columns.index(hit.entry)
        entry = session.entry(index) if index >= 0 else None
        table = table_of(session)
        texts = list(passages(entry.body, entry.kind, table, with_paths=True)) if entry is not None else []
        # The agent's name for its session may stand in no entry.
        if hit.part == "name" and session.title:
            texts.append(Passage("name", session.title))
    same = [one for one in texts if (one.part, one.tool) == (hit.part, hit.tool)]
    passage = next((one for one in same if hit.matched in one.text), same[0] if same else None)
    if passage is None:
        return HitText(problem="this entry is no longer in the session")
    at = max(0, passage.text.find(hit.matched))
    piece = safe(passage.text[max(0, at - AROUND) : at + AROUND])
    return HitText(piece, Matcher(query).places(passage._replace(text=piece)))
