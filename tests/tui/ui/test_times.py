"""Times as they are shown."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from leafward_tui.ui.text import times as moments

if TYPE_CHECKING:
    import pytest


def test_a_date_of_another_year_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moments._Present, "clock", None)
    assert moments.moment("2025-11-21T15:48:00") == "21 Nov 15:48", "which year is this one is not known"
    moments.tell_years_by(lambda: datetime(2026, 6, 1, tzinfo=UTC))
    assert moments.moment("2025-11-21T15:48:00") == "21 Nov 2025 15:48"
    assert moments.moment("2026-11-21T15:48:00") == "21 Nov 15:48"
    assert moments.moment("no time") == ""
    at = round(datetime(2024, 5, 2, 12, tzinfo=UTC).timestamp() * 1000)
    assert moments.moment_at(at).startswith("2 May 2024 ")
    assert moments.moment_at(10**18) == ""
    this_year = round(datetime(2026, 5, 2, 12, tzinfo=UTC).timestamp() * 1000)
    assert [" 2026 " in text for text in moments.moments_at(at, this_year)] == [False, True]
    assert " 2026 " not in moments.moments_at(this_year, 10**18)[0]


def test_two_times_name_once_the_day_or_year_that_both_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moments._Present, "clock", lambda: datetime(2026, 6, 1, tzinfo=UTC))

    def at(year: int, month: int, day: int, hour: int, minute: int = 0) -> int:
        local = datetime(year, month, day, hour, minute, tzinfo=UTC).replace(tzinfo=None)
        return round(local.astimezone().timestamp() * 1000)

    morning = at(2026, 5, 2, 9, 30)
    assert moments.period_at(morning, at(2026, 5, 2, 12)) == "2 May 09:30 to 12:00"
    assert moments.period_at(morning, at(2026, 5, 3, 12)) == "2 May 09:30 to 3 May 12:00"
    assert moments.period_at(morning, morning) == "2 May 09:30"
    assert moments.period_at(at(2025, 5, 2, 9), at(2025, 5, 3, 9)) == "2 May 2025 09:00 to 3 May 09:00"
    assert moments.period_at(at(2025, 5, 2, 9), at(2026, 5, 2, 9)) == "2 May 2025 09:00 to 2 May 2026 09:00"
    assert moments.period_at(10**18, morning) == "2 May 09:30"
