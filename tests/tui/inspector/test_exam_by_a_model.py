"""A model sits the exam of a stored compaction in the app, over real HTTP on loopback: shown first, cancelled, kept."""

from __future__ import annotations

from contextlib import asynccontextmanager, closing
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from leafward.base.config import Config
from leafward.compaction.exam.grade import exam_of
from leafward.compaction.exam.sitting import kept_as, kept_exams
from leafward.session.session import Session
from leafward_tui.explorer.screen import ExplorerScreen
from leafward_tui.inspector.page import EXAM
from leafward_tui.inspector.pane import Inspector
from leafward_tui.inspector.tab import Tab
from leafward_tui.lab.model.exam_lines import SIT, exam_lines
from leafward_tui.ui.appearance.glyphs import UNICODE
from leafward_tui.ui.sheets.exam_request import given_lines
from leafward_tui.ui.sheets.reading_sheet import ReadingSheet
from leafward_tui.ui.sheets.sheet import TextSheet
from tests.acting import Acting, call
from tests.model_endpoint import Endpoint, Reply
from tests.tui.considered import considering, stored
from tests.tui.explored import NARROW, WIDE, exploring, ready
from tests.tui.pictures import FixedApp
from tests.tui.session_store import complete, reached, rows, until, whole_text
from tests.tui.sure import sure

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from textual.pilot import Pilot


pytestmark = [
    pytest.mark.litellm,
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
]

SECRET = "sk-ant-api03-abcdefghijklmnop0123456789"


def worked(path: Path) -> Acting:
    made = Acting(path)
    made.user("Build the queue for the shop first.")
    for number, name in enumerate(("src/queue.py", "src/store.py")):
        made.said(call("write", f"w{number}", path=name, content="a = 1\n"))
        made.answered(f"w{number}", "write")
    made.said(call("bash", "b", command="python -m pytest tests/test_queue.py"))
    made.answered("b", "bash", "")
    made.said(call("bash", "t", command="python -m pytest -q"))
    made.answered("t", "bash", "2 passed in 0.1s")
    return made


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = worked(tmp_path / "s.jsonl")
    made.compacted(made.user("go on"), f"The tests run with `python -m pytest -q`, the key is {SECRET}.")
    made.said("Going on.")
    return made.path


def continued(path: Path, leaf: str) -> Acting:
    """A writer that goes on at an entry of a session file, as its agent does."""
    file = Acting.__new__(Acting)
    file.path, file.count, file.leaf = path, 900, leaf
    return file


@asynccontextmanager
async def offered(path: Path, config: Config) -> AsyncIterator[tuple[Pilot[int], ExplorerScreen, int]]:
    """The Compaction tab with the cursor on the line that asks a model, and the compaction."""
    async with exploring(path, (120, 32), config) as (pilot, explorer):
        await pilot.press("3", "tab")
        inspector = explorer.panes.inspector
        await until(pilot, lambda: inspector.page is not None and inspector.page.tab is Tab.COMPACTION)
        await on_line(pilot, explorer, "exam")
        await pilot.press("enter")
        toggle = await on_line(pilot, explorer, EXAM)
        yield pilot, explorer, int(toggle.removeprefix(EXAM))


async def on_line(pilot: Pilot[int], explorer: ExplorerScreen, toggle: str) -> str:
    """Steps down to the line with a toggle that begins so."""
    inspector = explorer.panes.inspector
    assert isinstance(inspector, Inspector)
    view = inspector.view
    for _ in range(60):
        lines = view.page.lines if view.page is not None else []
        if 0 <= view.cursor < len(lines) and lines[view.cursor].toggle.startswith(toggle):
            return lines[view.cursor].toggle
        await pilot.press("j")
        await pilot.pause()
    raise AssertionError(f"no line with {toggle}")


def ended(sheet: ReadingSheet) -> bool:
    return not sheet.running


def asking(endpoint: Endpoint, model: str | None = "openai/x") -> Config:
    return Config(
        model=model,
        base_urls={"openai": endpoint.base_url},
        summaries_attempts=1,
        follow_interval=0.02,
    )


def letters(path: Path, compaction: int) -> str:
    """The right answer to the first question, and none to the others."""
    with closing(Session.open(path)) as session:
        first, *others = exam_of(session, compaction).graded
    return "\n".join([f"1 {'ABCD'[first.question.right]}", *(f"{n} -" for n, _ in enumerate(others, 2))])


async def test_it_is_shown_sent_graded_and_kept(path: Path, endpoint: Endpoint) -> None:
    before = stored(path)
    async with offered(path, asking(endpoint)) as (pilot, explorer, compaction):
        endpoint.script = [Reply(letters(path, compaction))]
        await pilot.press("enter")
        sheet = await whole_text(pilot)
        await pilot.pause()
        text = "\n".join(rows(pilot.app))
        assert "1 secret redacted" in text
        assert "send it to openai/x" in text
        assert endpoint.root.removeprefix("http://") in text
        assert "price not known" in text
        assert SECRET not in sheet.text
        assert "a = 1" not in sheet.text, "nothing of what was replaced is sent"
        assert (endpoint.asked, stored(path)) == ([], before)
        shown = sheet.text
        await pilot.press("enter")
        await until(pilot, lambda: stored(path) != before)
        (sent,) = endpoint.asked
        assert shown.endswith(sent.prompt)
        done = await whole_text(pilot)
        assert "right: src/store.py" in done.text
        assert "given: no answer" in done.text
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is explorer)
        told = "openai/x: 1 of 2 right, price not known; kept with the compaction"
        await until(pilot, lambda: told in "\n".join(rows(pilot.app)))
        # The exam is still open, with the cursor on its last line.
        await until(pilot, lambda: "openai/x  1 of 2 right" in "\n".join(rows(pilot.app)))
        inspector = explorer.panes.inspector
        assert isinstance(inspector, Inspector)
        view = inspector.view
        assert sure(view.page).lines[view.cursor].toggle.startswith(EXAM)
    assert stored(path).startswith(before)
    with closing(Session.open(path)) as session:
        (kept,) = kept_exams(session, compaction)
    assert (kept["model"], kept["right"], kept["asked"]) == ("openai/x", 1, 2)


