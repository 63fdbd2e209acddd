"""TOML as theme files use it, read without the standard library's parser, which takes longer to load than a theme to read.

What is not of that plain form is given to that parser, and so are all faults.
"""

from __future__ import annotations

from typing import Any

_BARE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
"""Characters of a key without quotes."""
_TRUTH = {"true": True, "false": False}


def read_toml(text: str) -> dict[str, Any]:
    """The tables and values of a text. Raises ValueError where it is no TOML, and RecursionError."""
    plain = plain_values(text)
    if plain is not None:
        return plain
    import tomllib

    return tomllib.loads(text)


def plain_values(text: str) -> dict[str, Any] | None:
    """The same of a text of plain lines: tables named by one key, texts without escapes, true and false; None of any other."""
    found: dict[str, Any] = {}
    table = found
    for line in text.split("\n"):
        if not line:
            continue
        if line[0] == "[" and line[-1] == "]":
            name = line[1:-1]
            if not name or name in found or not _BARE.issuperset(name):
                return None
            table = found[name] = {}
            continue
        key, equals, value = line.partition(" = ")
        if not equals or not key or key in table or not _BARE.issuperset(key):
            return None
        if value in _TRUTH:
            table[key] = _TRUTH[value]
            continue
        words = value[1:-1]
        plain = len(value) > 1 and value[0] == value[-1] == '"' and words.isprintable()
        if not plain or '"' in words or "\\" in words:
            return None
        table[key] = words
    return found
