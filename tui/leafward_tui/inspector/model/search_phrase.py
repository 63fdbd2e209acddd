"""The words of a search on a page: whether a folded text holds them, and their places on lines."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from leafward.query.search.case_folding import folded, original_spans
from leafward.query.search.text_match import Phrase

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from leafward_tui.inspector.page import PageLine


class SearchPhrase:
    """Words as the search finds them: case ignored, white space in them stands for any white space."""

    def __init__(self, words: str) -> None:
        self._phrase = Phrase(words)

    def is_in(self, texts: Iterable[object]) -> bool:
        """Whether one of some values holds the words; in lists and objects, one of the texts in them."""
        waiting = list(texts)
        while waiting:
            value = waiting.pop()
            if isinstance(value, dict):
                waiting += value.values()
            elif isinstance(value, list | tuple):
                waiting += value
            elif value is not None and self._phrase.is_in(folded(str(value))):
                return True
        return False

    def places(self, lines: Sequence[PageLine]) -> dict[int, list[tuple[int, int]]]:
        """The places of the words by line: first character and the one after the last.

        The words may go on over the end of a line.
        """
        texts = [line.text for line in lines]
        whole = "\n".join(texts)
        starts = [0, *accumulate(len(text) + 1 for text in texts)]
        found: dict[int, list[tuple[int, int]]] = {}
        for start, stop in original_spans(whole, self._phrase.spans(folded(whole)), keep_case=False):
            first = bisect_right(starts, start) - 1
            for at in range(first, bisect_right(starts, stop - 1)):
                text = texts[at]
                # The margin at the beginning of a line is not part of the words.
                begin = max(start - starts[at], len(text) - len(text.lstrip()) if at > first else 0)
                end = min(stop - starts[at], len(text.rstrip()))
                if begin < end:
                    found.setdefault(at, []).append((begin, end))
        return found
