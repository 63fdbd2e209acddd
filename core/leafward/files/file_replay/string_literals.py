"""The string literals of a program that calls an agent's tools, as Codex's code mode runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leafward.base.late_pattern import late

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

_LITERAL = late(
    r"""(?s)(?:["']?\b(cmd|command)["']?\s*:\s*)?(?<!\\)("(?:[^"\\\n]++|\\.)*+"|'(?:[^'\\\n]++|\\.)*+'|`(?:[^`\\]++|\\.)*+`)"""
)
"""A literal, and the name before it. None begins with an escaped quote, so that each part of a program is read once."""
_ESCAPE = late(r"(?s)\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|\r?\n|.)")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "b": "\b", "f": "\f", "v": "\v", "\n": "", "\r\n": ""}
_LONGEST_PROGRAM = 200_000


def texts_in(program: str) -> Iterator[tuple[str, bool]]:
    """The string literals of a JavaScript program, each with whether its name is that of a command.

    Computed texts are not known.
    """
    if len(program) > _LONGEST_PROGRAM:
        return
    for name, literal in _LITERAL.findall(program):
        if literal[0] != "`" or "${" not in literal:
            yield _ESCAPE.sub(_escaped, literal[1:-1]), bool(name)


def _escaped(found: re.Match[str]) -> str:
    sign = found[1]
    if sign[0] in "ux" and len(sign) > 1:
        return chr(int(sign[1:], 16))
    return _ESCAPED.get(sign, sign)
