"""What the Compare screen is made of: what is worked out behind it, its panes, and what follows the cursor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.containers import Horizontal, Vertical
from textual.worker import Worker, WorkerState, get_current_worker

from leafward.base.errors import Cancelled, LeafwardError
from leafward.base.safe_text import safe_line
from leafward.branches.diff.sides import sides
from leafward.files.file_replay import WorkspaceBases
from leafward.session.entries import Kind
from leafward.session.headline import headline
from leafward_tui.compare.model.captions import (
    LOOKING,
    Overall,
    carried_over,
    glance,
    looked_at,
    side_column,
    summaries,
    summary_head,
    with_missing,
)
from leafward_tui.compare.model.content import Show, Shown
from leafward_tui.compare.model.files import Column
from leafward_tui.compare.model.pages import context_page, outcome_page, spoken
from leafward_tui.compare.values import Leaving, LookedAt, Page, Seen, Summed, Wanted
from leafward_tui.compare.widgets.head import CompareHead
from leafward_tui.compare.widgets.spans import FilesView, SpanRows
from leafward_tui.ui.cells import cell_len, counted, fit
from leafward_tui.ui.hairline import ColumnRule, RowRule
from leafward_tui.ui.lines_view import LinesView
from leafward_tui.ui.pane_head import PaneHead
from leafward_tui.ui.pane_lines import Block
from leafward_tui.ui.screen_search import Searching
from leafward_tui.ui.summary_comparison import ComparisonView
from leafward_tui.ui.summary_differences import diff_lines
from leafward_tui.ui.title_bar import Fact

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.timer import Timer

    from leafward.branches.diff.contents import ContentDifference, Contents
    from leafward.branches.diff.file_sets import FileDifference
    from leafward.branches.diff.summaries import SummaryDifference
    from leafward.files.file_replay import Bases
    from leafward.session.session import Session
    from leafward_tui.compare.model.captions import Carried, Glance
    from leafward_tui.compare.model.pages import Spoken

__all__ = ["CompareParts"]

BASED = "compare-base"
"""What the choice of a base is remembered by."""


class CompareParts(Searching[Leaving | None]):
    """Composition and state of the comparison."""

    NAME: ClassVar[str] = "compare"

    DEFAULT_CSS = """
    CompareParts {
        &.-tall CompareHead, &.-high CompareHead { height: 3; margin-bottom: 1; }
        #files-page { height: 1fr; }
        #sets { height: auto; }
        #sets Vertical { height: 1fr; }
        #sets ColumnRule { height: 1fr; }
        #set-a { width: 22%; }
        #set-b { width: 25%; }
        #side { width: 25%; height: 1fr; }
        #lower { height: 1fr; }
        #diff-head { height: 2; }
        #summary-head { height: 2; }
        #page, #summary, #summary-head { display: none; }
        &.-tall #sentence, &.-high #sentence { margin-top: 1; }
        &.-one-list #set-a, &.-one-list #set-b, &.-one-list #side, &.-one-list ColumnRule { display: none; }
        &.-contents #sets, &.-contents #sets-rule, &.-contents #side, &.-contents #lower ColumnRule { display: none; }
        &.-lines #files-page, &.-summed #files-page { display: none; }
        &.-lines #page { display: block; }
        &.-summed #summary, &.-summed #summary-head { display: block; }
    }
    """

    def __init__(self, session: Session, a: int, b: int, *, mark: int = -1) -> None:
        super().__init__()
        self.session = session
        self.ends = (a, b)
        self.mark = mark
        self.page = Page.FILES
        self.overall: Glance | None = None
        self.messages: list[Spoken] | None = None
        self.summaries: SummaryDifference | None = None
        self.carried: tuple[Carried, ...] | None = None
        self.trouble = ""
        self.show = Show.SIDES
        self.fold = True
        self.unfolded = False
        """Whether files nobody touched are listed."""
        self.opened: dict[str, frozenset[int]] = {}
        """Blocks of same lines that were opened, by file."""
        self.file: FileDifference | None = None
        self.shown: Shown | None = None
        self.run = 0
        self.said = ("", "")
        """What was just done, and its ink; empty for the sentence about the file."""
        self.rebuilt = 0
        """Files that were rebuilt so far; work counted for tests."""
        self.based = False
        """Whether contents of the workspace may be what files began with."""
        self.same: dict[bool, dict[str, bool | None]] = {False: {}, True: {}}
        """Whether both sides hold the same, by path, as far as that was looked at: without contents of the workspace, and with them."""
        self._contents: dict[bool, Contents] = {}
        """What rebuilds files: without contents of the workspace, and with them."""
        self._differences: dict[tuple[str, bool], ContentDifference] = {}
        self._laid: dict[Wanted, Shown] = {}
        self._resting: Timer | None = None
        self._closed = False

    def compose_content(self) -> ComposeResult:
        """Head, tabs, then the page: files over a diff, or lines."""
        self.head = CompareHead()
        self.tabs = PaneHead(id="compare-tabs")
        self.heads = {column: SpanRows() for column in Column}
        self.lists = {column: FilesView(id=f"files-{column.name.lower()}") for column in Column}
        self.sets_rule = RowRule(id="sets-rule")
        self.diff_head = SpanRows(id="diff-head", rule=True)
        self.diff = FilesView(id="diff")
        self.sentence = SpanRows(id="sentence")
        self.side = SpanRows(id="side")
        self.lines = LinesView(id="page")
        self.summary_head = SpanRows(id="summary-head", rule=True)
        self.summary = ComparisonView(id="summary")
        yield self.head
        yield self.tabs
        with Vertical(id="files-page"):
            with Horizontal(id="sets"):
                for number, column in enumerate(Column):
                    if number:
                        yield ColumnRule()
                    with Vertical(id=f"set-{column.name.lower()}"):
                        yield self.heads[column]
                        yield self.lists[column]
            yield self.sets_rule
            with Horizontal(id="lower"):
                with Vertical():
                    yield self.diff_head
                    yield self.diff
                    yield self.sentence
                yield ColumnRule()
                yield self.side
        yield self.lines
        yield self.summary_head
        yield self.summary

    def on_mount(self) -> None:
        """Shows the shell, and looks behind it."""
        super().on_mount()
        self.based = self.shell.recall(BASED) is True and self.folder is not None
        self.show_title()
        self.show_page()
        self.lists[Column.BOTH].focus()
        self.start()

    def on_unmount(self) -> None:
        """What is still being rebuilt ends."""
        self._closed = True

    # --- behind the screen --------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Reads both sides anew."""
        self.run += 1
        self.overall = self.messages = self.summaries = self.carried = None
        self.file = self.shown = None
        self._contents = {}
        self.same = {False: {}, True: {}}
        self._differences = {}
        self._laid = {}
        self.load(self.run, *self.ends)

    @work(thread=True, exclusive=True, group="compare", exit_on_error=False)
    def load(self, run: int, a: int, b: int) -> None:
        """Both sides as far as files say; then what takes longer: contexts, outcomes, messages, summaries, what was carried over."""
        worker = get_current_worker()
        stop = self.shell.keys_first.stop(worker)
        try:
            both = sides(self.session, a, b, lambda: worker.is_cancelled)
            first = glance(both, self.mark)
            self.post_message(Seen(run, first))
            if worker.is_cancelled:
                return
            found = looked_at(first)
            self.post_message(Seen(run, found))
            self.post_message(LookedAt(run, spoken(self.session, found.contexts, stop)))
            carried = carried_over(both, stop)
        except Cancelled:
            return
        except (LeafwardError, OSError) as error:
            self.post_message(Seen(run, None, str(error)))
            return
        try:
            told = summaries(both, stop)
            self.post_message(Summed(run, told, with_missing(both, carried, told)))
        except Cancelled:
            return
        except (LeafwardError, OSError) as error:
            self.post_message(Summed(run, None, carried, str(error)))

    def on_seen(self, message: Seen) -> None:
        """Shows the files, with the cursor on the first that differs."""
        if message.run != self.run:
            return
        if message.overall is None:
            self.trouble = message.text
            self.tell(message.text, "bad")
            self.show_hints()
            return
        first, self.overall = self.overall is None, message.overall
        self.head.show(message.overall.named)
        if not first:
            self.show_side()
            self.show_lines()
            return
        self.show_title()
        self.show_files(first=True)
        self.show_side()
        self.show_page()

    def on_looked_at(self, message: LookedAt) -> None:
        """The tab Context has its messages."""
        if message.run == self.run:
            self.messages = message.messages
            if self.page is Page.CONTEXT:
                self.show_lines()

    def on_summed(self, message: Summed) -> None:
        """The tab Summary has its text."""
        if message.run != self.run:
            return
        self.summaries, self.carried = message.summaries, message.carried
        if message.text:
            self.tell(message.text, "bad")
        self.show_side()
        self.show_summary()
        if self.page is Page.OUTCOME:
            self.show_lines()

    def on_worker_state_changed(self, event: Worker.StateChanged) -> None:
        """A fault of ours in a worker is said, not swallowed; the screen goes on."""
        if event.state is WorkerState.ERROR:
            self.tell(f"internal error in {event.worker.group}: {event.worker.error!r}", "bad")

    # --- what is shown ------------------------------------------------------------------------------------------------

    @property
    def folder(self) -> Path | None:
        """The folder that the session was held in; None where it is not there (any more)."""
        folder = Path(self.session.cwd)
        return folder if folder.is_absolute() and folder.is_dir() else None

    def bases(self) -> Bases | None:
        """What files may have held before the session, where that is wanted."""
        folder = self.folder
        return WorkspaceBases(folder) if self.based and folder is not None else None

    @property
    def three_columns(self) -> bool:
        """Whether the columns stand beside each other."""
        width, height = self.app.size
        return width >= 120 and height >= 30

    def show_title(self) -> None:
        """Which session, and what both have in common."""
        session, glyphs = self.session, self.shell.glyphs
        first = session.columns.kind.find(Kind.USER)
        title = session.name or (headline(session, first).text if first >= 0 else session.path.stem)
        facts = []
        if (found := self.hits_fact()) is not None:
            facts.append(found)
        if self.overall is not None:
            ancestor = self.overall.sides.ancestor
            if ancestor >= 0:
                facts.append(Fact(f"common ancestor #{ancestor:,}", short=f"from #{ancestor:,}", keep=5))
            if self.overall.plain:
                facts.append(Fact(self.overall.plain, keep=4, hue="warn"))
            elif self.app.size.width >= 120 and self.overall.ancestor:
                words = fit(self.overall.ancestor, self.app.size.width // 4, ellipsis=glyphs.ellipsis)
                facts.append(Fact("", words, short="", keep=1))
        project = safe_line(session.cwd.rstrip("/").rpartition("/")[2], 30)
        room = max(16, self.app.size.width - 90 - cell_len(project))
        named = fit(safe_line(title, 200), room, ellipsis=glyphs.ellipsis)
        crumb = f"{project} {glyphs.crumb} {named}" if project else named
        self.title_bar.show("Compare", crumb=crumb, facts=facts)

    def show_side(self) -> None:
        """The right column."""
        seen, carried, glyphs = self.overall, self.carried, self.shell.glyphs
        if seen is not None:
            pin = self.shell.keymap.label("difference.pin") if not self.refusal else ""
            self.side.show(
                lambda width: list(side_column(seen, carried, width - 1, glyphs, self.side.size.height, pin))
            )

    def show_summary(self) -> None:
        """The tab Summary."""
        told = self.summaries
        if told is not None:
            lines = diff_lines(told.difference, fold_same=self.fold, names=("A", "B"))
            self.summary.show(lines, self.summary.cursor)
        self.summary_head.show(lambda width: (summary_head(told, width, self.shell.glyphs),))

    def show_lines(self) -> None:
        """The tabs Context and Outcome."""
        seen, messages, glyphs = self.overall, self.messages, self.shell.glyphs
        if seen is None or self.page not in (Page.CONTEXT, Page.OUTCOME):
            return
        if not isinstance(seen, Overall):
            self.lines.show(lambda _width, _rows: Block([LOOKING]))
        elif self.page is Page.CONTEXT:
            self.lines.show(lambda width, _rows: context_page(seen, messages, width, glyphs))
        else:
            carried = self.carried or ()
            self.lines.show(lambda width, _rows: outcome_page(seen, width, glyphs, carried))

    def show_page(self) -> None:
        """Tabs, and the panes of the one that is chosen."""
        page = self.page
        self.set_class(page is Page.CONTENTS, "-contents")
        self.set_class(page in (Page.CONTEXT, Page.OUTCOME), "-lines")
        self.set_class(page is Page.SUMMARY, "-summed")
        self.set_class(not self.three_columns, "-one-list")
        glyphs = self.shell.glyphs
        right = ""
        if self.overall is not None:
            number = counted(len(self.overall.sets), "file")
            right = f"{glyphs.differs} differ   {glyphs.same} same   {number}"
            if self.based and self.app.size.width < 120:
                right = f"with a base   {number}"
            elif self.based:
                right = f"base: disk and git   {right}"
        self.tabs.show(tuple(one.value for one in Page), page.value, right=right, focused=True)
        if page in (Page.CONTEXT, Page.OUTCOME):
            self.show_lines()
        self.call_after_refresh(self._join_rules)
        self.show_hints()

    def _join_rules(self) -> None:
        if self.is_attached and self.three_columns:
            rules = list(self.query("#sets ColumnRule"))
            self.sets_rule.join(rules[0].region.x + 1, through=(rules[1].region.x + 1,))
        else:
            self.sets_rule.join()

    # --- what a subclass gives ----------------------------------------------------------------------------------------

    def show_files(self, *, first: bool = False) -> None:
        """Lays the files out; `first` puts the cursor on the first that matters."""
        raise NotImplementedError

    def tell(self, text: str, ink: str = "sub") -> None:
        """Says what was just done."""
        raise NotImplementedError
