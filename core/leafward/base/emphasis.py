"""Markdown's emphasis removed from a line, without touching names and code: `__init__` and `2**3` are not emphasis."""

from __future__ import annotations

import re

from leafward.base.late_pattern import late

_CODE = late(r"(`+[^`]*`+)")
_STARS = late(r"\*\*(?<![\w*]..)(?=[^\s*])(.+?)(?<=[^\s*])\*\*(?![\w*])")
_ENDS = late(r"(?s).*(?<=[^\s*])\*\*(?![\w*])")
"""Everything up to the last sign that may end emphasis: no sign behind it begins one."""
_UNDERSCORES = late(r"__(?<![\w.]..)(?=\S)((?=[^_\s]*+\s)[^_]*+)(?<=\S)__(?!\w)")
"""Emphasis by underscores has several words."""
_HIDDEN = "\0"
"""Stands in for a span of code during the search for emphasis."""


def without_emphasis(text: str) -> str:
    """A line without the signs of bold text. Code spans stay as they are, also inside bold text."""
    if "**" not in text and "__" not in text:
        return text
    if "`" not in text:
        return _unmarked(text)
    parts = _CODE.split(text)
    code = iter(parts[1::2])
    hidden = _unmarked(_HIDDEN.join(parts[::2]))
    return re.sub(_HIDDEN, lambda _: next(code), hidden) if _HIDDEN not in text else text


def _unmarked(text: str) -> str:
    if text.count("**") > 1:
        ends = _ENDS.match(text)
        end = ends.end() if ends is not None else 0
        text = _STARS.sub(r"\1", text[:end]) + text[end:]
    return _UNDERSCORES.sub(r"\1", text) if text.count("__") > 1 else text
