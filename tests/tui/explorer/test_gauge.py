"""The gauge: what stands in its lines for given loads."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from leafward.compaction.plan.onset import Onset
from leafward_tui.explorer.model.gauge_lines import Forecast, Load, Reading, gauge_lines
from leafward_tui.ui.appearance.glyphs import ASCII, UNICODE, Glyphs
from tests.tui.bar_parts import GLYPHS, MOVED, NOW, plain


def bar(share: int, again: int = 0, entered: int = 0, width: int = 35) -> str:
    cells = "█" * share + "▓" * again + "█" * entered
    return cells + "░" * (width - len(cells))


def test_the_gauge_now_and_moved() -> None:
    lines = gauge_lines(35, 4, UNICODE, Reading(NOW, 200000, moving=True, moved=MOVED))
    assert plain(lines) == [
        "now       40.6k / 200k         20 %",
        bar(7),
        "here     102.3k / 200k         51 %",
        bar(1, again=16, entered=1),
    ]
    assert plain(gauge_lines(35, 4, UNICODE, Reading(NOW, 200000)))[2:] == [" " * 35] * 2


def test_the_gauge_names_what_is_counted_and_not_sent() -> None:
    load = Load(1_224, unsent=1_100)
    (line, *_) = plain(gauge_lines(36, 2, UNICODE, Reading(load, 200_000)))
    assert line.split() == ["now", "1.2k", "/", "200k", "·", "1.1k", "not", "sent", "1", "%"]
    (line, *_) = plain(gauge_lines(28, 2, UNICODE, Reading(load, 200_000)))
    assert "not sent" not in line, "no half of a word"
    assert line.endswith("%")


def test_the_gauge_of_a_live_session_says_how_far_its_compaction_is() -> None:
    pi = Onset(183_616, about=False, inclusive=False)
    full = Load(190_000)

    def live(
        now: Load | None, forecast: Forecast | None = None, height: int = 2, onset: Onset | None = pi
    ) -> list[str]:
        lines = gauge_lines(
            35, height, UNICODE, Reading(now, 200000, onset=onset, live=True, forecast=forecast)
        )
        return plain(lines)

    loses = Forecast("pi", lost=27)
    assert live(NOW) == ["now 40.6k compacts in 143.0k tokens", bar(7)]
    assert live(NOW, loses) == [
        "now 40.6k compacts in 143.0k tokens",
        bar(3, width=15) + "  pi loses ~27 facts",
    ]
    assert live(full, Forecast("pi", lost=1))[0] == "now 190.0k             compacts now"
    assert live(NOW, height=1) == ["now 40.6k compacts in 143.0k tokens"]
    assert [len(line) for line in live(NOW, loses, height=4)] == [35] * 4
    assert "/ 200k" in live(None)[0]
    # Whether it compacts at all is known only once it was worked out.
    assert live(full)[0] == "now 190.0k       compacts at 183.6k"
    assert live(full, Forecast("pi", nothing=True))[0] == "now 190.0k       nothing to compact"
    assert live(NOW, onset=None)[0] == "now       40.6k / 200k         20 %"
    # Of an agent whose rules are not here nothing is said but the size, and that is no certainty.
    claude = Onset(167_000, about=True, inclusive=True)
    assert live(Load(120_400), Forecast(), onset=claude) == [
        "now 120.4k  compacts in about 46.6k",
        bar(21),
    ]
    assert live(Load(167_000), Forecast(), onset=claude)[0] == "now 167.0k       compacts about now"
    # What comes on top is not known: neither is how far it is.
    assert "compacts" not in live(Load(335, lacks_prompt=True), Forecast(), onset=claude)[0]


def test_the_gauge_on_two_lines_and_on_one() -> None:
    two = plain(gauge_lines(35, 2, UNICODE, Reading(NOW, 200000, moving=True, moved=MOVED)))
    assert two == ["40.6k → 102.3k / 200k          51 %", bar(1, again=16, entered=1)]
    one = plain(gauge_lines(34, 1, UNICODE, Reading(NOW, 200000, moving=True, moved=MOVED)))
    assert one == [bar(1, again=4, width=10) + "   40.6k → 102.3k / 200k"]
    assert plain(gauge_lines(34, 1, ASCII, Reading(NOW, 200000))) == ["##........      40.6k / 200k  20 %"]


def test_a_prompt_that_the_session_does_not_hold_comes_on_top() -> None:
    short = Load(335, lacks_prompt=True)
    lines = plain(gauge_lines(35, 4, UNICODE, Reading(NOW, 200000, moving=True, moved=short)))
    assert lines[:3:2] == ["now       40.6k / 200k         20 %", "here       335 + not in file / 200k"]
    two = plain(gauge_lines(35, 2, UNICODE, Reading(NOW, 200000, moving=True, moved=short)))
    assert two[0] == "40.6k → 335 + not in file / 200k   "
    for one in (
        gauge_lines(34, 1, ASCII, Reading(short, 200000)),
        gauge_lines(34, 1, UNICODE, Reading(NOW, 200000, moving=True, moved=short)),
    ):
        assert "335 + not in file" in plain(one)[0]
        assert "%" not in plain(one)[0]


def test_over_the_threshold_words_and_a_tick_say_so() -> None:
    full, onset = Load(190_000), Onset(183_616, about=False, inclusive=False)
    head, line = gauge_lines(35, 2, UNICODE, Reading(full, 200000, onset=onset))
    assert plain([head]) == ["now      190.0k  compacts at 183.6k"]
    assert ("compacts at 183.6k", "warn") in head
    assert plain([line]) == ["█" * 32 + "┃" + "░░"]
    assert "compacts at 183.6k" in plain(gauge_lines(34, 1, UNICODE, Reading(full, 200000, onset=onset)))[0]
    assert "compacts" not in plain(gauge_lines(35, 2, UNICODE, Reading(NOW, 200000, onset=onset)))[0]
    moved = gauge_lines(35, 4, UNICODE, Reading(NOW, 200000, onset=onset, moving=True, moved=full))
    assert plain(moved)[2] == "here     190.0k  compacts at 183.6k"


@pytest.mark.parametrize(
    ("height", "live", "lacks"), list(itertools.product([1, 2, 4], [False, True], [False, True]))
)
def test_the_size_at_which_it_compacts_is_whole_or_not_there(height: int, live: bool, lacks: bool) -> None:
    onset = Onset(155_066, about=True, inclusive=True)
    now, full = Load(142_108), Load(155_540, estimated=True, lacks_prompt=lacks)
    for width in range(16, 60):
        staying = gauge_lines(width, height, UNICODE, Reading(full, 200000, onset=onset, live=live))
        moving = gauge_lines(
            width, height, UNICODE, Reading(now, 200000, onset=onset, moving=True, moved=full)
        )
        for lines in (plain(staying), plain(moving)):
            assert "155.5k" in "".join(lines)
            for line in lines:
                words = line.partition("compact")
                assert not words[1] or words[2].startswith(("s at about 155.1k", "s at ~155.1k"))
    two = gauge_lines(36, 2, UNICODE, Reading(now, 200000, onset=onset, moving=True, moved=Load(155540)))
    assert plain(two)[0] == "142.1k → 155.5k  compacts at ~155.1k"


def test_a_load_not_known_yet_keeps_its_cells() -> None:
    lines = plain(gauge_lines(35, 4, UNICODE, Reading(NOW, 200000, moving=True)))
    assert lines[2:] == ["here            / 200k" + " " * 13, "░" * 35]


LOADS = st.none() | st.builds(
    Load, st.integers(0, 2_000_000), again=st.integers(0, 300_000), entered=st.integers(0, 300_000)
)


ONSETS = st.none() | st.builds(Onset, st.integers(1, 300_000), about=st.booleans(), inclusive=st.booleans())


@given(
    st.integers(0, 60),
    st.integers(0, 5),
    GLYPHS,
    LOADS,
    LOADS,
    st.booleans(),
    st.booleans(),
    st.integers(0, 300_000),
    ONSETS,
)
def test_gauge_lines_are_as_wide_as_asked(
    width: int,
    height: int,
    glyphs: Glyphs,
    now: Load | None,
    moved: Load | None,
    moving: bool,
    live: bool,
    window: int,
    onset: Onset | None,
) -> None:
    if now is not None:
        now = now._replace(again=min(now.again, now.total))
    if moved is not None:
        moved = moved._replace(again=min(moved.again, moved.total))
    lines = gauge_lines(
        width, height, glyphs, Reading(now, window, onset=onset, moving=moving, moved=moved, live=live)
    )
    assert [cell_len(line) for line in plain(lines)] == [width] * (height if width else 0)
