"""The cache of the facts of texts: each text is read once for all who ask, and another process may read some ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from leafward.summaries.facts.values import Sighting


class Known(dict[tuple[object, ...], "list[Sighting]"]):
    """The facts of texts, by the text and its voice."""

    ahead: Callable[[], Known | None] | None = None
    """Gives what another process read since it was last asked; None where none reads."""

    def found(self, what: tuple[object, ...]) -> list[Sighting] | None:
        """The facts of a text; None where nobody read it yet."""
        found = self.get(what)
        if found is None and self.ahead is not None and (more := self.ahead()) is not None:
            self.update(more)
            found = self.get(what)
        return found
