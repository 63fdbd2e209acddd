"""What the tests of strip, gauge and price line share: glyphs, plain lines, a price."""

from __future__ import annotations

from hypothesis import strategies as st

from leafward_tui.ui.glyphs import ASCII, UNICODE
from leafward_tui.ui.price_groups import Quote

GLYPHS = st.sampled_from([UNICODE, ASCII])
Lines = list[list[tuple[str, str]]]


def plain(lines: Lines) -> list[str]:
    return ["".join(text for text, _ in line) for line in lines]


QUOTE = Quote(
    left=79,
    entered=55,
    left_tokens=7_300,
    entered_tokens=3_100,
    before=40_600,
    after=102_300,
    cached=6_200,
    again=96_100,
    cost=0.36,
    files_left=1,
    files_entered=2,
    files_changed=5,
    surprises=("compaction 130.6k → 29.8k is not on this path",),
)
