"""Long work that can be cancelled between two of its items."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from leafward.base.errors import Cancelled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Item = TypeVar("Item")


def never() -> bool:
    """The `stop` of work that nobody cancels."""
    return False


def unless_cancelled(
    items: Iterable[Item], stop: Callable[[], bool], what: str = "summary"
) -> Iterator[Item]:
    """Items one by one, each after a check for cancellation. Raises Cancelled, which names `what`, where `stop` turns true."""
    return iter(items) if stop is never else _checked(items, stop, what)


def _checked(items: Iterable[Item], stop: Callable[[], bool], what: str) -> Iterator[Item]:
    for item in items:
        if stop():
            raise Cancelled(f"the {what} was cancelled")
        yield item
