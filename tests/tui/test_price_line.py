"""The price line under the tree, as lines: every width, groups that stay, notes, hostile texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from leafward.context.basis import Count
from leafward.context.price import Part, Price
from leafward.session.entries import EntryId, EntryIndex
from leafward_tui.ui.glyphs import ASCII, UNICODE, Glyphs
from leafward_tui.ui.price_groups import Quote
from leafward_tui.ui.price_line import Facts, KeyHint, Note, price_lines
from tests.tui.footed import GLYPHS, QUOTE, plain


def said(quote: Quote | Facts | None, width: int, height: int = 1, glyphs: Glyphs = UNICODE) -> list[str]:
    lines = plain(price_lines(quote, None, width, height, glyphs))
    assert [cell_len(line) for line in lines] == [width] * height
    return [line.rstrip() for line in lines]


def test_a_price_at_full_width() -> None:
    assert said(QUOTE, 140, 2) == [
        (
            " Move here    drops 79 entries (7.3k)      adds 55 entries (3.1k)      "
            "cached 6.2k      sent again 96.1k  ≈ $0.36     files −1 +2  5 change"
        ),
        " !            compaction 130.6k → 29.8k is not on this path",
    ]


def test_a_price_gives_up_words_then_groups() -> None:
    calm = QUOTE._replace(surprises=())
    assert said(calm, 120) == [
        " Move here    drops 79 (7.3k)     adds 55 (3.1k)     cached 6.2k    sent again 96.1k  ≈ $0.36   files −1 +2  5 change"
    ]
    assert said(calm, 80) == [
        " Move  drops 79   adds 55   cached 6.2k  sent again 96.1k ≈ $0.36  files −1 +2"
    ]
    assert said(calm._replace(again=119_600), 80)[0].endswith("files −1 +2")
    assert said(calm, 70) == [" Move  drops 79   adds 55   context 40.6k → 102.3k"]
    assert said(calm, 40) == [" Move  drops 79   adds 55"]


def test_one_line_has_room_for_the_sign_of_a_surprise() -> None:
    assert said(QUOTE, 80)[0].startswith("! Move drops")
    assert said(QUOTE, 140, 2, ASCII)[1] == " !            compaction 130.6k > 29.8k is not on this path"


def test_groups_stay_where_they_are_while_numbers_come_in() -> None:
    for width in (80, 120, 140):
        known, waiting = said(QUOTE, width)[0], said(Quote(79, 55), width)[0]
        for label in ("drops", "adds", "cached", "sent again", "files"):
            assert known.index(label) == waiting.index(label), (width, label)
        assert "79" in waiting


def test_nothing_is_a_dot() -> None:
    quote = QUOTE._replace(
        entered=0, entered_tokens=0, cached=0, files_left=0, files_entered=0, files_changed=0
    )
    line = said(quote, 140)[0]
    assert "adds ·   " in line
    assert "cached ·   " in line
    assert line.endswith("files ·")


@pytest.mark.parametrize("width", [80, 140])
def test_where_nothing_is_sent_again_no_price_stands_beside_it(width: int) -> None:
    line = said(QUOTE._replace(again=0, cost=0.0), width)[0]
    assert "sent again ·  " in line
    assert "≈" not in line
    assert "≈" in said(QUOTE, width)[0]


def test_a_quote_of_a_price() -> None:
    size = Count(40_600, 0, recorded=True)
    price = Price(
        EntryIndex(9), EntryIndex(5), EntryIndex(2), EntryId("x"), Part(79, 7_300, 7_000), Part(55, 3_100, 3_100),
        size, Count(102_300, 0, recorded=True), 6_200, 0.36, None, ("a",), ("b", "c"), tuple("defgh"),
        (("compaction-not-on-path", QUOTE.surprises[0]),),
    )  # fmt: skip
    assert Quote.of(price) == QUOTE


def test_facts_and_notes() -> None:
    facts = Facts("Turn 51", (("", "#521 – #558"), ("entries", "38"), ("calls", "18")))
    assert said(facts, 100) == [" Turn 51      #521 – #558   entries 38   calls 18"]
    assert said(facts, 32) == [" Turn 51  #521 – #558"]
    note = Note(
        "the file grew by 2 entries since it was read", "warn", (KeyHint("app.reload", "r", "reload"),)
    )
    (line,) = price_lines(QUOTE, note, 80, 1, UNICODE)
    assert plain([line])[0].rstrip() == " ! the file grew by 2 entries since it was read   r reload"
    assert line[1] == ("!", "strong_warn")
    assert plain(price_lines(None, Note("3 of 14 hits"), 40, 1, UNICODE))[0].rstrip() == " 3 of 14 hits"


def test_a_long_note_takes_the_second_line() -> None:
    note = Note("word " * 20, "bad", (KeyHint("app.reload", "r", "reload"),))
    lines = [line.rstrip() for line in plain(price_lines(None, note, 60, 2, UNICODE))]
    assert lines[0].startswith(" ! word word")
    assert lines[1].startswith("   word word")
    assert lines[1].endswith("r reload")


def test_texts_that_were_not_made_safe_do_no_harm() -> None:
    evil = "a\x1b]52;c;QUJD\x07b\tc\u202e"
    for lines in (
        price_lines(Facts(evil, ((evil, evil),)), None, 80, 1, UNICODE),
        price_lines(None, Note(evil), 80, 1, UNICODE),
        price_lines(QUOTE._replace(surprises=(evil,)), None, 140, 2, UNICODE),
    ):
        assert "\x1b" not in "".join(plain(lines))
        assert "\u202e" not in "".join(plain(lines))


numbers = st.none() | st.integers(0, 3_000_000)


quotes = st.builds(
    Quote, st.integers(0, 120_000), st.integers(0, 120_000), numbers, numbers, numbers, numbers, numbers, numbers,
    st.none() | st.floats(0, 900), numbers, numbers, numbers, st.lists(st.text(max_size=90), max_size=2).map(tuple),
)  # fmt: skip

facts = st.builds(
    Facts,
    st.text(max_size=30),
    st.lists(st.tuples(st.text(max_size=9), st.text(max_size=9)), max_size=5).map(tuple),
)

notes = st.builds(
    Note,
    st.text(max_size=200),
    st.sampled_from(["", "leaf", "warn", "bad"]),
    st.just((KeyHint("a", "r", "reload"),)),
)


@given(st.one_of(st.none(), quotes, facts), st.none() | notes, st.integers(0, 160), st.integers(0, 3), GLYPHS)
def test_price_lines_are_as_wide_as_asked(
    value: Quote | Facts | None, note: Note | None, width: int, height: int, glyphs: Glyphs
) -> None:
    lines = plain(price_lines(value, note, width, height, glyphs))
    assert [cell_len(line) for line in lines] == [width] * height
