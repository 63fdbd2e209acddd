"""Lines that a summary could hold, and what is known of a span beside them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from leafward.summaries.summarizers.outline import Section, harmless

if TYPE_CHECKING:
    from leafward.session.entries import EntryIndex
    from leafward.summaries.facts import Fact, FactKind, FactReader


_NOWHERE = re.compile(
    r"://(?:[\w-]+\.)*(?:example\.(?:com|net|org|edu)|localhost)\b|://[^/]*/?$|://www\.w3\.org/\d{4}/|[{$<]"
    r"|://claude\.(?:ai|com)/(?:claude-)?code$"
)
"""Hosts that are set aside for examples, hosts without anything on them, names of XML, addresses that a program completes, and
the one that Claude Code signs commits with."""


OUTCOME = " → "
"""Stands between a request and what came of it."""


FIRST_OF_ALL = -1
"""The place of lines that stand before all others of their section: pins, and where the work stands."""


def leads_somewhere(url: str) -> bool:
    """Whether a URL tells more than that there are URLs."""
    return _NOWHERE.search(url) is None


@dataclass(slots=True)
class Candidate:
    """A line that the summary could hold."""

    section: Section
    text: str
    place: int
    """Its order among the lines of its section."""
    sources: tuple[EntryIndex, ...]
    worth: float = 0.0
    """What it is worth by itself, whatever facts it carries."""
    facts: frozenset[tuple[FactKind, str]] = frozenset()
    carries: tuple[tuple[FactKind, str], ...] = ()
    """Facts that it is known to carry, besides those found in its text."""
    group: str = ""
    """Words before a line that lines of the same group share."""
    names_something: bool = False
    """It is worth anything only where it carries a fact that is needed."""
    first: bool = False
    """It goes in before the ranking begins, if it fits at all."""
    ordered: tuple[tuple[FactKind, str], ...] = ()
    """`facts` in the order in which they are added up."""
    words: frozenset[str] = frozenset()
    """What the text is about."""
    compared: int = 0
    """With how many chosen lines it was compared."""
    repeats: bool = False
    """Whether one of them says most of it already."""

    @property
    def asks(self) -> bool:
        """Whether it tells what the user asked for."""
        return self.section is Section.GOAL or self.text.startswith(
            ("Asked: ", "Asked last: ", "Last request: ")
        )


@dataclass(slots=True)
class FileWork:
    """What the span did to one file."""

    path: str
    reads: int = 0
    named: int = 0
    """Commands that name it."""
    changes: int = 0
    last: int = 0
    """Position of the last message that touched it."""
    sources: list[EntryIndex] = field(default_factory=list)
    names: dict[str, int] = field(default_factory=dict)
    """Names in the text written into it, with the position where each was written last."""


@dataclass(slots=True)
class Evidence:
    """Everything a summary of a span can draw on."""

    facts: dict[tuple[FactKind, str], Fact]
    candidates: list[Candidate]
    files: dict[str, FileWork]
    size: int
    """Messages of the span."""
    position: dict[EntryIndex, int]
    """Of each entry among them."""
    reader: FactReader
    last_turn: int = 0
    """Position of the last request, counted from 1."""
    failed: set[EntryIndex] = field(default_factory=set)
    """Messages that say what failed: results of calls, and commands that the user ran."""
    left: set[EntryIndex] = field(default_factory=set)
    """Summaries of branches that were left, which tell by themselves what is open there."""


def add(
    evidence: Evidence,
    section: Section,
    text: str,
    sources: tuple[EntryIndex, ...],
    worth: float,
    *,
    first: bool = False,
    limit: int = 0,
    lead: str = "",
    carries: tuple[Fact, ...] = (),
    names_something: bool = False,
    group: str = "",
) -> None:
    """Adds a line, made harmless; one of which nothing is left is not added. `lead` are words of ours before it.

    Lines of one `group` share a line behind these words.
    """
    line = harmless(text, limit) if limit else harmless(text)
    if len(line) >= 3:
        place = len(evidence.candidates)
        known = tuple((fact.kind, fact.key) for fact in carries)
        evidence.candidates.append(
            Candidate(
                section,
                lead + line,
                place,
                sources,
                worth,
                carries=known,
                group=group,
                names_something=names_something,
                first=first,
            )
        )
