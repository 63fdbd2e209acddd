"""The strip: what stands in its lines for given values; and where clicks on strip, gauge and price line go."""

from __future__ import annotations

import random
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App

from leafward.context.entry_metrics import EntryMetrics
from leafward.session.session import Session
from leafward_tui.explorer.model.overview import Overview
from leafward_tui.explorer.model.overview_drawing import Drawing, draw
from leafward_tui.explorer.widgets.gauge import Gauge
from leafward_tui.explorer.widgets.strip import StripView
from leafward_tui.ui.appearance.glyphs import ASCII, UNICODE, Glyphs
from leafward_tui.ui.appearance.palette import built_in_theme
from leafward_tui.ui.appearance.theme import Styles, css_variables, textual_theme
from leafward_tui.ui.bars.price_line import KeyHint, PriceLine
from leafward_tui.ui.messages import IntentPressed
from tests.pi_file import PiFile
from tests.tui.bar_parts import FACTS, GLYPHS, MOVED, NOW, WORDS
from tests.tui.explorer.test_overview import random_file, reply
from tests.tui.session_store import until

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.message import Message


def overview(path: Path) -> Overview:
    session = Session.open(path)
    tallies = EntryMetrics(session)
    tallies.fill(session, range(len(session)))
    made = Overview.of(session, tallies)
    session.close()
    assert made is not None
    return made


@pytest.fixture
def orchard(tmp_path: Path) -> Overview:
    """Six columns, one of them a compaction; a branch of three turns at the second turn, one of one turn at the fifth."""
    file = PiFile(tmp_path / "orchard.jsonl")
    forks = []
    for total in (8_000, 16_000, 24_000, 32_000):
        file.user("go on")
        forks.append(reply(file, total, "error" if total == 24_000 else "stop"))
    compaction = file.entry("compaction", summary="so far", firstKeptEntryId="none0000", tokensBefore=32_000)
    reply(file, 8_000)
    for _ in range(3):
        file.user("other way", parent=forks[1] if _ == 0 else "?")
    file.user("aside", parent=compaction)
    file.user("last", parent=compaction)
    reply(file, 16_000)
    return overview(file.path)


def test_columns_are_numbered_as_turns_are_everywhere(orchard: Overview) -> None:
    assert [orchard.number_of(turn) for turn in range(len(orchard))] == [1, 2, 3, 4, 4, 5]


def texts(drawing: Drawing) -> list[str]:
    return [line.rstrip() for line in drawing.signs]


# --- the strip --------------------------------------------------------------------------------------------------------


def test_four_lines(orchard: Overview) -> None:
    assert texts(draw(orchard, 80, 4, UNICODE)) == [
        " to 32.0k        █",
        " context   ▄ █ █ █ ▄ █",
        " path      ━━┯━×━━━◆━◎",
        " branches    ╰╌╌╌╌ ╰─○+1",
    ]
    assert texts(draw(orchard, 80, 4, ASCII)) == [
        " to 32.0k        =",
        " context   . = = = . =",
        " path      ==+=x===#=@",
        " branches    `---- `-o+1",
    ]


def test_fewer_lines(orchard: Overview) -> None:
    bars = " context   ▂ ▄ ▄ █ ▂ ▄"
    path = " path      ━━┯━×━━━◆━◎"
    assert texts(draw(orchard, 80, 3, UNICODE)) == [bars, path, " branches    ╰╌╌╌╌ ╰─○+1"]
    assert texts(draw(orchard, 80, 2, UNICODE)) == [bars, path]
    assert texts(draw(orchard, 80, 1, UNICODE)) == [" context ▂▄▄█◆▄◎"]
    assert texts(draw(orchard, 40, 2, UNICODE)) == [" ▂ ▄ ▄ █ ▂ ▄", " ━━┯━×━━━◆━◎"]


def test_a_move_into_a_branch_is_seen_without_hue(orchard: Overview) -> None:
    branch = next(branch for branch in orchard.hanging if len(branch.heads) == 3)
    detour = orchard.detour(branch.heads[1])
    drawing = draw(orchard, 80, 4, UNICODE, detour)
    assert texts(drawing)[2:] == [" path      ━━┱╍×╍╍╍◆╍◎", " branches    ┗━━━●─○"]
    assert {drawing.inks[1][x] for x in (11, 13)} == {"faint"}
    assert {drawing.inks[1][x] for x in (15, 17, 19, 21)} == {"edge"}
    assert texts(draw(orchard, 80, 2, UNICODE, detour))[1] == " path      ━━┱━━━●╍◆╍◎"
    line = draw(orchard, 80, 1, UNICODE, detour)
    assert line.inks[0][9:16] == ("faint", "ghost", "edge", "edge", "memory", "edge", "leaf")


