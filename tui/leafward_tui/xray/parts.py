"""What the X-ray screen is made of: what is worked out behind it, its widgets, and what follows the cursor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.message import Message
from textual.worker import Worker, WorkerState, get_current_worker

from leafward.base.errors import LeafwardError
from leafward.base.safe_text import safe_line
from leafward.compaction.xray import Link, What, XRay, xray_edited, xray_of, xray_planned
from leafward.session.entries import Kind
from leafward.session.headline import headline
from leafward.session.journal.operations import marks, operations, undoable
from leafward.summaries.survival import Stopped
from leafward_tui.ui.cells import cell_len, count, exact, fit
from leafward_tui.ui.hairline import RowRule
from leafward_tui.ui.survival_cache import survivals_of
from leafward_tui.ui.times import moment
from leafward_tui.ui.title_bar import Fact
from leafward_tui.xray.model.arrangement import Arrangement, Piece, Side
from leafward_tui.xray.model.captions import Fates, Teller
from leafward_tui.xray.search import Hunting, Leaving
from leafward_tui.xray.widgets.foot import AboutLine, LedgerBar
from leafward_tui.xray.widgets.head import XRayHead
from leafward_tui.xray.widgets.view import XRayView

if TYPE_CHECKING:
    from collections.abc import Collection

    from textual.app import ComposeResult

    from leafward.compaction.draft import Draft
    from leafward.compaction.plan import Plan
    from leafward.session.session import Session
    from leafward_tui.ui.line_scroll import LineList

__all__ = ["Leaving", "XRayParts"]


@dataclass
class Seen(Message):
    """The X-ray is made; None where that failed, and the text says why."""

    xray: XRay | None
    text: str = ""


@dataclass
class Traced(Message):
    """The sources of the summary's lines are known."""


@dataclass
class Reported(Message):
    """What became of the facts is known."""

    fates: Fates


