"""The Compare screen: two nodes of a session over their common ancestor."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import Horizontal, Vertical

from leafward.base.safe_text import safe_line
from leafward.session.entries import Kind
from leafward.session.headline import headline
from leafward_tui.compare.controllers.content import Content
from leafward_tui.compare.controllers.cursor import Cursor
from leafward_tui.compare.controllers.export import Export
from leafward_tui.compare.controllers.files import Files
from leafward_tui.compare.controllers.loader import Loader
from leafward_tui.compare.controllers.pages import Pages
from leafward_tui.compare.controllers.search import Search
from leafward_tui.compare.controllers.transfer import Transfer
from leafward_tui.compare.hints import hints_of
from leafward_tui.compare.model.files import Column
from leafward_tui.compare.state import CompareState, Page, ReadState
from leafward_tui.compare.widgets.head import CompareHead
from leafward_tui.compare.widgets.spans import FilesView, SpanRows
from leafward_tui.ui.cells import cell_len, fit
from leafward_tui.ui.hairline import ColumnRule, RowRule
from leafward_tui.ui.intents import intent_bindings
from leafward_tui.ui.lines_view import LinesView
from leafward_tui.ui.row_keys import RowSteps
from leafward_tui.ui.screen import BaseScreen
from leafward_tui.ui.summary_comparison import ComparisonView
from leafward_tui.ui.tab_head import TabHead
from leafward_tui.ui.title_bar import Fact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.geometry import Size

    from leafward.session.session import Session
    from leafward_tui.ui.key_bar import Hint
    from leafward_tui.ui.results import CompareResult

__all__ = ["CompareScreen"]


class CompareScreen(BaseScreen["CompareResult | None"]):
    """Two nodes compared. Ends with what is wanted of the explorer, or with None."""

    NAME: ClassVar[str] = "compare"
    BINDINGS: ClassVar[list[BindingType]] = [*intent_bindings("compare")]

    DEFAULT_CSS = """
    CompareScreen {
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
        self.state = CompareState(session, ReadState((a, b)), mark)

    def compose_content(self) -> ComposeResult:
        """Head, tabs, then the page: files over a diff, or lines."""
        self.head = CompareHead()
        self.tabs = TabHead(id="compare-tabs")
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
        self._control()
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

    def _control(self) -> None:
        """Makes the controllers, and says which keys go to which."""
        state, shell = self.state, self.shell
        jobs = shell.jobs(self)
        self.content = Content(state, self, jobs, shell.glyphs)
        self.files = Files(state, self, jobs, shell, self.content)
        self.pages = Pages(state, self, shell, self.files)
        self.cursor_keys = Cursor(state, self, shell, self.content, self.files, self.pages)
        self.search = Search(state, self, jobs, self.content, self.files, self.pages, self.cursor_keys)
        self.loader = Loader(state, self, jobs, self.content, self.files, self.pages)
        self.route(
            RowSteps(self.cursor_keys.step, self.cursor_keys.rows_seen),
            self.cursor_keys,
            self.content,
            self.files,
            self.pages,
            self.search,
            self.loader,
            Export(state, self, jobs, shell),
            Transfer(state, self, jobs, shell, self.content),
        )

    def mounted(self) -> None:
        """Shows the shell, and looks behind it."""
        self.files.recall()
        self.show_title()
        self.pages.show()
        self.lists[Column.BOTH].focus()
        self.loader.load()

    def on_unmount(self) -> None:
        """What is still being rebuilt ends."""
        self.state.closed.set()

    # --- messages of the widgets --------------------------------------------------------------------------------------

    def on_tab_head_tab_wanted(self, message: TabHead.TabWanted) -> None:
        """A tab was clicked."""
        message.stop()
        self.pages.turn(Page(message.tab))

    def on_lines_view_chosen(self, message: LinesView.Chosen) -> None:
        """A line was clicked."""
        message.stop()
        self.cursor_keys.clicked(message.view, message.key, twice=message.twice)

    def on_lines_view_lines_shown(self, message: LinesView.LinesShown) -> None:
        """The list was laid out for another size: the diff stays with its file."""
        message.stop()
        if message.view in self.lists.values() and self.state.read.overall is not None:
            self.files.follow()

    def on_resize(self) -> None:
        """Three columns or one list, as there is room."""
        self.call_after_refresh(self._arrange)

    def _arrange(self) -> None:
        if self.is_attached:
            self.files.show()
            self.pages.show()
            self.show_title()
            if self.state.page is Page.FILES:
                self.files.list.focus()

    # --- what the controllers ask of it -------------------------------------------------------------------------------

    @property
    def room(self) -> Size:
        """Cells and rows of the terminal."""
        return self.app.size

    @property
    def three_columns(self) -> bool:
        """Whether the columns stand beside each other."""
        width, height = self.app.size
        return width >= 120 and height >= 30

    @property
    def on_top(self) -> bool:
        """Whether no other screen lies over it."""
        return self.app.screen is self

    def show_panes(self, page: Page) -> None:
        """Shows the panes of a tab."""
        self.set_class(page is Page.CONTENTS, "-contents")
        self.set_class(page in (Page.CONTEXT, Page.OUTCOME), "-lines")
        self.set_class(page is Page.SUMMARY, "-summed")
        self.set_class(not self.three_columns, "-one-list")
        self.call_after_refresh(self._join_rules)

    def _join_rules(self) -> None:
        if self.is_attached and self.three_columns:
            rules = list(self.query("#sets ColumnRule"))
            self.sets_rule.join(rules[0].region.x + 1, through=(rules[1].region.x + 1,))
        else:
            self.sets_rule.join()

    def give_rows(self, rows: int) -> None:
        """Gives the lists so many rows."""
        self.query_one("#sets").styles.height = rows

    def close(self, result: CompareResult) -> None:
        """Closes with what is wanted of the explorer."""
        self.dismiss(result)

    # --- title and keys -----------------------------------------------------------------------------------------------

    @property
    def refusal(self) -> str:
        """Why nothing can be written to the session; empty where it can."""
        return self.state.session.read_only or ""

    def show_title(self) -> None:
        """Which session, and what both have in common."""
        session, glyphs, seen = self.state.session, self.shell.glyphs, self.state.read.overall
        first = session.columns.kind.find(Kind.USER)
        title = session.name or (headline(session, first).text if first >= 0 else session.path.stem)
        facts = []
        if (found := self.search.hits.fact()) is not None:
            facts.append(found)
        if seen is not None:
            ancestor = seen.sides.ancestor
            if ancestor >= 0:
                facts.append(Fact(f"common ancestor #{ancestor:,}", short=f"from #{ancestor:,}", keep=5))
            if seen.plain:
                facts.append(Fact(seen.plain, keep=4, hue="warn"))
            elif self.app.size.width >= 120 and seen.ancestor:
                words = fit(seen.ancestor, self.app.size.width // 4, ellipsis=glyphs.ellipsis)
                facts.append(Fact("", words, short="", keep=1))
        project = safe_line(session.cwd.rstrip("/").rpartition("/")[2], 30)
        room = max(16, self.app.size.width - 90 - cell_len(project))
        named = fit(safe_line(title, 200), room, ellipsis=glyphs.ellipsis)
        crumb = f"{project} {glyphs.crumb} {named}" if project else named
        self.title_bar.show("Compare", crumb=crumb, facts=facts)

    def hints(self) -> Sequence[Hint]:
        """The keys that matter now."""
        return hints_of(
            self.state,
            searched=bool(self.search.words),
            three_columns=self.three_columns,
            on_fold=self.content.fold_here >= 0,
        )
