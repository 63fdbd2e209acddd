"""Declarations in code that a call writes: the line that names a function, class or type, as it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST = 140
"""Characters of a declaration that is quoted; a longer one is left out rather than cut."""
_MODIFIER = (
    r"(?:export|default|declare|public|private|protected|internal|static|abstract|final|override|readonly|async|pub(?:\(\w+\))?"
    r"|unsafe|extern|virtual|inline)"
)
_WORD = r"[A-Za-z_$][\w$]{1,60}"
_DECLARES = late(
    rf"[ \t]*(?:{_MODIFIER} )*("
    r"(?:(?:function\*?|class|interface|type|enum|struct|trait|def|fn|fun|func(?: \([^()\n]{1,40}\))?) +"
    rf"(?P<named>{_WORD})"
    # One within another function is no part of what a file offers.
    rf"|(?:(?<![ \t])|(?<=export ))const (?P<arrow>{_WORD}) ?= ?(?:async )?(?=\([^()\n]{{0,160}}\)[^()\n]{{0,60}}=>)"
    rf"|(?:get |set )(?P<field>{_WORD})(?=\()"
    rf"|(?!(?:if|for|while|switch|catch|return|with|super|await|new|throw|else|do)\b)(?P<method>{_WORD})"
    r"(?=\([^()\n]{0,160}\)(?: ?: ?[^\n;=(){}]{1,80})? ?\{[ \t]*$))"
    r"[^\n]{0,160}(?<!,))$"
)
_ENDS = late(r"(?:\s*(?:: ?(?:Promise<)?void>?|-> ?None))?(?:\s*=>)?[\s{:=(;]*$")
"""The sign that begins a body, and a result of nothing before it."""


def declared_in(text: str) -> Iterator[tuple[str, str]]:
    """The name and the line of each declaration in code, without its modifiers, a result of nothing and the sign that begins its body."""
    for match in filter(None, map(_DECLARES.match, text.split("\n"))):
        name = match["named"] or match["arrow"] or match["field"] or match["method"]
        line = _ENDS.sub("", match[1]).strip()
        if len(line) <= _LONGEST and "`" not in line:
            yield name, line
