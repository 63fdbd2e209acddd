"""Shared by the tests of strip, gauge and price line: glyphs, plain lines, a price."""

from __future__ import annotations

from hypothesis import strategies as st

from leafward_tui.explorer.model.gauge_lines import Load
from leafward_tui.ui.appearance.glyphs import ASCII, UNICODE
from leafward_tui.ui.bars.price_line import Facts
from leafward_tui.ui.words.price_words import PriceWords

GLYPHS = st.sampled_from([UNICODE, ASCII])
Lines = list[list[tuple[str, str]]]


def plain(lines: Lines) -> list[str]:
    return ["".join(text for text, _ in line) for line in lines]


FACTS = Facts("Turn 51", (("entries", "38"), ("calls", "18")))
WORDS = PriceWords(
    (
        "drops 79 entries (~7.3k tokens), adds 55 (~3.1k)",
        "6.2k cached, 96.1k at full price (~$0.36)",
        "context 40.6k → 102.3k",
        "files named on the path: 1 fewer, 2 more, 5 with other changes",
    ),
    "drops 79 entries, adds 55",
)

NOW = Load(40_600)
MOVED = Load(102_300, again=96_100, entered=3_100)
"""The load of a context, and the one after a move."""
