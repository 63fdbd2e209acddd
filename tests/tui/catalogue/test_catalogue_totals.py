"""The totals of the catalogue: sums that add up, at every size of the screen, with what was repeated after compactions."""

from __future__ import annotations

import shutil
import threading
from datetime import timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from leafward.catalogue.usage.totals import Sum, Totals, totals
from leafward.cli.aftermath_totals import aftermath_text
from leafward.cli.output.page import Page
from leafward.compaction.aftermath.aftermath_totals import OWN, AftermathSum, Maker
from leafward_tui.catalogue.model.listing import (
    Grouping,
    LineKind,
)
from leafward_tui.catalogue.model.totals_table import (
    AftermathReading,
    aftermath_rows,
    aftermaths,
    totals_rows,
)
from leafward_tui.catalogue.totals import TotalsScreen
from leafward_tui.ui.sheets.key_help import HelpScreen
from tests.compacted_session import Compacted
from tests.tui.session_store import (
    HELD,
    NARROW,
    WIDE,
    SessionFile,
    browsing,
    lines_of,
    reached,
    rested,
    rows,
    shows,
    until,
)

if TYPE_CHECKING:
    from pathlib import Path

    from leafward_tui.ui.jobs import Job


def test_heads_add_up_to_the_totals(mixed: Path) -> None:
    for grouping in Grouping:
        listing = lines_of(mixed, grouping=grouping, archived=True)
        heads = [line for line in listing.lines if line.kind is LineKind.GROUP]
        used = sum(one.tokens for one in listing.stock.used.values())
        assert grouping is Grouping.NONE or sum(line.used.tokens for line in heads) == used
        assert used > 0


def test_rows_of_the_totals_add_up(mixed: Path) -> None:
    stock = lines_of(mixed).stock
    table = totals_rows(totals(stock.cards, stock.status.spent), frozenset({"/home/ada/attic"}))
    whole = next(row for row in table if row.name == "Total")
    assert whole.figures[0] == str(len(stock.cards))
    heads = [number for number, row in enumerate(table) if row.head]
    for first, last in zip(heads[1:], [*heads[2:], len(table)], strict=True):
        part = [row for row in table[first + 1 : last] if row.figures and not row.quiet]
        if table[first].name != "By day of use":
            assert sum(int(row.figures[0]) for row in part) == len(stock.cards)
    assert [row.name for row in table if row.missing] == ["/home/ada/attic"]
    assert max(row.share for row in table) == 1.0


async def test_the_totals_are_of_what_is_listed(mixed: Path) -> None:
    async with browsing(mixed) as (pilot, screen):
        await pilot.press("slash", *"theme", "enter")
        await shows(pilot, screen, lambda listing: listing.view.text == "theme")
        await pilot.press("dollar_sign")
        await reached(pilot, TotalsScreen)
        text = "\n".join(rows(pilot.app))
        assert "Totals" in text
        assert f"{screen.sessions.listing.shown + 1} of {screen.sessions.listing.total} sessions" in text
        await pilot.press("G", "q")
        await until(pilot, lambda: pilot.app.screen is screen)


@pytest.mark.parametrize(("size", "whole"), [((120, 60), True), ((80, 24), False)])
async def test_the_totals_use_the_height(mixed: Path, size: tuple[int, int], whole: bool) -> None:
    async with browsing(mixed, size=size) as (pilot, _):
        await pilot.press("dollar_sign")
        totals = await reached(pilot, TotalsScreen)
        await until(pilot, lambda: totals.rows.size.height)
        assert (totals.rows.size.height >= totals.rows.count) == whole
        assert totals.rows.outer_size.height > 20


async def test_the_totals_in_sixty_columns_name_each_project_and_its_cost(mixed: Path) -> None:
    async with browsing(mixed, size=(60, 40)) as (pilot, screen):
        await pilot.press("dollar_sign")
        totals = await reached(pilot, TotalsScreen)
        await until(pilot, lambda: totals.rows.size.height)
        width = totals.rows.scrollable_content_region.width
        drawn = [
            "".join(piece.text for piece in totals.rows.render_line(y)) for y in range(totals.rows.count)
        ]
        heads = [row for row in drawn if row.split()[-3:] == ["sessions", "tokens", "cost"]]
        assert heads
        assert {len(row.rstrip()) for row in heads} == {width}, "the cost is in sight"
        paths = [line for line in totals.lines if line.path]
        assert any(line.missing for line in paths)
        for line in paths:
            row = drawn[totals.lines.index(line)]
            assert row.strip().startswith(("/", "~", "…")), row
            assert line.name.rpartition("/")[2][:12] in row, row
            assert row.split()[-2:] == [line.figures[1], line.figures[2]] if line.figures[2] else True
        for line in totals.lines:
            if line.share >= 0:
                assert drawn[totals.lines.index(line)].startswith(line.name)
        await pilot.press("q")
        await until(pilot, lambda: pilot.app.screen is screen)


async def test_the_totals_tell_projects_of_one_name_apart(tmp_path: Path) -> None:
    folders = ("/gone/soph/work/entire/devenv/cli", "/gone/alex/work/space/workspace/cli")
    for folder in folders:
        SessionFile(tmp_path, folder, "begin", ago=timedelta(hours=1)).turn("go on")
    async with browsing(tmp_path, size=NARROW) as (pilot, _):
        await pilot.press("dollar_sign")
        totals = await reached(pilot, TotalsScreen)
        await until(pilot, lambda: totals.rows.size.height)
        text = "\n".join(rows(pilot.app))
        assert "/devenv/cli  no folder" in text, "the words of the key bar for a folder that is missing"
        assert "/workspace/cli  no folder" in text


