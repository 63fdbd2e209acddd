"""Unicode normalisation in a time that grows with the text only.

Python sorts the marks behind a letter by insertion: fifty thousand marks in mixed order took seconds. Marks that are
sorted already cost nothing, and their order does not change the normal form.
"""

from __future__ import annotations

import unicodedata
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from leafward.base.late_pattern import late

if TYPE_CHECKING:
    import re

_LONG_RUN = late(r"(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){31,}")
"""More signs and marks in a row than the thirty marks on one letter that Unicode's stream-safe text allows.

The two letters are marks once NFKC has decomposed them.
"""


def composed(text: str, form: Literal["NFC", "NFKC"] = "NFC") -> str:
    """A text in a normal form in which an accented letter is one character."""
    # This stops at marks that are not in order, so that it sorts none.
    if unicodedata.is_normalized(form, text):
        return text
    parts: Literal["NFD", "NFKD"] = "NFD" if form == "NFC" else "NFKD"
    return unicodedata.normalize(form, _LONG_RUN.sub(partial(_with_sorted_marks, parts), text))


def _with_sorted_marks(form: Literal["NFD", "NFKD"], found: re.Match[str]) -> str:
    """A run, decomposed, with the marks behind each letter or sign in canonical order."""
    parts = "".join(unicodedata.normalize(form, char) for char in found[0])
    return "".join(
        "".join(sorted(run, key=unicodedata.combining) if are_marks else run)
        for are_marks, run in groupby(parts, key=lambda char: unicodedata.combining(char) > 0)
    )
