"""The choice of turns for a graft, and the effect of appending them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.figures import counted
from leafward.session.entries import PROMPTS, EntryIndex
from leafward.session.headlines.entry_headline import headline
from leafward_tui.ui.words.write_words import book_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from leafward.base.config import Config
    from leafward.branches.transfer.graft import GraftDraft
    from leafward.session.session import Session
    from leafward_tui.ui.jobs import Job, Jobs
    from leafward_tui.ui.services import AppServices
    from leafward_tui.ui.sheets.row_choice import RowChoicePort


class GraftChoice:
    """The choice of turns; drafts the graft again after every change."""

    def __init__(self, session: Session, entries: Sequence[EntryIndex], view: RowChoicePort) -> None:
        self._session = session
        self._view = view
        self._jobs: Jobs
        self._services: AppServices
        self.turns = graft_turns(session, entries)
        self.chosen: frozenset[int] = frozenset()
        """The numbers of the chosen turns."""
        self.draft: GraftDraft | str | None = None
        """The draft for the chosen turns, or why it is refused; None while it is computed, and without turns."""
        self.actions: Mapping[str, Callable[[], object]] = {
            "graft.toggle": self.toggle,
            "graft.all": self.choose_all,
        }

    def begin(self, jobs: Jobs, services: AppServices) -> None:
        """Takes the jobs and the services once the sheet is on the screen."""
        self._jobs, self._services = jobs, services

    @property
    def ready(self) -> GraftDraft | None:
        """The draft for the chosen turns; None where there is none."""
        return self.draft if not isinstance(self.draft, str) else None

    @property
    def operation(self) -> str:
        """The write in words, or why there is none."""
        if self.ready is None:
            return "nothing is chosen" if not self.chosen else ""
        lines = len(self.ready.sources) + 1
        return f"append {counted(lines, 'line')} to {book_words(self._session)}"

    def toggle(self) -> None:
        """Chooses the turn of the cursor, or takes it out; then goes to the next."""
        if self.switch(self._view.key):
            self._view.next_row()

    def switch(self, key: str) -> bool:
        """Chooses the turn with a key, or takes it out; whether there is one."""
        kind, _, number = key.partition(":")
        if kind == "turn":
            self._choose(self.chosen ^ {int(number)})
        return kind == "turn"

    def choose_all(self) -> None:
        """Chooses all turns, or none."""
        every = frozenset(range(len(self.turns)))
        self._choose(frozenset() if self.chosen == every else every)

    def _choose(self, chosen: frozenset[int]) -> None:
        """Sets the chosen turns, and drafts their graft."""
        self.chosen, self.draft = chosen, None
        self._view.draw()
        if not chosen:
            self._jobs.cancel("graft")
            return
        entries = [at for number in sorted(chosen) for at in self.turns[number].entries]
        work = partial(graft_draft, self._session, entries, self._services.config)
        self._jobs.latest("graft", work, self._drafted, self._drafted)

    def _drafted(self, draft: GraftDraft | str) -> None:
        self.draft = draft
        self._view.draw()


class GraftTurn(NamedTuple):
    """A turn of a branch."""

    entries: tuple[EntryIndex, ...]
    words: str
    """Its first words, safe."""


def graft_turns(session: Session, entries: Iterable[int]) -> list[GraftTurn]:
    """The entries of a branch by turns; entries before the first prompt make a turn, too."""
    kinds = session.columns.kind
    found: list[list[EntryIndex]] = []
    for at in entries:
        if not found or kinds[at] in PROMPTS:
            found.append([])
        found[-1].append(EntryIndex(at))
    return [GraftTurn(tuple(turn), headline(session, turn[0]).text) for turn in found]


def graft_draft(session: Session, entries: Sequence[int], config: Config, job: Job) -> GraftDraft:
    """The draft of a graft of entries onto the leaf. Raises Cancelled, LeafwardError, OSError."""
    from leafward.agents.model_window import context_window
    from leafward.branches.transfer.graft import draft_graft
    from leafward.context.model_context import context_at

    window = context_window(session, context_at(session), config).tokens
    return draft_graft(session, entries, window=window, stop=job.unwanted)
