from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from leafward.base.figures import counted, percent
from leafward.base.shown_path import split_path
from leafward_tui.ui.appearance.glyphs import ASCII, UNICODE, Glyphs, choose_glyphs
from leafward_tui.ui.text.cells import (
    age,
    byte_size,
    count,
    estimated_price,
    exact,
    expand_tabs,
    filled,
    fit,
    fit_apart,
    fit_path,
    limit,
    money,
    right,
    shares,
    signed,
    wrap,
)
from leafward_tui.ui.text.code import fitted
from leafward_tui.ui.text.spans import Span

FAMILY = "👨‍👩‍👧‍👦"
PIECES = (
    "a",
    "word ",
    " ",
    "\t",
    "\n",
    "你",
    "好世界",
    "e\u0301",
    "\u0301",
    FAMILY,
    "👍🏽",
    "❤️",
    "\u200d",
    "\ufe0f",
    "ｱ",
    "…",
)
texts = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(PIECES), max_size=30).map("".join),
    st.text(alphabet="abc de,./", max_size=80),
)
widths = st.integers(-1, 60)


@given(texts, widths)
def test_fit_never_exceeds_and_pads_exactly(text: str, width: int) -> None:
    assert cell_len(fit(text, width)) <= max(width, 0)
    assert cell_len(fit(text, width, pad=True)) == max(width, 0)
    assert cell_len(right(text, width)) == max(width, 0)


def drawn(text: str) -> str:
    """``text`` as it is written: controls are spaces, a joiner with nothing to join is gone."""
    flat = "".join(" " if c < " " or "\x7f" <= c <= "\x9f" or c in "\u2028\u2029" else c for c in text)
    kept = [
        c
        for before, c, after in zip(" " + flat, flat, flat[1:] + " ", strict=False)
        if c != "\u200d" or not (before.isascii() or after.isascii() or before == "\u200d")
    ]
    return "".join(kept).rstrip("\u200d")


@given(texts, widths)
def test_what_fits_is_not_touched_and_what_does_not_says_so(text: str, width: int) -> None:
    fitted = fit(text, width)
    if text.count("\u200d\u200d"):
        return  # runs of joiners: only the width is promised
    if 0 < width >= cell_len(drawn(text)):
        assert fitted == drawn(text)
    elif width > 0:
        assert fitted.endswith("…")
        assert drawn(text).startswith(fitted[:-1])


@given(texts, widths)
def test_paths_fit(text: str, width: int) -> None:
    assert cell_len(fit_path(text, width)) <= max(width, 0)
    assert cell_len(fit_path(text, width, pad=True)) == max(width, 0)
    assert cell_len(fit_path(text.replace(" ", "/"), width, gap="...")) <= max(width, 0)


@given(texts, st.integers(0, 40), st.one_of(st.none(), st.integers(0, 5)))
def test_wrapped_lines_fit_and_lose_only_white_space(text: str, width: int, lines: int | None) -> None:
    wrapped = wrap(text, width, lines=lines)
    assert all(cell_len(line) <= width for line in wrapped)
    if lines is not None:
        assert len(wrapped) <= lines
    elif width >= 2 and "\u200d" not in text:
        assert "".join("".join(wrapped).split()) == "".join(drawn(text).split())


@given(st.lists(st.floats(0, 1e9), max_size=8), st.integers(0, 80))
def test_shares_add_up(amounts: list[float], width: int) -> None:
    cells = shares(amounts, width)
    assert len(cells) == len(amounts)
    assert all(cell >= 0 for cell in cells)
    assert sum(cells) == (width if sum(amounts) > 0 else 0)
    if width >= len(amounts):
        assert all((cell > 0) is (amount > 0) for cell, amount in zip(cells, amounts, strict=True))


def test_a_bar_shows_of_its_parts_what_has_a_cell() -> None:
    assert filled((12, 323, 454, 10_111), 189_100, 78) == [0, 0, 0, 4, 74]
    assert filled((777, 627, 20_563, 7_248, 4_120, 3), 166_662, 58) == [0, 0, 6, 2, 2, 0, 48]
    assert filled((5, 0), 10_000, 20) == [1, 0, 19]
    assert filled((0, 0), 10, 20) == [0, 0, 20]
    assert filled((1, 1), 0, 20) == [10, 10, 0]


