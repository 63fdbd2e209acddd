"""Things by the words that name them, so that of very many those are found at once that a text names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

_T = TypeVar("_T")


class Subjects(Generic[_T]):
    """Things, each with the words that a text about it has all of."""

    def __init__(self) -> None:
        # By the longest of its words: that is seldom one of many others.
        self._by_word: dict[str, list[tuple[frozenset[str], _T]]] = {}

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._by_word)

    def add(self, words: frozenset[str], what: _T) -> None:
        """Adds a thing; one without words is in no text."""
        if words:
            longest = max(words, key=lambda word: (len(word), word))
            self._by_word.setdefault(longest, []).append((words, what))

    def named_in(self, words: AbstractSet[str]) -> Iterator[_T]:
        """The things that a text with some words names, in no order."""
        for word in self._by_word.keys() & words:
            for named, what in self._by_word[word]:
                if named <= words:
                    yield what
