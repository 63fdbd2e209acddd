"""Single turns of a branch chosen to be grafted: what would be appended is worked out anew with every choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.message import Message
from textual.worker import get_current_worker

from leafward.base.errors import LeafwardError
from leafward_tui.compare.model.grafts import graft_turns, turn_lines, validation
from leafward_tui.ui.cells import counted
from leafward_tui.ui.intents import bindings_for
from leafward_tui.ui.lines_view import LinesView
from leafward_tui.ui.row_keys import RowKeys
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


@dataclass
class Drafted(Message):
    """What grafting the chosen turns would do, or why it is refused."""

    chosen: frozenset[int]
    draft: GraftDraft | str


class GraftSheet(RowKeys, Sheet):
    """Chooses turns of one side. Ends with "graft" where `ready` is to be appended, or with None."""

    NAME: ClassVar[str] = "graft"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_for("graft")]

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

    def compose_body(self) -> ComposeResult:
        """Turns over what is to be said of those that are chosen."""
        yield self.list
        yield self.hairline()
        yield self.says

    def on_mount(self) -> None:
        """As high as there is room."""
        super().on_mount()
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
        return (("ctrl+s", "append"), ("esc", "leave"), ("space", "choose"), ("a", "all"))

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
        if chosen:
            self._draft(chosen)

    @work(thread=True, exclusive=True, group="graft", exit_on_error=False)
    def _draft(self, chosen: frozenset[int]) -> None:
        from leafward.branches.transfer import draft_graft
        from leafward.context.model_context import context_at, context_window

        shell, worker = services_of(self), get_current_worker()
        entries = [at for number in sorted(chosen) for at in self.turns[number].entries]
        found: GraftDraft | str
        try:
            stop = shell.keys_first.stop(worker)
            window = context_window(self.session, context_at(self.session), shell.config).tokens
            found = draft_graft(self.session, entries, window=window, stop=stop)
        except (LeafwardError, OSError) as error:
            found = str(error)
        if not worker.is_cancelled:
            self.post_message(Drafted(chosen, found))

    def on_drafted(self, message: Drafted) -> None:
        """Shows what was worked out, if that is still what is chosen."""
        if message.chosen == self.chosen:
            self.draft = message.draft
            self.draw()

    def action_graft_toggle(self) -> None:
        """The turn of the cursor, or not; then the next."""
        kind, _, number = self.list.key.partition(":")
        if kind == "turn":
            self.choose(self.chosen ^ {int(number)})
            self.list.move_by(1)

    def action_graft_all(self) -> None:
        """All turns, or none."""
        every = frozenset(range(len(self.turns)))
        self.choose(frozenset() if self.chosen == every else every)

    def on_lines_view_chosen(self, message: LinesView.Chosen) -> None:
        """A click chooses a turn, or not."""
        message.stop()
        kind, _, number = message.key.partition(":")
        if kind == "turn":
            self.choose(self.chosen ^ {int(number)})

    # --- leaving ------------------------------------------------------------------------------------------------------

    def action_graft_accept(self) -> None:
        """Ends with the draft, once it is worked out."""
        self.commit()

    def commit(self) -> None:
        """The draft as it is shown."""
        if self.ready is None:
            self.app.bell()
        else:
            self.dismiss("graft")

    def pressed(self, number: int) -> None:
        """Does what one of `keys`, which was clicked, does."""
        (self.commit, self.action_leave, self.action_graft_toggle, self.action_graft_all)[number]()

    def step_rows(self, by: int) -> None:
        """Moves over the turns."""
        self.list.move_by(by)

    def rows_seen(self) -> int:
        """Turns that are seen."""
        return self.list.size.height

    def action_mode_leave(self) -> None:
        """Nothing is written."""
        self.action_leave()

    def action_app_back(self) -> None:
        """Nothing is written."""
        self.action_leave()
