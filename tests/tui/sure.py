"""A value that a test knows to be there."""

from __future__ import annotations

from typing import TypeVar

_Value = TypeVar("_Value")


def sure(value: _Value | None) -> _Value:
    """The value, which is not None."""
    assert value is not None
    return value
