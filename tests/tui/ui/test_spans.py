"""Text in lines."""

from __future__ import annotations

from leafward_tui.ui.text.spans import indented_text


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
