"""Folders that the user excludes: nothing in them is listed or read."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EXCLUDED = "excluded"
"""The `problem` of a card of an excluded project's session; the card keeps nothing of the conversation."""

_TOKEN = re.compile(r"/\*\*/|\*\*/|/\*\*|\*\*|\*|\?|\[!?\]?[^\]/]*\]|.", re.DOTALL)
_LONGEST = 1_000
"""Characters of a pattern; a longer one excludes nothing."""


class Exclusion:
    """The globs of a configuration, with the rules of .gitignore.

    A later pattern wins, `!` includes again, and everything in an excluded folder is excluded. A pattern without a slash is a
    name anywhere; one that begins with `/` or `~/` is a whole path.
    """

    def __init__(self, patterns: Sequence[str], env: Mapping[str, str]) -> None:
        home = env.get("HOME") or env.get("USERPROFILE") or os.path.expanduser("~")
        self._rules = [rule for text in patterns if (rule := _rule(text, home)) is not None]
        self._known: dict[str, bool] = {}

    def __bool__(self) -> bool:
        return bool(self._rules)

    def __call__(self, path: str) -> bool:
        """Whether a path is excluded or lies in an excluded folder."""
        if not self._rules or not path:
            return False
        found = self._known.get(path)
        if found is None:
            slashed = path.replace("\\", "/") if os.sep == "\\" else path
            found = False
            for pattern, excludes in self._rules:
                if found is not excludes and pattern.match(slashed):
                    found = excludes
            self._known[path] = found
        return found


def _rule(text: str, home: str) -> tuple[re.Pattern[str], bool] | None:
    """A compiled pattern for whole paths, and whether it excludes; None for a pattern that counts for nothing."""
    pattern = text.strip()
    excludes = not pattern.startswith("!")
    pattern = pattern.lstrip("!").rstrip("/") if not excludes else pattern.rstrip("/")
    if pattern == "~" or pattern.startswith(("~/", "~\\")):
        pattern = re.sub(r"([*?\[])", r"[\1]", home.rstrip("/\\")) + pattern[1:]
    if not pattern or pattern.startswith("#") or len(pattern) > _LONGEST:
        return None
    anchored = pattern.startswith("/") or re.match(r"[A-Za-z]:[/\\]", pattern) is not None
    body = "".join(_piece(token) for token in _TOKEN.findall(pattern))
    start = "" if anchored else r"(?:.*/)?"
    try:
        return re.compile(f"{start}{body}(?:/.*)?\\Z", re.DOTALL), excludes
    except re.error:
        return None


_PIECES = {"/**/": "/(?:.*/)?", "**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def _piece(part: str) -> str:
    if part in _PIECES:
        return _PIECES[part]
    if part.startswith("[") and len(part) > 2:
        inner = part[1:-1]
        negated = inner.startswith("!")
        inner = (inner[1:] if negated else inner).replace("\\", "\\\\").replace("^", "\\^")
        return f"[{'^' if negated else ''}{inner}]"
    return re.escape(part)
