"""The content of the inspector and its parts: selections, pages, lines, spans. Values only.

A line knows the names of its inks, not colours: a page outlives a change of theme, and a test reads its plain text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from leafward.session.entries import NO_ENTRY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from leafward.compaction.plan.onset import Onset
    from leafward.session.session import Session
    from leafward_tui.inspector.tab import Tab
    from leafward_tui.ui.text.spans import Span


XRAY = "xray:"
"""Prefix of the toggle of a line that opens the X-ray of a compaction; the compaction's entry follows."""


EXAM = "exam:"
"""Prefix of the toggle of a line that has a model sit the exam of a compaction; the compaction's entry follows."""


class SelectionKind(StrEnum):
    """The kinds of things that a row stands for."""

    TURN = "turn"
    ENTRY = "entry"
    FOLD = "fold"


@dataclass(frozen=True, slots=True)
class Selection:
    """The things under the cursor."""

    session: Session
    entries: tuple[range, ...]
    """The entries of the row, as ranges along its branch."""
    head: int
    """The entry the row begins with."""
    kind: SelectionKind = SelectionKind.TURN
    turn: int | None = None
    """The turn's number on its path, from 1; None where there is none."""
    on_path: bool = True
    """Whether it lies on the active path."""
    sub_agents: tuple[tuple[int, str], ...] = ()
    """Results of calls in it that made sub-agents, each with the name of the sub-agent's session."""

    @property
    def last(self) -> int:
        """The last entry of it."""
        return self.entries[-1].stop - 1 if self.entries else self.head

    @property
    def at(self) -> int:
        """The entry at which context and files are taken: the selection's last one in the conversation."""
        place = self.session.tree.content_at(self.last)
        return place if place >= 0 else self.last

    def __len__(self) -> int:
        return sum(map(len, self.entries))


class ContextLimits(NamedTuple):
    """The limits that a context is measured against."""

    window: int = 200_000
    """Tokens that the model takes."""
    onset: Onset | None = None
    """The size at which the agent compacts by itself; None where that is not known."""


class PageLine(NamedTuple):
    """One line of a page."""

    spans: tuple[Span, ...] = ()
    toggle: str = ""
    """The section that enter opens or closes here; empty for none."""
    entry: int = NO_ENTRY
    """The entry that enter goes to, where it opens nothing; -1 for none."""
    copy: str = ""
    """The text that a copy takes from here, safe; empty for the line as it stands."""
    file: str = ""
    """The file that the line is about, as the session names it; empty for none."""

    @property
    def text(self) -> str:
        """The text of the line."""
        return "".join(span.text for span in self.spans)

    @property
    def is_target(self) -> bool:
        """Whether enter does something here."""
        return bool(self.toggle) or self.entry >= 0


@dataclass(frozen=True, slots=True)
class Page:
    """A page, ready to be shown."""

    tab: Tab
    lines: Sequence[PageLine] = field(repr=False)
    """A list, or a sequence that makes a line when it is asked for."""
    copy: str = field(default="", repr=False)
    """The text that a copy takes where no line is chosen."""
    words: str = ""
    """The words of a search, where lines are made on demand: each line is lit when it is drawn."""
    hits: Mapping[int, Sequence[tuple[int, int]]] = field(default_factory=dict, repr=False)
    """Hits of a search by line: the first character of each and the one after its last."""
    goal: int = -1
    """The line of the hit that was stepped to; -1 for none."""

    @property
    def text(self) -> str:
        """The text of the page, line by line."""
        return "\n".join(line.text.rstrip() for line in self.lines)
