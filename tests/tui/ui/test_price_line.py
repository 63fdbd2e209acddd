"""The line at the foot of the explorer: facts, the price in words, warnings, notes; every width, hostile texts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from leafward.context.basis import Count
from leafward.context.price import Price, PriceSide
from leafward.session.entries import EntryId, EntryIndex
from leafward_tui.ui.appearance.glyphs import ASCII, UNICODE, Glyphs
from leafward_tui.ui.bars.price_line import BarNote, Facts, KeyHint, price_lines
from leafward_tui.ui.keys.legend import legend_of
from leafward_tui.ui.words.price_words import PriceWords
from tests.tui.bar_parts import FACTS, GLYPHS, WORDS, plain

WARNED = WORDS._replace(
    warnings=("before the compaction: text comes back in full", "1 context edit is lost here"),
    brief_warnings=("compacted text comes back", "context edits lost"),
)


def said(price: PriceWords | None, width: int, height: int = 1, facts: Facts = FACTS) -> list[str]:
    lines = plain(price_lines(facts, price, None, width, height, UNICODE))
    assert [cell_len(line) for line in lines] == [width] * height
    return [line.rstrip() for line in lines]


def test_the_facts_of_a_row_stand_first_and_the_price_below() -> None:
    assert said(WORDS, 140, 2) == [
        " Turn 51      entries 38     calls 18",
        (
            " Move here    drops 79 entries (~7.3k tokens), adds 55 (~3.1k)   "
            "6.2k cached, 96.1k at full price (~$0.36)   context 40.6k → 102.3k"
        ),
    ]


def test_a_price_is_quiet_and_facts_are_not() -> None:
    facts, price = price_lines(FACTS, WORDS, None, 140, 2, UNICODE)
    assert ("Turn 51", "strong") in facts
    assert {ink for _, ink in price} == {"faint", "blank"}


def test_parts_of_a_price_that_do_not_fit_go_from_the_right() -> None:
    shown = [said(WORDS, width, 2)[1] for width in (200, 112, 99, 80)]
    for part in WORDS.parts:
        assert part in shown[0]
    assert "context" not in shown[1]
    assert shown[2].endswith("adds 55 (~3.1k)")
    assert shown[3].startswith(" Move here   drops 79 entries")


def test_all_warnings_are_shown_and_the_price_stands_beside_the_facts() -> None:
    facts, warnings = said(WARNED, 120, 2)
    assert facts.endswith("! move here drops 79 entries, adds 55")
    assert warnings == f" ! {'; '.join(WARNED.warnings)}"


@pytest.mark.parametrize(
    ("width", "end"),
    [
        (140, "drops 79 entries, adds 55; compacted text comes back; context edits lost"),
        (80, "Turn 51 ! move drops 79 entries, adds 55; compacted text comes back; context…"),
        (50, "Turn 51 ! drops 79 entries, adds 55; compacted…"),
    ],
)
def test_on_one_line_a_price_and_its_warnings_are_brief(width: int, end: str) -> None:
    (line,) = said(WARNED, width)
    assert line.startswith(" Turn 51")
    assert " ".join(line.split()).endswith(end)


def test_warnings_that_are_too_long_together_are_brief_and_not_cut() -> None:
    assert said(WARNED, 75, 2)[1] == " ! before the compaction: text comes back in full; context edits lost"
    assert said(WARNED, 60, 2)[1] == " ! compacted text comes back; context edits lost"


def test_facts_make_room_for_a_price_without_a_warning() -> None:
    (line,) = said(WORDS, 50)
    assert " ".join(line.split()) == "Turn 51 move here drops 79 entries, adds 55"


def price(
    left: PriceSide, entered: PriceSide, again: float | None = 0.36, **more: tuple[tuple[str, str], ...]
) -> Price:
    size = Count(40_600, 0, recorded=True)
    return Price(
        EntryIndex(5), EntryId("x"), left, entered,
        size, Count(102_300, 0, recorded=True), 6_200, False, again, None, ("a",), ("b", "c"), tuple("defgh"),
        more.get("surprises", ()),
    )  # fmt: skip


def test_a_price_in_words() -> None:
    full = price(PriceSide(79, 7_300), PriceSide(55, 3_100))
    assert PriceWords.of(full, UNICODE) == WORDS._replace(
        parts=("drops 79 entries, adds 55", *WORDS.parts[1:])
    )
    assert (
        PriceWords.of(price(PriceSide(1, 2), PriceSide(1, 2), 0.001), UNICODE)
        .parts[1]
        .endswith("at full price (<$0.01)")
    )
    surprising = price(
        PriceSide(1, 0),
        PriceSide(0, 0),
        None,
        surprises=(("one", "130.6k → 29.8k"), ("two", "and\x1b[31m more")),
    )
    late = replace(full, cached=0, expired=True)
    assert PriceWords.of(late, UNICODE).parts[1].startswith("cache expired, 102.3k at full price")
    words = PriceWords.of(surprising, ASCII)
    assert words.parts[:2] == ("drops 1 entry", "6.2k cached, 96.1k at full price")
    assert words.brief == "drops 1 entry"
    assert words.warnings[0] == "130.6k > 29.8k"
    assert "\x1b" not in words.warnings[1]


@pytest.mark.parametrize(
    ("left", "entered", "words"),
    [
        (False, True, "drops 79 entries, adds 55 (~3.1k tokens)"),
        (True, False, "drops 79 entries (~7.3k tokens), adds 55"),
        (False, False, "drops 79 entries, adds 55"),
    ],
)
def test_tokens_stand_beside_the_context_only_where_they_are_a_part_of_it(
    left: bool, entered: bool, words: str
) -> None:
    found = price(PriceSide(79, 7_300, left), PriceSide(55, 3_100, entered))
    assert PriceWords.of(found, UNICODE).parts[0] == words


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (36_400, "drops 79 entries (~7.3k tokens), adds 55 (~3.1k)"),
        (34_900, "drops 79 entries (~7.3k tokens), adds 55 (~3.1k)"),
        (40_800, "drops 79 entries, adds 55"),
        (20_400, "drops 79 entries, adds 55"),
    ],
)
def test_tokens_that_contradict_the_sizes_of_the_context_are_left_out(after: int, words: str) -> None:
    """A model counted a larger context at the other end, though more is dropped than added."""
    found = replace(price(PriceSide(79, 7_300), PriceSide(55, 3_100)), after=Count(after, 0, recorded=True))
    assert PriceWords.of(found, UNICODE).parts[0] == words


def test_what_is_cached_and_what_is_not_cost_different_prices_in_every_place() -> None:
    again = next(part for part in WORDS.parts if "cached" in part)
    assert "at full price" in again
    meanings = [(one.sign, one.title) for _, group in legend_of("explorer", UNICODE) for one in group]
    assert (
        "cached",
        "The provider may still have it, for about an hour: then it costs about a tenth of the full price",
    ) in meanings
    assert any(sign == "█ ▓ ░" and "at full price after a move" in title for sign, title in meanings)


def test_facts_and_notes() -> None:
    facts = Facts("Turn 51", (("", "#521 – #558"), ("entries", "38"), ("calls", "18")))
    assert said(None, 100, facts=facts) == [" Turn 51      #521 – #558   entries 38   calls 18"]
    assert said(None, 32, facts=facts) == [" Turn 51  #521 – #558"]
    note = BarNote(
        "the file grew by 2 entries since it was read", "warn", (KeyHint("app.reload", "r", "reload"),)
    )
    (line,) = price_lines(FACTS, WORDS, note, 80, 1, UNICODE)
    assert plain([line])[0].rstrip() == " ! the file grew by 2 entries since it was read   r reload"
    assert line[1] == ("!", "strong_warn")
    hits = price_lines(None, None, BarNote("3 of 14 hits"), 40, 1, UNICODE)
    assert plain(hits)[0].rstrip() == " 3 of 14 hits"


def test_a_long_note_takes_the_second_line() -> None:
    note = BarNote("word " * 20, "bad", (KeyHint("app.reload", "r", "reload"),))
    lines = [line.rstrip() for line in plain(price_lines(None, None, note, 60, 2, UNICODE))]
    assert lines[0].startswith(" ! word word")
    assert lines[1].startswith("   word word")
    assert lines[1].endswith("r reload")


def test_the_tail_of_a_note_is_whole_or_not_there() -> None:
    note = BarNote(
        "labelled; restart pi to pick this up",
        "leaf",
        (KeyHint("u", "u", "undo"),),
        tail=": pi --session /a/b.jsonl",
    )

    def said_in(width: int, height: int) -> str:
        return " ".join(" ".join(plain(price_lines(None, None, note, width, height, UNICODE))).split())

    assert said_in(90, 1) == "✓ labelled; restart pi to pick this up: pi --session /a/b.jsonl u undo"
    assert said_in(60, 1) == "✓ labelled; restart pi to pick this up u undo"
    assert said_in(60, 2) == "✓ labelled; restart pi to pick this up: pi --session /a/b.jsonl u undo"


def test_texts_that_were_not_made_safe_do_no_harm() -> None:
    evil = "a\x1b]52;c;QUJD\x07b\tc\u202e"
    for lines in (
        price_lines(Facts(evil, ((evil, evil),)), None, None, 80, 1, UNICODE),
        price_lines(None, None, BarNote(evil), 80, 1, UNICODE),
    ):
        assert "\x1b" not in "".join(plain(lines))
        assert "\u202e" not in "".join(plain(lines))


words = st.text(st.characters(exclude_categories=["C", "M", "Z"]), max_size=90)
prices = st.builds(
    PriceWords,
    st.lists(words, min_size=1, max_size=4).map(tuple),
    words,
    st.lists(words, max_size=2).map(tuple),
)
facts = st.builds(
    Facts,
    st.text(max_size=30),
    st.lists(st.tuples(st.text(max_size=9), st.text(max_size=9)), max_size=5).map(tuple),
)

notes = st.builds(
    BarNote,
    st.text(max_size=200),
    st.sampled_from(["", "leaf", "warn", "bad"]),
    st.just((KeyHint("a", "r", "reload"),)),
)


@given(
    st.none() | facts, st.none() | prices, st.none() | notes, st.integers(0, 160), st.integers(0, 3), GLYPHS
)
def test_price_lines_are_as_wide_as_asked(
    facts: Facts | None,
    price: PriceWords | None,
    note: BarNote | None,
    width: int,
    height: int,
    glyphs: Glyphs,
) -> None:
    lines = plain(price_lines(facts, price, note, width, height, glyphs))
    assert [cell_len(line) for line in lines] == [width] * height


def test_tokens_of_one_side_alone_are_the_change_of_the_context() -> None:
    """The estimate says 7,300; what the sizes beside it say is 9,200."""
    dropped = replace(
        price(PriceSide(79, 7_300), PriceSide(0, 0)),
        before=Count(40_600, 0, recorded=True),
        after=Count(31_400, 0, recorded=True),
    )
    assert PriceWords.of(dropped, UNICODE).parts[0] == "drops 79 entries (9.2k tokens)"
    estimated = replace(dropped, after=Count(31_400, 0, recorded=False))
    assert PriceWords.of(estimated, UNICODE).parts[0] == "drops 79 entries (~9.2k tokens)"
    assert PriceWords.of(dropped.with_summary(500), UNICODE).parts[0] == "drops 79 entries (~9.2k tokens)"
    more = replace(dropped, after=Count(40_900, 0, recorded=True), left=PriceSide(79, 20))
    assert PriceWords.of(more, UNICODE).parts[0] == "drops 79 entries"
