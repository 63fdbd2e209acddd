"""Large figures in few characters."""

from __future__ import annotations

import random

import pytest

from leafward.base.figures import duration, finite, money, short
from leafward.base.times import milliseconds
from leafward_tui.ui.text.cells import count


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1_000, "1.0k"),
        (999_949, "999.9k"),
        (999_950, "1.0M"),
        (999_960, "1.0M"),
        (-14_000, "-14.0k"),
    ],
)
def test_a_figure_is_rounded_before_its_unit_is_chosen(number: int, text: str) -> None:
    assert short(number) == text


def test_the_command_line_and_the_screen_say_the_same() -> None:
    rng = random.Random(1)
    for _ in range(2_000):
        number = rng.randrange(1, 10 ** rng.randrange(1, 14))
        assert count(number) == short(number)


@pytest.mark.parametrize(
    ("dollars", "text"),
    [
        (0, "$0"),
        (0.0042, "<$0.01"),
        (0.005, "$0.01"),
        (12.3, "$12.30"),
        (99.995, "$100"),
        (1_204.4, "$1,204"),
    ],
)
def test_a_price_has_one_form(dollars: float, text: str) -> None:
    assert money(dollars) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "not in file"),
        (0, "0 s"),
        (119.4, "119 s"),
        (119.6, "2 min"),
        (7_169, "119 min"),
        (7_171, "2.0 h"),
        (172_800, "2.0 days"),
    ],
)
def test_a_duration_has_one_form(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize("value", [10**400, float("inf"), float("nan"), True, None, "1"])
def test_what_no_float_holds_is_no_number(value: object) -> None:
    assert finite(value) is None
    assert milliseconds(value if not isinstance(value, str) else None) is None
