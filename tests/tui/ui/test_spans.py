"""Text in lines."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from leafward_tui.ui.appearance.glyphs import UNICODE
from leafward_tui.ui.text.markdown import rendered
from leafward_tui.ui.text.spans import Span, cut, indented_text

if TYPE_CHECKING:
    from collections.abc import Callable


def drawn(text: str, width: int) -> list[str]:
    return ["".join(span.text for span in line) for line in indented_text(text, width)]


def test_what_goes_on_below_an_indented_line_stays_under_it() -> None:
    """Reasons of a list ran back to the margin, where the next item seemed to begin."""
    text = "not run:\n  turn 1: nobody can tell what was there\n\n  turn 2: so"
    assert drawn(text, 24) == [
        "not run:",
        "  turn 1: nobody can",
        "    tell what was there",
        "",
        "  turn 2: so",
    ]
    assert all(len(line) <= 24 for line in drawn(text, 24))


def test_lines_without_an_indent_or_with_a_deep_one_are_wrapped_as_they_are() -> None:
    assert drawn("one two three four", 9) == ["one two", "three", "four"]
    assert "deep words" in drawn(f"{' ' * 9}deep words here", 12)
    assert drawn("", 10) == [""]


def calls_of(work: Callable[[], object]) -> int:
    """The number of functions that some work calls."""
    calls = 0

    def note(_frame: object, event: str, _given: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return calls


def test_cutting_a_line_takes_as_long_as_the_line() -> None:
    """A line of minified code has a thousand spans, and a screen of them was drawn in half a second."""
    line = [Span("a"), Span("=", "sub")] * 500
    assert "".join(span.text for span in cut(line, 70, "…")) == "a=" * 34 + "a…"
    assert calls_of(lambda: cut(line, 70, "…")) < 5 * len(line)


def test_the_columns_of_a_table_are_levelled_at_once() -> None:
    text = f"|{'x' * 9_000}|y|{'z' * 9_000}|\n|---|---|---|\n"
    lines = rendered(text, 40, UNICODE)
    assert ["".join(span.text for span in line).rstrip() for line in lines[:1]] == [
        "x" * 17 + "  y  " + "z" * 18
    ]
    assert calls_of(lambda: rendered(text, 40, UNICODE)) < len(text) * 2
