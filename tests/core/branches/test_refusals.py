"""Errors of providers as agents record them: any text, whoever wrote it."""

from __future__ import annotations

import pytest

from leafward.branches.healing.refusals import Excess, Refusal
from leafward.session.entries import NO_ENTRY


@pytest.mark.parametrize(
    ("text", "excess"),
    [
        ("prompt is too long: 12,100 tokens > 8000 maximum", Excess(12_100, 8_000)),
        ("This model's maximum context length is 8192 tokens. You sent 9,000 tokens.", Excess(9_000, 8_192)),
        (f"prompt is too long: {'9' * 5_000} tokens > 8000", Excess(0, 0)),
        (f"prompt is too long: 12 tokens > {'9' * 5_000}", Excess(12, int("9" * 18))),
        ("maximum context length is , tokens, not , tokens", Excess(0, 0)),
        ("overloaded", None),
    ],
)
def test_the_excess_of_a_prompt(text: str, excess: Excess | None) -> None:
    assert Refusal(NO_ENTRY, text, NO_ENTRY).excess == excess
