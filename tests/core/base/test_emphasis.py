"""Bold text on a screen is shown without its signs, and code stays as it is."""

from __future__ import annotations

import pytest

from leafward.base.emphasis import without_emphasis


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("**No `executescript` in migrations**: it commits", "No `executescript` in migrations: it commits"),
        ("**`x`** is new", "`x` is new"),
        ("`a**b` and **b**", "`a**b` and b"),
        ("`2**3` and `__init__`", "`2**3` and `__init__`"),
        ("a**b `c` d**e", "a**b `c` d**e"),
        ("**bold**", "bold"),
        ("**open `code`", "**open `code`"),
    ],
)
def test_bold_text_is_shown_without_its_signs(line: str, shown: str) -> None:
    assert without_emphasis(line) == shown
