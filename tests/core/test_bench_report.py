"""Missed bars of the measurements: a figure that held in too few runs."""

from __future__ import annotations

import pytest

from tests.bench.report import Report


@pytest.mark.parametrize(
    ("runs", "missed", "undecided"),
    [
        ([1.0], False, True),
        ([3.0], True, True),
        ([1.0, 1.0], False, False),
        ([1.0, 3.0], True, True),
        ([3.0, 3.0], True, False),
        ([1.0, 3.0, 1.0], False, False),
        ([1.0, 3.0, 3.0], True, False),
    ],
)
def test_a_figure_has_to_hold_in_two_runs(runs: list[float], missed: bool, undecided: bool) -> None:
    report = Report()
    for measured in runs:
        report.ratio("a key", measured, "another", 1.0, 2.0)
        report.ratio("told only", 9.0, "another", 1.0, None)
    assert (report.missed == ["a key, beside another"]) is missed
    assert report.undecided is undecided