def test_a_move_up_the_path_ends_on_the_axis(orchard: Overview) -> None:
    drawing = draw(orchard, 80, 4, UNICODE, orchard.detour(orchard.heads[3]))
    assert texts(drawing)[2] == " path      ━━┯━×━●╍◆╍◎"
    assert drawing.inks[2][17] == "ghost"
    assert texts(draw(orchard, 80, 4, UNICODE, orchard.detour(-1)))[2] == " path      ●╍┯╍×╍╍╍◆╍◎"


def compactions_drawn(path: Path, count: int, width: int, height: int) -> str:
    """The axis of a session whose last turn goes on behind as many compactions."""
    file = PiFile(path)
    file.user("go on")
    reply(file, 8_000)
    for _ in range(count):
        file.entry("compaction", summary="so far", firstKeptEntryId="none0000", tokensBefore=32_000)
        reply(file, 8_000)
    drawing = draw(overview(path), width, height, UNICODE)
    return texts(drawing)[-2 if height > 2 else -1].split()[-1]


def test_every_compaction_has_its_sign(tmp_path: Path) -> None:
    """That of the last turn beside the leaf; several in one cell are a number."""
    assert compactions_drawn(tmp_path / "a.jsonl", 2, 100, 4) == "━━◆━◆◎"
    assert compactions_drawn(tmp_path / "b.jsonl", 2, 100, 2).count("◆") == 2
    crowded = compactions_drawn(tmp_path / "c.jsonl", 200, 100, 4)
    assert sum(1 if sign == "◆" else int(sign) for sign in crowded if sign == "◆" or sign.isdigit()) == 200


def test_hits_have_the_sign_of_a_row_with_one_but_underline_a_compaction(orchard: Overview) -> None:
    """The sign is not that of a rail."""
    drawing = draw(orchard, 80, 2, UNICODE, None, [0, 4, 5])
    assert texts(drawing)[1] == " path      ›━┯━×━━━◆━◎"
    assert [drawing.inks[1][x] for x in (11, 19)] == ["warn", "hit"]
    line = draw(orchard, 80, 1, UNICODE, None, [0, 4])
    assert texts(line) == [" context ▂▄▄█◆▄◎"], "on one line the bars stay, where each turn has a hit too"
    assert [line.inks[0][x] for x in (9, 10, 13)] == ["hit", "faint", "hit"]


def test_nothing_to_show_keeps_its_labels() -> None:
    assert texts(draw(None, 80, 4, UNICODE)) == ["", " context", " path", " branches"]
    assert texts(draw(None, 80, 1, UNICODE)) == [" context"]
    assert texts(draw(None, 30, 1, UNICODE)) == [""]


def test_what_hangs_nowhere_has_no_label(tmp_path: Path) -> None:
    file = PiFile(tmp_path / "one.jsonl")
    file.user("one")
    reply(file, 90_000)
    assert texts(draw(overview(file.path), 80, 4, UNICODE)) == [
        " to 90.0k  █",
        " context   █",
        " path      ◎",
        "",
    ]
    file.user("two")
    reply(file, 95_000)
    longer = overview(file.path)
    assert texts(draw(longer, 80, 4, UNICODE, longer.detour(longer.heads[0])))[3] == "", (
        "up the path nothing hangs"
    )


def test_of_a_thicket_the_longest_branches_are_drawn(tmp_path: Path) -> None:
    file = PiFile(tmp_path / "thicket.jsonl")
    for turn in range(200):
        fork = file.user(f"turn {turn}")
        for _ in range(40 if turn == 50 else turn % 2):
            file.user("elsewhere")
        file.leaf = fork
    file.user("the end")
    thicket = overview(file.path)
    drawing = draw(thicket, 80, 4, UNICODE)
    more = drawing.signs[3].rstrip()
    drawn = more.count(UNICODE.drop)
    assert more.endswith(f"  {len(thicket.hanging) - drawn} more")
    assert drawing.signs[2].count(UNICODE.axis_branch) >= drawn - 1
    column = drawing.axis.column(50) + drawing.left
    assert more[column : column + 14] == "╰────────────○"


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(0, 50), GLYPHS, st.data())
def test_every_line_is_as_wide_as_asked(seed: int, size: int, glyphs: Glyphs, data: st.DataObject) -> None:
    rng = random.Random(seed)
    with TemporaryDirectory() as folder:
        made = overview(random_file(Path(folder) / "s.jsonl", rng, size).path)
    for _ in range(8):
        width, height = data.draw(st.integers(0, 120)), data.draw(st.integers(0, 5))
        detour = made.detour(rng.randrange(size)) if size and rng.random() < 0.8 else None
        hits = sorted(rng.sample(range(len(made)), min(len(made), 3)))
        drawing = draw(made, width, height, glyphs, detour, hits)
        assert len(drawing.signs) == len(drawing.inks) == height
        assert [cell_len(line) for line in drawing.signs] == [width] * height
        assert [len(line) for line in drawing.inks] == [width] * height
        if len(made) and width > 20 and height > 1:
            assert glyphs.leaf in drawing.signs[1 if height == 2 else min(height, 4) - 2]
        for x in range(-3, width + 3):
            turns = drawing.turn_at(x)
            assert not turns or 0 <= turns.start < turns.stop <= len(made)


