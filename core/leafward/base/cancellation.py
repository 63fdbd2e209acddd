"""Long work that can be cancelled between two of its items."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from leafward.base.errors import Cancelled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Item = TypeVar("Item")


def unless_cancelled(
    items: Iterable[Item], stop: Callable[[], bool], what: str = "summary"
) -> Iterator[Item]:
    """Items one by one, each after a check for cancellation. Raises Cancelled, which names `what`, where `stop` turns true."""
    for item in items:
        if stop():
            raise Cancelled(f"the {what} was cancelled")
        yield item