class XRayParts(Hunting):
    """Composition and state of the X-ray."""

    NAME: ClassVar[str] = "xray"

    DEFAULT_CSS = """
    XRayParts {
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
        self.session = session
        self.compaction = compaction
        self.plan = plan
        self.draft = draft
        self.fates: Fates | None = None
        self.teller: Teller | None = None
        self.only: Link | None = None
        self.fold_kept = False
        self.trouble = ""
        self.undo_op = ""
        """The operation of the context edits that are seen through, where it is the last one."""
        self._rows_of: dict[int, list[int]] = {}
        """Rows by the entry of their message before."""
        self._line_rows: list[int] = []
        """Rows that show a line of the summary."""

    def compose_content(self) -> ComposeResult:
        """Heads, both sides, ledger, what is known of the line under the cursor."""
        self.head = XRayHead()
        self.view = XRayView(id="xray")
        self.ledger = LedgerBar()
        self.about = AboutLine()
        yield self.head
        yield self.view
        yield RowRule(id="ledger-rule")
        yield self.ledger
        yield self.about

    def on_mount(self) -> None:
        """Shows the shell, and looks behind it."""
        super().on_mount()
        self.show_title()
        self.view.focus()
        self.load()

    # --- behind the screen --------------------------------------------------------------------------------------------

    @work(thread=True, exclusive=True, group="xray", exit_on_error=False)
    def load(self) -> None:
        """Makes the X-ray, then what takes longer: sources and fates."""
        stop = self.shell.keys_first.stop(get_current_worker())
        try:
            if self.plan is not None:
                xray = xray_planned(self.session, self.plan, self.draft)
            elif self.of_edits:
                xray = xray_edited(self.session, self.compaction)
                self.undo_op = self._last_operation(xray)
            else:
                xray = xray_of(self.session, self.compaction)
        except (LeafwardError, OSError) as error:
            self.post_message(Seen(None, str(error)))
            return
        self.post_message(Seen(xray))
        if xray.of_edits:
            return
        try:
            xray.origins.fill(stop)
            if stop():
                return
            self.post_message(Traced())
            if self.draft is not None:
                self.post_message(Reported(Fates.of(self.draft.survival)))
            elif self.plan is None:
                report = survivals_of(self.session).report(self.session, self.compaction, stop)
                self.post_message(Reported(Fates.of(report)))
        except Stopped:
            return
        except (LeafwardError, OSError) as error:
            self.post_message(Seen(None, str(error)))

    def on_seen(self, message: Seen) -> None:
        """Shows both sides, with the cursor on the first line of the summary."""
        if message.xray is None:
            self.trouble = message.text
            self.about.say(message.text, "bad")
            self.show_hints()
            return
        self.xray = message.xray
        self.teller = Teller(message.xray, self.shell.glyphs)
        for row, both in enumerate(message.xray.rows):
            if both.before is not None and both.before.what is What.MESSAGE:
                self._rows_of.setdefault(both.before.entry, []).append(row)
            if both.after is not None and both.after.line >= 0:
                self._line_rows.append(row)
        self.ledger.show(message.xray)
        self.show_title()
        arrangement = Arrangement(message.xray, self.opened, self.only, fold_kept=self.fold_kept)
        side = Side.BEFORE if message.xray.of_edits else Side.AFTER
        first = arrangement.change(side, -1, 1) if len(arrangement) else 0
        self.view.show(arrangement, self.teller, max(0, first), side)
        self.show_hints()

    def on_traced(self) -> None:
        """The line under the cursor can tell where it comes from."""
        self.tell_about()

    def on_reported(self, message: Reported) -> None:
        """Messages can tell what became of their facts."""
        self.fates = message.fates
        self.show_title()
        self.tell_about()
        self.show_hints()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A fault of ours in a worker is said, not swallowed; the screen goes on."""
        if event.state is WorkerState.ERROR:
            self.about.say(f"internal error in {event.worker.group}: {event.worker.error!r}", "bad")

    @property
    def refusal(self) -> str:
        """Why nothing can be written to the session; empty where it can."""
        return self.session.read_only or ""

    @property
    def of_edits(self) -> bool:
        """Whether context edits are seen through, and no compaction."""
        at = self.compaction
        return at >= 0 and self.session.columns.kind[at] == Kind.CONTEXT_EDIT

    def _last_operation(self, xray: XRay) -> str:
        """The operation that made the edits, where an undo would take it back; else empty."""
        made = marks(self.session.body(xray.compaction) or {}).get("op")
        last = undoable(operations(self.session))
        return last.op if last is not None and last.op == made else ""

    # --- what is shown ------------------------------------------------------------------------------------------------

    def show_title(self) -> None:
        """The session, and which compaction is seen through."""
        session = self.session
        first = session.columns.kind.find(Kind.USER)
        title = session.title or (headline(session, first).text if first >= 0 else session.path.stem)
        facts = []
        if self.compaction >= 0:
            entry = session.entry(self.compaction)
            glyph = self.shell.glyphs.edited if self.of_edits else self.shell.glyphs.compaction
            name = "context edit" if self.of_edits else "compaction"
            named = f"{glyph} #{self.compaction:,}"
            facts.append(Fact(f"{name} {named}", short=named, keep=5))
            if entry.timestamp:
                facts.append(Fact(moment(entry.timestamp), keep=1))
        else:
            facts.append(Fact("planned, not written", short="planned", keep=5, hue="ghost"))
        if (told := self._edits_fact()) is not None:
            facts.append(told)
        if (found := self.hits_fact()) is not None:
            facts.append(found)
        if self.fates is not None and self.fates.lost:
            facts.append(Fact(f"{len(self.fates.lost):,} lost", keep=4, hue="warn"))
        glyphs = self.shell.glyphs
        project = safe_line(session.cwd.rstrip("/").rpartition("/")[2], 30)
        room = max(16, self.app.size.width - 72 - cell_len(project))
        named = fit(safe_line(title, 200), room, ellipsis=glyphs.ellipsis)
        crumb = f"{project} {glyphs.crumb} {named}" if project else named
        self.title_bar.show("X-ray", crumb=crumb, facts=facts)

    def _edits_fact(self) -> Fact | None:
        """How many messages context edits left out or shortened, and what that frees; None where there are none."""
        xray = self.xray
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

    def rearrange(self) -> None:
        """Lays the lines out anew, with the cursor on the same row."""
        xray, teller, piece = self.xray, self.teller, self.view.piece
        if xray is None or teller is None:
            return
        side = self.view.side
        arrangement = Arrangement(xray, self.opened, self.only, fold_kept=self.fold_kept)
        at = arrangement.line_of(side, piece.rows[0]) if piece is not None else -1
        if at < 0:
            at = min(max(0, self.view.cursor), max(0, len(arrangement) - 1))
        self.view.show(arrangement, teller, at, side)
        self.place_hits()

    def on_line_list_cursor_moved(self, message: LineList.CursorMoved) -> None:
        """Foot and light follow."""
        message.stop()
        self.head.show(self.xray, self.view.side)
        self.tell_about()
        self.show_hints()

    def on_line_list_chosen(self, message: LineList.Chosen) -> None:
        """A double click is enter."""
        message.stop()
        self.action_source_go()

    def on_xray_head_side_wanted(self, message: XRayHead.SideWanted) -> None:
        """A click on a head is tab."""
        message.stop()
        if message.side is not self.view.side:
            self.action_pane_next()

    def tell_about(self) -> None:
        """Says what is known of the line under the cursor, and lights what belongs to it."""
        view, teller = self.view, self.teller
        line, piece = view.line, view.piece
        if teller is None or line is None:
            return
        if line.hidden:
            self.about.show(
                [[(f"{line.hidden:,} rows are hidden", "text")], [("the same key again shows them", "faint")]]
            )
            view.light(frozenset())
            return
        self.about.show(teller.about(piece, view.side, line.link, self.fates))
        view.light(self._lit(piece))

    def _lit(self, piece: Piece | None) -> frozenset[int]:
        """The lines across that belong to what is under the cursor."""
        xray, arrangement = self.xray, self.view.arrangement
        if xray is None or arrangement is None or piece is None:
            return frozenset()
        if self.view.side is Side.AFTER:
            if piece.cell.line < 0 or not xray.origins.known(piece.cell.line):
                return frozenset()
            entries = {source.entry for source in xray.sources(piece.rows[0])[:3]}
            rows = [row for entry in entries for row in self._rows_of.get(entry, ())]
            return arrangement.lines_of(Side.BEFORE, rows)
        entries = {before.entry for row in piece.rows if (before := xray.rows[row].before) is not None}
        return arrangement.lines_of(Side.AFTER, self._told_from(entries))

    def _told_from(self, entries: Collection[int]) -> list[int]:
        """The rows whose line of the summary comes first of all from some entries."""
        xray = self.xray
        if xray is None:
            return []
        found = []
        for row in self._line_rows:
            after = xray.rows[row].after
            if after is None or not xray.origins.known(after.line):
                continue
            if any(source.entry in entries for source in xray.sources(row)[:3]):
                found.append(row)
        return found

    def action_source_go(self) -> None:
        """Opens a fold, or goes to an entry."""
        raise NotImplementedError

    def action_pane_next(self) -> None:
        """The other side."""
        raise NotImplementedError
