"""Reads the authors of the lines, and the purpose of the turn of the cursor's line."""

from __future__ import annotations

import os
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from leafward.base.errors import NotFound
from leafward.session.file_stamps import stamp_of
from leafward_tui.ui.screens.screen_controller import ScreenController
from leafward_tui.ui.screens.session_watch import SessionWatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from leafward.base.config import Config
    from leafward.branches.line_reason import Reason
    from leafward.catalogue.cards.card import Card
    from leafward.query.blame import Author
    from leafward_tui.blame.display import BlameDisplay
    from leafward_tui.blame.model.blame_text import BlameText
    from leafward_tui.blame.state import BlameState
    from leafward_tui.ui.jobs import Job
    from leafward_tui.ui.screens.screen_controller import Means


class BlameReading(ScreenController["BlameState", "BlameDisplay"]):
    """Fills the state."""

    def __init__(self, means: Means[BlameState, BlameDisplay], changed: Callable[[], object]) -> None:
        """`changed` is called when other lines are on show."""
        super().__init__(means)
        self._changed = changed
        self._file = BlamedFile(means.state.path)
        self._watch = SessionWatch(
            self._file,
            means.state.file,
            means.view,
            means.services.keymap,
            advice="the file has changed: reload it to see who wrote its lines",
        )
        self.actions = {"session.reload": self.load}

    def look(self) -> None:
        """Checks whether the file has changed; costs one stat."""
        if not self._jobs.running("blame"):
            self._watch.look()

    def load(self) -> None:
        """Reads the file and the sessions that touched it, now or again."""
        self._view.tell("reading the sessions that touched this file", "faint")
        self._file.take_stamp()
        state = self._state
        state.file.changed = state.file.gone = False
        work = partial(read_blame, state.path, state.cards, state.session, self._services.config)
        self._jobs.latest("blame", work, self._show, self._fail)

    def _show(self, found: BlameText | FileMissing) -> None:
        if isinstance(found, FileMissing):
            key = self._services.keymap.label("file.timeline") if self._state.session is not None else ""
            instead = f"; {key} in the tree shows the turns that touched it" if key else ""
            self._fail(found.problem, f"this file is not on this machine{instead}")
            return
        self._view.tell("")
        self._state.problem = ""
        # The authors have other numbers now.
        self._jobs.cancel("reason")
        self._state.reasons.clear()
        self._view.show_text(found)
        self._changed()
        unread = found.blame.unread
        if unread:
            more = f" (and {len(unread) - 1:,} more)" if len(unread) > 1 else ""
            self._view.tell(f"not read: {unread[0]}{more}", "warn")

    def _fail(self, problem: str, title: str = "no lines to show") -> None:
        if self._view.text is not None:
            self._view.tell(f"not read again: {problem}", "bad")
            return
        self._state.problem = problem
        self._view.show_problem(title, problem)

    def follow(self) -> None:
        """Reads the purpose of the turn of the cursor's line, unless that is known."""
        text = self._view.text
        number = text.line(self._view.cursor).author if text is not None and self._view.cursor >= 0 else -1
        if text is not None and number >= 0 and number not in self._state.reasons:
            work = partial(read_reason, text.blame.authors[number])
            self._jobs.latest("reason", work, partial(self._keep, number), partial(self._keep, number))
        self._view.show_details()

    def _keep(self, author: int, reason: Reason | str) -> None:
        self._state.reasons[author] = reason
        self._view.show_details()


class BlamedFile:
    """The file whose lines are on show, watched while they are."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.gone = False
        self.take_stamp()

    def take_stamp(self) -> None:
        """Takes the present state of the file as the one that is read."""
        self._stamp = stamp_of(self._path)

    def changed_on_disk(self) -> bool:
        """Whether the file changed since; a missing file is not a change, and `gone` is set."""
        now = stamp_of(self._path)
        self.gone = now is None and self._stamp is not None
        return now is not None and now != self._stamp


class FileMissing(NamedTuple):
    """The result for a file that is not on this machine."""

    problem: str


def read_blame(
    path: Path, cards: Sequence[Card] | None, session: Path | None, config: Config, job: Job
) -> BlameText | FileMissing:
    """The lines of a file with their authors, from all sessions where none are given, and from `session` wherever it lies.

    Raises NotFound where it is no text file, Cancelled, OSError.
    """
    from leafward.catalogue.lookup import sighted
    from leafward.catalogue.namesakes import short_ids
    from leafward.query.blame import blame
    from leafward.query.blame_sources import concerned
    from leafward.query.search.prefilter import ripgrep
    from leafward_tui.blame.model.blame_text import BlameText

    if cards is None:
        cards = list(sighted(config, [], os.environ, []))
    job.unwanted()
    try:
        real = os.path.realpath(path)
    except ValueError:
        return FileMissing("no file can have this name")
    meant = concerned(cards, real)
    if session is not None and os.path.abspath(session) not in {card.path for card in meant}:
        meant = sorted([*meant, *sighted(config, [session], os.environ, [])], key=_begun)
    try:
        found = blame(real, meant, program=ripgrep(), stop=job.unwanted)
    except NotFound as error:
        if isinstance(error.__cause__, FileNotFoundError):
            return FileMissing(str(error))
        raise
    return BlameText(found, short_ids(list({card.path: card for card in [*cards, *meant]}.values())))


def _begun(card: Card) -> int:
    return card.created or card.modified


def read_reason(author: Author, job: Job) -> Reason:
    """The purpose of the turn of a line, from its session."""
    from leafward.agents.registry import agent_named
    from leafward.branches.line_reason import reason_of

    with closing(agent_named(author.card.agent).open(Path(author.card.path), job.unwanted)) as session:
        return reason_of(session, author.entry, author.prompt)