async def test_answers_are_kept_where_the_agent_went_on_meanwhile(path: Path, endpoint: Endpoint) -> None:
    async with offered(path, asking(endpoint)) as (pilot, explorer, compaction):
        endpoint.script = [Reply(letters(path, compaction))]
        await pilot.press("enter")
        await whole_text(pilot)
        session = sure(explorer.state.session)
        continued(path, session.columns.id(session.leaf)).user("and now?")
        await pilot.press("enter")
        await until(pilot, lambda: b"leafward.exam" in stored(path))
        assert "not kept" not in (await whole_text(pilot)).text
    with closing(Session.open(path)) as session:
        assert len(kept_exams(session, compaction)) == 1


async def test_esc_sends_nothing_and_gives_up_what_was_sent(path: Path, endpoint: Endpoint) -> None:
    before = stored(path)
    endpoint.script = [Reply("1 A\n2 B", end="stall", after=1)]
    async with offered(path, asking(endpoint)) as (pilot, explorer, _):
        for send in (False, True):
            await pilot.press("enter")
            sheet = await reached(pilot, ReadingSheet)
            await until(pilot, partial(ended, sheet))
            if send:
                await pilot.press("enter")
                await until(pilot, lambda: bool(endpoint.asked))
            assert len(endpoint.asked) == send
            await pilot.press("escape")
            await until(pilot, lambda: pilot.app.screen is explorer)
        await until(pilot, endpoint.asked[0].gone.is_set)
    assert stored(path) == before


async def test_a_failure_is_said_and_nothing_is_written(path: Path, endpoint: Endpoint) -> None:
    before = stored(path)
    endpoint.script = [Reply(finish="length")]
    async with offered(path, asking(endpoint)) as (pilot, _, _):
        await pilot.press("enter")
        sheet = await whole_text(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: pilot.app.screen is not sheet)
        failed = await whole_text(pilot)
        await until(pilot, lambda: "1,500 tokens spent" in "\n".join(rows(pilot.app)))
        assert failed.text == ""
    assert stored(path) == before


async def test_without_a_configured_model_one_is_named(path: Path, endpoint: Endpoint) -> None:
    async with offered(path, asking(endpoint, None)) as (pilot, _, _):
        await pilot.press("enter")
        await reached(pilot, TextSheet)
        await pilot.press(*"openai/x", "enter")
        await whole_text(pilot)
        await until(pilot, lambda: "send it to openai/x" in "\n".join(rows(pilot.app)))
    assert endpoint.asked == []


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_what_would_be_sent(
    snap_compare: Any, demo: Path, monkeypatch: pytest.MonkeyPatch, size: tuple[int, int]
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")

    async def before(pilot: Pilot[int]) -> None:
        explorer = pilot.app.screen
        assert isinstance(explorer, ExplorerScreen)
        await until(pilot, lambda: ready(explorer))
        await pilot.press("3", *(["tab"] if size == WIDE else []))
        await on_line(pilot, explorer, "exam")
        await pilot.press("enter")
        await on_line(pilot, explorer, EXAM)
        await pilot.press("enter")
        await whole_text(pilot)
        await complete(pilot)

    app = FixedApp(demo, Config(model="anthropic/claude-haiku-4-5"))
    assert snap_compare(app, terminal_size=size, run_before=before)


async def test_a_draft_sits_it_in_the_lab_and_nothing_is_written(tmp_path: Path, endpoint: Endpoint) -> None:
    made = worked(tmp_path / "d.jsonl")
    made.said(f"Built: the key is {SECRET}.")
    made.user("go on with the pages of the shop")
    made.said("Going on with them.")
    path = made.path
    before = stored(path)
    async with considering(path, config=asking(endpoint, None)._replace(keep_recent=1)) as (pilot, screen):
        screen.controllers.layout.go_to("text", "Exam")
        exam = screen.state.exam
        await until(pilot, lambda: exam.result is not None)
        await pilot.pause()
        assert exam.result is not None
        _, asked = exam.result.count()
        assert asked
        endpoint.script = [Reply("\n".join(f"{number} A" for number in range(1, asked + 1)))]
        assert screen.panes.text.go(SIT)
        await pilot.press("enter")
        await reached(pilot, TextSheet)
        await pilot.press(*"openai", "slash", "x", "enter")
        sheet = await whole_text(pilot)
        assert SECRET not in sheet.text
        assert endpoint.asked == []
        await pilot.press("enter")
        await whole_text(pilot)
        (sent,) = endpoint.asked
        assert screen.state.draft is not None
        assert sheet.text.endswith(sent.prompt)
        await pilot.press("escape")
        await until(pilot, lambda: pilot.app.screen is screen)
        answers = tuple(kept_as(sure(screen.state.draft).exams))
        assert [(one.model, one.asked) for one in answers] == [("openai/x", asked)]
        await until(pilot, lambda: f"of {asked} right" in "\n".join(rows(pilot.app)))
        (given,) = answers
        for number, one in enumerate(exam.result.graded):
            block = exam_lines(exam.result, answers, 80, UNICODE)
            words = given_lines(one.question, given.model, given.answers[number], 74, UNICODE)[1]
            assert all(any(part in str(line) for line in block) for part in words)
    assert stored(path) == before