@pytest.mark.parametrize(
    ("text", "width", "fitted"),
    [
        ("read theme.md in full, then theme.ts", 26, "read theme.md in full…"),
        ("thinking level off is now brighter", 30, "thinking level off is now…"),
        ("a supercalifragilisticexpialidocious word", 20, "a supercalifragilis…"),  # the word costs too much
        ("docs/theme.md rewritten", 8, "docs/th…"),
        ("tab\there", 20, "tab here"),
        ("你好世界", 8, "你好世界"),
        ("你好世界", 7, "你好世…"),
        ("你好世界", 6, "你好…"),  # 世 would be cut in two
        ("你", 1, "…"),
        (FAMILY * 3, 5, FAMILY * 2 + "…"),
        (FAMILY * 3, 4, FAMILY + "…"),
        ("cafe\u0301 noir", 5, "cafe\u0301…"),
        ("", 3, ""),
        ("abc", 0, ""),
        ("abc", 1, "…"),
        ("abc", 3, "abc"),
    ],
)
def test_fit_by_example(text: str, width: int, fitted: str) -> None:
    assert fit(text, width) == fitted


def test_ascii_ellipsis() -> None:
    assert fit("one two three", 9, ellipsis="~") == "one two~"


def test_only_the_beginning_of_a_long_text_is_measured() -> None:
    assert fit("é" * 5_000_000, 10) == "é" * 9 + "…"
    # so many marks on one letter that the first look ahead sees less than one cell
    assert fit("e" + "\u0301" * 3000 + "xyz", 2) == "e" + "\u0301" * 3000 + "…"


@pytest.mark.parametrize(
    ("path", "width", "fitted"),
    [
        ("src/theme/theme.ts", 18, "src/theme/theme.ts"),
        ("packages/coding-agent/src/modes/theme/theme.ts", 40, "packages/…/src/modes/theme/theme.ts"),
        ("packages/coding-agent/src/modes/theme/theme.ts", 30, "packages/…/theme/theme.ts"),
        ("packages/coding-agent/src/modes/theme/theme.ts", 20, "packages/…/theme.ts"),
        ("packages/coding-agent/src/modes/theme/theme.ts", 18, "…/theme/theme.ts"),
        ("packages/coding-agent/src/modes/theme/theme.ts", 10, "…/theme.ts"),
        ("packages/coding-agent/src/modes/theme/theme.ts", 9, "theme.ts"),
        ("/home/me/work/pi/src/app.py", 20, "/home/…/src/app.py"),
        ("~/work/pi/src/deep/app.py", 17, "~/…/deep/app.py"),
        ("C:\\Users\\me\\code\\app.py", 17, "C:\\…\\code\\app.py"),
        ("src/a-very-long-file-name-indeed.test.ts", 20, "a-very-lon…d.test.ts"),
        ("src/tool_request.rs", 13, "tool_r…est.rs"),
        ("src/tool_request_set.rs", 13, "tool_r…set.rs"),
        ("x.py", 2, "x…"),
        ("x.py", 1, "x"),
    ],
)
def test_paths_give_up_their_middle_then_their_folders(path: str, width: int, fitted: str) -> None:
    assert fit_path(path, width) == fitted
    assert cell_len(fitted) <= width


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("src/a.py", ("src/", "a.py")),
        ("a.py", ("", "a.py")),
        ("src/deep/", ("src/", "deep/")),
        ("/", ("/", "")),
        ("c\\d", ("c\\", "d")),
    ],
)
def test_split_path(path: str, parts: tuple[str, str]) -> None:
    assert split_path(path) == parts


def test_tabs_fill_up_to_the_next_stop_in_cells() -> None:
    assert expand_tabs("a\tb\tc") == "a   b   c"
    assert expand_tabs("你\tb") == "你  b"
    assert expand_tabs("abcd\te") == "abcd    e"


def test_wrap_by_example() -> None:
    assert wrap("one two three four", 9) == ["one two", "three", "four"]
    assert wrap("one two three four", 9, lines=2) == ["one two", "three…"]
    assert wrap("a\n\nb", 5) == ["a", "", "b"]
    assert wrap("你好世界", 5) == ["你好", "世界"]
    assert wrap("abcdefgh", 3) == ["abc", "def", "gh"]
    assert wrap("in /home/ada/orchard.json now", 14, paths=True) == [
        "in",
        "/home/ada/",
        "orchard.json",
        "now",
    ]
    assert wrap("", 5) == [""]
    assert wrap("exactly ten", 11, lines=1) == ["exactly ten"]
    assert wrap("  indented by two", 11) == ["  indented", "by two"]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (None, ""),
        (0, "·"),
        (1, "1"),
        (371, "371"),
        (999, "999"),
        (1000, "1.0k"),
        (1_049, "1.0k"),
        (1_050, "1.1k"),
        (14_000, "14.0k"),
        (130_649, "130.6k"),
        (999_949, "999.9k"),
        (999_950, "1.0M"),
        (1_234_567, "1.2M"),
        (999_950_000, "1.0G"),
        (10**15, ">999G"),
        (-2_500, "-2.5k"),
    ],
)
def test_a_count_has_three_digits_and_a_unit(number: int | None, text: str) -> None:
    assert count(number) == text


