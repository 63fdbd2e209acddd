"""The X-ray: what the model saw before a compaction beside what it sees after it, with a ledger that adds up."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from leafward.base.safe_text import safe_line
from leafward.compaction.xray import Link
from leafward.session.entries import Kind
from leafward.session.headline import headline
from leafward_tui.ui.cells import cell_len, count, exact, fit
from leafward_tui.ui.hairline import RowRule
from leafward_tui.ui.intents import intent_bindings
from leafward_tui.ui.key_bar import Hint
from leafward_tui.ui.results import XRayResult
from leafward_tui.ui.row_keys import RowSteps
from leafward_tui.ui.screen import BaseScreen
from leafward_tui.ui.times import moment
from leafward_tui.ui.title_bar import Fact
from leafward_tui.xray.controllers.lines import Lines
from leafward_tui.xray.controllers.loader import Loader
from leafward_tui.xray.controllers.lost_facts import LostFacts
from leafward_tui.xray.controllers.search import Search
from leafward_tui.xray.state import XRayState
from leafward_tui.xray.widgets.foot import AboutLine, LedgerBar
from leafward_tui.xray.widgets.head import XRayHead
from leafward_tui.xray.widgets.view import XRayView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from leafward.compaction.draft import Draft
    from leafward.compaction.plan import Plan
    from leafward.session.session import Session
    from leafward_tui.ui.line_scroll import LineList

__all__ = ["XRayScreen"]


class XRayScreen(BaseScreen["XRayResult | None"]):
    """One compaction, before beside after. Ends with what is wanted next, or with None."""

    NAME: ClassVar[str] = "xray"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("xray")]

    DEFAULT_CSS = """
    XRayScreen {
        #xray { height: 1fr; }
        #ledger-rule { margin-bottom: 0; }
        &.-tall AboutLine, &.-high AboutLine { margin-top: 1; }
    }
    """

    def __init__(
        self,
        session: Session,
        compaction: int = -1,
        *,
        plan: Plan | None = None,
        draft: Draft | None = None,
    ) -> None:
        super().__init__()
        self.state = XRayState(session, compaction, plan, draft)

    def compose_content(self) -> ComposeResult:
        """Heads, both sides, ledger, what is known of the line under the cursor."""
        self.head = XRayHead()
        self.lines = XRayView(id="xray")
        self.ledger = LedgerBar()
        self.about = AboutLine()
        jobs = self.shell.jobs(self)
        self.line_keys = Lines(self.state, self)
        self.search = Search(self.state, self, jobs, self.line_keys)
        self.loader = Loader(self.state, self, jobs, self.shell.glyphs, self.line_keys)
        steps = RowSteps(self.lines.move_by, lambda: self.lines.size.height)
        self.route(steps, self.line_keys, self.search, LostFacts(self.state, self))
        yield self.head
        yield self.lines
        yield RowRule(id="ledger-rule")
        yield self.ledger
        yield self.about

    def mounted(self) -> None:
        """Shows the shell, and looks behind it."""
        self.show_title()
        self.lines.focus()
        self.loader.load()

    # --- messages of the widgets --------------------------------------------------------------------------------------

    def on_line_list_cursor_moved(self, message: LineList.CursorMoved) -> None:
        """Foot and light follow."""
        message.stop()
        self.head.show(self.state.loaded.xray, self.lines.side)
        self.line_keys.show_about()
        self.show_hints()

    def on_line_list_chosen(self, message: LineList.Chosen) -> None:
        """A double click is enter."""
        message.stop()
        self.line_keys.go_to_source()

    def on_xray_head_side_wanted(self, message: XRayHead.SideWanted) -> None:
        """A click on a head is tab."""
        message.stop()
        if message.side is not self.lines.side:
            self.line_keys.turn()

    # --- what the controllers ask of it -------------------------------------------------------------------------------

    def place(self) -> int:
        """Where the cursor is, for the search."""
        return self.search.place()

    def go_to_place(self, place: int) -> None:
        """Puts the cursor on a place of the search."""
        self.search.go_to_place(place)

    def look_for(self, words: str) -> None:
        """Looks for words on both sides."""
        self.search.look_for(words)

    def show_hits(self) -> None:
        """Shows what the search found."""
        self.search.show_hits()

    @property
    def sheet_rows(self) -> int:
        """Rows that a sheet has room for."""
        return self.app.size.height - 10

    def show_ledger(self) -> None:
        """The sums of both sides."""
        self.ledger.show(self.state.loaded.xray)

    def copy(self, text: str) -> object:
        """Copies text to the clipboard."""
        return self.shell.copy(text)

    def close(self, result: XRayResult) -> None:
        """Closes with what is wanted next."""
        self.dismiss(result)

    def compare_summaries(self) -> None:
        """Opens the comparison of the summary with the one before."""
        from leafward_tui.xray.summaries import SummariesScreen

        state, xray = self.state, self.state.loaded.xray
        if xray is not None:
            screen = SummariesScreen(state.session, state.compaction, xray.before_at, xray.summary)
            self.app.push_screen(
                screen, lambda entry: self.close(XRayResult(entry=entry)) if entry is not None else None
            )

    # --- title and keys -----------------------------------------------------------------------------------------------

    @property
    def refusal(self) -> str:
        """Why nothing can be written to the session; empty where it can."""
        return self.state.session.read_only or ""

    def show_title(self) -> None:
        """The session, and which compaction is seen through."""
        state, glyphs = self.state, self.shell.glyphs
        session = state.session
        first = session.columns.kind.find(Kind.USER)
        title = session.title or (headline(session, first).text if first >= 0 else session.path.stem)
        facts = []
        if state.compaction >= 0:
            entry = session.entry(state.compaction)
            glyph = glyphs.edited if state.of_edits else glyphs.compaction
            name = "context edit" if state.of_edits else "compaction"
            named = f"{glyph} #{state.compaction:,}"
            facts.append(Fact(f"{name} {named}", short=named, keep=5))
            if entry.timestamp:
                facts.append(Fact(moment(entry.timestamp), keep=1))
        else:
            facts.append(Fact("planned, not written", short="planned", keep=5, hue="ghost"))
        if (edits := self._edits_fact()) is not None:
            facts.append(edits)
        if (found := self.search.hits.fact()) is not None:
            facts.append(found)
        fates = state.loaded.fates
        if fates is not None and fates.lost:
            facts.append(Fact(f"{len(fates.lost):,} lost", keep=4, hue="warn"))
        project = safe_line(session.cwd.rstrip("/").rpartition("/")[2], 30)
        room = max(16, self.app.size.width - 72 - cell_len(project))
        named = fit(safe_line(title, 200), room, ellipsis=glyphs.ellipsis)
        crumb = f"{project} {glyphs.crumb} {named}" if project else named
        self.title_bar.show("X-ray", crumb=crumb, facts=facts)

    def _edits_fact(self) -> Fact | None:
        """How many messages context edits left out or shortened, and what that frees; None where there are none."""
        xray = self.state.loaded.xray
        if xray is None:
            return None
        if xray.of_edits:
            rows = [row for row in xray.rows if row.link is Link.CUT or row.cut]
            number = len(rows)
            freed = sum(row.cut or (row.before.tokens if row.before is not None else 0) for row in rows)
        else:
            edits = xray.origins.messages.edits
            number, freed = len(edits), sum(edit.freed for edit in edits)
        if not number or (freed <= 0 and not xray.of_edits):
            return None
        glyph = self.shell.glyphs.edited
        words = f"{number:,} edited, {exact(freed)} tokens freed"
        return Fact(f"{glyph} {words}", short=f"{glyph} {count(freed)} freed", keep=4, hue="warn")

    def hints(self) -> Sequence[Hint]:
        """The keys that matter now."""
        loaded, searched = self.state.loaded, bool(self.search.words)
        if loaded.xray is None:
            return (Hint("app.back"),)
        piece = self.lines.piece
        enter = "open fold" if piece is not None and piece.fold else "go to source"
        if piece is not None and piece.cell.line < 0 and not piece.fold:
            enter = "show entry"
        pin = (Hint("fact.pin"),) if loaded.fates is not None and loaded.fates.lost else ()
        leave = "end search" if searched else "show all" if self.state.folds.only is not None else "back"
        return (
            Hint("pane.next", "other side", "side"),
            Hint("source.go", enter, enter.rpartition(" ")[2]),
            Hint(("change.next", "change.previous"), *(("hit",) if searched else ("next change", "change"))),
            *pin,
            *((Hint("edits.undo"),) if loaded.undo_op else ()),
            Hint("mode.leave", leave),
            Hint("xray.find"),
            Hint("kept.fold", "fold kept", "fold"),
            Hint("summaries.compare", "compare summary", "compare"),
            Hint(("only.kept", "only.replaced"), "only kept, replaced", "only"),
        )
