"""Texts of very many blanks in an extractive summary."""

from __future__ import annotations

from tests.core.linear_time import in_linear_time
from tests.core.told import span, summarize, user


def test_the_end_of_a_text_of_blanks_is_told_in_linear_time() -> None:
    text = f"port the parser{' ' * 60_000}now"
    with in_linear_time(3):
        made = summarize(span(user(text)))
    assert "port the parser now" in " ".join(made.text.split())
