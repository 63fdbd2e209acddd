"""Single turns of a branch chosen to be grafted: what would be appended is worked out anew with every choice."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from leafward_tui.compare.jobs import graft_draft
from leafward_tui.compare.model.grafts import graft_turns, turn_lines, validation
from leafward_tui.ui.cells import counted
from leafward_tui.ui.intents import intent_bindings
from leafward_tui.ui.lines_view import LinesView
from leafward_tui.ui.routed_screen import Actions, Routes
from leafward_tui.ui.row_keys import RowSteps
from leafward_tui.ui.services import services_of
from leafward_tui.ui.sheet import Sheet, SheetLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from leafward.branches.transfer import GraftDraft
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session

__all__ = ["GraftSheet"]


class GraftSheet(Sheet):
    """Chooses turns of one side. Ends with "graft" where `ready` is to be appended, or with None."""

    NAME: ClassVar[str] = "graft"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("graft")]

    def __init__(self, session: Session, entries: Sequence[EntryIndex], letter: str) -> None:
        about = [SheetLine("they are appended below the leaf as copies; files are not changed again")]
        self.turns = graft_turns(session, entries)
        super().__init__(f"Graft turns of {letter}", about, note=counted(len(self.turns), "turn"))
        self.session = session
        self.chosen: frozenset[int] = frozenset()
        """Turns by number."""
        self.draft: GraftDraft | str | None = None
        """For what is chosen; None while it is worked out, and where nothing is."""
        self.list = LinesView(id="turns", raised=True)
        self.says = LinesView(id="validation", cursor=False, raised=True)
        own = {
            "graft.toggle": self.toggle,
            "graft.all": self.choose_all,
            "graft.accept": self.commit,
            "mode.leave": self.action_leave,
            "app.back": self.action_leave,
        }
        self.routes = Routes(RowSteps(self.list.move_by, lambda: self.list.size.height), Actions(own))

    def compose_body(self) -> ComposeResult:
        """Turns over what is to be said of those that are chosen."""
        yield self.list
        yield self.hairline()
        yield self.says

    def mounted(self) -> None:
        """As high as there is room."""
        self._jobs = services_of(self).jobs(self)
        room = max(6, self.app.size.height - 12)
        rows = max(1, min(room * 2 // 3, len(self.turns)))
        self.list.styles.height = rows
        self.says.styles.height = max(3, min(5, room - rows))
        self.list.focus()
        self.draw()

    def draw(self) -> None:
        """Shows what is chosen, and what that means."""
        glyphs = services_of(self).glyphs
        self.list.show(lambda width, _rows: turn_lines(self.turns, self.chosen, width, glyphs))
        self.says.show(lambda width, _rows: validation(self.draft, width, glyphs))
        self.foot.refresh()

    def keys(self) -> tuple[tuple[str, str], ...]:
        """What commits, what leaves, what chooses."""
        return (("ctrl+s", "append"), ("esc", "cancel"), ("space", "choose"), ("a", "all"))

    def operation(self) -> str:
        """What would be written, or what is missing for it."""
        if self.ready is None:
            return "nothing is chosen" if not self.chosen else ""
        lines = len(self.ready.sources) + 1
        return f"append {counted(lines, 'line')} to the session, one of them a marker"

    @property
    def ready(self) -> GraftDraft | None:
        """The draft for what is chosen; None while there is none."""
        return self.draft if not isinstance(self.draft, str) else None

    # --- choosing -----------------------------------------------------------------------------------------------------

    def choose(self, chosen: frozenset[int]) -> None:
        """Takes other turns, and works out what that means."""
        self.chosen, self.draft = chosen, None
        self.draw()
        if not chosen:
            self._jobs.cancel("graft")
            return
        entries = [at for number in sorted(chosen) for at in self.turns[number].entries]
        work = partial(graft_draft, self.session, entries, services_of(self).config)
        self._jobs.latest("graft", work, self._drafted, self._drafted)

    def _drafted(self, draft: GraftDraft | str) -> None:
        """Shows what was worked out for what is chosen."""
        self.draft = draft
        self.draw()

    def toggle(self) -> None:
        """The turn of the cursor, or not; then the next."""
        if self._turn(self.list.key):
            self.list.move_by(1)

    def _turn(self, key: str) -> bool:
        """Chooses the turn with a key, or no longer; whether there is one."""
        kind, _, number = key.partition(":")
        if kind == "turn":
            self.choose(self.chosen ^ {int(number)})
        return kind == "turn"

    def choose_all(self) -> None:
        """All turns, or none."""
        every = frozenset(range(len(self.turns)))
        self.choose(frozenset() if self.chosen == every else every)

    def on_lines_view_chosen(self, message: LinesView.Chosen) -> None:
        """A click chooses a turn, or not."""
        message.stop()
        self._turn(message.key)

    # --- leaving ------------------------------------------------------------------------------------------------------

    def commit(self) -> None:
        """The draft as it is shown."""
        if self.ready is None:
            self.app.bell()
        else:
            self.dismiss("graft")

    def pressed(self, number: int) -> None:
        """Does what one of `keys`, which was clicked, does."""
        (self.commit, self.action_leave, self.toggle, self.choose_all)[number]()
