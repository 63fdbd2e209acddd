"""The controllers of the comparison, without a terminal: a fake screen, jobs that run when they are told to."""

from __future__ import annotations

import threading
from contextlib import closing
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from textual.geometry import Size

from leafward.session.session import Session
from leafward_tui.compare.controllers.content import Content
from leafward_tui.compare.controllers.cursor import Cursor
from leafward_tui.compare.controllers.files import Files
from leafward_tui.compare.controllers.loader import SidesLoader
from leafward_tui.compare.controllers.pages import Pages
from leafward_tui.compare.controllers.search import Search
from leafward_tui.compare.controllers.transfer import Transfer
from leafward_tui.compare.display import CompareDisplay
from leafward_tui.compare.model.files import Column
from leafward_tui.compare.screen import CompareScreen
from leafward_tui.compare.state import CompareState, ContentState, FilesState, Page, PageState, ReadState
from leafward_tui.ui.appearance.glyphs import UNICODE
from leafward_tui.ui.screens.screen_controller import Means
from tests.acting import call
from tests.tui.compared import comparing, parted, settled
from tests.tui.fake_lines import FakeLines
from tests.tui.session_store import until
from tests.tui.sure import sure
from tests.tui.waiting_jobs import WaitingJobs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from leafward_tui.compare.controllers.controller import CompareMeans
    from leafward_tui.ui.screen_results import CompareResult

SIZE = Size(100, 30)


class FakeScreen:
    """The screen as the controllers see it."""

    size = SIZE
    three_columns = True
    on_top = True
    refusal = ""
    tell = CompareDisplay.tell

    def __init__(self, state: CompareState) -> None:
        self._state = state
        self.note = ("", "")
        self.lists = {column: FakeLines(SIZE) for column in Column}
        self.diff, self.lines = FakeLines(SIZE), FakeLines(SIZE)
        rows = SimpleNamespace(show=lambda _make: None, refresh=lambda: None, size=SIZE)
        self.heads = dict.fromkeys(Column, rows)
        self.diff_head = self.side = self.sentence = self.summary_head = rows
        self.head = self.tabs = SimpleNamespace(show=lambda *_, **__: None)
        self.summary = SimpleNamespace(
            show=lambda *_: None, light=lambda _: None, focus=lambda: None, lines=(), line=None, cursor=0
        )
        self.files_page = SimpleNamespace(give_rows=lambda _rows: None)
        self.results: list[CompareResult] = []
        self.went_back = False
        self.said = ""
        self.key_bar = SimpleNamespace(say=lambda text: setattr(self, "said", text))

    def set_timer(self, _delay: float, callback: Callable[[], object]) -> SimpleNamespace:
        callback()
        return SimpleNamespace(stop=lambda: None)

    def dismiss(self, result: CompareResult) -> None:
        self.results.append(result)

    def go_back(self) -> None:
        self.went_back = True

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name in ("show_title", "show_hints", "show_panes", "open_sheet"):
            return lambda *_: None
        raise AttributeError(name)


class Comparison:
    """The controllers over a fake screen."""

    def __init__(self, session: Session) -> None:
        a = next(at for at in session.tree.leaves() if at != session.place)
        self.state = CompareState(session, ReadState((a, session.place)))
        self.screen, self.jobs = FakeScreen(self.state), WaitingJobs()
        self.kept: dict[str, object] = {}
        self.copied: list[str] = []
        self.view: CompareDisplay = cast("Any", self.screen)
        view, jobs = self.view, cast("Any", self.jobs)
        services: Any = SimpleNamespace(
            glyphs=UNICODE,
            keymap=SimpleNamespace(label=lambda _intent: "p"),
            recall=self.kept.get,
            remember=self.kept.__setitem__,
            copy=self.copied.append,
        )
        means: CompareMeans = Means(self.state, view, services, jobs)
        self.content = Content(means)
        self.files = Files(means, self.content)
        self.pages = Pages(means, self.files)
        self.cursor = Cursor(means, self.content, self.files, self.pages)
        self.search = Search(means, self.content, self.files, self.pages, self.cursor)
        self.loader = SidesLoader(means, self.content, self.files, self.pages)
        self.transfer = Transfer(means)

    def load(self) -> None:
        self.loader.load()
        while "compare" in self.jobs.waiting:
            self.jobs.run("compare")


@pytest.fixture
def comparison(tmp_path: Path) -> Iterator[Comparison]:
    with closing(Session.open(parted(tmp_path / "s.jsonl").path)) as session:
        yield Comparison(session)


def test_reading_fills_the_state_and_puts_the_cursor_on_what_both_edited(comparison: Comparison) -> None:
    comparison.load()
    read, files = comparison.state.read, comparison.state.files
    assert None not in (read.overall, read.messages, read.summaries, read.carried)
    assert sure(files.file).path == "src/store.py"
    comparison.jobs.run("content")
    assert comparison.state.content.shown is not None
    comparison.jobs.run("same files")
    assert files.same == {
        False: {"src/store.py": False, "notes/only-a.md": None},
        True: {},
    }


