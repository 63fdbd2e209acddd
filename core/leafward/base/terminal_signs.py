"""The choice between signs in Unicode and in ASCII."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_PLAIN_TERMS = ("linux", "dumb", "unknown", "vt1", "vt2", "vt52", "ansi", "cons25", "sun")
"""Terminals whose fonts have a few hundred signs, or none of ours."""


def needs_ascii(env: Mapping[str, str], encoding: str | None, *, terminal: bool = True) -> bool:
    """Whether locale, encoding of the output or kind of terminal leave only ASCII; `terminal` is false for a pipe or a file.

    The first of LC_ALL, LC_CTYPE and LANG that is set decides; none set leaves it to `encoding`, the name Python
    found for standard output (None when there is none). Python itself may have made LC_CTYPE a UTF-8 one under
    `LANG=C`; it then prints UTF-8, and so do we.
    """
    if terminal and env.get("TERM", "").strip().lower().startswith(_PLAIN_TERMS):
        return True
    if encoding is not None and _plain(encoding) not in {"utf8", "utf8sig", "cp65001", "utf16", "utf16le"}:
        return True
    locale = next((value for name in ("LC_ALL", "LC_CTYPE", "LANG") if (value := env.get(name))), "")
    return bool(locale) and "utf8" not in _plain(locale)


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
