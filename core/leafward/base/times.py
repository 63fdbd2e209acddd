"""Moments as milliseconds since 1970, and as texts in session files."""

from __future__ import annotations

from datetime import UTC, datetime

from leafward.base.figures import finite


def iso_time(milliseconds: int | None) -> str | None:
    """A time in pi's format: ISO 8601 in UTC with milliseconds."""
    if milliseconds is None:
        return None
    try:
        moment = datetime.fromtimestamp(milliseconds // 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return None
    return f"{moment.isoformat()[:19]}.{milliseconds % 1000:03d}Z"


def iso_stamp(moment: datetime) -> str:
    """A moment in JavaScript's format: UTC, milliseconds, `Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_time(value: object) -> int | None:
    """An ISO 8601 text as milliseconds since 1970; without a zone it is local time, a mere date is UTC (JavaScript)."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        try:
            moment = moment.replace(tzinfo=UTC) if len(value) <= 10 else moment.astimezone()
        except (OverflowError, OSError, ValueError):
            return None
    return round((moment - _EPOCH).total_seconds() * 1000)


def moment_of(value: object) -> datetime | None:
    """An ISO 8601 text as a moment in UTC, read like `parse_time`; None for any other value."""
    found = parse_time(value)
    try:
        return datetime.fromtimestamp(found / 1000, UTC) if found is not None else None
    except (OverflowError, ValueError, OSError):
        return None


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_SECONDS_BELOW = 100_000_000_000
"""Smaller numbers count seconds, larger ones milliseconds: both forms occur."""


_NO_DATE = 8_640_000_000_000_001
"""Milliseconds from which JavaScript has no date."""


def milliseconds(value: object) -> int | None:
    """A moment in any form that agents write: ISO 8601, or a number of seconds or milliseconds since 1970."""
    if isinstance(value, str):
        return parse_time(value)
    if not isinstance(value, (int, float)) or finite(value) is None:
        return None
    found = round(value * 1000) if abs(value) < _SECONDS_BELOW else round(value)
    return found if abs(found) < _NO_DATE else None


def written_time(value: object) -> str | None:
    """A time of a file as a text: a number is converted, a text stays as it is."""
    if isinstance(value, (int, float)):
        return iso_time(milliseconds(value))
    return value if isinstance(value, str) else None