@pytest.mark.parametrize("size", [WIDE, NARROW, (60, 24)])
async def test_a_project_without_its_folder_says_so_however_long_its_name_is(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    """It fails where the remark gives way to the name, or the name to the remark."""
    folder = "/gone/clients/northern-lights-observatory/telescope-scheduling-service"
    SessionFile(tmp_path, folder, "begin", ago=timedelta(hours=1)).turn("go on")
    async with browsing(tmp_path, size=size) as (pilot, _):
        await pilot.press("dollar_sign")
        totals = await reached(pilot, TotalsScreen)
        await until(pilot, lambda: totals.rows.size.height)
        text = "\n".join(rows(pilot.app))
        assert "no folder" in text or "project folder not found" in text
        assert "telescope-" in text
        assert "service" in text


@pytest.mark.parametrize("size", [WIDE, NARROW])
async def test_the_totals_add_up_what_was_repeated(tmp_path: Path, size: tuple[int, int]) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    file = Compacted(folder / "s.jsonl")
    file.repeats()
    # A copy shares the compaction: it counts once.
    shutil.copy(file.path, folder / "copy.jsonl")
    async with browsing(folder, size=size) as (pilot, _):
        await pilot.press("dollar_sign")
        totals = await reached(pilot, TotalsScreen)
        await until(pilot, lambda: totals.followed is not None)
        await pilot.press("G")
        await pilot.pause()
        head, line = (
            next(row for row in rows(pilot.app) if words in row)
            for words in ("Repeated after", "pi, scripted-1")
        )
        assert head.split("compactions", 1)[1].split()[:4] == ["compactions", "repeats", "tokens", "cost"]
        assert line.split("scripted-1")[1].split()[:3] == ["1", "4", str(file.aftermath().tokens)]
        assert "counting" not in "\n".join(rows(pilot.app))
        await pilot.press("q")


async def test_the_totals_are_added_up_beside_the_screen(
    mixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 10,000 sessions the sums take 140 ms, and the look for those that a filter finds 30 ms more."""
    threads, free = [], threading.Event()

    def slow(*args: Any) -> Totals:
        threads.append(threading.current_thread())
        free.wait(HELD)
        return totals(*args)

    monkeypatch.setattr("leafward.catalogue.usage.totals.totals", slow)
    async with browsing(mixed) as (pilot, _):
        await pilot.press("dollar_sign")
        await until(pilot, lambda: bool(threads))
        assert threads[0] is not threading.main_thread()
        await pilot.press("question_mark")
        await reached(pilot, HelpScreen)
        free.set()
        await rested(pilot)
        assert isinstance(pilot.app.screen, HelpScreen), "totals never come over another screen"
        await pilot.press("q")


def test_the_aftermath_of_many_sessions_is_reported_now_and_then(mixed: Path) -> None:
    card = lines_of(mixed).stock.cards[0]
    gone = [card._replace(compactions=1, problem=None, path=f"{mixed}/none-{n}") for n in range(300)]
    reports: list[object] = []
    job = cast("Job", SimpleNamespace(report=reports.append, unwanted=lambda: False))
    assert aftermaths(gone, lambda _found: None, job).unread == 300
    assert 1 <= len(reports) < 30


def test_figures_that_still_grow_say_so_at_their_head() -> None:
    sums = {Maker("pi", "anthropic/a", OWN): AftermathSum(compactions=2)}
    names = [row.name for row in aftermath_rows(AftermathReading(sums, 2, 3, 0))]
    assert names[1:] == ["Repeated after compactions", "counting: session 3 of 3 with compactions", "pi, a"]


def test_a_model_without_a_name_reads_as_on_the_command_line() -> None:
    sums = {Maker("pi", model, OWN): AftermathSum(compactions=2) for model in ("", "anthropic/a", "acme/")}
    names = {row.name for row in aftermath_rows(AftermathReading(sums, 3, 3, 0))}
    assert {"pi, a", "pi, unknown model"} <= names
    text = "\n".join(aftermath_text(list(sums.items()), Page(100)))
    assert text.count("unknown model") == 2


async def test_the_totals_explain_their_signs_and_words(mixed: Path) -> None:
    async with browsing(mixed) as (pilot, _):
        await pilot.press("dollar_sign")
        await reached(pilot, TotalsScreen)
        await pilot.press("question_mark")
        await reached(pilot, HelpScreen)
        text = "\n".join(rows(pilot.app))
        assert "No session of the row records its cost" in text
        assert "Sent and received in all requests" in text


@pytest.mark.parametrize(
    ("priced", "signs"), [(0, "? means none recorded"), (1, "+ means at least that, ? none")]
)
def test_the_note_on_costs_explains_only_signs_that_are_there(priced: int, signs: str) -> None:
    used = Sum(sessions=2, tokens=10, cost=0.5 * priced, unpriced=1, priced=priced)
    rows = totals_rows(Totals(used, {"/work": used}, {"pi": used}, {}, {}), frozenset())
    note = next(row.name for row in rows if "cost not recorded" in row.name)
    assert signs in note
    assert ("+" in note) == any("+" in figure for row in rows for figure in row.figures)