@given(st.integers(0, 10**14))
def test_counts_fit_their_column(number: int) -> None:
    assert len(count(number)) <= 6


def test_a_price_of_estimated_tokens() -> None:
    assert [estimated_price(dollars) for dollars in (0.001, 0.36)] == ["about <$0.01", "about $0.36"]


def test_other_numbers() -> None:
    assert [limit(n) for n in (0, 200_000, 183_616, 1_000_000, 512)] == ["0", "200k", "183.6k", "1M", "512"]
    assert exact(1204) == "1,204"
    assert [signed(n) for n in (4, -1, 0, 1200)] == ["+4", "-1", "·", "+1.2k"]
    assert [byte_size(n) for n in (812, 34_210, 999_700, 1_240_000, 120_400_000, 3_000_000_000)] == [
        "812 B", "34 KB", "1.0 MB", "1.2 MB", "120 MB", "3.0 GB",
    ]  # fmt: skip
    assert counted(1, "turn") == "1 turn"
    assert counted(2304, "entry", "entries") == "2,304 entries"
    assert counted(0, "branch", "branches") == "0 branches"
    assert [money(x) for x in (None, 0, 0.001, 0.36, 0.005, 1204.5)] == [
        "",
        "·",
        "<$0.01",
        "$0.36",
        "$0.01",
        "$1,204",
    ]
    assert [percent(*x) for x in ((40.6, 200), (0, 5), (1, 1000), (999, 1000), (5, 5), (1, 0), (300, 200))] == [
        "20 %", "0 %", "<1 %", "99 %", "100 %", "", "150 %",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "now"),
        (59, "now"),
        (60, "1m"),
        (150, "2m"),
        (3599, "59m"),
        (3600, "1h"),
        (86399, "23h"),
        (86400, "1d"),
        (12 * 86400, "12d"),
        (14 * 86400, "2w"),
        (36 * 86400, "5w"),
        (364 * 86400, "52w"),
        (366 * 86400, "1y"),
    ],
)
def test_an_age_is_a_number_and_a_unit(seconds: int, text: str) -> None:
    assert age(seconds) == text
    assert age(timedelta(seconds=seconds)) == text


# --- glyphs


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
def test_every_sign_takes_one_cell(glyphs: Glyphs) -> None:
    for name in Glyphs._fields:
        value = getattr(glyphs, name)
        for sign in value if isinstance(value, tuple) else (value,):
            assert cell_len(sign) == (3 if glyphs is ASCII and name == "gap" else 1), name
            assert sign.isascii() or glyphs is UNICODE, name
    assert len(glyphs.levels) == 9


def test_no_sign_is_one_that_fonts_lack_or_that_turns_into_an_emoji() -> None:
    drawn = "".join("".join(getattr(UNICODE, name)) for name in Glyphs._fields)
    assert not set(drawn) & set("◉↵⏎⇥⚑◐◈⋮⑂▶◀⚠✔↩\ufe0f")


def test_signs_that_stand_in_one_column_can_be_told_apart() -> None:
    for g in (UNICODE, ASCII):
        nodes = (g.prompt, g.prompt_off, g.leaf, g.compaction, g.branch_summary, g.error, g.malformed)
        assert len(set(nodes)) == len(nodes)
        assert len({g.kept, g.compaction, g.injected, g.cut}) == 4
        assert len({g.compaction, g.folded, g.unfolded, g.arrow}) == 4 - (g.arrow == g.folded), (
            "a sign of an X-ray is also that of a fold"
        )
        assert len({g.block, g.block_again, g.block_free}) == 3
        assert g.thin != g.thin_rest
        assert g.rail != g.rail_off
        assert g.entered != g.left


def test_a_bar_fills_from_below_by_eighths() -> None:
    assert UNICODE.column(0, 100, 2) == (" ", " ")
    assert UNICODE.column(1, 10_000, 2) == (" ", "▁")
    assert UNICODE.column(50, 100, 2) == (" ", "█")
    assert UNICODE.column(75, 100, 2) == ("▄", "█")
    assert UNICODE.column(100, 100, 1) == ("█",)
    assert UNICODE.column(900, 100, 2) == ("█", "█")
    assert UNICODE.column(99.9, 100, 1) == ("▇",)


