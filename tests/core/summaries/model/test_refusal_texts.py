"""Errors of providers that are hostile texts."""

from __future__ import annotations

import pytest

from leafward.branches.healing.refusals import Excess, Refusal
from leafward.session.entries import EntryIndex
from tests.core.linear_time import in_linear_time


def refusal(text: str) -> Refusal:
    return Refusal(EntryIndex(1), text, EntryIndex(-1))


@pytest.mark.parametrize(
    ("text", "excess"),
    [
        ("prompt is too long: 213,462 tokens > 200,000 maximum", Excess(213_462, 200_000)),
        (
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 130,001 tokens",
            Excess(130_001, 128_000),
        ),
    ],
)
def test_counts_are_read(text: str, excess: Excess) -> None:
    assert refusal(text).excess == excess


@pytest.mark.parametrize(
    "text",
    ["1" * 100_000, "," * 100_000, "1," * 50_000, "maximum context length is 1 tokens" + "1" * 100_000],
    ids=["digits", "commas", "both", "behind a limit"],
)
def test_an_error_of_nothing_but_counts_takes_linear_time(text: str) -> None:
    with in_linear_time():
        assert refusal(text).excess in (None, Excess(0, 0))