@pytest.mark.parametrize(("height", "rows"), [(30, 6), (32, 7), (60, 26), (90, 31)])
def test_many_files_get_the_rows_of_a_high_screen(tmp_path: Path, height: int, rows: int) -> None:
    """It fails where the lists get a third of the rows however many the diff leaves empty."""
    file = parted(tmp_path / "s.jsonl")
    for number in range(29):
        file.said(call("read", f"c{number}", path=f"docs/{number}.md"))
        file.answered(f"c{number}", "read", "text")
    with closing(Session.open(file.path)) as session:
        comparison, given = Comparison(session), list[int]()
        comparison.screen.size = Size(200, height)
        comparison.screen.files_page = SimpleNamespace(give_rows=given.append)
        comparison.load()
        assert given[-1] == 1 + rows


def test_swapping_gives_up_what_is_under_way(comparison: Comparison) -> None:
    comparison.load()
    ends = comparison.state.read.ends
    assert {"content", "same files"} <= set(comparison.jobs.waiting)
    comparison.loader.swap()
    assert set(comparison.jobs.waiting) == {"compare"}
    assert comparison.state.read == ReadState(ends[::-1])
    assert comparison.state.files.file is None
    comparison.loader.swap()
    assert comparison.state.read.ends == ends[::-1], "nothing is swapped before it is read"


def test_a_file_that_was_rebuilt_is_not_rebuilt_for_another_layout(comparison: Comparison) -> None:
    comparison.load()
    comparison.jobs.run("content")
    comparison.content.fold()
    comparison.jobs.run("content")
    comparison.content.show_ancestor()
    comparison.jobs.run("content")
    assert comparison.state.content.rebuilt == 1
    assert len(comparison.state.content.laid) == 3


def test_contents_that_cannot_be_read_are_not_those_of_the_file_before(
    comparison: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparison.load()
    comparison.jobs.run("content")
    before = comparison.state.content.shown
    assert before is not None

    def gone(*_given: object, **_more: object) -> None:
        raise OSError("the session is gone")

    monkeypatch.setattr("leafward_tui.compare.controllers.content.arranged_content", gone)
    comparison.content.show_ancestor()
    comparison.jobs.run("content")
    assert comparison.state.content.shown is None
    assert comparison.screen.note == ("the session is gone", "bad")


def test_folds_that_a_search_opened_are_folded_when_it_ends(comparison: Comparison) -> None:
    comparison.load()
    comparison.jobs.run("content")
    comparison.pages.turn(Page.CONTENTS)
    comparison.search.hits.search("line 20")
    comparison.jobs.run("search")
    assert comparison.state.content.opened
    comparison.jobs.run("content")
    comparison.jobs.run("search")
    assert len(comparison.search.hits.hits) == 1
    comparison.search.leave()
    assert comparison.state.content.opened == {}
    comparison.search.leave()
    assert comparison.state.page is Page.FILES
    assert not comparison.screen.went_back
    comparison.search.leave()
    assert comparison.screen.went_back


def test_a_search_of_another_tab_leaves_the_hits_of_this_one(comparison: Comparison) -> None:
    comparison.load()
    comparison.jobs.run("content")
    comparison.pages.turn(Page.CONTENTS)
    comparison.search.hits.search("line")
    assert comparison.jobs.running("search")
    comparison.pages.turn(Page.FILES)
    assert not comparison.jobs.running("search")
    assert comparison.search.hits.hits == []


def test_what_cannot_be_written_is_said_and_nothing_is_drafted(comparison: Comparison) -> None:
    comparison.load()
    comparison.screen.refusal = "read only"
    comparison.transfer.ask()
    comparison.transfer.ask_facts()
    assert comparison.screen.note == ("read only", "warn")
    assert not comparison.jobs.running("carry")


def test_what_is_said_is_seen_on_every_tab(comparison: Comparison) -> None:
    comparison.view.tell("no fact is missing")
    assert comparison.screen.said == "", "the sentence of the tab Files says it"
    comparison.state.pages.page = Page.OUTCOME
    comparison.view.tell("no fact is missing")
    assert comparison.screen.said == "no fact is missing"


def test_the_file_under_the_cursor_is_followed_into_the_tree(comparison: Comparison) -> None:
    comparison.files.show_timeline()
    assert not comparison.screen.results
    comparison.load()
    comparison.files.show_timeline()
    assert [result.touching for result in comparison.screen.results] == ["src/store.py"]


# --- with the screen --------------------------------------------------------------------------------------------------


async def test_the_state_is_written_in_the_thread_of_the_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, elsewhere = threading.get_ident(), set[str]()

    def watched(kind: type) -> None:
        before: Any = kind.__setattr__

        def write(self: object, name: str, value: object) -> None:
            if threading.get_ident() != here:
                elsewhere.add(f"{kind.__name__}.{name}")
            before(self, name, value)

        monkeypatch.setattr(kind, "__setattr__", write)

    for kind in (CompareScreen, CompareState, ContentState, FilesState, PageState, ReadState):
        watched(kind)
    async with comparing(parted(tmp_path / "s.jsonl").path) as (pilot, _, screen):
        for key in ("left", "right", "C", "z", "B", "V", "2", "3", "M"):
            await pilot.press(key)
        await until(pilot, lambda: settled(screen))
    assert elsewhere == set()