@pytest.mark.parametrize(
    ("env", "encoding", "ascii_only"),
    [
        ({"TERM": "xterm-256color", "LANG": "en_US.UTF-8"}, "utf-8", False),
        ({"TERM": "xterm-256color", "LANG": "de_DE.utf8"}, "UTF-8", False),
        ({"TERM": "xterm-256color", "LC_CTYPE": "UTF-8"}, "utf-8", False),  # macOS
        ({"TERM": "xterm-256color"}, "utf-8", False),  # a container without a locale
        ({"LC_CTYPE": "C.UTF-8", "LANG": "C"}, "utf-8", False),  # what Python makes of LANG=C
        ({}, None, False),
        ({}, "cp65001", False),
        ({"LC_ALL": "C", "LANG": "en_US.UTF-8"}, "utf-8", True),
        ({"LANG": "de_DE.ISO-8859-1"}, "iso8859-1", True),
        ({"LANG": "en_US.UTF-8"}, "ascii", True),
        ({}, "cp1252", True),
        ({"TERM": "linux", "LANG": "en_US.UTF-8"}, "utf-8", True),
        ({"TERM": "dumb", "LANG": "en_US.UTF-8"}, "utf-8", True),
        ({"TERM": "vt220", "LANG": "en_US.UTF-8"}, "utf-8", True),
    ],
)
def test_the_set_follows_locale_and_terminal(
    env: dict[str, str], encoding: str | None, ascii_only: bool
) -> None:
    assert choose_glyphs(env, encoding) is (ASCII if ascii_only else UNICODE)
    assert choose_glyphs(env, encoding, force_ascii=True) is ASCII
    assert choose_glyphs(env, encoding, force_ascii=False) is UNICODE


def test_a_line_of_code_is_broken_before_a_word_in_another_ink() -> None:
    line = [
        Span("when a worker is killed, its job stays ", "text"),
        Span("`running`", "leaf"),
        Span(" now", "text"),
    ]
    assert ["".join(span.text for span in row) for row in fitted(line, 45)] == [
        "when a worker is killed, its job stays ",
        "  `running` now",
    ]
    # A word that no line has room for fills the one where it begins.
    long = [Span("see ", "text"), Span("x" * 60, "leaf")]
    assert next("".join(span.text for span in row) for row in fitted(long, 30)) == "see " + "x" * 26


def test_a_line_of_code_keeps_words_of_several_inks_whole() -> None:
    line = [
        Span("cd src && sort names", "text"),
        Span(" |", "sub"),
        Span(" tail", "text"),
        Span(" -1", "text"),
    ]
    assert ["".join(span.text for span in row) for row in fitted(line, 26)] == [
        "cd src && sort names | ",
        "  tail -1",
    ]


def test_texts_that_are_cut_to_the_same_show_where_they_differ() -> None:
    """It fails where three commands in one folder are three times the folder."""
    folder = "cd /home/ada/work/orchard/services && git"
    texts = [f"{folder} log --oneline", f"{folder} show HEAD", "make check", f"{folder} log --stat"]
    shown = ["…git log --oneline", "…git show HEAD", "make check", "…git log --stat"]
    assert fit_apart(texts, 24) == shown
    assert fit_apart(texts, 8)[::3] == ["…--onel…", "…--stat"]
    assert fit_apart(texts, 80) == texts
    assert fit_apart([texts[0], texts[0]], 12) == [fit(texts[0], 12)] * 2
    assert fit_apart([], 24) == []


def test_urls_that_are_cut_to_the_same_show_where_they_differ() -> None:
    """It fails where a text without spaces is cut at its end only: ten lost URLs were one row, ten times."""
    base = "https://github.com/ada/orchard/actions/runs/28981865"
    texts = [f"{base}{run}/job/8600{run}" for run in (113, 772)]
    assert fit_apart(texts, 40) == ["…28981865113/job/8600113", "…28981865772/job/8600772"]
    jobs = [f"{base}113/job/{'0' * 60}{job}" for job in (1, 2)]
    assert fit_apart(jobs, 20) == [f"…{'0' * 10}1", f"…{'0' * 10}2"]


@given(st.lists(st.text("ab /-", max_size=30), max_size=6), st.integers(0, 20))
def test_texts_told_apart_keep_to_their_room(texts: list[str], width: int) -> None:
    found = fit_apart(texts, width)
    assert len(found) == len(texts)
    assert all(cell_len(text) <= width for text in found)
