"""The choice of single turns of a branch for a graft, with the effect of the append after every change."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from leafward.base.figures import counted
from leafward.base.safe_text import safe_line
from leafward_tui.compare.graft_choice import GraftChoice
from leafward_tui.ui.keys.intents import intent_bindings
from leafward_tui.ui.panes.lines_view import LinesView
from leafward_tui.ui.panes.pane_lines import Block, SpanLine
from leafward_tui.ui.routed_screen import Actions, Routes
from leafward_tui.ui.row_keys import RowSteps
from leafward_tui.ui.services import services_of
from leafward_tui.ui.sheets.sheet import Sheet, SheetKey, SheetLine, hairline
from leafward_tui.ui.text.cells import count, fit, limit, right, wrap
from leafward_tui.ui.text.spans import Span

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from leafward.branches.transfer.graft import GraftDraft
    from leafward.session.entries import EntryIndex
    from leafward.session.session import Session
    from leafward_tui.compare.graft_choice import GraftTurn
    from leafward_tui.ui.appearance.glyphs import Glyphs


class GraftSheet(Sheet):
    """The choice of turns of one side. Ends with "graft" where `choice.ready` is to be appended, or with None."""

    NAME: ClassVar[str] = "graft"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("graft")]

    def __init__(self, session: Session, entries: Sequence[EntryIndex], letter: str) -> None:
        about = [SheetLine("copies are appended below the leaf; the files of the project stay as they are")]
        self.choice = GraftChoice(session, entries, self)
        super().__init__(f"Graft turns of {letter}", about, note=counted(len(self.choice.turns), "turn"))
        self.turn_list = LinesView(id="turns", raised=True)
        self.says = LinesView(id="validation", cursor=False, raised=True)
        own = {
            "graft.accept": self.commit,
            "mode.leave": self.action_leave,
            "app.back": self.action_leave,
        }
        steps = RowSteps(self.turn_list.move_by, lambda: self.turn_list.size.height)
        self.routes = Routes(steps, self.choice, Actions(own))

    def compose_body(self) -> ComposeResult:
        """The turns, over remarks on the chosen ones."""
        yield self.turn_list
        yield hairline(self)
        yield self.says

    def mounted(self) -> None:
        """Starts the choice."""
        services = services_of(self)
        self.choice.begin(services.jobs(self), services)
        self.resized()
        self.turn_list.focus()
        self.draw()

    def resized(self) -> None:
        """Divides the room between the turns and the remarks."""
        room = max(6, self.app.size.height - 12)
        rows = max(1, min(room * 2 // 3, len(self.choice.turns)))
        self.turn_list.styles.height = rows
        self.says.styles.height = max(3, min(5, room - rows))

    @property
    def key(self) -> str:
        """The turn of the cursor."""
        return self.turn_list.key

    def next_row(self) -> None:
        """Puts the cursor on the turn below."""
        self.turn_list.move_by(1)

    def draw(self) -> None:
        """Shows the chosen turns, and the effect of appending them."""
        services, choice = services_of(self), self.choice
        glyphs, key = services.glyphs, services.keymap.label("graft.toggle")
        self.turn_list.show(lambda width, _rows: turn_lines(choice.turns, choice.chosen, width, glyphs))
        self.says.show(lambda width, _rows: validation(choice.draft, key, width, glyphs))
        self.foot.refresh()

    def sheet_keys(self) -> tuple[SheetKey, ...]:
        """The keys that commit, cancel and choose."""
        return self.intent_keys(
            ("graft.accept", "append"),
            ("mode.leave", "cancel"),
            ("graft.toggle", "choose"),
            ("graft.all", "all"),
        )

    def operation(self) -> str:
        """The write in words, or why there is none."""
        return self.choice.operation

    def on_lines_view_chosen(self, message: LinesView.Chosen) -> None:
        """Chooses the clicked turn, or takes it out."""
        message.stop()
        self.choice.switch(message.key)

    def commit(self) -> None:
        """Ends with the draft that is shown."""
        if self.choice.ready is None:
            self.app.bell()
        else:
            self.dismiss("graft")


def turn_lines(turns: Sequence[GraftTurn], chosen: Collection[int], width: int, glyphs: Glyphs) -> Block:
    """The turns, each with whether it is chosen."""
    lines = []
    for number, turn in enumerate(turns):
        here = number in chosen
        sign = Span(f"[{glyphs.ok if here else ' '}] ", "leaf" if here else "faint")
        size = right(counted(len(turn.entries), "entry", "entries"), 12)
        words = fit(turn.words, max(4, width - 4 - len(size)), pad=True, ellipsis=glyphs.ellipsis)
        spans = (sign, Span(words, "text" if here else "sub"), Span(size, "faint"))
        lines.append(SpanLine(spans, f"turn:{number}", turn.entries[0]))
    return Block(lines)


def validation(draft: GraftDraft | str | None, key: str, width: int, glyphs: Glyphs) -> Block:
    """The effect of the append and its misfits, or why it is refused; for None, a hint to choose turns with a key."""
    if draft is None:
        return Block([SpanLine((Span(f"choose turns with {key}" if key else "choose turns", "nothing"),))])
    if isinstance(draft, str):
        return Block(_wrapped(f"{glyphs.error} ", draft, "bad", width, glyphs))
    appended = counted(len(draft.sources), "entry", "entries")
    if draft.added:
        appended += f", {len(draft.added):,} of them because calls and results belong together"
    grows = (
        f"adds ~{count(draft.tokens)} tokens: {count(draft.tokens_before)} {glyphs.arrow} ~{count(draft.tokens_after)}"
        f" of {limit(draft.window)}"
    )
    lines = [SpanLine((Span(fit(f"{appended}   {grows}", width, ellipsis=glyphs.ellipsis), "text"),))]
    if not draft.misfits:
        lines.append(SpanLine((Span(f"{glyphs.ok} everything fits there", "leaf"),)))
    for misfit in draft.misfits:
        lines += _wrapped(f"{glyphs.malformed} ", misfit.text, "warn", width, glyphs)
    return Block(lines)


def _wrapped(sign: str, text: str, ink: str, width: int, glyphs: Glyphs) -> list[SpanLine]:
    parts = wrap(safe_line(text, 400), max(4, width - len(sign)), lines=6, ellipsis=glyphs.ellipsis) or [""]
    blank = " " * len(sign)
    return [
        SpanLine((Span(blank if number else sign, ink), Span(part, "sub")))
        for number, part in enumerate(parts)
    ]
