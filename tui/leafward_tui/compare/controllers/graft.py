"""Which turns are chosen to be grafted, and what appending them means."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

from leafward.session.entries import PROMPTS, EntryIndex
from leafward.session.entry_headline import headline
from leafward_tui.ui.cells import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from leafward.base.config import Config
    from leafward.branches.transfer.graft import GraftDraft
    from leafward.session.session import Session
    from leafward_tui.ui.services import AppServices, Job, Jobs


class GraftPort(Protocol):
    """The sheet."""

    @property
    def key(self) -> str:
        """The turn of the cursor: `turn:` and its number."""

    def next_turn(self) -> None:
        """Puts the cursor on the turn below."""

    def draw(self) -> None:
        """Shows what is chosen, and what that means."""


class GraftChoice:
    """Works out what would be appended anew with every choice."""

    def __init__(self, session: Session, entries: Sequence[EntryIndex], view: GraftPort) -> None:
        self._session = session
        self._view = view
        self._jobs: Jobs
        self._services: AppServices
        self.turns = graft_turns(session, entries)
        self.chosen: frozenset[int] = frozenset()
        """Turns by number."""
        self.draft: GraftDraft | str | None = None
        """For what is chosen, or why it cannot be appended; None while it is worked out, and where nothing is."""
        self.actions: Mapping[str, Callable[[], object]] = {
            "graft.toggle": self.toggle,
            "graft.all": self.choose_all,
        }

    def begin(self, jobs: Jobs, services: AppServices) -> None:
        """Takes what there is once the sheet is on the screen."""
        self._jobs, self._services = jobs, services

    @property
    def ready(self) -> GraftDraft | None:
        """The draft for what is chosen; None while there is none."""
        return self.draft if not isinstance(self.draft, str) else None

    @property
    def operation(self) -> str:
        """What would be written, or what is missing for it."""
        if self.ready is None:
            return "nothing is chosen" if not self.chosen else ""
        lines = len(self.ready.sources) + 1
        return f"append {counted(lines, 'line')} to the session, one of them a marker"

    def toggle(self) -> None:
        """The turn of the cursor, or not; then the next."""
        if self.switch(self._view.key):
            self._view.next_turn()

    def switch(self, key: str) -> bool:
        """Chooses the turn with a key, or no longer; whether there is one."""
        kind, _, number = key.partition(":")
        if kind == "turn":
            self._choose(self.chosen ^ {int(number)})
        return kind == "turn"

    def choose_all(self) -> None:
        """All turns, or none."""
        every = frozenset(range(len(self.turns)))
        self._choose(frozenset() if self.chosen == every else every)

    def _choose(self, chosen: frozenset[int]) -> None:
        """Takes other turns, and works out what that means."""
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
    """What it begins with, safe."""


def graft_turns(session: Session, entries: Iterable[int]) -> list[GraftTurn]:
    """The entries of a branch by turns; what stands before the first prompt is one, too."""
    kinds = session.columns.kind
    found: list[list[EntryIndex]] = []
    for at in entries:
        if not found or kinds[at] in PROMPTS:
            found.append([])
        found[-1].append(EntryIndex(at))
    return [GraftTurn(tuple(turn), headline(session, turn[0]).text) for turn in found]


def graft_draft(session: Session, entries: Sequence[int], config: Config, job: Job) -> GraftDraft:
    """What grafting entries onto the leaf would do. Raises Cancelled, LeafwardError, OSError."""
    from leafward.branches.transfer.graft import draft_graft
    from leafward.context.model_context import context_at, context_window

    window = context_window(session, context_at(session), config).tokens
    return draft_graft(session, entries, window=window, stop=job.unwanted)
