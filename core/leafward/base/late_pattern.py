"""Regular expressions that are compiled when they are first used.

Their compilation takes a twelfth of a command that summarises, and most sessions meet only half of them.
"""

from __future__ import annotations

import re
from typing import cast


def late(pattern: str) -> re.Pattern[str]:
    """A pattern like that of `re.compile`; a faulty one raises `re.error` where it is first used."""
    return cast("re.Pattern[str]", _Late(pattern))


class _Late:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern

    def __getattr__(self, name: str) -> object:
        # The methods become its own, so that this one runs once and a search costs what it costs otherwise.
        compiled = re.compile(self.pattern)
        for method in ("match", "fullmatch", "search", "finditer", "findall", "split", "sub"):
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)