# --- on a screen ------------------------------------------------------------------------------------------------------


class Foot(App[None]):
    """The three widgets, below each other."""

    CSS = "Screen { overflow: hidden; } Gauge { width: 100%; } StripView { width: 100%; }"

    def __init__(self, shown: Overview) -> None:
        self.palette_now = built_in_theme("understory")
        self.styles_now = Styles.of(self.palette_now)
        super().__init__()
        self.glyphs = UNICODE
        self.shown = shown
        self.seen: list[Message] = []

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return css_variables(self.palette_now)

    def compose(self) -> ComposeResult:
        yield StripView()
        yield Gauge()
        yield PriceLine()

    def on_mount(self) -> None:
        self.register_theme(textual_theme(self.palette_now))
        self.theme = self.palette_now.name
        self.query_one(StripView).show(self.shown)

    def on_strip_view_turn_wanted(self, message: StripView.TurnWanted) -> None:
        self.seen.append(message)

    def on_intent_pressed(self, message: IntentPressed) -> None:
        self.seen.append(message)

    @property
    def wanted(self) -> list[int]:
        return [message.entry for message in self.seen if isinstance(message, StripView.TurnWanted)]


def screen(app: App[Any]) -> Sequence[str]:
    return ["".join(segment.text for segment in line) for line in app.screen._compositor.render_strips()]


async def test_clicks_go_to_turns_and_branches(orchard: Overview) -> None:
    app = Foot(orchard)
    async with app.run_test(size=(80, 12)) as pilot:
        for x, y in ((11, 0), (14, 1), (15, 2), (70, 2), (13, 3), (21, 3)):
            await pilot.click(StripView, offset=(x, y))
    long, short = orchard.hanging[0], orchard.hanging[1]
    assert app.wanted == [
        orchard.heads[0], orchard.heads[1], orchard.heads[2], orchard.place, long.heads[0], short.tip,
    ]  # fmt: skip


async def test_a_drag_goes_along(orchard: Overview) -> None:
    app = Foot(orchard)
    async with app.run_test(size=(80, 12)) as pilot:
        await pilot.mouse_down(StripView, offset=(11, 2))
        for x in (12, 13, 15):
            await pilot.hover(StripView, offset=(x, 2))
        await pilot.mouse_up(StripView, offset=(15, 2))
        await pilot.hover(StripView, offset=(19, 2))
        assert app.query_one(StripView).tooltip is not None
    assert app.wanted == list(orchard.heads[:3])


async def test_setters_draw_again(orchard: Overview) -> None:
    app = Foot(orchard)
    async with app.run_test(size=(140, 12)) as pilot:
        strip, gauge, price = app.query_one(StripView), app.query_one(Gauge), app.query_one(PriceLine)
        branch = orchard.hanging[0]
        strip.set_ghost(orchard.detour(branch.tip))
        gauge.show(NOW, 200_000)
        gauge.set_ghost(moving=True, moved=MOVED)
        price.show(FACTS, WORDS)
        await pilot.pause()
        lines = screen(app)
        assert "┗━━━━━●" in lines[3]
        assert lines[4].startswith("now       40.6k / 200k")
        assert lines[6].startswith("here     102.3k / 200k")
        assert lines[8].startswith(" Turn 51      entries 38")
        assert lines[9].startswith(" Move here    drops 79 entries")
        strip.set_ghost(None)
        strip.set_hits([1])
        gauge.set_ghost(moving=False)
        price.note("undone", "leaf")
        await pilot.pause()
        lines = screen(app)
        assert "◎" not in lines[3]
        assert "›" in lines[2]
        assert not lines[6].strip()
        assert lines[8].startswith(" ✓ undone")
        price.note("")
        strip.show(None)
        await until(pilot, lambda: screen(app)[8].startswith(" Turn 51"))
        assert screen(app)[2].split() == ["path"]


async def test_the_key_of_a_note_can_be_clicked(orchard: Overview) -> None:
    app = Foot(orchard)
    async with app.run_test(size=(80, 12)) as pilot:
        app.query_one(PriceLine).note("the file grew", "warn", [KeyHint("app.reload", "r", "reload")])
        await pilot.pause()
        at = screen(app)[8].index("r reload")
        await pilot.click(PriceLine, offset=(3, 0))
        await pilot.click(PriceLine, offset=(at + 3, 0))
    assert [message.intent_id for message in app.seen if isinstance(message, IntentPressed)] == ["app.reload"]
