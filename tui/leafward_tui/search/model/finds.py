"""The results of the search of all text, as lines: sessions, and below each its hits, newest session first."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from leafward.query.search.text_match import Hit
    from leafward.query.search.text_search import SessionHits

HITS_SHOWN = 5
"""Hits of a session that are shown before it is opened."""

_WORDS = {
    "prompt": "you",
    "reply": "ai",
    "thinking": "thinking",
    "summary": "summary",
    "name": "name",
    "injected": "added",
    "system": "system",
}


class FindKind(Enum):
    """The kinds of lines."""

    SESSION = auto()
    HIT = auto()
    MORE = auto()
    """The number of hidden hits; enter shows them."""
    BLANK = auto()


@dataclass(frozen=True, slots=True)
class FindLine:
    """One line."""

    kind: FindKind
    found: SessionHits
    hit: Hit | None = None
    more: int = 0
    """Number of hits that this line stands for."""

    @property
    def opens(self) -> bool:
        """Whether some of these hits are kept, and can be shown."""
        return self.kind is FindKind.MORE and len(self.found.hits) > self.found.total - self.more


def label_of(hit: Hit) -> tuple[str, str]:
    """The speaker, and the part of a tool call: `you`, `ai`, `bash` and `result`."""
    if hit.part in ("call", "result"):
        return hit.tool or "tool", hit.part
    return _WORDS.get(hit.part, hit.part), ""


@dataclass(slots=True)
class Finds:
    """The results so far. They grow at their end, so that no existing line moves."""

    sessions: list[SessionHits] = field(default_factory=list)
    lines: list[FindLine] = field(default_factory=list)
    opened: set[str] = field(default_factory=set)
    """Paths of the sessions whose hits are all shown."""
    hits: int = 0
    titles: Counter[str] = field(default_factory=Counter)
    """Sessions by title: the line of one that shares its title says when it was used last."""

    def add(self, found: SessionHits) -> None:
        """Adds one more session."""
        self.sessions.append(found)
        self.titles[found.card.title] += 1
        self.hits += found.total
        self._lay(found)

    def open_up(self, path: str) -> None:
        """Shows all hits of a session that are kept."""
        self.opened.add(path)
        self.lines.clear()
        for found in self.sessions:
            self._lay(found)

    def _lay(self, found: SessionHits) -> None:
        if self.lines:
            self.lines.append(FindLine(FindKind.BLANK, found))
        self.lines.append(FindLine(FindKind.SESSION, found))
        hits = found.hits
        if found.card.path not in self.opened and len(hits) > HITS_SHOWN + 1:
            hits = hits[:HITS_SHOWN]
        self.lines += [FindLine(FindKind.HIT, found, hit) for hit in hits]
        if found.total > len(hits):
            self.lines.append(FindLine(FindKind.MORE, found, more=found.total - len(hits)))


class HitText(NamedTuple):
    """The text around a hit, safe, with the hits in it; or why it cannot be shown."""

    text: str = ""
    spans: tuple[tuple[int, int], ...] = ()
    problem: str = ""
